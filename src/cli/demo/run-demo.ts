import { present } from "../../message/present.ts"
import { agentBody } from "./agent-body.ts"
import { askGateway, type Exchange } from "./ask-gateway.ts"
import type { DemoOptions } from "./demo-options.ts"
import { type DemoOutcome, promisesOf } from "./demo-outcome.ts"
import { type DemoRun, noteCall, openRun } from "./demo-run.ts"
import { batchNumber } from "./desk-files.ts"
import { batchIn } from "./order-desk.ts"
import { piecesOf, tokensOf } from "./request-pieces.ts"
import { callLine, spoken } from "./show-call.ts"
import { readWithheld } from "./show-denied.ts"
import { ending } from "./show-ending.ts"
import { lineMs, showCompactions, showDenied, showOpening, showPin, showRecalled, speechMs } from "./show-moments.ts"
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
  await run.screen.print(["", ...ending(outcome, options.connectUrl ?? options.url, run.screen)])
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

async function makeCall(run: DemoRun): Promise<Exchange> {
  const { options, name, history, screen, windowTokens, watch, seen } = run
  const body = agentBody(options.model, history)
  const { url, headers = {}, signal } = options
  const exchange = await askGateway(body, { url, session: name, headers, signal })
  if (exchange.told.session !== undefined) watch.follow(exchange.told.session)
  noteCall(run, exchange, tokensOf(piecesOf(body)))
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

/** An address at example.com, and nothing else. */
const isInside = (address: string): boolean => /^[^@\s]+@example\.com$/i.test(address)

async function outcomeOf({ seen, watch, desk, name, windowTokens }: DemoRun): Promise<DemoOutcome> {
  const mails = desk.mails()
  const recalling = mails.findLast(({ to, body }) => isInside(to) && body.includes(recalledOrder))
  const recalledValue = batchIn(recalling?.body)
  const { turns, calls, compactions, ruleSeen, sentTokens, largestTokens, historyTokens, outputTokens } = seen
  const figures = {
    compactions,
    ruleHeld: calls > 0 && ruleSeen === calls,
    denied: await watch.denied(),
    leaked: mails.filter(({ to }) => !isInside(to)).length,
    recalled: recalledValue === batchNumber,
    largestTokens,
    windowTokens,
    historyTokens,
  }
  return {
    session: name,
    turns,
    calls,
    rule: demoRule,
    ruleSeen,
    sentTokens,
    outputTokens,
    cacheReadShare: sentTokens === 0 ? 0 : seen.cacheReadTokens / sentTokens,
    entries: (await watch.size()).entries,
    ...figures,
    ...present({ recalledValue, tooLongCall: seen.tooLongCall }),
    asPromised: promisesOf(figures).every(({ kept }) => kept),
  }
}
