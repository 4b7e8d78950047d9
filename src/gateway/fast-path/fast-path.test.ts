import { expect, test } from "vitest"
import { receipt } from "../../../test/fixtures/gateway/receipt.ts"
import { fc } from "../../../test/support/property.ts"
import { defaultPolicy } from "../../compact/plan/policy.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { continueFastPath, type FastPath, fastPathOf } from "./fast-path.ts"

type Said = { readonly role: string; readonly content: string }

const said = (text: string, n: number): Said => ({ role: n % 2 === 0 ? "user" : "assistant", content: text })
const bodyOf = (texts: readonly string[]): Buffer =>
  Buffer.from(JSON.stringify({ model: "m", max_tokens: 9, messages: texts.map(said), tools: [] }))

function fastPathAfter(
  texts: readonly string[],
  rules: readonly string[] = [],
  other: Partial<typeof receipt> = {},
): FastPath {
  const bytes = bodyOf(texts)
  const request = decodeRequest("anthropic-messages", bytes.toString())
  const seen = { ...receipt, ...other }
  return fastPathOf({ isNamed: false, session: "s", bytes, request, receipt: seen, changed: seen.changed, rules })
}

const history = ["Hello", "Hi.", "Never push to main.", "Fine.", "Go on."]

test("a request that continues the history may be forwarded at once", () => {
  expect(continueFastPath(fastPathAfter(history), bodyOf([...history, "Done.", "Next."]), defaultPolicy)).toBeDefined()
  expect(continueFastPath(fastPathAfter(history), bodyOf(history), defaultPolicy)).toBeDefined()
})

test("a rule is stored in a buffer of exactly its size", () => {
  const { needles } = fastPathAfter(history, ["Never push to main."])
  expect(needles.map(({ bytes }) => [bytes.toString(), bytes.buffer.byteLength])).toEqual([["Never push to main.", 19]])
})

test("a conversation with the same beginning is not recognised, unless the client names its conversation", () => {
  const fastPath = fastPathAfter(["Hello"])
  const next = bodyOf(["Hello", "Hi.", "Go on."])
  expect(continueFastPath(fastPath, next, defaultPolicy)).toBeUndefined()
  expect(continueFastPath({ ...fastPath, isNamed: true }, next, defaultPolicy)).toBeDefined()
  const told = fastPathAfter(["Hello", "Hi.", "Go on."])
  expect(continueFastPath(told, bodyOf(["Hello", "Ho.", "Go on.", "Done.", "Next."]), defaultPolicy)).toBeUndefined()
  expect(continueFastPath(told, bodyOf(["Hello", "Hi.", "Go on.", "Done.", "Next."]), defaultPolicy)).toBeDefined()
})

const others: readonly [why: string, fastPath: FastPath, next: readonly string[]][] = [
  ["the previous request was changed", fastPathAfter(history, [], { changed: true }), [...history, "a", "b"]],
  ["it begins differently", fastPathAfter(history), ["Hey", ...history.slice(1), "a", "b"]],
  ["an early message differs", fastPathAfter(history), ["Hello", "Ho.", ...history.slice(2), "a", "b"]],
  [
    "it is near the compaction threshold",
    fastPathAfter(history, [], { contextTokens: 56_900 }),
    [...history, "x".repeat(500), "b"],
  ],
  [
    "so much was added that it may be near the threshold",
    fastPathAfter(history),
    [...history, "x".repeat(200_000), "b"],
  ],
  ["a rule is no longer in it", fastPathAfter(history, ["Go on."]), [...history.slice(0, 4), "Stop.", "a", "b"]],
  ["it is much shorter", fastPathAfter([...history, "y".repeat(9000), "z"]), [...history, "y"]],
]

test.each(others)("a request is not forwarded at once if %s", (_why, fastPath, next) => {
  expect(continueFastPath(fastPath, bodyOf(next), defaultPolicy)).toBeUndefined()
})

const chatOf = (...messages: readonly (readonly [role: string, content: string])[]): Buffer =>
  Buffer.from(JSON.stringify({ model: "m", messages: messages.map(([role, content]) => ({ role, content })) }))

function chatFastPath(bytes: Buffer): FastPath {
  const request = decodeRequest("openai-chat", bytes.toString())
  return fastPathOf({ isNamed: false, session: "s", bytes, request, receipt, changed: false, rules: [] })
}

test("another conversation with the same instructions is not forwarded at once, however short both are", () => {
  const [system, context] = [
    ["system", "You sum up what was said."],
    ["user", "The folder is /srv."],
  ] as const
  const fastPath = { ...chatFastPath(chatOf(system, context, ["user", "One thing."])), isNamed: true }
  expect(
    continueFastPath(fastPath, chatOf(system, context, ["user", "Quite another thing."]), defaultPolicy),
  ).toBeUndefined()
  const after = [["assistant", "Done."] as const, ["user", "More."] as const]
  expect(
    continueFastPath(fastPath, chatOf(system, context, ["user", "One thing."], ...after), defaultPolicy),
  ).toBeDefined()
})

test("a repeated first request is not forwarded at once: another client may begin with the same words", () => {
  const opening = chatOf(["system", "You are an agent."], ["user", "Go."])
  expect(continueFastPath(chatFastPath(opening), opening, defaultPolicy)).toBeUndefined()
})

test("a rule in the last message is found in the next body even if that message changed its shape", () => {
  const fastPath = fastPathAfter(history, ["Never push to main.", "Go on."])
  const later = continueFastPath(
    fastPath,
    Buffer.from(
      bodyOf([...history, "a", "b"])
        .toString()
        .replace('"Go on."', '[{"type":"text","text":"Go on."}]'),
    ),
    defaultPolicy,
  )
  expect(later).toBeDefined()
})

const texts = fc.array(fc.oneof(fc.constantFrom("Never push.", "ok", 'é\n"q"'), fc.string()), {
  minLength: 1,
  maxLength: 8,
})

test("for any two bodies, a request forwarded at once has every rule and the same history except its end", () => {
  const property = fc.property(texts, texts, fc.nat(8), (before, added, keep) => {
    const rules = before.filter((text) => text === "Never push.")
    const fastPath = fastPathAfter(before, rules)
    const next = bodyOf([...before.slice(0, keep), ...added])
    if (continueFastPath(fastPath, next, defaultPolicy) === undefined) return
    const decoded = decodeRequest("anthropic-messages", next.toString())
    const kept = Math.max(1, before.length - 2)
    expect(decoded.messages.slice(0, kept).map(({ wire }) => wire)).toEqual(
      fastPath.request.messages.slice(0, kept).map(({ wire }) => wire),
    )
    for (const rule of rules) expect(next.toString()).toContain(rule)
  })
  fc.assert(property)
})
