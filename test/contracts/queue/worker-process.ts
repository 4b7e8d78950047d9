import { createInProcessQueue } from "../../../src/store/queue/create-queue.ts"
import { openPgBossQueue } from "../../../src/store/queue/pg-boss.ts"
import type { Queue } from "../../../src/store/queue/queue.ts"
import type { Store } from "../../../src/store/store.ts"

/** A process that works on a queue, for tests: it receives orders and reports what it did by messages. */
export type Order =
  | { readonly type: "add"; readonly key: string; readonly payload: string }
  | { readonly type: "work"; readonly concurrency: number }
  | { readonly type: "calm" }
  | { readonly type: "close" }

export type WorkerReport =
  | { readonly type: "ready" | "closed" }
  | { readonly type: "added"; readonly key: string; readonly added: boolean }
  | { readonly type: "started" | "done"; readonly key: string }

const [kind = "", place = "", lease = ""] = process.argv.slice(2)
const tell = (told: WorkerReport): void => void process.send?.(told)
const options = { leaseMs: Number(lease), pollMs: 50 }

async function openStore(): Promise<Store> {
  if (kind === "postgres")
    return (await import("../../../src/store/postgres-store.ts")).openPostgresStore({ url: place })
  return (await import("../../../src/store/sqlite-store.ts")).openSqliteStore({ path: place })
}

async function open(): Promise<Queue> {
  if (kind === "pg-boss") return openPgBossQueue({ url: place, ...options })
  const store = await openStore()
  const queue = createInProcessQueue(store.jobs, options)
  return { ...queue, close: () => queue.close().then(() => store.close()) }
}

const queue = await open()
const calm = Promise.withResolvers<void>()

const obey = async (order: Order): Promise<void> => {
  if (order.type === "calm") return calm.resolve()
  if (order.type === "add") {
    const { key, payload } = order
    return tell({ type: "added", key, added: await queue.add({ key, session: "s", kind: "test", payload }) })
  }
  if (order.type === "close") {
    await queue.close()
    tell({ type: "closed" })
    return process.disconnect()
  }
  await queue.work(
    async ({ key, payload }) => {
      tell({ type: "started", key })
      await (payload === '"wait"' ? calm.promise : new Promise((resolve) => setTimeout(resolve, 20)))
      tell({ type: "done", key })
    },
    { concurrency: order.concurrency },
  )
}

process.on("message", (order: Order) => void obey(order))
tell({ type: "ready" })
