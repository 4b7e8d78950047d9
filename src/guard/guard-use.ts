import { HoldfastError } from "../message/errors.ts"
import type { ToolCall } from "./facts/facts.ts"
import type { Guard, Verdict } from "./guard.ts"
import type { Circumstances } from "./policy/context.ts"
import { shown } from "./policy/template.ts"

/** Who decides on a call that a policy wants a person to see. Whatever is not `true`, in time, is a no. */
export type Approve = (call: ToolCall, verdict: Verdict, signal: AbortSignal) => Promise<boolean> | boolean

/** How a guard is put to use on the calls of an answer. */
export type GuardUse = {
  /** `enforce` withholds what is refused; `observe` changes nothing and only says what would have happened. The first unless given. */
  readonly mode?: "enforce" | "observe"
  /** Without it, a call that needs approval is refused. */
  readonly approve?: Approve
  readonly askTimeoutMs?: number
  readonly circumstances?: Circumstances
}

/** A guard together with how it is used, for an option of someone else's. */
export type Guarding = GuardUse & { readonly guard: Guard }

/** How long a person has to approve a call: some minutes, which is about as long as clients keep a silent connection. */
export const usualAskTimeoutMs = 120_000

/** The longest wait that a timer takes (2^31 - 1 ms). */
const longestMs = 2_147_483_647

/** Refuse what cannot be meant: a mode with a typing error must not become one that lets through. */
export function checkGuardUse({ mode, approve, askTimeoutMs }: GuardUse, prefix = ""): void {
  const wrong = (option: string, expected: string, found: unknown): never => {
    throw new HoldfastError({ code: "option-invalid", option: `${prefix}${option}`, expected, found: shown(found) })
  }
  if (mode !== undefined && mode !== "enforce" && mode !== "observe") wrong("mode", "enforce or observe", mode)
  if (approve !== undefined && typeof approve !== "function") wrong("approve", "a function", approve)
  const sound = Number.isSafeInteger(askTimeoutMs) && Number(askTimeoutMs) >= 1 && Number(askTimeoutMs) <= longestMs
  if (askTimeoutMs !== undefined && !sound) wrong("askTimeoutMs", `a whole number from 1 to ${longestMs}`, askTimeoutMs)
}
