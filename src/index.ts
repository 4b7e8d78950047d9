export * from "./browser.ts"
export type { CallFacts, ToolCall } from "./guard/facts/facts.ts"
export { factsOf } from "./guard/facts/facts.ts"
export type { Decision, Guard, GuardOptions, Verdict } from "./guard/guard.ts"
export { createGuard, joinGuards } from "./guard/guard.ts"
export { guardEvents, guardSse } from "./guard/guard-events.ts"
export type { GuardedResponse } from "./guard/guard-response.ts"
export { guardResponse } from "./guard/guard-response.ts"
export type { Approve, Guarding, GuardUse, JudgedCall } from "./guard/judge-call.ts"
export { deniedResult, deniedResults } from "./guard/judge-call.ts"
export * from "./guard/operator/index.ts"
export type { Circumstances } from "./guard/policy/condition.ts"
export type { PolicyInput } from "./guard/policy/policies.ts"
export { schemaText } from "./guard/policy/schema.ts"
export type { TemplateName, TemplateUse } from "./guard/policy/templates.ts"
export { templateNames } from "./guard/policy/templates.ts"
export * from "./session/index.ts"
export type { Redaction } from "./session/log/redact.ts"
export type { Memory, Remembered } from "./session/memory/memory.ts"
export { createMemoryStore } from "./store/memory-store.ts"
export { openStore } from "./store/open-store.ts"
export { openPostgresStore } from "./store/postgres-store.ts"
export { pruneSessions } from "./store/prune.ts"
export { createInProcessQueue } from "./store/queue/in-process.ts"
export { openPgBossQueue } from "./store/queue/pg-boss.ts"
export type { Handler, Queue } from "./store/queue/queue.ts"
export { exportSession, importSession } from "./store/session-file.ts"
export { openSqliteStore } from "./store/sqlite-store.ts"
export type {
  Appended,
  Batch,
  Head,
  Job,
  JobStore,
  MemoryHit,
  MemoryQuery,
  MemoryRow,
  MemoryStore,
  SessionRow,
  Store,
  StoredEntry,
} from "./store/store.ts"
