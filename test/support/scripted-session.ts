import type { Prepared } from "../../src/session/history/prepared.ts"
import type { Holdfast } from "../../src/session/holdfast.ts"
import type { Recorded } from "../../src/session/record.ts"
import type { Acknowledged, Session } from "../../src/session/session.ts"

/** A made-up conversation, long enough for everything that a session does. */

export type Wire = { readonly role: string; readonly content: string | null; readonly [member: string]: unknown }

const words = "order file total region invoice parser limit account report module draft table north refund".split(" ")

/** Returns meaningless words, always the same for a seed. */
export const babble = (seed: number, length: number): string =>
  Array.from({ length }, (_, n) => words[(seed * 7 + n * n + n) % words.length]).join(" ")

export const userSays = (n: number, length = 40): Wire => ({
  role: "user",
  content: `Request ${n}: look at order A-${n}. ${babble(n, length)}`,
})

export const toolRound = (n: number, length = 120): readonly Wire[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: [
      {
        id: `call_${n}`,
        type: "function",
        function: { name: "read_file", arguments: JSON.stringify({ path: `src/order-${n}.ts` }) },
      },
    ],
  },
  {
    role: "tool",
    tool_call_id: `call_${n}`,
    content: Array.from({ length }, (_, line) => `row ${line} of file ${n}: ${babble(line, 2)}`).join("\n"),
  },
]

export const answerTo = (n: number): Wire => ({ role: "assistant", content: `Order A-${n} is done. ${babble(n, 25)}` })

/** Returns a model's answer in the form of OpenAI Chat Completions. */
export const completion = (message: Wire, promptTokens: number) => ({
  id: "completion",
  object: "chat.completion",
  model: "any",
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage: { prompt_tokens: promptTokens, completion_tokens: 20, total_tokens: promptTokens + 20 },
})

/** Observer of a script: it is told what was said and prepared, and may stop the script by throwing. */
export type Witness = {
  readonly said: (session: string, messages: readonly Wire[], how: Acknowledged | Recorded) => Promise<void>
  readonly prepared: (session: Session, prepared: Prepared, latest: string) => Promise<void>
  /** A requested operation was refused. */
  readonly refused: (error: unknown) => void
  readonly pinned: (text: string) => void
  /** A good time to wait for background work. */
  readonly pause: (holdfast: Holdfast) => Promise<void>
}

/** Runs an operation; a refusal is reported, and the script continues. */
async function attempt<Value>(witness: Witness, act: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await act()
  } catch (error) {
    witness.refused(error)
    return undefined
  }
}

const system = "You are careful."

async function turn(session: Session, n: number, witness: Witness): Promise<string> {
  const user = userSays(n)
  const asked = await session.append([user])
  await witness.said(session.id, [user], asked)
  await prepareTurn(session, String(user.content), witness)
  const round = toolRound(n)
  const done = await session.append(round)
  await witness.said(session.id, round, done)
  const prepared = await prepareTurn(session, String(user.content), witness)
  const answer = answerTo(n)
  const recorded = await session.record(completion(answer, tokensOf(prepared)))
  await witness.said(session.id, [answer], recorded)
  return prepared?.wire ?? ""
}

/** A provider that counts tokens as we do. */
const tokensOf = (prepared: Prepared | undefined): number => prepared?.receipt.contextTokens ?? 1000

async function prepareTurn(session: Session, latest: string, witness: Witness): Promise<Prepared | undefined> {
  const prepared = await attempt(witness, () => session.prepare({ system }))
  if (prepared !== undefined) await witness.prepared(session, prepared, latest)
  return prepared
}

/** Runs everything that can be done with a session whose history is kept in the log. */
export async function runLogScript(holdfast: Holdfast, witness: Witness): Promise<void> {
  const session = holdfast.session("log")
  const rule = "Ask before you refund an order."
  await session.pin(rule)
  witness.pinned(rule)
  let wire = ""
  for (let n = 1; n <= 3; n++) wire = await turn(session, n, witness)
  await witness.pause(holdfast)
  for (let n = 4; n <= 5; n++) wire = await turn(session, n, witness)
  const compacted = await attempt(witness, () => session.compact({ system, focus: "order A-3" }))
  if (compacted !== undefined) {
    const { trace, receipt } = compacted
    await witness.said(session.id, [], { entries: [], trace, durable: receipt.durable })
  }
  wire = `${wire}${await turn(session, 6, witness)}`
  await attempt(witness, () => session.undo())
  await turn(session, 7, witness)
  const handle = /hf-\d+-[0-9a-f]{20}/.exec(wire)?.[0]
  if (handle !== undefined) await attempt(witness, () => session.recall(handle))
  const fork = await attempt(witness, () => session.fork("fork"))
  if (fork !== undefined) await prepareTurn(fork, String(userSays(7).content), witness)
  await attempt(witness, () => session.search({ text: "order" }))
  await witness.pause(holdfast)
}

/** Runs a client that sends its whole history each time, and once rewinds and says something else. */
export async function runClientScript(holdfast: Holdfast, witness: Witness): Promise<readonly Wire[]> {
  const session = holdfast.session("client")
  let history: readonly Wire[] = []
  for (let n = 1; n <= 5; n++) {
    const user = userSays(n)
    history = [...(n === 3 ? history.slice(0, 5) : history), user]
    await send(session, history, String(user.content), witness)
    history = [...history, ...toolRound(n)]
    const prepared = await send(session, history, String(user.content), witness)
    const answer = answerTo(n)
    history = [...history, answer]
    const recorded = await attempt(witness, () => session.record(completion(answer, tokensOf(prepared))))
    if (recorded !== undefined) await witness.said(session.id, [], recorded)
    if (n === 4) await witness.pause(holdfast)
  }
  await witness.pause(holdfast)
  return history
}

async function send(
  session: Session,
  history: readonly Wire[],
  latest: string,
  witness: Witness,
): Promise<Prepared | undefined> {
  const body = JSON.stringify({ model: "any", messages: [{ role: "system", content: system }, ...history] })
  const prepared = await attempt(witness, () => session.prepare({ body }))
  if (prepared !== undefined) await witness.prepared(session, prepared, latest)
  return prepared
}
