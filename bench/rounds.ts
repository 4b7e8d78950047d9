import { compactRequest } from "../src/session/one-shot/compact-request.ts"
import type { CompactOptions } from "../src/session/one-shot/options.ts"
import { countO200k } from "../src/tokens/counter.ts"
import { keepNewest } from "./baselines.ts"
import { type ChatMessage, countMessages } from "./chat.ts"
import { compactWith, peers } from "./peers.ts"
import type { Planted } from "./planted.ts"
import { makeRoundsSession, type RoundsSession } from "./rounds-session.ts"

/** Ten compactions of one long session, one after the other, each of the previous one's result: what is still present after each? */

type Round = {
  readonly round: number
  readonly rules: number
  readonly facts: number
  /** Of the values changed by then, how many are present with their current value. */
  readonly current: number
  /** How many of the replaced values are present without being marked as replaced. */
  readonly stale: number
  readonly tokens: number
}
type Row = { readonly name: string; readonly rounds: readonly Round[] }
export type Report = { readonly budgetTokens: number; readonly segmentTokens: number; readonly rows: readonly Row[] }

/** Size after each round; a segment is three times that. */
const budgetTokens = 10_000

type Compactor = (messages: readonly ChatMessage[]) => Promise<readonly ChatMessage[]>

const holdfast =
  (options: Partial<CompactOptions>): Compactor =>
  async (messages) =>
    (await compactRequest({ model: "gpt-4o", messages }, { ...options, format: "openai-chat", budgetTokens })).body
      .messages

const textOf = (messages: readonly ChatMessage[]): string =>
  messages
    .map((message) =>
      [message.content ?? "", "tool_calls" in message ? JSON.stringify(message.tool_calls) : ""].join("\n"),
    )
    .join("\n")

const share = (kept: number, all: number): number => (all === 0 ? 1 : kept / all)

function measure(session: RoundsSession, context: readonly ChatMessage[], round: number): Round {
  const text = textOf(context)
  const seen = <Item extends Planted>(items: readonly Item[]): readonly Item[] =>
    items.filter(({ segment }) => segment <= round)
  const rules = seen(session.rules)
  const facts = seen(session.facts)
  const changed = session.updates.filter(({ current }) => current.segment <= round)
  return {
    round,
    rules: share(rules.filter(({ sentence }) => text.includes(sentence)).length, rules.length),
    facts: share(facts.filter(({ value }) => text.includes(value)).length, facts.length),
    current: share(changed.filter(({ current }) => text.includes(current.value)).length, changed.length),
    stale: changed.filter(({ stale }) => isPresentUnmarked(text, stale.value)).length,
    tokens: countMessages(context, countO200k),
  }
}

/** True if a value is present and nothing says that it was replaced. */
const isPresentUnmarked = (text: string, value: string): boolean =>
  text.includes(value) && !text.includes(`${value} (superseded)`) && !text.includes(`${value}\` (superseded)`)

/** Runs the engine with its defaults, in as many rounds as the session has segments. */
export const oursInRounds = (session: RoundsSession): Promise<Row> =>
  rounds(session, "holdfast, extractive", holdfast({}))

async function rounds(session: RoundsSession, name: string, compacting: Compactor): Promise<Row> {
  let context: readonly ChatMessage[] = []
  const measured: Round[] = []
  for (const [round, segment] of session.segments.entries()) {
    context = await compacting([...context, ...segment])
    measured.push(measure(session, context, round))
  }
  return { name, rounds: measured }
}

export async function run(): Promise<Report> {
  const session = makeRoundsSession()
  const segmentTokens = Math.round(countMessages(session.segments.flat(), countO200k) / session.segments.length)
  const rows = [
    await oursInRounds(session),
    await rounds(session, "recency, no digest", holdfast({ strategy: "recency", summarizer: "none" })),
    await rounds(session, "keep the newest", async (messages) => keepNewest(messages, budgetTokens, countO200k)),
  ]
  for (const peer of peers.filter(({ simulatedModel }) => simulatedModel === true)) {
    rows.push(
      await rounds(
        session,
        peer.name,
        async (messages) => (await compactWith(peer, messages, budgetTokens, countO200k)).messages,
      ),
    )
  }
  return { budgetTokens, segmentTokens, rows }
}

const percent = (value: number): string => `${Math.round(100 * value)} %`.padStart(7)

export function print({ rows, segmentTokens }: Report): void {
  console.log(`\nTen compactions in a row: about ${segmentTokens} new tokens each, ${budgetTokens} left after each.`)
  for (const { name, rounds: measured } of rows) {
    console.log(`\n${name}`)
    console.log(`  round            ${measured.map(({ round }) => String(round + 1).padStart(7)).join("")}`)
    console.log(`  rules, verbatim  ${measured.map(({ rules }) => percent(rules)).join("")}`)
    console.log(`  facts            ${measured.map(({ facts }) => percent(facts)).join("")}`)
    console.log(`  current values   ${measured.map(({ current }) => percent(current)).join("")}`)
    console.log(`  stale, unmarked  ${measured.map(({ stale }) => String(stale).padStart(7)).join("")}`)
  }
}
