export type { Steer, Steering, SteeringMessage } from "./steering.ts"
export { createSteering } from "./steering.ts"
export type { TurnStream } from "./stream-turn.ts"
export { streamTurn } from "./stream-turn.ts"
export type { TurnResult } from "./turn.ts"
export { turn } from "./turn.ts"
export type { TurnEvent } from "./turn-event.ts"
export type {
  ContextBudget,
  SummarizeDropped,
  TurnAgent,
  TurnCompaction,
  TurnModel,
  TurnOptions,
} from "./turn-options.ts"
export type { TurnRequest, TurnSession } from "./turn-session.ts"
export type { TurnSoFar } from "./turn-so-far.ts"
export { turnSoFar } from "./turn-so-far.ts"
export type { ToolOutput, ToolRun, TurnTool } from "./turn-tool.ts"
