import type { Format } from "../../src/message/message.ts"

const vocabulary =
  "berth crane ledger cargo invoice tide manifest customs pilot anchor storage tariff quay vessel permit seal".split(
    " ",
  )

const words = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, n) => vocabulary[(seed * 13 + n * n + n * 7) % vocabulary.length]).join(" ")

/** Starts each message: it is in the log once if the message was written once. */
const markOf = (mark: string, part: number): string => `[${mark}.${part}]`
const marks = /\[[\w-]+(?:\.[\w-]+)*\]/g

/** Returns the marks in a text, with repetitions. */
export const marksIn = (text: string): readonly string[] => text.match(marks) ?? []

/** Returns the messages of one turn: a user's message, or a tool round whose results are too long for one line of a log. */
export function markedTurn(format: Format, mark: string, n: number): readonly object[] {
  if (n % 3 !== 0) return [{ role: "user", content: `${markOf(mark, 0)} ${words(n, 60 + ((n * 37) % 120))}` }]
  const id = `call_${mark.replaceAll(".", "_")}`
  const path = `quay/${n}.csv`
  const result = `${markOf(mark, 1)} ${words(n, 150 + ((n * 53) % 250)).replaceAll(" crane ", "\n")}`
  if (format === "openai-chat") {
    const call = { id, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path }) } }
    return [
      { role: "assistant", content: `${markOf(mark, 0)} I look at ${path}.`, tool_calls: [call] },
      { role: "tool", tool_call_id: id, content: result },
    ]
  }
  const text = { type: "text", text: `${markOf(mark, 0)} I look at ${path}.` }
  return [
    { role: "assistant", content: [text, { type: "tool_use", id, name: "read_file", input: { path } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
  ]
}

/** A model's answer, and the message in it. */
export type Answer = { readonly response: object; readonly message: object }

export function markedAnswer(format: Format, mark: string, n: number): Answer {
  const text = `${markOf(mark, 9)} ${words(n + 5, 30 + ((n * 29) % 60))}`
  const base = { id: mark, model: "any" }
  if (format === "openai-chat") {
    const message = { role: "assistant", content: text }
    return { message, response: { ...base, choices: [{ index: 0, finish_reason: "stop", message }] } }
  }
  const message = { role: "assistant", content: [{ type: "text", text }] }
  return { message, response: { ...base, type: "message", ...message, stop_reason: "end_turn" } }
}
