import type { Compacted } from "../compact/attempt.ts"
import { HoldfastError } from "../message/errors.ts"
import { textOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import { withinMs } from "../model/within-ms.ts"
import type { PrepareOptions, ViewBudget } from "./history/prepared.ts"
import type { HookOutcome, LogEvent } from "./log/event.ts"
import type { Live } from "./state/live.ts"
import type { BeforeCompact, BeforeInstall, CompactionReady } from "./state/options.ts"

/** Time limit for a hook, because it runs in the middle of a turn. */
const hookMs = 5_000

type HookName = Extract<LogEvent, { type: "hook-failed" }>["hook"]
type HookResult<Value> = { readonly value?: Value; readonly events: readonly LogEvent[] }

async function ask<Value>(hook: HookName, act: () => Value | Promise<Value>): Promise<HookResult<Value>> {
  try {
    const late = () => ({ code: "summarizer-late", limitMs: hookMs }) as const
    return { value: await withinMs(async () => act(), hookMs, late), events: [] }
  } catch (error) {
    const name = error instanceof HoldfastError ? "too late" : error instanceof Error ? error.name : typeof error
    return { events: [{ type: "hook-failed", hook, name }] }
  }
}

type HookDecision = {
  readonly cancelled?: boolean
  readonly focus?: string
  readonly summary?: string
  readonly events: readonly LogEvent[]
}

/** Asks the hook before a compaction. If the context does not fit otherwise, cancelling is overruled. */
export async function askBeforeCompact(
  live: Live,
  budgeted: ViewBudget,
  options: PrepareOptions,
): Promise<HookDecision> {
  const { beforeCompact } = live.options.hooks ?? {}
  const { plan, contextTokens, fits } = budgeted
  if (beforeCompact === undefined || plan.type !== "compact") return { events: [] }
  const { value, events } = await ask<BeforeCompact | undefined>("before-compact", () =>
    beforeCompact({
      session: live.id,
      contextTokens,
      targetTokens: plan.targetTokens,
      reasons: plan.reasons,
      mustFit: !fits,
      ...present({ focus: options.focus ?? plan.focus }),
    }),
  )
  if (value === undefined) return { events }
  const cancelled = value.cancel === true && fits
  const steered = value.summary !== undefined ? "replaced" : value.focus !== undefined ? "focused" : "went-on"
  const outcome: HookOutcome = value.cancel !== true ? steered : fits ? "cancelled" : "overruled"
  return {
    cancelled,
    events: [...events, { type: "hook-ran", hook: "before-compact", outcome }],
    ...present({ focus: value.focus, summary: value.summary }),
  }
}

export async function askBeforeInstall(
  live: Live,
  compacted: Compacted,
  { mustFit }: { readonly mustFit: boolean },
): Promise<{ readonly vetoed?: boolean; readonly events: readonly LogEvent[] }> {
  const { beforeInstall } = live.options.hooks ?? {}
  if (beforeInstall === undefined) return { events: [] }
  const { value, events } = await ask<BeforeInstall | undefined>("before-install", () =>
    beforeInstall({ ...readyOf(live, compacted), mustFit }),
  )
  if (value?.veto !== true) return { events }
  return {
    vetoed: !mustFit,
    events: [...events, { type: "hook-ran", hook: "before-install", outcome: mustFit ? "overruled" : "vetoed" }],
  }
}

export async function tellAfterCompact(
  live: Live,
  compacted: Compacted,
  checkpoint: string,
): Promise<readonly LogEvent[]> {
  const { afterCompact } = live.options.hooks ?? {}
  if (afterCompact === undefined) return []
  return (await ask("after-compact", () => afterCompact({ ...readyOf(live, compacted), checkpoint }))).events
}

function readyOf(
  { id }: Live,
  { remedy, beforeTokens, afterTokens, events }: Compacted,
): Omit<CompactionReady, "mustFit"> {
  const dropped = events.flatMap((event) => (event.type === "messages-dropped" ? event.messageIds : []))
  const digest = events.flatMap((event) =>
    event.type === "message-installed" && event.role === "digest" ? [event.message.parts.map(textOf).join("")] : [],
  )[0]
  return { session: id, remedy, beforeTokens, afterTokens, droppedMessages: dropped.length, ...present({ digest }) }
}
