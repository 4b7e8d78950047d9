import { describes, type Fact } from "./fact.ts"

export type Focus = {
  /** Does a value belong to a record that was singled out: one of whose names somebody spoke of or passed to a tool? */
  readonly isInFocus: (fact: Fact) => boolean
  /** Does it belong to none such, while others with its label do? */
  readonly isPassedOver: (fact: Fact) => boolean
}

/** Of twenty records that a search lists, the one that is talked about is the one whose other values are needed. */
export function createFocus(facts: readonly Fact[]): Focus {
  const names = new Set<string>()
  for (const { kind, value, subject, said, usedInCalls } of facts) {
    if (describes(kind) || (said !== true && usedInCalls === 0)) continue
    names.add(value)
    if (subject !== undefined) names.add(subject)
  }
  const isInFocus = ({ value, subject }: Fact): boolean => names.has(subject ?? value)
  const labels = new Set<string>()
  for (const fact of facts) if (fact.labelFrom === "key" && isInFocus(fact)) labels.add(fact.label)
  return {
    isInFocus,
    isPassedOver: (fact) => fact.labelFrom === "key" && labels.has(fact.label) && !isInFocus(fact),
  }
}
