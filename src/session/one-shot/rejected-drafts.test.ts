import { expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../../test/support/conversations.ts"
import type { RemedyEvent } from "../../compact/attempt.ts"
import { compact } from "../../compact/compact.ts"
import { separate } from "../../compact/stack/separate.ts"
import { type SizedGroup, type Strategy, strategies } from "../../compact/stages/strategies.ts"
import type { Summarize, Summary } from "../../compact/summary/summary.ts"
import type { CompactChoices, CompactTask } from "../../compact/task.ts"
import type { VerifyFailure } from "../../compact/verify.ts"
import type { Group } from "../../message/group.ts"
import { type Format, type Part, textOf, tokens, wireText } from "../../message/message.ts"
import type { PinnedRule } from "../../rules/pin.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { compactRequest } from "./compact-request.ts"
import type { CompactOptions } from "./options.ts"
import { choicesOf } from "./plan-request.ts"

/**
 * Compactions with a first draft that is broken in one way: the acceptance test rejects it for that alone, the trace says so, and the next
 * remedy is sent. The draft is broken by an option that any caller can pass (strategy, summarizer, meter) or, where no option reaches that
 * far, by a piece of the `CompactTask` that changes while the compaction waits.
 */

const budgetTokens = 900
const words = (count: number): string => Array.from({ length: count }, (_, n) => `word${n % 97}`).join(" ")

const round = (n: number, output = `part ${n}\n${words(120)}`): readonly ChatMessage[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: `c${n}`, type: "function", function: { name: "read_file", arguments: `{"path":"src/part${n}.ts"}` } },
    ],
  },
  { role: "tool", tool_call_id: `c${n}`, content: output },
]

const goal: ChatMessage = { role: "user", content: "Fix the parser in src/parse.ts. Never touch the lexer." }
const answer: ChatMessage = { role: "assistant", content: "I have read all of them." }
const question: ChatMessage = { role: "user", content: "What is left to do?" }
const rounds = Array.from({ length: 12 }, (_, n) => round(n)).flat()
const work: readonly ChatMessage[] = [goal, ...rounds, answer, question]
const talk: readonly ChatMessage[] = Array.from({ length: 40 }, (_, n) => ({
  role: n % 2 === 0 ? "user" : "assistant",
  content: `${n}: ${words(30)}`,
}))

type Outcome = { readonly body: string; readonly events: readonly RemedyEvent[] }

const remedyEvents = (events: readonly { readonly type: string }[]): readonly RemedyEvent[] =>
  events.filter((event): event is RemedyEvent => event.type.startsWith("remedy-"))

async function sendCompacted(
  messages: readonly ChatMessage[],
  options: Omit<CompactOptions, "format">,
): Promise<Outcome> {
  const { body, trace } = await compactRequest(bodyIn("openai-chat", messages), { format: "openai-chat", ...options })
  return { body, events: remedyEvents(trace) }
}

/** A summarizer that fails. It is asked when the first draft is made, and before that draft is tested. */
function failingSummarizer(whenAsked: () => void): Summarize {
  return () => {
    whenAsked()
    return Promise.reject(new Error("no summary today"))
  }
}

/** A strategy that drops a group of the first draft although it must stay. */
function dropping(isMeant: (group: Group) => boolean): Pick<CompactOptions, "strategy" | "summarizer"> {
  let harmful = true
  const strategy: Strategy = (choice) => {
    const chosen = strategies.staged.select(choice)
    const at = harmful ? choice.groups.findLastIndex(({ group }) => isMeant(group)) : -1
    Object.assign(choice.groups[at] ?? {}, { mandatory: false })
    return new Set([...chosen].filter((one) => one !== at))
  }
  const summarizer = failingSummarizer(() => {
    harmful = false
  })
  return { strategy, summarizer }
}

const isLastRound = ({ group }: SizedGroup): boolean => group.type === "tool-round"

/** A strategy that moves the end of the last tool round, so that its result belongs to no group. */
function partingPair(): Pick<CompactOptions, "strategy" | "summarizer"> {
  let moved: Group | undefined
  const strategy: Strategy = (choice) => {
    if (moved === undefined) {
      moved = choice.groups.findLast(isLastRound)?.group
      if (moved !== undefined) Object.assign(moved, { end: moved.end - 1 })
    }
    return strategies.staged.select(choice)
  }
  const summarizer = failingSummarizer(() => {
    if (moved !== undefined) Object.assign(moved, { end: moved.end + 1 })
  })
  return { strategy, summarizer }
}

const keepAll: Strategy = ({ groups }) => new Set(groups.keys())

/** A meter that counts a message as much larger than its text. */
function framingMeter(): Meter {
  const meter = createMeter({ model: "gpt-4o" })
  return { ...meter, message: (message) => tokens(meter.message(message) + 100) }
}

/** One character more than the longest text that is parsed as a digest. */
const giant = "x".repeat(4_000_001)

/** An earlier digest with one line. */
const recordWith = (text: string): Summary => ({
  schema: "handoff",
  sections: [{ name: "acts", lines: [{ text, state: "done", sources: [], channel: "memory", worth: 100 }] }],
})

/** A giant line in an earlier digest, and a meter that counts it as short until the first draft has been tested. */
function giantLine(): Promise<Outcome> {
  const meter = createMeter({ model: "gpt-4o" })
  let harmful = true
  const isGiant = (text: string): boolean => harmful && text.length >= giant.length
  const holdsGiant = (part: Part): boolean => isGiant(textOf(part))
  const counting: Meter = {
    ...meter,
    text: (text) =>
      isGiant(text) ? tokens(20) : tokens(text.length >= giant.length ? giant.length : meter.text(text)),
    part: (part) => (holdsGiant(part) ? tokens(20) : meter.part(part)),
    message: (message) => (message.parts.some(holdsGiant) ? tokens(24) : meter.message(message)),
  }
  const restore = (): void => {
    harmful = false
  }
  return compactWhile(
    "openai-chat",
    { spoil: () => undefined, restore },
    { earlier: recordWith(giant) },
    undefined,
    counting,
  )
}

async function sendWaiting(): Promise<Outcome> {
  const call = { type: "mcp_approval_request", id: "ask_1", server_label: "shop", name: "buy", arguments: "{}" }
  const parsed = JSON.parse(bodyIn("openai-responses", work))
  const { body, trace } = await compactRequest(JSON.stringify({ ...parsed, input: [...parsed.input, call] }), {
    format: "openai-responses",
    budgetTokens,
    ...dropping(({ pending }) => pending.length > 0),
  })
  return { body, events: remedyEvents(trace) }
}

type Change = { readonly spoil: () => void; readonly restore: () => void }

/** Pauses between the question to the summarizer and the end of the first test. */
const pausesInTest = 3

/** Compact directly, with a condition that changes when the first draft is made, and changes back when it has been tested. */
async function compactWhile(
  format: Format,
  { spoil, restore }: Change,
  choices: Partial<CompactChoices>,
  changeRequest: (task: CompactTask) => CompactTask["request"] = ({ request }) => request,
  meter: Meter = createMeter({ model: "gpt-4o" }),
): Promise<Outcome> {
  let pauses = Number.NEGATIVE_INFINITY
  // It is asked when a draft is made, and before that draft is tested.
  const summarizer: CompactChoices["summarizer"] = {
    writer: "custom",
    write: () => {
      if (pauses < 0) {
        spoil()
        pauses = 0
      }
      return Promise.resolve({ events: [] })
    },
  }
  const request = decodeRequest(format, bodyIn(format, work))
  const task: CompactTask = {
    format,
    request,
    messages: request.messages,
    separation: separate(request),
    meter,
    limits: { targetTokens: budgetTokens, hardTokens: budgetTokens },
    choices: Object.assign(choices, {
      ...choicesOf({ format }, meter),
      entry: { select: strategies.staged.select, micro: "even" },
      summarizer,
      ...choices,
    }),
    pause: () => {
      pauses++
      if (pauses === pausesInTest) restore()
      return Promise.resolve()
    },
  }
  const { wire, events } = await compact({ ...task, request: changeRequest(task) })
  return { body: wire, events: remedyEvents(events) }
}

function pinsThatGrow(): Promise<Outcome> {
  const pins: PinnedRule[] = [{ text: "Never touch the lexer, ever.", channel: "user" }]
  const late: PinnedRule = { text: "Ask before you push.", channel: "user" }
  return compactWhile("openai-chat", { spoil: () => pins.push(late), restore: () => pins.pop() }, { pins })
}

function systemThatChanges(): Promise<Outcome> {
  let isOther = false
  const set = (value: boolean) => (): void => {
    isOther = value
  }
  return compactWhile("anthropic-messages", { spoil: set(true), restore: set(false) }, {}, ({ request }) => ({
    ...request,
    get wire() {
      return isOther ? wireText(request.wire.replace("Never delete", "Often delete")) : request.wire
    },
  }))
}

/** A line that does not parse back: what was done is printed on one line. */
function lineThatReadsOtherwise(): Promise<Outcome> {
  const choices: Partial<CompactChoices> = { earlier: recordWith("ORD-77120\nwas cancelled") }
  const restore = (): unknown => Object.assign(choices, { digest: "none" })
  return compactWhile("openai-chat", { spoil: () => undefined, restore }, choices)
}

type Case = {
  readonly code: VerifyFailure["code"]
  readonly by: string
  readonly run: () => Promise<Outcome>
  /** The failures of every rejected draft; by default only this one. */
  readonly rejected?: readonly (readonly VerifyFailure["code"][])[]
  /** Text of the body that is sent. */
  readonly sent: string
}

const cases: readonly Case[] = [
  {
    code: "pair-broken",
    by: "a strategy that parts a result from its call",
    run: () => sendCompacted(work, { budgetTokens, ...partingPair() }),
    sent: "What is left to do?",
  },
  {
    code: "pin-missing",
    by: "a rule that is pinned while the compaction waits",
    run: pinsThatGrow,
    sent: "Never touch the lexer, ever.",
  },
  {
    code: "stack-changed",
    by: "a body whose system prompt changes while the compaction waits",
    run: systemThatChanges,
    sent: "Never delete a file.",
  },
  {
    code: "latest-user-message-missing",
    by: "a strategy that drops the latest message of the user",
    run: () => sendCompacted(work, { budgetTokens, ...dropping(({ type }) => type === "user") }),
    sent: "What is left to do?",
  },
  {
    code: "pending-lost",
    by: "a strategy that drops a call that waits for approval",
    run: sendWaiting,
    sent: "ask_1",
  },
  {
    code: "unread-cut",
    by: "a strategy that drops the result that the model has not read",
    run: () =>
      sendCompacted([goal, ...rounds, ...round(99, "the newest result")], {
        budgetTokens,
        ...dropping(({ type }) => type === "tool-round"),
      }),
    sent: "the newest result",
  },
  {
    code: "not-smaller",
    by: "a strategy that keeps everything, in a window with room for it",
    run: () =>
      sendCompacted([goal, ...talk, question], {
        windowTokens: 20_000,
        occasion: { asked: {} },
        strategy: keepAll,
        summarizer: "none",
      }),
    rejected: [["not-smaller", "over-budget"], ["not-smaller"]],
    sent: "What is left to do?",
  },
  {
    code: "over-budget",
    by: "a meter that counts a message as much larger than its text",
    run: () => sendCompacted([goal, ...talk, question], { budgetTokens: 660, meter: framingMeter() }),
    // The fallback is drafted again for less until it fits.
    rejected: [["over-budget"], ["over-budget"], ["over-budget"], ["over-budget"]],
    sent: "What is left to do?",
  },
  {
    code: "fence-broken",
    by: "a meter that counts a giant line as a short one",
    run: giantLine,
    sent: "What is left to do?",
  },
  {
    code: "line-missing",
    by: "an earlier record whose line reads otherwise than it was promised",
    run: lineThatReadsOtherwise,
    sent: "What is left to do?",
  },
]

test.each(cases)("$code, caused by $by, is in the trace, and the next remedy is sent", async (each) => {
  const { body, events } = await each.run()
  const rejected = events.flatMap((event) => (event.type === "remedy-rejected" ? [event.failures] : []))
  expect(rejected.map((failures) => failures.map(({ code }) => code))).toEqual(each.rejected ?? [[each.code]])
  expect(events.slice(rejected.length)).toMatchObject([{ type: "remedy-installed", remedy: "fallback" }])
  expect(body).toContain(each.sent)
  expect(body.length).toBeLessThan(giant.length)
})

test("every failure code of the acceptance test has a case", () => {
  const codes: Readonly<Record<VerifyFailure["code"], true>> = {
    "pair-broken": true,
    "pin-missing": true,
    "stack-changed": true,
    "latest-user-message-missing": true,
    "pending-lost": true,
    "unread-cut": true,
    "not-smaller": true,
    "over-budget": true,
    "fence-broken": true,
    "line-missing": true,
  }
  expect(cases.map(({ code }) => code).sort()).toEqual(Object.keys(codes).sort())
})
