import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { callId, type Message, messageId, type Part, type Tool, tokens, wireText } from "../message/message.ts"
import { countO200k, createCounter, o200k } from "./counter.ts"
import { mergePairs, singleBytes } from "./generated/o200k.ts"
import { createMeter } from "./meter.ts"
import { readVocabulary } from "./vocabulary.ts"

const openai = createMeter({ model: "gpt-4o" })
const claude = createMeter({ model: "claude-sonnet-4-5" })
const text = (value: string): Part => ({ type: "text", text: value })
const user = (...parts: readonly Part[]): Message => ({ id: messageId("m"), role: "user", parts })
const call = (input: unknown): Part => ({
  type: "tool-call",
  callId: callId("c"),
  tool: "read_file",
  kind: "function",
  input,
})
const result = (...content: readonly Part[]): Part => ({
  type: "tool-result",
  callId: callId("c"),
  kind: "function",
  content,
})
const tool: Tool = { name: "read_file", wire: wireText('{"name":"read_file","input_schema":{"type":"object"}}') }

describe("a part takes", () => {
  test("exactly its o200k tokens as text on OpenAI", () => {
    expect(openai.part(text("Hello, world! 中文"))).toBe(countO200k("Hello, world! 中文"))
  })
  test("more as text on Claude, whose vocabulary is smaller", () => {
    expect(claude.part(text("word ".repeat(100)))).toBeGreaterThanOrEqual(countO200k("word ".repeat(100)) * 1.2)
  })
  test("its name and its JSON as a tool call, whether parsed or not", () => {
    expect(openai.part(call({ path: "a.ts" }))).toBe(openai.part(call('{"path":"a.ts"}')))
    expect(openai.part(call({ path: "a.ts" }))).toBeGreaterThan(countO200k('{"path":"a.ts"}') + countO200k("read_file"))
  })
  test("what it contains as a tool result", () => {
    const one = openai.part(result(text("abc")))
    expect(openai.part(result(text("abc"), text("def ghi")))).toBe(one + countO200k("def ghi"))
  })
  test("its text or what it hides as reasoning, whichever is more", () => {
    expect(openai.part({ type: "reasoning", text: "let me think" })).toBe(countO200k("let me think"))
    expect(openai.part({ type: "reasoning", text: "short", signature: "x".repeat(5000) })).toBe(1000)
    expect(openai.part({ type: "reasoning", text: "y".repeat(500), sealed: true })).toBe(100)
  })
  test("its JSON when we do not know what it is", () => {
    const wire = wireText('{"type":"novelty","value":42}')
    expect(openai.part({ type: "unknown", wire })).toBe(countO200k(wire))
    expect(openai.part({ type: "opaque", kind: "compaction", wire })).toBe(countO200k(wire))
  })
  test("its pages as a document, and its text where that is known", () => {
    const media = { mediaType: "application/pdf", held: "inline", inlineLength: 400_000 } as const
    expect(claude.part({ type: "document", media })).toBe(12 * 4500)
    expect(openai.part({ type: "document", media, text: "plain words" })).toBe(countO200k("plain words"))
    expect(openai.part({ type: "document", media: { ...media, mediaType: "text/plain" } })).toBe(100_000)
    expect(claude.part({ type: "document", media: { held: "file" } })).toBeGreaterThan(10_000)
  })
  test("its pixels as an image, read off the data where the wire does not say", () => {
    const header = "iVBORw0KGgoAAAANSUhEUgAABAAAAAQACAYAAAA"
    const wire = wireText(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${header}"}}`)
    expect(openai.part({ type: "image", media: { held: "inline" }, wire })).toBe(765)
    expect(openai.part({ type: "image", media: { held: "url", width: 1024, height: 1024 } })).toBe(765)
  })
})

describe("a request takes", () => {
  test("everything in it: system, tools, messages and framing", () => {
    const system = [text("You are careful.")]
    const messages = [user(text("hi")), user(text("there"))]
    const bare = openai.request({ system: [], tools: [], messages: [] })
    const whole = openai.request({ system, tools: [tool], messages })
    expect(bare).toBeGreaterThan(0)
    expect(whole).toBe(
      openai.overhead({ system, tools: [tool] }) +
        openai.message(messages[0] ?? user()) +
        openai.message(messages[1] ?? user()),
    )
    expect(whole).toBeGreaterThan(bare + countO200k("You are careful.hithere") + countO200k(tool.wire))
  })
})

test("a text cut to a budget fits it by the same meter", () => {
  const long = "The quick brown fox, 中文 and 12345. ".repeat(200)
  for (const meter of [openai, claude]) {
    const cut = meter.truncate(long, tokens(100))
    expect(long.startsWith(cut)).toBe(true)
    expect(meter.text(cut)).toBeLessThanOrEqual(100)
    expect(meter.text(cut)).toBeGreaterThan(90)
  }
})

test("what was counted once is not counted again, as the same object or as the same text", () => {
  const counted: string[] = []
  const count = (value: string) => {
    counted.push(value)
    return countO200k(value)
  }
  const meter = createMeter({ model: "gpt-4o", counter: { ...o200k(), count } })
  const shared = text("the very same part")
  meter.message(user(shared))
  meter.message(user(shared))
  expect(counted).toEqual(["the very same part"])

  const fresh = createCounter(readVocabulary(singleBytes, mergePairs))
  const emoji = "😀👍🏽".repeat(300)
  fresh.count(emoji)
  const steps = fresh.steps()
  fresh.count(`${emoji}`)
  expect(fresh.steps()).toBe(steps)
})

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic
const wires = fc.string().map(wireText)
const media = fc.record(
  { held: fc.constantFrom("inline", "url", "file"), inlineLength: fc.nat(), detail: fc.string() },
  { requiredKeys: ["held"] },
)
const leaves = fc.oneof(
  fc.string({ unit: codePoints }).map(text),
  fc.anything().map(call),
  fc.constantFrom(
    call(cyclic),
    call(undefined),
    call(10n),
    call(() => 1),
  ),
  wires.map((wire): Part => ({ type: "unknown", wire })),
  fc.tuple(media, wires).map(([value, wire]): Part => ({ type: "image", media: value, wire })),
  media.map((value): Part => ({ type: "document", media: value })),
  fc.string().map((signature): Part => ({ type: "reasoning", text: "", signature })),
)

test("no message makes a meter throw, and none is free", () => {
  fc.assert(
    fc.property(
      fc.array(leaves),
      fc.constantFrom("gpt-5", "claude-opus-5-5", "gemini-3-pro", "llama-3.3", "?"),
      (parts, model) => {
        const meter = createMeter({ model })
        expect(meter.message(user(result(...parts), ...parts))).toBeGreaterThan(0)
      },
    ),
    { seed: 20_261_115, numRuns: 500 },
  )
})
