import { randomUUID } from "node:crypto"
import { present } from "../../message/present.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import { tokensOfPieces } from "../../tokens/prompt-cache.ts"
import { count, number } from "../terminal/output.ts"
import { askGateway, type DemoExchange } from "./ask-gateway.ts"
import { blocksInCacheOrder } from "./demo-model.ts"
import { type DemoOptions, type DemoOutcome, demoWindowTokens, promisesOf } from "./demo-options.ts"
import {
  batchIn,
  batchNumber,
  createOrderDesk,
  deskToolList,
  deskTools,
  type OrderDesk,
  plantedText,
} from "./order-desk.ts"

import {
  callLine,
  columnHeads,
  compactionBox,
  createScreen,
  deniedBox,
  findRule,
  percent,
  readWithheld,
  remark,
  type Screen,
  spoken,
  type ToldCompaction,
  tellCompaction,
  type Withheld,
  wrapText,
} from "./show.ts"
import { demoRule, recalledOrder, story } from "./story.ts"

/** The script has some twenty calls; an agent that makes more goes round in circles. */
const maxCalls = 60

/**
 * A made-up order desk's agent at work through the gateway, told in the terminal as it happens. The agent is a plain client; what is
 * told of compactions, rules and refusals is read from the session's log and from the requests that reached the model.
 */
export async function runDemo(options: DemoOptions): Promise<DemoOutcome> {
  const run = openRun(options)
  await showOpening(run)
  for (const { says } of story) await takeTurn(run, says)
  const outcome = await outcomeOf(run)
  await run.screen.print(["", ...ending(outcome, options.connectUrl, run.screen)])
  return outcome
}

/** One turn of the user: model calls and tools until the model has nothing more to call. */
async function takeTurn(run: DemoRun, says: string): Promise<void> {
  const { screen, history, seen, desk } = run
  seen.turns++
  await screen.print(["", ...spoken("You", says, screen)])
  await screen.pause(speechMs)
  history.push({ role: "user", content: [{ type: "text", text: says }] })
  while (seen.calls < maxCalls) {
    const { content, calls, text } = await makeCall(run)
    history.push({ role: "assistant", content })
    if (calls.length === 0) return screen.print(spoken("Model", text, screen))
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: desk.run(call) }))
    if (results.some(({ content: output }) => output.includes(batchNumber))) seen.valueCall = seen.calls
    history.push({ role: "user", content: results })
  }
}

async function makeCall(run: DemoRun): Promise<DemoExchange> {
  const { options, name, history, screen, windowTokens, watch, seen } = run
  const body = agentBody(options.model, history)
  const { url, headers = {}, signal } = options
  const exchange = await askGateway(body, { url, session: name, headers, signal })
  if (exchange.session !== undefined) watch.follow(exchange.session)
  noteCall(run, exchange, tokensOfPieces(blocksInCacheOrder(body)))
  await showCompactions(run)
  const withheld = readWithheld(exchange.text)
  const shown = { call: seen.calls, exchange, windowTokens, ...present({ withheld: withheld?.tool }) }
  await screen.print([callLine(shown, screen)])
  await screen.pause(lineMs)
  await showPin(run)
  if (withheld !== undefined) await showDenied(run, withheld, exchange)
  await showRecalled(run, exchange)
  return exchange
}

const isInside = (address: string): boolean => /^[^@\s]+@example\.com$/i.test(address)

async function outcomeOf({ seen, watch, desk, name, windowTokens }: DemoRun): Promise<DemoOutcome> {
  const mails = desk.mails()
  const recalling = mails.findLast(({ to, body }) => isInside(to) && body.includes(recalledOrder))
  const recalledValue = batchIn(recalling?.body)
  const { isPinShown: _, valueCall: __, cacheReadTokens, ...figures } = seen
  const { calls, ruleSeen, sentTokens } = figures
  const outcome = {
    session: name,
    ...figures,
    rule: demoRule,
    ruleHeld: calls > 0 && ruleSeen === calls,
    denied: await watch.denied(),
    leaked: mails.filter(({ to }) => !isInside(to)).length,
    recalled: recalledValue === batchNumber,
    windowTokens,
    cacheReadShare: sentTokens === 0 ? 0 : cacheReadTokens / sentTokens,
    entries: (await watch.size()).entries,
    ...present({ recalledValue }),
  }
  return { ...outcome, asPromised: promisesOf(outcome).every(({ kept }) => kept) }
}

/** In which stands whether a promise was kept. */
const margin = 10

/** What happened, in the figures of this run; and how to go on with a real agent. */
function ending(outcome: DemoOutcome, url: string | undefined, screen: Screen): readonly string[] {
  const { bold, good, bad, width } = screen
  const { turns, calls, compactions, historyTokens, largestTokens, windowTokens } = outcome
  const { sentTokens, cacheReadShare, tooLongCall } = outcome
  const refused =
    tooLongCall === undefined
      ? ""
      : ` As the agent sent it, the model would have refused it from call ${tooLongCall} on.`
  const sentences = [
    `${count(turns, "turn")}, ${count(calls, "model call")}, ${count(compactions, "compaction")}. The agent's own history came to ${number(historyTokens)} tokens; no request had more than ${number(largestTokens)} of the ${number(windowTokens)} that the model can hold.${refused}`,
    `${number(sentTokens)} tokens were sent in all, and ${percent(cacheReadShare)} of them read from the model's cache (simulated: the model is a script, and its figures are no real model's).`,
  ]
  const promises = promisesOf(outcome).flatMap(({ promise, kept }) =>
    wrapText(promise, width - margin).map((line, n) => {
      const mark = n > 0 ? "".padEnd(margin) : kept ? good("  ok".padEnd(margin)) : bad("  FAILED".padEnd(margin))
      return `${mark}${line}`
    }),
  )
  return [
    bold("What happened"),
    ...sentences.flatMap((sentence) => wrapText(sentence, width)),
    ...promises,
    outcome.asPromised ? good("All as promised.") : bad("Not as promised."),
    "",
    ...(url === undefined ? nextLines.map((line, n) => (n === 0 ? bold(line) : line)) : connectLines(url, bold)),
  ]
}

/** Nothing listens any more when a demo by itself has ended. */
const nextLines: readonly string[] = [
  "Your own agent, with your own login or key",
  "  holdfast wrap claude   (codex, gemini, opencode, pi, qwen, or any command)",
  "This demo in a gateway that stays, to look at in a browser",
  "  holdfast serve --demo  and then, beside it: holdfast open",
  "What it would have done in sessions that you already have",
  "  holdfast replay --mine",
]

/** One line for each kind of client. */
function connectLines(url: string, bold: (text: string) => string): readonly string[] {
  return [
    bold("Your own agent, with your own key: point it here"),
    `  Claude Code   ANTHROPIC_BASE_URL=${url} claude`,
    `  Gemini CLI    GOOGLE_GEMINI_BASE_URL=${url} gemini`,
    `  Codex         config.toml: base_url = "${url}/v1"`,
    `  OpenAI SDKs   OPENAI_BASE_URL=${url}/v1`,
    `  Anthropic SDK ANTHROPIC_BASE_URL=${url}`,
  ]
}

/** Time to read a line, what someone says, and a box. */
const lineMs = 400
const speechMs = 900
const boxMs = 2400

async function showOpening({ screen, windowTokens, options }: DemoRun): Promise<void> {
  const words = `The model is a script (${options.model}) on this machine, and its prompt cache is simulated. The gateway between agent and model is the real one: it counts, compacts, keeps the rule and judges the calls.`
  await screen.print([
    ...wrapText("holdfast demo: an order desk's agent, in a window too small for it", screen.width).map(screen.bold),
    ...wrapText(words, screen.width),
    "",
    ...columnHeads(windowTokens, screen),
  ])
  await screen.pause(speechMs)
}

/** The compactions that were made for this call. */
async function showCompactions(run: DemoRun): Promise<void> {
  const { watch, seen, screen, options, history } = run
  for (const told of await watch.compactions()) {
    const sent = options.sent()
    const shown = {
      told,
      ordinal: ++seen.compactions,
      ruleText: demoRule,
      rule: findRule(sent, demoRule),
      latestWhole: findRule(sent, story[seen.turns - 1]?.says ?? demoRule) !== undefined,
      ledgerLine: told.digest.split("\n").find((line) => line.includes(batchNumber)),
      agentMessages: history.length,
      logMessages: (await watch.size()).messages,
    }
    await screen.print(compactionBox(shown, screen))
    await screen.pause(boxMs)
  }
}

/** Said once, as soon as the rule is among those that stand. */
async function showPin({ watch, seen, screen }: DemoRun): Promise<void> {
  if (seen.isPinShown || !(await watch.isPinned(demoRule))) return
  seen.isPinShown = true
  await screen.print(remark(`Pinned, found in your words: "${demoRule}"`, screen))
  await screen.pause(speechMs)
}

async function showDenied({ screen, desk }: DemoRun, withheld: Withheld, { calls }: DemoExchange): Promise<void> {
  const beside = { planted: plantedText, mails: desk.mails().length, others: calls.map(({ tool }) => tool) }
  await screen.print(deniedBox(withheld, beside, screen))
  await screen.pause(boxMs)
}

/** The value of long ago, where the model is about to send it. */
async function showRecalled({ screen, seen }: DemoRun, { calls }: DemoExchange): Promise<void> {
  const mail = calls.find(({ tool }) => tool === deskTools.sendEmail)
  const value = batchIn(mail?.input.body)
  if (value === undefined) return
  const since = `read in call ${number(seen.valueCall)}, ${count(seen.compactions, "compaction")} ago`
  const words = value === batchNumber ? `exact, though it was ${since}` : `WRONG: it is ${batchNumber}, ${since}`
  await screen.print(remark(`The batch number in it is ${value}: ${words}.`, screen))
  await screen.pause(speechMs)
}

/** A run of the demo under way: what it is shown on and asked through, and what was seen so far. */
type DemoRun = {
  readonly options: DemoOptions
  readonly name: string
  readonly windowTokens: number
  readonly screen: Screen
  readonly watch: SessionWatch
  readonly desk: OrderDesk
  /** The agent's own, which only grows. */
  readonly history: AgentMessage[]
  readonly seen: Seen
}

const nothingSeen = {
  ...{ turns: 0, calls: 0, compactions: 0, ruleSeen: 0 },
  ...{ sentTokens: 0, largestTokens: 0, historyTokens: 0, cacheReadTokens: 0, outputTokens: 0 },
  isPinShown: false,
  /** The call whose result had the value in it that is asked for at the end. */
  valueCall: 0,
}

/** Running totals of what the outcome tells; nothing in them comes from the script. */
type Seen = typeof nothingSeen & { tooLongCall?: number }

function openRun(options: DemoOptions): DemoRun {
  const name = `demo-${(options.newId ?? randomUUID)()}`
  return {
    options,
    name,
    windowTokens: options.windowTokens ?? demoWindowTokens,
    screen: createScreen(options),
    watch: watchSession(options.holdfast, name),
    desk: createOrderDesk(),
    history: [],
    seen: { ...nothingSeen },
  }
}

/** Take down what one call took, and whether the rule stood in the request that reached the model. */
function noteCall({ seen, options, windowTokens }: DemoRun, { usage }: DemoExchange, historyTokens: number): void {
  seen.calls++
  seen.sentTokens += usage.inputTokens
  seen.cacheReadTokens += usage.cacheReadTokens
  seen.outputTokens += usage.outputTokens
  seen.largestTokens = Math.max(seen.largestTokens, usage.inputTokens)
  seen.historyTokens = historyTokens
  if (historyTokens > windowTokens) seen.tooLongCall ??= seen.calls
  if (findRule(options.sent(), demoRule) !== undefined) seen.ruleSeen++
}

type SessionWatch = ReturnType<typeof watchSession>

/** Look at a session from outside, while an agent uses it through the gateway. */
function watchSession(holdfast: Holdfast, name: string) {
  const seen = new Set<string>()
  let session = holdfast.session(name)
  return {
    /** The session goes by this name, as the gateway says. */
    follow: (id: string): void => {
      session = holdfast.session(id)
    },
    /** Compactions since the last look, oldest first. */
    compactions: async (): Promise<readonly ToldCompaction[]> => {
      const { checkpoints } = await session.overview()
      const fresh = checkpoints.filter(({ id }) => !seen.has(id)).reverse()
      for (const { id } of fresh) seen.add(id)
      const told = await Promise.all(fresh.map(({ id }) => tellCompaction(session, id)))
      return told.filter((one) => one !== undefined)
    },
    /** Is a rule in force, verbatim? */
    isPinned: async (rule: string) => (await session.pins()).some(({ text }) => text === rule),
    /** Calls that the log says were refused, and kept from the agent. */
    denied: async () => {
      const judged = (await session.history()).flatMap(({ body }) => (body?.type === "calls-judged" ? body.calls : []))
      return judged.filter(({ decision, enforced, approved }) => decision !== "allow" && enforced && approved !== true)
        .length
    },
    /** Entries in the log, and messages on the branch that the session is on. */
    size: async () => {
      const { entries, branches } = await session.overview()
      return { entries, messages: branches[0]?.messages ?? 0 }
    },
  }
}

type Fields = Readonly<Record<string, unknown>>

type AgentMessage = { readonly role: "user" | "assistant"; readonly content: readonly Fields[] }

/** Room for an answer. */
const maxTokens = 1000

const breakpoint = { cache_control: { type: "ephemeral" } }

const system =
  "You are the assistant of the order desk of Tern Coffee, a made-up roastery. Use the tools to find out what was asked, say what you found in a sentence or two, and keep the exact names and numbers."

/** The agent's request: its whole history every time, with breakpoints behind the system part and the last block, as agents set them. */
function agentBody(model: string, history: readonly AgentMessage[]): object {
  const messages = history.map(({ role, content }, n) => ({
    role,
    content:
      n === history.length - 1 ? content.map((block, at) => withBreakpoint(block, at === content.length - 1)) : content,
  }))
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    system: [{ type: "text", text: system, ...breakpoint }],
    tools: deskToolList,
    messages,
  }
}

const withBreakpoint = (block: Fields, isLast: boolean): Fields => (isLast ? { ...block, ...breakpoint } : block)
