export type { FindOptions, RuleFinder } from "./find-rules.ts"
export { findRules } from "./find-rules.ts"
export type { Explicitness, FoundRule, Pin, PinPlace, PinScope, RuleKind } from "./pin.ts"
