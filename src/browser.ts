/** The root door where there is no Node: what of it computes, and touches nothing. Its types are those of `index.ts`. */

export { streamTurn, turn } from "./adapter/turn.ts"
export { createSteering, turnSoFar } from "./adapter/turn-options.ts"
export { scan } from "./compact/gate/scan.ts"
export { defaultPolicy } from "./compact/plan/policy.ts"
export { describe, HoldfastError } from "./message/errors.ts"
export { formats } from "./message/message.ts"
export { findRules } from "./rules/find-rules.ts"
export { compactRequest, replayTrace } from "./session/one-shot/compact-request.ts"
export { createModelFinder } from "./session/one-shot/summarizer.ts"
