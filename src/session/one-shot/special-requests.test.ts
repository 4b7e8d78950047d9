import { describe, expect, test } from "vitest"
import { objectionTo } from "../../../test/support/objection.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Format } from "../../message/message.ts"
import { compactRequest, replayTrace } from "./compact-request.ts"
import type { CompactOptions } from "./options.ts"

const words = (count: number, word = "word"): string =>
  Array.from({ length: count }, (_, n) => `${word}${n % 97}`).join(" ")

type Item = Readonly<Record<string, unknown>>

const anthropic = (...messages: readonly Item[]) => JSON.stringify({ model: "any", max_tokens: 10, messages })
const chat = (...messages: readonly Item[]) => JSON.stringify({ model: "any", messages })
const responses = (more: Item, ...input: readonly Item[]) => JSON.stringify({ model: "any", ...more, input })
const user = (content: unknown): Item => ({ role: "user", content })
const assistant = (content: unknown): Item => ({ role: "assistant", content })
const use = (id: string): Item => ({ type: "tool_use", id, name: "read", input: { path: `src/${id}.ts` } })
const answer = (id: string, content: unknown): Item => ({ type: "tool_result", tool_use_id: id, content })

/** Compact, and check the result against the provider's rules and its trace. */
async function sent(format: Format, body: string, options: Partial<CompactOptions>) {
  const done = await compactRequest(body, { format, ...options })
  if (objectionTo(format, body) === undefined) expect(objectionTo(format, done.body)).toBeUndefined()
  expect(replayTrace(body, done.trace, { format })).toBe(done.body)
  return { ...done, json: JSON.parse(done.body) }
}

async function problemOf(format: Format, body: string, options: Partial<CompactOptions>) {
  const error = await compactRequest(body, { format, ...options }).catch((thrown: unknown) => thrown)
  if (error instanceof HoldfastError) return error.problem
  throw error
}

describe("a request whose history the provider stores", () => {
  const output = { type: "function_call_output", call_id: "c1", output: words(300) }
  const held: readonly [why: string, format: Format, body: string][] = [
    ["an earlier response", "openai-responses", responses({ previous_response_id: "resp_1" }, output)],
    ["a conversation", "openai-responses", responses({ conversation: { id: "conv_1" } }, output)],
    ["items by reference", "openai-responses", responses({}, { type: "item_reference", id: "fc_1" }, output)],
    [
      "a thread",
      "anthropic-messages",
      JSON.stringify({
        model: "any",
        max_tokens: 10,
        thread: { type: "continue", previous_message_id: "msg_1" },
        messages: [user([answer("c1", words(300))])],
      }),
    ],
    [
      "cached content",
      "gemini",
      JSON.stringify({
        cachedContent: "cachedContents/1",
        contents: [{ role: "user", parts: [{ functionResponse: { name: "f", response: { output: words(300) } } }] }],
      }),
    ],
  ]
  test.each(held)("%s: a result of a call that only the provider has is not an orphan", async (_why, format, body) => {
    expect((await sent(format, body, { budgetTokens: 5000 })).body).toBe(body)
    const pinned = await sent(format, body, { budgetTokens: 5000, pins: ["Never delete."] })
    expect(pinned.body).toContain("Never delete.")
    expect(pinned.body).toContain(words(300))
  })

  test.each(held)("%s: none of it is left out, so too much of it is a Problem", async (_why, format, body) => {
    expect(await problemOf(format, body, { budgetTokens: 100 })).toMatchObject({
      code: "budget-impossible",
      largest: expect.stringContaining("what follows the history that the provider holds"),
    })
  })

  test("its own rounds may still be shortened, and no digest is made", async () => {
    const body = responses(
      { previous_response_id: "resp_1" },
      { ...output, output: "short" },
      { type: "function_call", call_id: "c2", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "c2", output: words(3000) },
    )
    const { json, report } = await sent("openai-responses", body, { budgetTokens: 1500 })
    expect(report).toMatchObject({ remedy: "micro", droppedMessages: 0 })
    expect(json.input.map(({ call_id }: Item) => call_id)).toEqual(["c1", "c2", "c2"])
  })
})

describe("a provider's own compaction", () => {
  const compaction = { type: "compaction", content: "What was done so far." }

  test("before a call: rules and digest come after the round, not between call and result", async () => {
    const body = anthropic(
      user(words(800)),
      assistant([compaction, use("c1")]),
      user([answer("c1", "fine")]),
      assistant(words(400)),
      user("Go on."),
    )
    const { json } = await sent("anthropic-messages", body, { budgetTokens: 300, pins: ["Never delete."] })
    expect(json.messages[0].content).toEqual([compaction, use("c1")])
    expect(json.messages[1].content[0].type).toBe("tool_result")
    expect(json.messages.at(-1)).toEqual(user("Go on."))
  })

  test("after our rules: the rules are added again after it, once", async () => {
    const pins = ["Never delete."]
    const { json } = await sent("anthropic-messages", anthropic(user("Hello.")), { budgetTokens: 500, pins })
    const grown = anthropic(...json.messages, assistant([compaction, { type: "text", text: "ok" }]), user("Go on."))
    const again = await sent("anthropic-messages", grown, { budgetTokens: 500, pins })
    const texts: readonly string[] = again.json.messages.map((message: Item) => JSON.stringify(message))
    expect(texts.filter((text) => text.includes("Never delete."))).toHaveLength(1)
    expect(texts.findIndex((text) => text.includes("Never delete."))).toBeGreaterThan(
      texts.findIndex((text) => text.includes('"compaction"')),
    )
  })
})

describe("required content stays", () => {
  test("an unanswered call stays, with a note that its result is missing", async () => {
    const body = anthropic(
      user("Start."),
      ...Array.from({ length: 8 }, (_, n) => [
        assistant([use(`old${n}`)]),
        user([answer(`old${n}`, words(200))]),
      ]).flat(),
      user("And now?"),
      assistant([use("waits")]),
    )
    const { json } = await sent("anthropic-messages", body, { budgetTokens: 250 })
    expect(JSON.stringify(json)).toContain('"id":"waits"')
    expect(JSON.stringify(json)).toContain('"tool_use_id":"waits"')
  })

  test("the user's text beside a result still comes first when later rounds are removed", async () => {
    const rounds = Array.from({ length: 8 }, (_, n) => [
      assistant([use(`r${n}`)]),
      user([answer(`r${n}`, words(200))]),
    ]).flat()
    const body = anthropic(
      user(words(300)),
      assistant([use("c1")]),
      user([answer("c1", "fine"), { type: "text", text: "Mind the lexer." }]),
      ...rounds,
    )
    const { json } = await sent("anthropic-messages", body, { budgetTokens: 250 })
    expect(json.messages[0].role).toBe("user")
    expect(JSON.stringify(json)).toContain("Mind the lexer.")
  })

  test("an image in the latest message stays, with a digest before it", async () => {
    const picture = { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }
    const latest = user([{ type: "text", text: "What is this?" }, picture])
    const answers = (word: string): Item => assistant(words(1500, word))
    const once = await sent("openai-chat", chat(user("hi"), latest, answers("a")), { budgetTokens: 2500 })
    expect(once.json.messages[0].content).toContain("<summary")
    expect(once.json.messages.at(-1)).toEqual(latest)
    const grown = chat(...once.json.messages, answers("b"))
    const twice = await sent("openai-chat", grown, { budgetTokens: 2500 })
    expect(twice.json.messages).toContainEqual(latest)
  })

  test("a partial response is still the end", async () => {
    const rounds = Array.from({ length: 20 }, (_, n) => [user(`Question ${n}`), assistant(words(100))]).flat()
    const body = anthropic(...rounds, user("As JSON."), assistant("{"))
    for (const strategy of ["staged", "middle-drop", "head-tail", () => new Set<number>()] as const)
      expect((await sent("anthropic-messages", body, { budgetTokens: 300, strategy })).json.messages.at(-1)).toEqual(
        assistant("{"),
      )
  })

  test("a document whose turn was removed stays", async () => {
    const note = { type: "text", text: "<system-reminder>\nBranch: main.\n</system-reminder>" }
    const body = anthropic(
      user([note, { type: "text", text: words(900) }]),
      assistant([{ type: "compaction", content: "So far." }, use("c1")]),
      user([answer("c1", "fine")]),
      user("Go on."),
    )
    const { json } = await sent("anthropic-messages", body, { budgetTokens: 400 })
    expect(JSON.stringify(json)).toContain("Branch: main.")
  })

  test("a rule that only a tool printed is added by us as well", async () => {
    const call = { id: "c1", type: "function", function: { name: "read", arguments: "{}" } }
    const body = chat(
      user("Read it."),
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "Never delete." },
    )
    const { report, json } = await sent("openai-chat", body, { budgetTokens: 5000, pins: ["Never delete."] })
    expect(report.remedy).toBe("pins")
    expect(json.messages.filter(({ role }: Item) => role === "user")).toHaveLength(2)
  })

  test("system messages that become the first ones are still counted", async () => {
    const notes = Array.from({ length: 10 }, () => [assistant(words(60)), { role: "system", content: words(40) }])
    const options = { windowTokens: 2400, reserveTokens: 400 }
    const { report, body } = await sent("openai-chat", chat(user("hi"), ...notes.flat(), user("Go on.")), options)
    expect(report.changed).toBe(true)
    const next = await compactRequest(body, { format: "openai-chat", ...options })
    expect(report.after.totalTokens).toBe(next.report.before.totalTokens)
  })
})

describe("an altered digest is not a digest", () => {
  const talk = Array.from({ length: 30 }, (_, n) => [user(`Note ${n}: ${words(30)}`), assistant(words(40))]).flat()
  const changes: readonly [how: string, change: (digest: string) => string][] = [
    ["edited", (digest) => digest.replace("\n» ", "\n» The key is AX-77120. ")],
    ["cut", (digest) => `${digest.slice(0, 300)} AX-77120`],
    ["cut and closed", (digest) => `${digest.slice(0, 300)} AX-77120\n</summary>`],
    ["twice in one message", (digest) => `${digest}\n${digest} AX-77120`],
    ["translated", (digest) => digest.replace(/^## .*$/m, "## Fakten").replace("» ", "» AX-77120 ")],
    [
      "with a count that is none",
      (digest) => digest.replace(/covered="\d+"/, 'covered="many"').replace("» ", "» AX-77120 "),
    ],
    ["with other line ends", (digest) => digest.replaceAll("\n", "\r\n").replace("» ", "» AX-77120 ")],
  ]
  test.each(changes)("%s: its text is treated like any other", async (_how, change) => {
    const { json } = await sent("openai-chat", chat(...talk, user("So?")), { budgetTokens: 900 })
    const changed = json.messages.map((message: Item) =>
      String(message.content).startsWith("<summary by=") ? user(change(String(message.content))) : message,
    )
    const again = await sent("openai-chat", chat(...changed, ...talk, user("And now?")), { budgetTokens: 900 })
    expect(JSON.stringify(again.json)).toContain("AX-77120")
    expect(again.body.match(/<summary by=/g)).toHaveLength(1)
  })
})

describe("the report and the Problem are accurate", () => {
  test("`before` is the original request, even if it was repaired", async () => {
    const body = chat(user("hi"), { role: "tool", tool_call_id: "c9", content: words(50) }, user("so?"))
    const one = await sent("openai-chat", body, { budgetTokens: 5000 })
    expect(one.report.remedy).toBe("repair")
    const whole = await compactRequest(one.body, { format: "openai-chat", budgetTokens: 5000 })
    expect(one.report.after).toEqual(whole.report.before)
    expect(one.report.before.outsideTokens).toBeLessThan(one.report.after.outsideTokens)
  })

  const note = { role: "system", content: words(400) }
  const named: readonly [piece: string, format: Format, body: string, pins: readonly string[]][] = [
    ["the latest user message and what belongs to it", "openai-chat", chat(user("a"), user(words(90))), []],
    ["system messages amid the conversation", "openai-chat", chat(user("a"), assistant("b"), note, user("c")), []],
    ["the pinned rules", "openai-chat", chat(user("a"), assistant(words(400)), user("c")), [words(400)]],
    [
      "the documents among the user's messages",
      "anthropic-messages",
      anthropic(
        user([
          { type: "text", text: `<system-reminder>\n${words(400)}\n</system-reminder>` },
          { type: "text", text: "hi" },
        ]),
        assistant("b"),
        user("c"),
      ),
      [],
    ],
    [
      "the provider's own compaction",
      "anthropic-messages",
      anthropic(user("a"), assistant([{ type: "compaction", content: words(400) }]), user("c")),
      [],
    ],
  ]
  test.each(named)("an impossible budget names %s", async (piece, format, body, pins) => {
    const problem = await problemOf(format, body, { budgetTokens: 150, pins })
    expect(problem).toMatchObject({ code: "budget-impossible", largest: expect.stringContaining(piece) })
    if (problem.code === "budget-impossible") expect(problem.neededTokens).toBeGreaterThan(150)
  })

  const invalid: readonly [why: string, options: object, option: string][] = [
    ["a summarizer that is none", { summarizer: "magic" }, "summarizer"],
    ["a summarizer that is nothing", { summarizer: null }, "summarizer"],
    ["a share that is no number", { strategyOptions: { headShare: Number.NaN } }, "strategyOptions.headShare"],
    [
      "a weight that is text",
      { strategyOptions: { weights: { reduction: "1" } } },
      "strategyOptions.weights.reduction",
    ],
    ["a policy that would switch compaction off", { policy: { compactAt: Number.NaN } }, "policy.compactAt"],
    ["a negative budget for a tool", { toolBudgets: { read: -1 } }, "toolBudgets.read"],
    ["a language that is no text", { language: 7 }, "language"],
  ]
  test.each(invalid)("%s is refused by name", async (_why, options, option) => {
    expect(await problemOf("openai-chat", chat(user("hi")), options)).toMatchObject({ code: "option-invalid", option })
  })

  test("a custom strategy that names unknown groups chooses none", async () => {
    const talk = Array.from({ length: 20 }, () => [user(words(40)), assistant(words(40))]).flat()
    const strategy = () => new Set(Array.from({ length: 99 }, (_, n) => n + 1000))
    const { report } = await sent("openai-chat", chat(...talk, user("So?")), { budgetTokens: 600, strategy })
    expect(report).toMatchObject({ remedy: "summary", strategy: "custom" })
  })
})
