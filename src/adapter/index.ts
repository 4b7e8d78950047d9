export type { TurnResult, TurnStream } from "./turn.ts"
export { streamTurn, turn } from "./turn.ts"
export type {
  ContextBudget,
  Steer,
  Steering,
  SteeringMessage,
  SummarizeDropped,
  ToolOutput,
  ToolRun,
  TurnAgent,
  TurnCompaction,
  TurnEvent,
  TurnModel,
  TurnOptions,
  TurnSoFar,
  TurnTool,
} from "./turn-options.ts"
export { createSteering, turnSoFar } from "./turn-options.ts"
export type { TurnRequest, TurnSession } from "./turn-session.ts"
