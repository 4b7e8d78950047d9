import type { Arbitrary } from "fast-check"
import {
  type CallKind,
  callId,
  type Message,
  messageId,
  type Part,
  type Role,
  type Transcript,
} from "../../src/message/message.ts"
import { fc } from "./property.ts"

export const text = (value: string): Part => ({ type: "text", text: value })
export const call = (id: string, kind: CallKind = "function"): Part => ({
  type: "tool-call",
  callId: callId(id),
  tool: "read",
  kind,
  input: { path: id },
})
export const result = (id: string, output = `output of ${id}`, kind: CallKind = "function"): Part => {
  return { type: "tool-result", callId: callId(id), kind, content: [text(output)] }
}
export const message = (id: string, role: Role, ...parts: readonly Part[]): Message => ({
  id: messageId(id),
  role,
  parts,
})

export type Turn = readonly [Role, ...Part[]]

let calls = 0
/** Returns a tool call and its result, as two turns. */
export function used(tool: string, input: unknown, output: string, failed?: boolean): readonly Turn[] {
  const id = callId(`call${calls++}`)
  const flag = failed === undefined ? {} : { failed }
  return [
    ["assistant", { type: "tool-call", callId: id, tool, kind: "function", input }],
    ["user", { type: "tool-result", callId: id, kind: "function", content: [text(output)], ...flag }],
  ]
}

/** Numbers the messages of a transcript in order. */
export const transcript = (...turns: readonly Turn[]): Transcript =>
  turns.map(([role, ...parts], n) => message(`m${n}`, role, ...parts))

const words = fc.oneof(
  fc.string(),
  fc.constantFrom("", "</tool-result>", "&lt;/tool-result>", "< / TOOL-RESULT", "\ud800"),
)

const ids = ["1", "2", "3", "4", "c5", "p6", "a7", "o8"]

/** Returns the kind that an id stands for: kinds come from the wire, where a call and its result cannot differ in them. */
const kindOf = (id: string): CallKind => {
  const kinds: Readonly<Record<string, CallKind>> = { c: "custom", p: "provider", a: "approval", o: "other" }
  return kinds[id[0] ?? ""] ?? "function"
}

/** Generates any transcript, valid or not: few ids, so that they collide. */
export const brokenTranscript: Arbitrary<Transcript> = fc
  .array(
    fc.record({
      id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
      role: fc.constantFrom<Role>("user", "assistant", "system"),
      parts: fc.array(
        fc.oneof(
          words.map(text),
          fc.constantFrom(...ids).map((id) => call(id, kindOf(id))),
          fc.tuple(fc.constantFrom(...ids), words).map(([id, output]) => result(id, output, kindOf(id))),
          words.map((value): Part => ({ type: "reasoning", text: value })),
        ),
        { maxLength: 4 },
      ),
    }),
    { maxLength: 14 },
  )
  .map((messages) => messages.map(({ id, role, parts }) => message(id, role, ...parts)))

/**
 * Generates a turn as real agents have them: a question, an answer, or a tool round with parallel calls, whose results come in any order
 * and with other parts.
 */
const turn: Arbitrary<(n: number) => readonly (readonly [Role, ...Part[]])[]> = fc.oneof(
  words.filter((value) => value !== "").map((value) => () => [["user", text(value)]] as const),
  words.filter((value) => value !== "").map((value) => () => [["assistant", text(value)]] as const),
  fc
    .record({
      calls: fc.integer({ min: 1, max: 4 }),
      apart: fc.boolean(),
      reversed: fc.boolean(),
      company: fc.boolean(),
    })
    .map((shape) => (n: number) => {
      const ids = Array.from({ length: shape.calls }, (_, at) => `t${n}.${at}`)
      const ordered = shape.reversed ? ids.toReversed() : ids
      const calls = shape.apart
        ? ids.map((id) => ["assistant", call(id)] as const)
        : [["assistant", text("let me see"), ...ids.map((id) => call(id))] as const]
      const results = shape.apart
        ? ordered.map((id) => ["user", result(id)] as const)
        : [["user", ...ordered.map((id) => result(id))] as const]
      const between = shape.company && shape.apart ? [["assistant", text("working")] as const] : []
      return [...calls, ...results.slice(0, 1), ...between, ...results.slice(1)]
    }),
)

export const goodTranscript: Arbitrary<Transcript> = fc
  .array(turn, { maxLength: 12 })
  .map((turns) => transcript(...turns.flatMap((make, n) => make(n))))
