export type { MessageLike } from "./history/frame.ts"
export type { Prepared, PrepareOptions, Receipt } from "./history/prepared.ts"
export type { StackReceipt } from "./history/session-stack.ts"
export type { Holdfast } from "./holdfast.ts"
export { createHoldfast } from "./holdfast.ts"
export type { Change, Explanation, HistoryEntry, Overview } from "./inspect.ts"
export type { Recalled } from "./recall.ts"
export type { JudgedResponse, Recorded, SessionGuarding } from "./record.ts"
export type { PinOptions, SessionPin } from "./rules/pins.ts"
export type { Acknowledged, CompactionResult, Prepare, Session, SessionStack } from "./session.ts"
export type { StackOption, StackOptions } from "./stack/stack-options.ts"
export type { NewEvent, SessionEvent } from "./state/events.ts"
export type {
  BeforeCompact,
  BeforeInstall,
  CompactionAhead,
  CompactionDone,
  CompactionReady,
  HoldfastOptions,
  Hooks,
} from "./state/options.ts"
