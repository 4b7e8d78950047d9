import type { Part } from "./part.ts"

/** The text that a model reads in a part; nothing for what is not text. */
export function textOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text
    case "tool-call":
      return typeof part.input === "string" ? part.input : (JSON.stringify(part.input) ?? "")
    case "tool-result":
      return part.content.map(textOf).join("\n")
    case "document":
      return part.text ?? ""
    case "image":
    case "opaque":
    case "unknown":
      return ""
  }
}
