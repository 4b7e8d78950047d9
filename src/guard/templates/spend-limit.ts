import { cedarString } from "../policy-text.ts"
import { type Draft, requireAmount, type UseOptions } from "../template.ts"

/** No purchase above a sum; what the session has spent before counts if the caller says so. */
export type SpendLimit = UseOptions & {
  readonly template: "spend-limit"
  readonly amount: number
  /** In three letters; USD unless given. */
  readonly currency?: string
  /** What of a purchase that names no sum? Refused unless told otherwise. */
  readonly unnamed?: "deny" | "allow"
}

export function spendLimit({ amount, currency = "USD", unnamed = "deny" }: SpendLimit): Draft {
  const minor = Math.round(requireAmount("amount", amount) * 100)
  const code = currency.toUpperCase()
  return {
    rule: `No purchase or payment above ${amount} ${code} without approval.`,
    instead: `Stay within ${amount} ${code} in all, or ask the user to approve it.`,
    when: [
      `context.actions.contains("purchase") && context.spend + context.spent > ${minor}`,
      `context.actions.contains("purchase") && !([${cedarString(code)}].containsAll(context.currencies))`,
      ...(unnamed === "deny" ? [`context.actions.contains("purchase") && !context.amountNamed`] : []),
    ],
  }
}
