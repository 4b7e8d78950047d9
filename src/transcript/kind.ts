import { HoldfastError } from "../message/errors.ts"

/** What a transcript file is: a list of messages or a request body, traces line by line, or an agent's own session file. */
export type FileKind = "messages" | "trace" | "claude-code" | "codex" | "pi"

export const fileKinds: readonly FileKind[] = ["messages", "trace", "claude-code", "codex", "pi"]

/** The kind itself; a name that came from a flag may be none. */
export function requireKind(kind: FileKind): FileKind {
  if (!fileKinds.includes(kind))
    throw new HoldfastError({ code: "format-unknown", found: `"${kind}"`, known: fileKinds })
  return kind
}
