export { createMemoryStore } from "./memory-store.ts"
export { openStore } from "./open-store.ts"
export { openPostgresStore } from "./postgres-store.ts"
export { pruneSessions } from "./prune.ts"
export { createInProcessQueue } from "./queue/create-queue.ts"
export { openPgBossQueue } from "./queue/pg-boss.ts"
export type { Handler, Queue } from "./queue/queue.ts"
export { exportSession, importSession } from "./session-file.ts"
export { openSqliteStore } from "./sqlite-store.ts"
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
} from "./store.ts"
