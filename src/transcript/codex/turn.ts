import type { Message } from "../../message/message.ts"

/** How texts begin that Codex writes in the user's name. */
const contextMarks: readonly string[] = [
  "<environment_context>",
  "<user_instructions>",
  "# AGENTS.md",
  "<user_shell_command>",
  "<turn_aborted>",
  "<subagent_notification>",
  "<skill>",
]

/** A message of the user's role that the client wrote. */
export function isContext({ role, parts }: Message): boolean {
  const [first] = parts
  return (
    role === "user" && first?.type === "text" && contextMarks.some((mark) => first.text.trimStart().startsWith(mark))
  )
}

/** Something that the user said: where a turn begins. */
export const isUserTurn = (message: Message): boolean =>
  message.role === "user" && message.parts.every(({ type }) => type !== "tool-result") && !isContext(message)
