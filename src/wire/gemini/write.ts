import { assert } from "../../message/assert.ts"
import type { Wire } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"
import type { Part, ToolCallPart, ToolResultPart } from "../../message/part.ts"
import type { Tool } from "../../message/request.ts"
import { requireWire } from "../expect.ts"
import { elements, isObject, readJson, tryParse, wireOf } from "../json.ts"
import { type Fields, overlay, write, writeList, writeObject } from "../overlay.ts"
import { readTools, slotOf, spellings } from "./read.ts"

// System

export function writeSystem(parts: readonly Part[], before: Wire | undefined): Wire {
  return overlay(before?.startsWith("{") === true ? before : undefined, { parts: writeList(parts.map(writePart)) })
}

// Tools

/** Here several tools share one element: those that stood there stay as they stood, new ones get an element of their own. */
export function writeTools(tools: readonly Tool[], before: Wire | undefined): Wire {
  const was = readJson(before ?? "[]", "request")
  const known = readTools(was)
  const kept = new Set<string>(tools.map(({ wire }) => wire))
  assert(
    known.every(({ wire }) => kept.has(wire)),
    "tools of this format are only added",
  )
  const added = tools.slice(known.length).map(({ wire }) => wire)
  const own = added.length === 0 ? [] : [writeObject({ functionDeclarations: writeList(added) })]
  return writeList([...elements(was).map(wireOf), ...own])
}

// Messages

export function writeMessage(message: Message): readonly Wire[] {
  const role: Fields =
    message.wire === undefined ? { role: write(message.role === "assistant" ? "model" : "user") } : {}
  const parts =
    message.parts.length === 0 && message.wire !== undefined
      ? emptyParts(message.wire)
      : { parts: writeList(message.parts.map(writePart)) }
  return [overlay(message.wire, { ...role, ...parts })]
}

const emptyParts = (wire: Wire): Fields => {
  const was = tryParse(wire)
  return isObject(was) && Array.isArray(was.parts) && was.parts.length > 0 ? { parts: write([]) } : {}
}

// Parts

function writePart(part: Part): Wire {
  switch (part.type) {
    case "text":
      return overlay(part.wire, { text: write(part.text) })
    case "reasoning":
      return part.wire ?? writeObject({ text: write(part.text), thought: write(true) })
    case "tool-call":
      return writeCall(part)
    case "tool-result":
      return writeResult(part)
    case "image":
    case "document":
    case "opaque":
    case "unknown":
      return requireWire(part, "gemini")
  }
}

/** The spelling that stands there, and what stands under it. */
function found(
  wire: Wire | undefined,
  name: string,
): { readonly name: string; readonly value: Readonly<Record<string, unknown>> | undefined } {
  const was = wire === undefined ? undefined : tryParse(wire)
  const spelling = spellings(name).find((candidate) => isObject(was) && was[candidate] !== undefined) ?? name
  const value = isObject(was) ? was[spelling] : undefined
  return { name: spelling, value: isObject(value) ? value : undefined }
}

/** An id is written only where there was one, or where the part is ours and the call had one to name. */
const idField = (before: Readonly<Record<string, unknown>> | undefined, id: string): Fields =>
  typeof before?.id === "string" || (before === undefined && !isPlace(id)) ? { id: write(id) } : {}

/** Ids that we gave by position mean nothing to the API. */
const isPlace = (id: string): boolean => /^m\d+\.\d+$/.test(id) || id.startsWith("unasked-")

function writeCall(part: ToolCallPart & Pick<Part, "wire">): Wire {
  if (part.kind === "provider" && part.wire !== undefined) return part.wire
  const { name, value } = found(part.wire, "functionCall")
  const args: Fields = part.input === undefined ? {} : { args: write(part.input) }
  const call = overlay(value === undefined ? undefined : write(value), {
    ...idField(value, part.callId),
    name: write(part.tool),
    ...args,
  })
  return overlay(part.wire, { [name]: call })
}

function writeResult(part: ToolResultPart & Pick<Part, "wire">): Wire {
  if (part.kind === "provider" && part.wire !== undefined) return writeRanCode(part, part.wire)
  const { name, value } = found(part.wire, "functionResponse")
  const text = part.content.flatMap((item) => (item.type === "text" ? item.text : [])).join("\n")
  const media = part.content.filter((item) => item.type !== "text")
  const parts: Fields =
    media.length > 0
      ? { parts: writeList(media.map(writePart)) }
      : value?.parts === undefined
        ? {}
        : { parts: undefined }
  const fields = {
    ...idField(value, part.callId),
    ...(value === undefined ? { name: write(part.tool ?? "unknown") } : {}),
    response: writeGiven(text, value?.response, part.failed),
    ...parts,
  }
  return overlay(part.wire, { [name]: overlay(value === undefined ? undefined : write(value), fields) })
}

/** The response object around a text: the one that stands there if it says the same, the same slot if it had one. */
function writeGiven(text: string, before: unknown, failed: boolean | undefined): Wire {
  const slot = slotOf(before)
  if (before !== undefined && slot === undefined && JSON.stringify(tryParse(text)) === JSON.stringify(before))
    return write(before)
  return writeObject({ [slot ?? (failed === true ? "error" : "output")]: write(text) })
}

function writeRanCode(part: ToolResultPart, wire: Wire): Wire {
  const { name, value } = found(wire, "codeExecutionResult")
  const [only] = part.content
  if (value === undefined || only?.type !== "text" || value.output === undefined) return wire
  return overlay(wire, { [name]: overlay(write(value), { output: write(only.text) }) })
}
