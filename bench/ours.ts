import { existsSync } from "node:fs"
import { type Plan, planContext } from "../src/compact/plan/plan.ts"
import { defaultPolicy } from "../src/compact/plan/policy.ts"
import { type Group, groupTurns } from "../src/message/group.ts"
import { type ModelRequest, type Tokens, type Transcript, tokens } from "../src/message/message.ts"
import { createMeter, type Meter } from "../src/tokens/meter.ts"
import { createTally, type Tally, tailStart, tallyTranscript, tokensBetween } from "../src/tokens/tally.ts"
import { decodeNext, decodeRequest } from "../src/wire/decode.ts"
import { encodeRequest } from "../src/wire/encode.ts"

/** Our own calls, from the text of a request to the text of a smaller one, in the form in which they are timed. */
export type Ours = {
  readonly name: string
  /** Receives the text once before the clock starts, for anything that a running process would already hold. */
  readonly prepare: (text: string) => (text: string, budgetTokens: number) => Promise<string>
}

export type Step = "read" | "count" | "group" | "decide" | "cut and write"

/** Lets a profile record when each step is done. */
export type Note = (step: Step) => void

/**
 * Returns what the planner is told of a request. The floor is what no compaction may leave out: all that is not history, and the newest
 * message.
 */
function sizesOf(request: ModelRequest, groups: readonly Group[], tally: Tally, meter: Meter, windowTokens: Tokens) {
  const overhead = meter.overhead(request)
  let largest = 0
  for (const { parts } of request.messages) {
    for (const part of parts) if (part.type === "tool-result") largest = Math.max(largest, meter.part(part))
  }
  const first = request.messages[0]?.role === "system" ? tokensBetween(tally, 0, 1) : 0
  return {
    contextTokens: tokens(overhead + tally.total),
    windowTokens,
    reserveTokens: tokens(0),
    floorTokens: tokens(overhead + first + tokensBetween(tally, tally.length - 1, tally.length)),
    unreadTokens: tokens(0),
    toolOutputTokens: tokens(largest),
    toolRounds: groups.filter(({ type }) => type === "tool-round").length,
  }
}

/** Keeps the system messages and the newest groups that fit: the simplest way to carry out a plan. */
function cut(messages: Transcript, groups: readonly Group[], tally: Tally, budget: number): Transcript {
  const kept = messages[0]?.role === "system" ? 1 : 0
  const room = tokens(Math.max(0, Math.floor(budget - tokensBetween(tally, 0, kept))))
  const from = tailStart(tally, room)
  const start = groups.find((group) => group.start >= Math.max(from, kept))?.start ?? messages.length
  return [...messages.slice(0, kept), ...messages.slice(start)]
}

/** Reads, counts, groups, plans, cuts and writes a request. */
export function planRequest(
  request: ModelRequest,
  known: Tally,
  budgetTokens: number,
  note: Note,
): { readonly plan: Plan; readonly text: string } {
  const { meter } = known
  const tally = tallyTranscript(known, request.messages)
  note("count")
  const groups = groupTurns(request.messages)
  note("group")
  const sizes = sizesOf(request, groups, tally, meter, tokens(budgetTokens))
  const plan = planContext(sizes, {}, { ...defaultPolicy, lowWater: 1 })
  note("decide")
  if (plan.type !== "compact") return { plan, text: request.wire }
  const messages = cut(request.messages, groups, tally, plan.targetTokens - meter.overhead(request))
  const text = encodeRequest(request, { messages })
  note("cut and write")
  return { plan, text }
}

const quiet: Note = () => {}

export async function planText(text: string, budgetTokens: number, note: Note = quiet): Promise<string> {
  const request = decodeRequest("openai-chat", text)
  note("read")
  return planRequest(
    request,
    createTally(createMeter(request.model === undefined ? {} : { model: request.model })),
    budgetTokens,
    note,
  ).text
}

/** Returns the previous request: all but the last message. */
function previousOf(text: string): string {
  const { messages, ...rest } = JSON.parse(text)
  return JSON.stringify({ ...rest, messages: messages.slice(0, -1) })
}

type CompactRequest = (
  body: string,
  options: { readonly format: "openai-chat"; readonly budgetTokens: number },
) => Promise<{ readonly body: unknown }>

/** Returns undefined until it is built; if the file exists and does not load, that is an error. */
async function findCompactRequest(): Promise<CompactRequest | undefined> {
  for (const place of ["../src/session/one-shot/compact-request.ts"]) {
    const url = new URL(place, import.meta.url)
    if (!existsSync(url)) continue
    const { compactRequest } = await import(url.href)
    if (typeof compactRequest === "function") return compactRequest
  }
  return undefined
}

export const oursNames = ["holdfast compactRequest", "holdfast plan", "holdfast plan, history known"] as const

/** Returns one of our rows, or undefined if it is not built. */
export async function openOurs(name: string, systemTokens = 0): Promise<Ours | undefined> {
  if (name === "holdfast plan") return { name, prepare: () => planText }
  if (name === "holdfast plan, history known") return { name, prepare: prepareKnown }
  const compactRequest = await findCompactRequest()
  if (compactRequest === undefined) return undefined
  // Our budget bounds what is outside the prompt stack; a peer's bounds everything.
  const run = async (text: string, budgetTokens: number): Promise<string> => {
    const options = { format: "openai-chat", budgetTokens: Math.max(1, budgetTokens - systemTokens) } as const
    const { body } = await compactRequest(text, options)
    return typeof body === "string" ? body : JSON.stringify(body)
  }
  return { name, prepare: () => run }
}

/** Measures as a gateway works: the previous request is held, decoded and counted. */
function prepareKnown(text: string): (text: string, budgetTokens: number) => Promise<string> {
  const previous = decodeRequest("openai-chat", previousOf(text))
  const known = tallyTranscript(
    createTally(createMeter(previous.model === undefined ? {} : { model: previous.model })),
    previous.messages,
  )
  return async (next, budgetTokens) => planRequest(decodeNext(previous, next), known, budgetTokens, quiet).text
}
