/** What a transcript file is: a list of messages or a request body, traces line by line, or an agent's own session file. */
export type FileKind = "messages" | "trace" | "claude-code" | "codex" | "pi"

export const fileKinds: readonly FileKind[] = ["messages", "trace", "claude-code", "codex", "pi"]
