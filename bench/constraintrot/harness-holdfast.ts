import { createHoldfast, type HoldfastOptions, type Prepared } from "../../src/index.ts"
import { countO200k } from "../../src/tokens/counter.ts"
import { isObject } from "../../src/wire/json.ts"
import type { ChatMessage, ToolCall } from "../chat.ts"
import { type AgentView, type Harness, keepsAll, windowTokens } from "./harness.ts"
import type { Spec, StrategyName } from "./spec.ts"
import { chatTools } from "./tools.ts"

/** Our own rows, through the public entry points only: a session that is appended to during the episode and prepared for each call. */

const strategyNames: Readonly<Record<StrategyName, NonNullable<HoldfastOptions["strategy"]>>> = {
  summarize: "staged",
  hierarchical: "hierarchical",
  "head-tail": "head-tail",
  "recency-truncate": "recency",
}

/** Window of a session that keeps everything: nothing here fills it. */
const wideWindow = 200_000
const maxOutputTokens = 200
/** Number of turns between two model calls; each call is a chance to compact. */
const turnsPerCall = 2

export const holdfastHarness: Harness = async (episode, spec, summarizer) => {
  const holdfast = createHoldfast({
    store: "memory",
    format: "openai-chat",
    model: "gpt-4o",
    windowTokens: keepsAll(spec) ? wideWindow : windowTokens,
    strategy: strategyNames[spec.strategy],
    summarizer: ({ text }) => summarizer(text, spec.budgetWords),
    maxWaitMs: 30_000,
    now: () => 0,
    ...pinned(spec, episode.rules),
    ...(spec.row === "holdfast-rules-guard" ? { guard: { fromRules: "enforce" } } : {}),
  })
  const session = holdfast.session("episode")
  let compactions = 0
  let refusals = 0
  const prepare = async (): Promise<AgentView> => {
    const prepared = await session.prepare({ system: episode.system, tools: chatTools, maxOutputTokens })
    if (prepared.trace.some(({ type }) => type === "checkpoint-installed")) compactions++
    return shownBy(prepared, compactions)
  }
  for (const [n, turn] of [...episode.segments.flat(), ...episode.recent].entries()) {
    await session.append(turn)
    if (n % turnsPerCall === turnsPerCall - 1) await prepare()
  }
  await session.append([episode.trigger])
  const shown = await prepare()
  const own = spec.row === "holdfast-rules-guard" ? await session.guarding() : undefined
  return {
    shown,
    ...(own === undefined ? {} : { guard: own.guard }),
    refuse: async (called, told) => {
      const id = `refused_${++refusals}`
      const call: ToolCall = { id, type: "function", function: called }
      await session.append([
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: id, content: told },
      ])
      return prepare()
    },
    close: () => holdfast.close(),
  }
}

const pinned = ({ row, channel }: Spec, rules: readonly string[]): Pick<HoldfastOptions, "pins"> =>
  row === "holdfast-operator" && channel !== "system" && rules.length > 0 ? { pins: rules } : {}

const isMessage = (value: unknown): value is ChatMessage =>
  isObject(value) && typeof value.role === "string" && (typeof value.content === "string" || value.content === null)

/** Returns the messages of the body as it would be sent; a list of parts is read as its text. */
export function messagesIn(body: string | object): readonly ChatMessage[] {
  const list: unknown = isObject(body) ? body.messages : undefined
  return (Array.isArray(list) ? list : []).map((one: unknown) => {
    const plain = isObject(one) && Array.isArray(one.content) ? { ...one, content: textIn(one.content) } : one
    const whole = isObject(plain) && plain.content === undefined ? { ...plain, content: null } : plain
    if (!isMessage(whole)) throw new Error("a message of another shape")
    return whole
  })
}

const textIn = (parts: readonly unknown[]): string =>
  parts.flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : [])).join("\n")

/** Returns our own blocks of rules: before the conversation, and the operator's in the system part. */
const pinsIn = (text: string): readonly string[] =>
  text.match(/^<pins[\s\S]*<\/pins[-\d]*>|<operator-rules by="holdfast">[\s\S]*?<\/operator-rules>/g) ?? []

function shownBy({ body, receipt }: Prepared, compactions: number): AgentView {
  const messages = messagesIn(body)
  const pins = messages.flatMap(({ role, content }) =>
    role === "user" || role === "system" ? pinsIn(content ?? "") : [],
  )
  return {
    messages,
    compactions,
    pinTokens: pins.reduce((sum, text) => sum + countO200k(text), 0),
    contextTokens: receipt.contextTokens,
  }
}
