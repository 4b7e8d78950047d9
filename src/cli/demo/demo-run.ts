import { randomUUID } from "node:crypto"
import type { AgentMessage } from "./agent-body.ts"
import type { Exchange } from "./ask-gateway.ts"
import { demoWindowTokens } from "./demo-names.ts"
import type { DemoOptions } from "./demo-options.ts"
import { findRule } from "./find-rule.ts"
import { createOrderDesk, type OrderDesk } from "./order-desk.ts"
import { createScreen, type Screen } from "./screen.ts"
import { demoRule } from "./story.ts"
import { type SessionWatch, watchSession } from "./watch-session.ts"

/** A run of the demo under way: what it is shown on and asked through, and what was seen so far. */
export type DemoRun = {
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

/** Running totals; nothing in them comes from the script. */
export type Seen = {
  turns: number
  calls: number
  compactions: number
  /** Requests that the rule stood in. */
  ruleSeen: number
  isPinShown: boolean
  /** The call whose result had the value in it that is asked for at the end. */
  valueCall: number
  sentTokens: number
  largestTokens: number
  historyTokens: number
  cacheReadTokens: number
  outputTokens: number
  /** The first call that the model would have refused as the agent sent it. */
  tooLongCall?: number
}

export function openRun(options: DemoOptions): DemoRun {
  const name = `demo-${(options.newId ?? randomUUID)()}`
  return {
    options,
    name,
    windowTokens: options.windowTokens ?? demoWindowTokens,
    screen: createScreen(options),
    watch: watchSession(options.holdfast, name),
    desk: createOrderDesk(),
    history: [],
    seen: {
      turns: 0,
      calls: 0,
      compactions: 0,
      ruleSeen: 0,
      isPinShown: false,
      valueCall: 0,
      sentTokens: 0,
      largestTokens: 0,
      historyTokens: 0,
      cacheReadTokens: 0,
      outputTokens: 0,
    },
  }
}

/** Take down what one call took, and whether the rule stood in the request that reached the model. */
export function noteCall({ seen, options, windowTokens }: DemoRun, { usage }: Exchange, historyTokens: number): void {
  seen.calls++
  seen.sentTokens += usage.inputTokens
  seen.cacheReadTokens += usage.cacheReadTokens
  seen.outputTokens += usage.outputTokens
  seen.largestTokens = Math.max(seen.largestTokens, usage.inputTokens)
  seen.historyTokens = historyTokens
  if (historyTokens > windowTokens) seen.tooLongCall ??= seen.calls
  if (findRule(options.sent(), demoRule) !== undefined) seen.ruleSeen++
}
