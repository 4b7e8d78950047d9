import { describe, expect, test } from "vitest"
import type { Format } from "../message/message.ts"
import { readSse, utf8Bytes, utf8Text } from "../wire/sse.ts"
import { createGuard } from "./guard.ts"
import { maxHeldBytes } from "./guard-queue.ts"
import { guardSse, guardStep, type StreamGuardUse, startGuard } from "./guard-stream.ts"
import type { JudgedCall } from "./judge-call.ts"

/** Forbids what runs `evil`, or has the word in its input. */
const guard = createGuard([
  `@rule("No evil.") forbid(principal, action, resource) when { context.tool like "*evil*" || context.text like "*evil*" };`,
])

async function guarded(format: Format, stream: string, use: StreamGuardUse = {}, by = guard) {
  const judged: JudgedCall[] = []
  const out: string[] = []
  const onJudged = (one: JudgedCall): unknown => judged.push(one)
  for await (const { raw } of guardSse(format, readSse(utf8Bytes(stream)), by, { onJudged, ...use }))
    out.push(utf8Text(raw))
  return { text: out.join(""), judged }
}

const data = (value: unknown): string => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`
const named = (value: { readonly type: string }): string => `event: ${value.type}\n${data(value)}`
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  data({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more })
const done = data("[DONE]")
const chatCall = (index: number, name: string, text: string) => ({
  index,
  id: `id${index}`,
  type: "function",
  function: { name, arguments: text },
})
const more = (index: number, text: string) => ({ index, function: { arguments: text } })

const began = named({ type: "message_start", message: { id: "m", role: "assistant", content: [], usage: {} } } as never)
const block = (index: number, content_block: object) =>
  named({ type: "content_block_start", index, content_block } as never)
const piece = (index: number, partial_json: string) =>
  named({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } } as never)
const stopped = (index: number) => named({ type: "content_block_stop", index } as never)
const ended = (stop_reason: string) =>
  named({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 1 } } as never) +
  named({ type: "message_stop" })
const use = (index: number, name: string, input: object = {}) =>
  block(index, { type: "tool_use", id: `t${index}`, name, input })

const created = named({ type: "response.created", response: { id: "resp_1", output: [] } } as never)
const item = (index: number, name: string, text: string) => ({
  type: "function_call",
  id: `fc${index}`,
  call_id: `id${index}`,
  name,
  arguments: text,
})
const added = (index: number, one: object) =>
  named({ type: "response.output_item.added", output_index: index, item: one } as never)
const finished = (index: number, one: object) =>
  named({ type: "response.output_item.done", output_index: index, item: one } as never)
const argument = (index: number, delta: string) =>
  named({ type: "response.function_call_arguments.delta", output_index: index, delta } as never)
const completed = (output: readonly object[]) =>
  named({ type: "response.completed", response: { id: "resp_1", status: "completed", output } } as never)

const gemini = (parts: readonly object[], finishReason?: string, others: readonly object[] = []): string =>
  data({ responseId: "r", candidates: [{ content: { parts, role: "model" }, finishReason }, ...others] })
const run = (name: string, args: object = {}) => ({ functionCall: { name, args } })

const clean: readonly (readonly [string, Format, string])[] = [
  [
    "calls that alternate",
    "openai-chat",
    chunk({ role: "assistant", content: "hi" }) +
      chunk({ tool_calls: [chatCall(0, "a", ""), chatCall(1, "b", "")] }) +
      chunk({ tool_calls: [more(1, '{"x"'), more(0, "{")] }) +
      chunk({ content: " there" }) +
      ": ping\n\n" +
      chunk({ tool_calls: [more(0, "}"), more(1, ":1}")] }) +
      chunk({}, "tool_calls", { usage: { prompt_tokens: 1 } }) +
      done,
  ],
  ["a finish before no [DONE]", "openai-chat", chunk({ content: "hi" }) + chunk({}, "stop")],
  ["[DONE] without a finish", "openai-chat", chunk({ content: "hi" }) + done],
  [
    "an error of the provider's",
    "openai-chat",
    chunk({ content: "hi" }) + data({ error: { message: "Overloaded", code: 503 } }),
  ],
  [
    "pings inside a call",
    "anthropic-messages",
    `${began}${use(0, "a")}${piece(0, "")}${named({ type: "ping" })}${piece(0, '{"x":')}${piece(0, "1}")}${stopped(0)}${ended("tool_use")}`,
  ],
  [
    "a server's tool and its result",
    "anthropic-messages",
    `${began}${block(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} })}${piece(0, '{"query":"q"}')}${stopped(0)}${block(1, { type: "web_search_tool_result", tool_use_id: "s", content: [] })}${stopped(1)}${ended("end_turn")}`,
  ],
  [
    "an error event",
    "anthropic-messages",
    began + named({ type: "error", error: { type: "overloaded_error", message: "x" } } as never),
  ],
  [
    "items that alternate",
    "openai-responses",
    `${created}${added(0, item(0, "a", ""))}${added(1, item(1, "b", ""))}${argument(1, "{}")}${argument(0, "{")}${argument(0, "}")}${finished(1, item(1, "b", "{}"))}${named({ type: "response.function_call_arguments.done", output_index: 0, arguments: "{}" } as never)}${finished(0, item(0, "a", "{}"))}${completed([item(0, "a", "{}"), item(1, "b", "{}")])}`,
  ],
  [
    "a search of the provider's",
    "openai-responses",
    `${created}${added(0, { type: "web_search_call", id: "ws", status: "in_progress" })}${named({ type: "response.web_search_call.searching", output_index: 0 } as never)}${finished(0, { type: "web_search_call", id: "ws", action: { type: "search", query: "q" } })}${completed([{ type: "web_search_call", id: "ws", action: { type: "search", query: "q", sources: [] } }])}`,
  ],
  [
    "calls in a chunk with a text",
    "gemini",
    gemini([{ text: "hi" }, run("a"), run("b", { x: 1 })]) + gemini([{ text: "" }], "STOP"),
  ],
]

describe("with nothing refused", () => {
  test.each(clean)("%s (%s) goes out byte for byte", async (_why, format, stream) => {
    expect((await guarded(format, stream)).text).toBe(stream)
    expect((await guarded(format, stream, { mode: "observe" })).text).toBe(stream)
  })
})

const attacks: readonly (readonly [string, Format, string])[] = [
  ["a call", "openai-chat", chunk({ tool_calls: [chatCall(0, "evil", "{}")] }) + chunk({}, "tool_calls") + done],
  [
    "one piece at a time",
    "openai-chat",
    chunk({ tool_calls: [chatCall(0, "run", '{"a":"ev')] }) +
      chunk({ tool_calls: [more(0, 'il"}')] }) +
      chunk({}, "tool_calls") +
      done,
  ],
  ["without a finish", "openai-chat", chunk({ tool_calls: [chatCall(0, "evil", "{}")] }) + done],
  ["cut", "openai-chat", chunk({ tool_calls: [chatCall(0, "evil", "{}")] })],
  [
    "cut inside the event",
    "openai-chat",
    chunk({ content: "hi" }) + chunk({ tool_calls: [chatCall(0, "evil", "{}")] }).slice(0, -2),
  ],
  [
    "followed by an error",
    "openai-chat",
    chunk({ tool_calls: [chatCall(0, "evil", "{}")] }) +
      data({ error: { message: "x" }, choices: [{ index: 0, delta: { tool_calls: [chatCall(1, "evil", "{}")] } }] }),
  ],
  [
    "that changes its name",
    "openai-chat",
    chunk({ tool_calls: [chatCall(0, "safe", "")] }) +
      chunk({ tool_calls: [chatCall(0, "evil", "{}")] }) +
      chunk({}, "tool_calls") +
      done,
  ],
  [
    "in the second choice",
    "openai-chat",
    chunk({ content: "hi" }) +
      data({ id: "c1", choices: [{ index: 1, delta: { tool_calls: [chatCall(0, "evil", "{}")] } }] }) +
      chunk({}, "stop") +
      done,
  ],
  [
    "in the second choice beside a harmless call",
    "openai-chat",
    chunk({ tool_calls: [chatCall(0, "safe", "{}")] }) +
      data({
        id: "c1",
        choices: [
          { index: 0, delta: { tool_calls: [more(0, " ")] } },
          { index: 1, delta: { tool_calls: [chatCall(0, "evil", "{}")] } },
        ],
      }) +
      chunk({}, "tool_calls") +
      done,
  ],
  [
    "in the same choice twice",
    "openai-chat",
    data({
      choices: [
        { index: 0, delta: { content: "x" } },
        { index: 0, delta: { tool_calls: [chatCall(0, "evil", "{}")] } },
      ],
    }) +
      chunk({}, "stop") +
      done,
  ],
  [
    "as a whole message",
    "openai-chat",
    data({ choices: [{ index: 0, message: { tool_calls: [chatCall(0, "evil", "{}")] } }] }) + done,
  ],
  [
    "of old",
    "openai-chat",
    chunk({ function_call: { name: "evil", arguments: "{}" } }) + chunk({}, "function_call") + done,
  ],
  [
    "after the end",
    "openai-chat",
    chunk({ content: "hi" }) +
      chunk({}, "stop") +
      chunk({ tool_calls: [chatCall(0, "evil", "{}")] }) +
      chunk({}, "tool_calls") +
      done,
  ],
  [
    "in JSON that only some read",
    "openai-chat",
    data(
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"evil","arguments":"{}"}}]},"n":NaN}]}',
    ) + done,
  ],
  ["a call", "anthropic-messages", `${began}${use(0, "evil")}${stopped(0)}${ended("tool_use")}`],
  [
    "input that stands in its beginning",
    "anthropic-messages",
    `${began}${use(0, "run", { a: "evil" })}${stopped(0)}${ended("tool_use")}`,
  ],
  [
    "input that stands in its beginning and other pieces",
    "anthropic-messages",
    `${began}${use(0, "run", { a: "evil" })}${piece(0, "{}")}${stopped(0)}${ended("tool_use")}`,
  ],
  ["that never ends", "anthropic-messages", `${began}${use(0, "evil")}${ended("tool_use")}`],
  [
    "in the beginning of the answer",
    "anthropic-messages",
    named({
      type: "message_start",
      message: { id: "m", content: [{ type: "tool_use", id: "t", name: "evil", input: {} }] },
    } as never) + ended("tool_use"),
  ],
  [
    "of an unknown type",
    "anthropic-messages",
    `${began}${block(0, { type: "tool_use_v2", id: "t", name: "evil", input: {} })}${stopped(0)}${ended("tool_use")}`,
  ],
  [
    "in an unknown event",
    "anthropic-messages",
    `${began}${named({ type: "content_block_whole", content_block: { type: "tool_use", id: "t", name: "evil", input: {} } } as never)}${ended("tool_use")}`,
  ],
  [
    "a second beginning",
    "anthropic-messages",
    `${began}${named({ type: "message_start", message: { content: [{ type: "tool_use", name: "evil", input: {} }] } } as never)}${ended("tool_use")}`,
  ],
  [
    "a call",
    "openai-responses",
    `${created}${added(0, item(0, "evil", ""))}${argument(0, "{}")}${finished(0, item(0, "evil", "{}"))}${completed([item(0, "evil", "{}")])}`,
  ],
  [
    "pieces that say one thing and an item another",
    "openai-responses",
    `${created}${added(0, item(0, "run", ""))}${argument(0, "{}")}${finished(0, item(0, "run", '{"a":"evil"}'))}${completed([])}`,
  ],
  [
    "a copy of the arguments that says another",
    "openai-responses",
    `${created}${added(0, item(0, "run", ""))}${argument(0, "{}")}${named({ type: "response.function_call_arguments.done", output_index: 0, arguments: '{"a":"evil"}' } as never)}${finished(0, item(0, "run", "{}"))}${completed([])}`,
  ],
  ["only in the finished answer", "openai-responses", created + completed([item(0, "evil", "{}")])],
  [
    "another one in the finished answer",
    "openai-responses",
    `${created}${added(0, item(0, "run", ""))}${finished(0, item(0, "run", "{}"))}${completed([item(0, "run", '{"a":"evil"}')])}`,
  ],
  [
    "in the beginning of the answer",
    "openai-responses",
    named({ type: "response.created", response: { id: "r", output: [item(0, "evil", "{}")] } } as never) +
      completed([]),
  ],
  [
    "in between",
    "openai-responses",
    created +
      named({ type: "response.in_progress", response: { output: [item(0, "evil", "{}")] } } as never) +
      completed([]),
  ],
  [
    "in a failed answer",
    "openai-responses",
    created +
      named({
        type: "response.failed",
        response: { error: { code: "x", message: "y" }, output: [item(0, "evil", "{}")] },
      } as never),
  ],
  [
    "of a part that never began",
    "openai-responses",
    created +
      named({
        type: "response.function_call_arguments.done",
        output_index: 3,
        name: "evil",
        arguments: "{}",
      } as never) +
      completed([]),
  ],
  [
    "a shell call",
    "openai-responses",
    `${created}${finished(0, { type: "local_shell_call", call_id: "x", action: { command: ["evil"] } })}${completed([{ type: "local_shell_call", call_id: "x", action: { command: ["evil"] } }])}`,
  ],
  ["a call", "gemini", gemini([{ text: "hi" }, run("evil")], "STOP")],
  ["beside a text in one part", "gemini", gemini([{ text: "hi", ...run("evil") }], "STOP")],
  ["in both spellings", "gemini", gemini([{ ...run("safe"), function_call: { name: "evil", args: {} } }], "STOP")],
  ["in the second candidate", "gemini", gemini([{ text: "hi" }], "STOP", [{ content: { parts: [run("evil")] } }])],
  [
    "in pieces",
    "gemini",
    gemini([{ functionCall: { name: "evil", willContinue: true } }]) + gemini([{ text: "" }], "STOP"),
  ],
  ["of an unknown kind", "gemini", gemini([{ toolCall: { name: "evil", args: {} } }], "STOP")],
]

describe("no call gets past", () => {
  test.each(attacks)("%s (%s)", async (_why, format, stream) => {
    const { text } = await guarded(format, stream)
    const bare = text.replace(/\[Withheld by policy[^\]]*\]/g, "")
    expect(bare).not.toContain("evil")
  })
  test.each(attacks)("who observes lets %s (%s) go as it came", async (_why, format, stream) => {
    expect((await guarded(format, stream, { mode: "observe" })).text).toBe(stream)
  })
})

test("what the provider ran is told and goes out", async () => {
  const stream = `${began}${block(0, { type: "server_tool_use", id: "s", name: "evil", input: {} })}${piece(0, '{"query":"q"}')}${stopped(0)}${ended("end_turn")}`
  const { text, judged } = await guarded("anthropic-messages", stream)
  expect(text).toBe(stream)
  expect(judged).toMatchObject([{ tool: "evil", enforced: false, verdict: { decision: "deny" } }])
})

test("the stop agrees with what is left", async () => {
  const one =
    chunk({ tool_calls: [chatCall(0, "evil", "{}"), chatCall(1, "safe", "{}")] }) + chunk({}, "tool_calls") + done
  const { text, judged } = await guarded("openai-chat", one)
  expect(text).toContain('"finish_reason":"tool_calls"')
  expect(text).toContain('"safe"')
  expect(judged.map(({ tool, result }) => [tool, result === undefined])).toEqual([
    ["evil", false],
    ["safe", true],
  ])
  const none = await guarded(
    "openai-chat",
    chunk({ tool_calls: [chatCall(0, "evil", "{}")] }) + chunk({}, "tool_calls") + done,
  )
  expect(none.text).toContain('"finish_reason":"stop"')
})

test("words go out before a call has ended, and words behind it wait for it", async () => {
  const frames = [
    chunk({ content: "before" }),
    chunk({ tool_calls: [chatCall(0, "safe", "{}")] }),
    chunk({ content: "behind" }),
    chunk({}, "tool_calls") + done,
  ]
  let given = 0
  async function* source() {
    for (const frame of frames) {
      given++
      yield* readSse(utf8Bytes(frame))
    }
  }
  const seen: (readonly [number, string])[] = []
  for await (const { data: text } of guardSse("openai-chat", source(), guard)) seen.push([given, text])
  expect(seen[0]).toEqual([1, expect.stringContaining("before")])
  expect(seen.slice(1).map(([at]) => at)).toEqual([4, 4, 4, 4])
})

describe("a call that a person decides on", () => {
  const asks = createGuard([
    `@decision("ask") forbid(principal, action, resource) when { context.tool like "*evil*" };`,
  ])
  const stream =
    chunk({ tool_calls: [chatCall(0, "evil", "{}"), chatCall(1, "evil2", "{}")] }) + chunk({}, "tool_calls") + done
  test("goes out as it came once approved", async () => {
    const { text, judged } = await guarded("openai-chat", stream, { approve: async () => true }, asks)
    expect(text).toBe(stream)
    expect(judged.map(({ approved }) => approved)).toEqual([true, true])
  })
  test("each is asked about on its own", async () => {
    const { text } = await guarded("openai-chat", stream, { approve: ({ tool }) => tool === "evil2" }, asks)
    expect(text).toContain('"evil2"')
    expect(text).not.toContain('"name":"evil"')
  })
  test("is withheld if nobody can be asked, or the approver fails", async () => {
    for (const use of [{}, { approve: () => Promise.reject(new Error("no")) }])
      expect((await guarded("openai-chat", stream, use, asks)).text).not.toContain('"name"')
  })
})

test("a call larger than may be held is withheld, and the rest goes on", async () => {
  const filler = "x".repeat(1_000_000)
  const pieces = Array.from({ length: Math.ceil(maxHeldBytes / 1_000_000) + 1 }, () =>
    chunk({ tool_calls: [more(0, filler)] }),
  )
  const stream = `${chunk({ tool_calls: [chatCall(0, "safe", '{"a":"')] })}${pieces.join("")}${chunk({ tool_calls: [more(0, '"}')] })}${chunk({}, "tool_calls")}${done}`
  const { text, judged } = await guarded("openai-chat", stream)
  expect(text.length).toBeLessThan(10_000)
  expect(text).toContain('"finish_reason":"stop"')
  expect(judged).toMatchObject([{ tool: "safe", enforced: true, verdict: { decision: "deny" } }])
})

test("of a call that the provider's own error cuts off nothing goes out, and the error does as it came", async () => {
  const error = named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } } as never)
  const { text, judged } = await guarded("anthropic-messages", began + use(0, "look") + piece(0, '{"a":') + error)
  expect(text).toBe(began + error)
  expect(judged.map(({ verdict }) => verdict.decision)).toEqual(["deny"])
})

test("a long text costs the same for each of its events, however much was said before", () => {
  const costMs = (events: number): number => {
    let state = startGuard("openai-chat", createGuard([]))
    const before = process.threadCpuUsage()
    for (let n = 0; n < events; n++)
      [state] = guardStep(state, { type: "text-delta", index: 0, text: "twenty characters of it " })
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
  costMs(5_000)
  const short = costMs(20_000)
  expect(costMs(80_000)).toBeLessThan(12 * short + 100)
})
