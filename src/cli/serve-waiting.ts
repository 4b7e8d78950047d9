import { setTimeout as sleep } from "node:timers/promises"
import { listenWithoutStore } from "../gateway/listen-without-store.ts"
import { HoldfastError, type Problem } from "../message/errors.ts"
import { createMask } from "../model/secret.ts"
import { type Failure, isFailure } from "./failure.ts"
import { createLog } from "./serve-log.ts"
import type { Ground } from "./serve-open.ts"
import { secretsOf } from "./serve-options.ts"
import type { Settings } from "./serve-settings.ts"
import { startOn } from "./serve-start.ts"
import type { World } from "./world.ts"

/** What a gateway stands on, and its settings: a port that was any free one is the one that it waited at. */
export type Opened = { readonly ground: Ground; readonly settings: Settings }

/** How often a store that is not there yet is tried again. */
const againMs = 1000
/** Nobody has anything under way here that would be worth waiting for. */
const graceMs = 100

/**
 * Open what a gateway stands on. While its PostgreSQL is away it is alive and not ready, and refuses every request for now: whatever
 * starts them all at once, in any order, need not start it again. Nothing if it was told to end before that.
 */
export async function openWhenThere(
  open: () => Promise<Ground | Failure>,
  settings: Settings,
  world: World,
  { version, format, stop }: { readonly version: string; readonly format: "text" | "json"; readonly stop: AbortSignal },
): Promise<Opened | Failure | undefined> {
  const { config } = settings
  const ground = await openOrAway(open, settings)
  if (isFailure(ground)) return ground
  if (!("code" in ground)) return { ground, settings }
  const sink = format === "json" ? world.stdout : world.stderr
  const mask = createMask(secretsOf(config, {}))
  const log = createLog({ level: config.log.level, format, write: sink.write, now: world.dateMs, mask })
  const { host, port } = config.listen
  const limits = { ...config.limits, graceMs }
  const waiting = { host, port, limits, version, problem: ground, onFault: log.fault }
  const server = await startOn(listenWithoutStore, waiting)
  if (isFailure(server)) return server
  log.fault(new HoldfastError(ground))
  const found = { ...settings, config: { ...config, listen: { ...config.listen, port: server.port } } }
  try {
    while (!stop.aborted) {
      await sleep(againMs, undefined, { signal: stop }).catch(() => undefined)
      const again = stop.aborted ? ground : await openOrAway(open, settings)
      if (isFailure(again)) return again
      if (!("code" in again)) return { ground: again, settings: found }
    }
    return undefined
  } finally {
    await server.close()
  }
}

/** What was opened, or the Problem of a store that may come back. */
async function openOrAway(
  open: () => Promise<Ground | Failure>,
  { config }: Settings,
): Promise<Ground | Failure | Problem> {
  try {
    return await open()
  } catch (error) {
    const problem = error instanceof HoldfastError ? error.problem : undefined
    const isAway = problem?.code === "store-unavailable" && problem.store === "postgres"
    if (!isAway || config.whenStoreIsAway !== "refuse") throw error
    return problem
  }
}
