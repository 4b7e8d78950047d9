import type { Holdfast } from "../../session/holdfast.ts"
import type { ScreenOptions } from "./show.ts"

/** All that a run of the demo needs. */
export type DemoOptions = ScreenOptions & {
  /** The base URL of the gateway, without a slash at the end. */
  readonly url: string
  readonly model: string
  /** The sessions that the gateway keeps, to be looked at from outside. */
  readonly holdfast: Holdfast
  /** The last request that reached the model. */
  readonly sent: () => string | undefined
  /** The model's window; that of the demo's model unless given. */
  readonly windowTokens?: number
  /** Sent beside the agent's own headers, such as a gateway's token. */
  readonly headers?: Readonly<Record<string, string>>
  /** The address that real agents are told to connect to; left out if nothing listens after the demo. */
  readonly connectUrl?: string
  readonly newId?: () => string
}

/** The scripted model's name; nothing that goes by it is a real model. */
export const demoModel = "holdfast-demo"

/** Its window: small, so that a session of some twenty calls outgrows it twice. */
export const demoWindowTokens = 14_000

/** What was seen in a run of the demo. Nothing in it is taken from the script: it is read from answers, requests and the log. */
export type DemoOutcome = {
  readonly session: string
  readonly turns: number
  readonly calls: number
  readonly compactions: number
  readonly rule: string
  /** In how many of the requests that reached the model the rule stood word for word. */
  readonly ruleSeen: number
  readonly ruleHeld: boolean
  /** Calls that the guard kept from the agent. */
  readonly denied: number
  /** E-mails that the agent's own tool sent to an address outside; must be 0. */
  readonly leaked: number
  /** The value from before the compactions that the model used at the end, and whether it is the right one. */
  readonly recalledValue?: string
  readonly recalled: boolean
  readonly windowTokens: number
  /** All tokens that reached the model, the most in one request, and what the agent's whole history would take by now. */
  readonly sentTokens: number
  readonly largestTokens: number
  readonly historyTokens: number
  readonly outputTokens: number
  /** The first call that the model would have refused, had it been sent as the agent wrote it. */
  readonly tooLongCall?: number
  /** Share of the tokens sent to the model that was read from its (simulated) cache. */
  readonly cacheReadShare: number
  readonly entries: number
  readonly asPromised: boolean
}

/** The promises of the demo, each with whether it was kept. */
export function promisesOf(
  seen: Omit<DemoOutcome, "asPromised">,
): readonly { readonly promise: string; readonly kept: boolean }[] {
  const { compactions, largestTokens, windowTokens, historyTokens } = seen
  const fits = compactions > 0 && historyTokens > windowTokens && largestTokens <= windowTokens
  return [
    { promise: "the session outgrew the window, and no request did", kept: fits },
    { promise: "the rule stood in every request, word for word", kept: seen.ruleHeld },
    { promise: "the forbidden call was withheld, and nothing got out", kept: seen.denied > 0 && seen.leaked === 0 },
    { promise: "the exact value from before was still there", kept: seen.compactions > 0 && seen.recalled },
  ]
}
