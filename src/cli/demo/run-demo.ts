import { randomUUID } from "node:crypto"
import { HoldfastError } from "../../message/errors.ts"
import { callsIn, type ModelResponse, type ToolCallPart, tokens, type Usage } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { callModel } from "../../model/call-model.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import { seqOf } from "../../session/log/entry.ts"
import type { Session } from "../../session/session.ts"
import { tokensOfPieces } from "../../tokens/prompt-cache.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { StreamEvent } from "../../wire/stream.ts"
import { collectEnd, collectStep, startCollect } from "../../wire/stream-steps.ts"
import { count, number, wrap } from "../terminal/output.ts"
import { blocksInCacheOrder, demoModel, demoWindowTokens as windowTokens } from "./demo-model.ts"
import { batchNumber, createOrderDesk, deskToolList, deskTools, plantedText } from "./order-desk.ts"
import {
  callLine,
  columnHeads,
  compactionBox,
  createScreen,
  deniedBox,
  findRule,
  labelled,
  percent,
  readWithheld,
  remark,
  type Screen,
  type ScreenOptions,
} from "./show.ts"
import script from "./story.json" with { type: "json" }
import { batchIn, demoRule, recalledOrder, story } from "./story.ts"

/** The options of a run of the demo. */
export type DemoOptions = ScreenOptions & {
  /** The base URL of the gateway, without a slash at the end. */
  readonly url: string
  /** The gateway's sessions, from which figures are read. */
  readonly holdfast: Holdfast
  /** The last request that reached the model. */
  readonly sent: () => string | undefined
  /** Headers added to the agent's own, such as a gateway's token. */
  readonly headers?: Readonly<Record<string, string>>
  /** The command lines that connect real agents to the gateway, by program; missing if nothing listens after the demo. */
  readonly clients?: readonly { readonly program: string; readonly line: string }[]
}

/** Limit on calls: the script has some twenty; more is a loop. */
const maxCalls = 60

/** Pauses after a line, after a message, and after a box, to read them. */
const lineMs = 400
const speechMs = 900
const boxMs = 2400

/**
 * Runs the agent of a fictional order desk through the gateway, and prints what happens. The agent is a plain client; the facts about
 * compactions, rules and denied calls are read from the session's log and from the requests that reached the model.
 */
export async function runDemo(options: DemoOptions): Promise<DemoOutcome> {
  const run = openRun(options)
  const { screen } = run
  const words = `The model is a script (${demoModel}) on this machine, and its prompt cache is simulated. The gateway between agent and model is the real one: it counts, compacts, keeps the rule and judges the calls.`
  const title = "holdfast demo: an order desk's agent, in a window too small for it"
  const opening = [...wrap(title, screen.width).map(screen.bold), ...wrap(words, screen.width), ""]
  await screen.print([...opening, ...columnHeads(windowTokens, screen)], speechMs)
  for (const { says } of story) await takeTurn(run, says)
  const outcome = await outcomeOf(run)
  await screen.print(["", ...ending(outcome, options.clients, screen)])
  return outcome
}

const nothingSeen = {
  ...{ turns: 0, calls: 0, compactions: 0, ruleSeen: 0 },
  ...{ sentTokens: 0, largestTokens: 0, historyTokens: 0, cacheReadTokens: 0, outputTokens: 0 },
  isPinShown: false,
  /** The number of the call whose result had the value that is asked for at the end. */
  valueCall: 0,
}

/** The state of a run in progress. */
type DemoRun = {
  readonly options: DemoOptions
  readonly name: string
  readonly screen: Screen
  readonly desk: ReturnType<typeof createOrderDesk>
  /** The agent's own history, which only grows. */
  readonly history: AgentMessage[]
  readonly seen: typeof nothingSeen & { tooLongCall?: number }
  /** Compactions that were shown. */
  readonly told: Set<string>
  /** The session, under the id that the gateway gave it. */
  session: Session
}

function openRun(options: DemoOptions): DemoRun {
  const name = `demo-${randomUUID()}`
  const session = options.holdfast.session(name)
  const made = { screen: createScreen(options), desk: createOrderDesk() }
  return { options, name, session, ...made, history: [], seen: { ...nothingSeen }, told: new Set() }
}

/** One turn of the user: model calls and tools until the model has nothing more to call. */
async function takeTurn(run: DemoRun, says: string): Promise<void> {
  const { screen, history, seen, desk } = run
  seen.turns++
  await screen.print(["", ...spoken("You", says, screen)], speechMs)
  history.push({ role: "user", content: [{ type: "text", text: says }] })
  while (seen.calls < maxCalls) {
    const { content, calls, text } = await makeCall(run)
    history.push({ role: "assistant", content })
    if (calls.length === 0) return screen.print(spoken("Model", text, screen))
    const results = calls.map(({ callId, tool, input }) => ({
      type: "tool_result",
      tool_use_id: callId,
      content: desk.run({ tool, input: isObject(input) ? input : {} }),
    }))
    if (results.some(({ content: output }) => output.includes(batchNumber))) seen.valueCall = seen.calls
    history.push({ role: "user", content: results })
  }
}

const speakerMargin = 7

const spoken = (who: "You" | "Model", text: string, { width, bold, dim }: Screen): readonly string[] =>
  labelled(who.padEnd(speakerMargin), text, width, who === "You" ? bold : dim)

type Fields = Readonly<Record<string, unknown>>

type AgentMessage = { readonly role: "user" | "assistant"; readonly content: readonly Fields[] }

/** A response of the model: its blocks, as they are sent back in the history, and their text and calls. */
type AgentAnswer = {
  readonly content: readonly Fields[]
  readonly text: string
  readonly calls: readonly ToolCallPart[]
  readonly usage: Usage
}

/** Makes one model call, and prints everything about it. */
async function makeCall(run: DemoRun): Promise<AgentAnswer> {
  const { history, screen, seen, desk } = run
  const body = agentBody(history)
  const answer = await askGateway(run, body)
  noteCall(run, answer.usage, tokensOfPieces(blocksInCacheOrder(body)))
  await showCompactions(run)
  const { calls, usage } = answer
  const withheld = readWithheld(answer.text)
  await screen.print(
    [callLine({ call: seen.calls, calls, usage, windowTokens, withheld: withheld?.tool }, screen)],
    lineMs,
  )
  await showPin(run)
  if (withheld !== undefined) {
    const beside = { planted: plantedText, mails: desk.mails().length, others: calls.map(({ tool }) => tool) }
    await screen.print(deniedBox(withheld, beside, screen), boxMs)
  }
  await showRecalled(run, calls)
  return answer
}

const format = "anthropic-messages"
/** Limits of a response: the longest of the script has some kilobytes and arrives at once. */
const limits = { timeoutMs: 60_000, maxResponseBytes: 4 * 1024 * 1024, retries: 0 }

/** Calls the gateway like any client of Anthropic's API. Only the header with the session's name is specific to Holdfast. */
async function askGateway(run: DemoRun, body: object): Promise<AgentAnswer> {
  const { url, headers, signal, holdfast } = run.options
  signal.throwIfAborted()
  const called = await callModel(
    {
      ...{ format, baseUrl: url, apiKey: "holdfast-demo", model: demoModel, ...limits },
      headers: { "x-holdfast-session": run.name, ...headers },
    },
    { body: JSON.stringify(body), stream: true, signal },
  )
  const named = called.headers["x-holdfast-session"]
  if (named !== undefined) run.session = holdfast.session(named)
  const { messages, usage = noUsage } = called.type === "whole" ? called.response : await collected(called.events)
  const parts = messages.flatMap((message) => message.parts)
  return {
    content: parts.map((part) => tryParse(part.wire ?? "")).filter(isObject),
    text: parts
      .flatMap((part) => (part.type === "text" ? part.text : []))
      .join("\n")
      .trim(),
    calls: callsIn(messages),
    usage,
  }
}

const none = tokens(0)
const noUsage: Usage = { inputTokens: none, outputTokens: none, cacheReadTokens: none, cacheWriteTokens: none }

/** Collects the response of a stream; throws if it is incomplete. */
async function collected(events: AsyncIterable<StreamEvent>): Promise<ModelResponse> {
  let state = startCollect(format)
  for await (const event of events) {
    if (event.type === "error") throw new HoldfastError(event.problem)
    state = collectStep(state, event)
  }
  return collectEnd(state)
}

const breakpoint = { cache_control: { type: "ephemeral" } }

/** The agent's request: always its whole history, with breakpoints after the system part and the last block, as agents set them. */
function agentBody(history: readonly AgentMessage[]): object {
  const last = history.at(-1)
  const marked = last?.content.map((block, n) => (n === last.content.length - 1 ? { ...block, ...breakpoint } : block))
  return {
    model: demoModel,
    max_tokens: 1000,
    stream: true,
    system: [{ type: "text", text: script.system, ...breakpoint }],
    tools: deskToolList,
    messages: [...history.slice(0, -1), ...(last === undefined ? [] : [{ role: last.role, content: marked }])],
  }
}

/** Notes the usage of a call, and whether the request that reached the model contained the rule. */
function noteCall({ seen, options }: DemoRun, usage: Usage, historyTokens: number): void {
  seen.calls++
  seen.sentTokens += usage.inputTokens
  seen.cacheReadTokens += usage.cacheReadTokens
  seen.outputTokens += usage.outputTokens
  seen.largestTokens = Math.max(seen.largestTokens, usage.inputTokens)
  seen.historyTokens = historyTokens
  if (historyTokens > windowTokens) seen.tooLongCall ??= seen.calls
  if (findRule(options.sent(), demoRule) !== undefined) seen.ruleSeen++
}

/** Prints the compactions that were made for this call, oldest first. */
async function showCompactions({ session, told, seen, screen, options, history }: DemoRun): Promise<void> {
  const { checkpoints, branches } = await session.overview()
  for (const { id } of checkpoints.toReversed()) {
    const [entry] = told.has(id) ? [] : await session.history({ from: seqOf(id) ?? 0, limit: 1 })
    if (entry?.body?.type !== "checkpoint-installed") continue
    told.add(id)
    const sent = options.sent()
    const shown = {
      title: `compaction ${++seen.compactions} (${id} in the log)`,
      body: entry.body,
      ...{ rule: demoRule, place: findRule(sent, demoRule), value: batchNumber },
      latestWhole: findRule(sent, story[seen.turns - 1]?.says ?? demoRule) !== undefined,
      ...{ agentMessages: history.length, logMessages: branches[0]?.messages ?? 0 },
    }
    await screen.print(compactionBox(shown, screen), boxMs)
  }
}

/** Prints once that the rule is pinned. */
async function showPin({ session, seen, screen }: DemoRun): Promise<void> {
  if (seen.isPinShown || !(await session.pins()).some(({ text }) => text === demoRule)) return
  seen.isPinShown = true
  await screen.print(remark(`Pinned, found in your words: "${demoRule}"`, screen), speechMs)
}

/** Prints the old value when the model is about to send it. */
async function showRecalled({ screen, seen }: DemoRun, calls: AgentAnswer["calls"]): Promise<void> {
  const input = calls.find(({ tool }) => tool === deskTools.sendEmail)?.input
  const value = batchIn(isObject(input) ? input.body : undefined)
  if (value === undefined) return
  const since = `read in call ${number(seen.valueCall)}, ${count(seen.compactions, "compaction")} ago`
  const words = value === batchNumber ? `exact, though it was ${since}` : `WRONG: it is ${batchNumber}, ${since}`
  await screen.print(remark(`The batch number in it is ${value}: ${words}.`, screen), speechMs)
}

const isInside = (address: string): boolean => /^[^@\s]+@example\.com$/i.test(address)

/** The facts of a run. None is taken from the script: all are read from responses, requests and the log. */
async function factsOf({ seen, session, desk, name }: DemoRun) {
  const mails = desk.mails()
  const recalling = mails.findLast(({ to, body }) => isInside(to) && body.includes(recalledOrder))
  const recalledValue = batchIn(recalling?.body)
  const { isPinShown: _, valueCall: __, cacheReadTokens, ...figures } = seen
  const { calls, ruleSeen, sentTokens } = figures
  const judged = (await session.history()).flatMap(({ body }) => (body?.type === "calls-judged" ? body.calls : []))
  return {
    session: name,
    ...figures,
    rule: demoRule,
    /** Every request that reached the model contained the rule verbatim. */
    ruleHeld: calls > 0 && ruleSeen === calls,
    /** Number of calls that the guard withheld from the agent. */
    denied: judged.filter((call) => call.decision !== "allow" && call.enforced && call.approved !== true).length,
    /** Number of e-mails that the agent's own tool sent to an address outside; must be 0. */
    leaked: mails.filter(({ to }) => !isInside(to)).length,
    /** True if the model used the right value at the end, which was read before the compactions. */
    recalled: recalledValue === batchNumber,
    windowTokens,
    /** Share of the tokens sent to the model that was read from its (simulated) cache. */
    cacheReadShare: sentTokens === 0 ? 0 : cacheReadTokens / sentTokens,
    entries: (await session.overview()).entries,
    ...present({ recalledValue }),
  }
}

type DemoFacts = Awaited<ReturnType<typeof factsOf>>

export type DemoOutcome = DemoFacts & { readonly asPromised: boolean }

async function outcomeOf(run: DemoRun): Promise<DemoOutcome> {
  const facts = await factsOf(run)
  return { ...facts, asPromised: promisesOf(facts).every(({ kept }) => kept) }
}

function promisesOf({ compactions, largestTokens, historyTokens, ruleHeld, denied, leaked, recalled }: DemoFacts) {
  const fits = compactions > 0 && historyTokens > windowTokens && largestTokens <= windowTokens
  return [
    { promise: "the session outgrew the window, and no request did", kept: fits },
    { promise: "the rule stood in every request, word for word", kept: ruleHeld },
    { promise: "the forbidden call was withheld, and nothing got out", kept: denied > 0 && leaked === 0 },
    { promise: "the exact value from before was still there", kept: compactions > 0 && recalled },
  ]
}

/** Width of the column that says whether a promise was kept. */
const promiseMargin = 10

/** The closing lines: the figures of this run, and how to continue with a real agent. */
function ending(outcome: DemoOutcome, clients: DemoOptions["clients"], screen: Screen): readonly string[] {
  const { bold, good, bad, width } = screen
  const { turns, calls, compactions, historyTokens, largestTokens, sentTokens, cacheReadShare, tooLongCall } = outcome
  const refused =
    tooLongCall === undefined
      ? ""
      : ` As the agent sent it, the model would have refused it from call ${tooLongCall} on.`
  const sentences = [
    `${count(turns, "turn")}, ${count(calls, "model call")}, ${count(compactions, "compaction")}. The agent's own history came to ${number(historyTokens)} tokens; no request had more than ${number(largestTokens)} of the ${number(windowTokens)} that the model can hold.${refused}`,
    `${number(sentTokens)} tokens were sent in all, and ${percent(cacheReadShare)} of them read from the model's cache (simulated: the model is a script, and its figures are no real model's).`,
  ]
  const promises = promisesOf(outcome).flatMap(({ promise, kept }) =>
    labelled((kept ? "  ok" : "  FAILED").padEnd(promiseMargin), promise, width, kept ? good : bad),
  )
  const [heading = "", ...next] =
    clients === undefined
      ? nextLines
      : [
          "Your own agent, with your own key: point it here",
          ...clients.map(({ program, line }) => `  ${program.padEnd(clientMargin)}${line}`),
        ]
  return [
    bold("What happened"),
    ...sentences.flatMap((sentence) => wrap(sentence, width)),
    ...promises,
    outcome.asPromised ? good("All as promised.") : bad("Not as promised."),
    "",
    bold(heading),
    ...next,
  ]
}

/** Width of the column with the name of a client. */
const clientMargin = 10

/** The closing lines of a demo by itself, after which no gateway listens. */
const nextLines: readonly string[] = [
  "Your own agent, with your own login or key",
  "  holdfast wrap claude   (codex, gemini, opencode, pi, qwen, or any command)",
  "This demo in a gateway that stays, to look at in a browser",
  "  holdfast serve --demo  and then, beside it: holdfast open",
  "What it would have done in sessions that you already have",
  "  holdfast replay --mine",
]
