import { setTimeout as sleep } from "node:timers/promises"
import { listenWithoutStore, startGateway } from "../gateway/gateway.ts"
import type { ExchangeRecord, Gateway, GatewayOptions } from "../gateway/settings/gateway-options.ts"
import { type OpenTelemetryOptions, openTelemetry, type Telemetry } from "../gateway/telemetry/open-telemetry.ts"
import type { OperatorEvent } from "../guard/operator/judge-command.ts"
import { HoldfastError, type Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { createMask } from "../model/secret.ts"
import type { SessionEvent } from "../session/state/events.ts"
import { applyRetention, type RetentionLimits } from "../store/prune.ts"
import type { Store } from "../store/store.ts"
import { movingWords } from "./ask-store.ts"
import { type Arguments, asTyped, type Command, type Options, unusable } from "./command.ts"
import { type LogFormat, type LogLevel, logLevels } from "./config/resolved-config.ts"
import { type ShowDemo, showDemo } from "./demo-command.ts"
import { noteGateway, upstreamPrint } from "./running-gateway.ts"
import {
  type ConsoleEntry,
  faultEntry,
  missedEntry,
  operatorEntry,
  prunedEntry,
  recordEntry,
  type StartedGateway,
  sessionEntry,
  welcomeLine,
  welcomeText,
} from "./serve-log-entries.ts"
import { openResources, type ServeResources } from "./serve-open.ts"
import { gatewayOptions, readSettings, type ServeSettings, secretsOf, settingOptions } from "./serve-settings.ts"
import { escapeActing } from "./terminal/output.ts"
import { inspectorFolder, readVersion, type StopSignal, stopSignal, untilAborted, type World } from "./world.ts"

/** Interval between attempts to open a store that is unavailable. */
const againMs = 1000
/** While waiting, every request is refused, so closing need not wait for any. */
const graceMs = 100

/**
 * Opens the resources of a gateway. While its PostgreSQL is unavailable, it listens, reports alive but not ready, and refuses every
 * request, so that the two may be started in any order. Undefined if it was asked to stop before that.
 */
async function openWhenAvailable(
  open: () => Promise<ServeResources>,
  settings: ServeSettings,
  world: World,
  { version, format, stop }: { readonly version: string; readonly format: "text" | "json"; readonly stop: AbortSignal },
): Promise<{ readonly ground: ServeResources; readonly settings: ServeSettings } | undefined> {
  const { config } = settings
  const ground = await openOrProblem(open, settings)
  if (!("code" in ground)) return { ground, settings }
  const sink = format === "json" ? world.stdout : world.stderr
  const mask = createMask(secretsOf(settings, {}))
  const log = createLog({ level: config.log.level, format, write: sink.write, now: world.dateMs, mask })
  const { host, port } = config.listen
  const limits = { ...config.limits, graceMs }
  const waiting = { host, port, limits, version, problem: ground, onFault: log.fault }
  const server = await startOn(listenWithoutStore, waiting)
  log.fault(new HoldfastError(ground))
  const found = { ...settings, config: { ...config, listen: { ...config.listen, port: server.port } } }
  try {
    while (!stop.aborted) {
      await sleep(againMs, undefined, { signal: stop }).catch(() => undefined)
      const again = stop.aborted ? ground : await openOrProblem(open, settings)
      if (!("code" in again)) return { ground: again, settings: found }
    }
    return undefined
  } finally {
    await server.close()
  }
}

/** The opened resources, or the Problem of a store that may become available. */
async function openOrProblem(
  open: () => Promise<ServeResources>,
  { config }: ServeSettings,
): Promise<ServeResources | Problem> {
  try {
    return await open()
  } catch (error) {
    const problem = error instanceof HoldfastError ? error.problem : undefined
    const isAway = problem?.code === "store-unavailable" && problem.store === "postgres"
    if (!isAway || config.whenStoreIsAway !== "refuse") throw error
    return problem
  }
}

export type LogSink = ReturnType<typeof createLog>

type LogOptions = {
  readonly level: LogLevel
  readonly format: LogFormat
  readonly write: (text: string) => Promise<void>
  readonly now: () => number
  /** Masks secrets, as a second safeguard: no line should contain one. */
  readonly mask: (text: string) => string
}

/** Limit on lines waiting for a slow reader; further lines are only counted, so that memory stays bounded. */
const maxWaiting = 1000

/** The log of a running gateway. It contains no secret, header, query or text of a conversation. */
export function createLog({ level, format, write, now, mask }: LogOptions) {
  const most = logLevels.indexOf(level)
  let [waiting, left] = [0, 0]
  const out = (text: string): void => {
    waiting += 1
    const done = (): void => {
      waiting -= 1
    }
    write(text).then(done, done)
  }
  const isNews = createNews()
  const tell = (entry: ConsoleEntry): void => {
    if (logLevels.indexOf(entry.level) > most) return
    if (waiting >= maxWaiting) {
      left += 1
      return
    }
    const missed = left
    left = 0
    if (missed > 0) out(lineOf(missedEntry(missed, entry.atMs), format, mask))
    out(lineOf(entry, format, mask))
  }
  return {
    record: (record: ExchangeRecord): void => tell(recordEntry(record)),
    fault: (error: unknown): void => tell(faultEntry(error, now())),
    sessionEvent: (event: SessionEvent): void => {
      if (!isNews(event)) return
      const entry = sessionEntry(event)
      if (entry !== undefined) tell(entry)
    },
    operatorEvent: (event: OperatorEvent): void => tell(operatorEntry(event)),
    /** Sessions that were deleted by the retention limits. */
    pruned: (sessions: number): void => tell(prunedEntry(sessions, now())),
  }
}

/** Interval at which an unavailable store is logged for each session, because every message reports it. */
const toldAgainMs = 60_000
const maxToldSessions = 10_000

function createNews(): (event: SessionEvent) => boolean {
  const told = new Map<string, number>()
  return ({ type, session, atMs }) => {
    if (type === "durability-restored") told.delete(session)
    if (type !== "durability-degraded") return true
    if (atMs - (told.get(session) ?? Number.NEGATIVE_INFINITY) < toldAgainMs) return false
    if (told.size >= maxToldSessions) told.clear()
    told.set(session, atMs)
    return true
  }
}

function lineOf(
  { atMs, level, event, words, fields }: ConsoleEntry,
  format: LogFormat,
  mask: (text: string) => string,
): string {
  const time = new Date(atMs).toISOString()
  if (format === "json") {
    const masked = (_name: string, value: unknown): unknown => (typeof value === "string" ? mask(value) : value)
    return `${escapeActing(JSON.stringify({ time, level, event, ...fields }, masked))}\n`
  }
  return mask(
    `${time.slice(11, 19)} ${level === "info" ? "" : `${level}: `}${words.filter((word) => word !== "").join("  ")}\n`,
  )
}

/** The dependencies of the command, replaced in tests. */
export type ServeDeps = {
  readonly startGateway: (options: GatewayOptions) => Promise<Gateway>
  readonly openTelemetry: (options: OpenTelemetryOptions) => Promise<Telemetry | undefined>
  readonly showDemo: ShowDemo
  readonly version: () => Promise<string>
  readonly stop?: () => StopSignal
}

const options: Options = {
  ...settingOptions,
  demo: { help: "also run a scripted agent, whose session stays in the store" },
  "without-policy-folder": {
    help: "serve although the policy folder or keys in it are gone, without their rules",
  },
  "print-schema": { help: "print the JSON Schema of the configuration, and start nothing" },
  json: { help: "JSON lines on stdout, and nothing else; the same as --log-format json" },
}

export const createServeCommand = (deps: ServeDeps): Command => ({
  options,
  run: (args, world) => serve(args, world, deps),
})

export const serveCommand: Command = createServeCommand({
  startGateway,
  openTelemetry,
  showDemo,
  version: readVersion,
})

async function serve(args: Arguments, world: World, deps: ServeDeps): Promise<0> {
  if (args.isOn("print-schema")) {
    const { configJsonSchema } = await import("./config/config-schema.ts")
    await world.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`)
    return 0
  }
  const settings = await readSettings(args, world.env)
  const isDemo = args.isOn("demo")
  const stop = (deps.stop ?? stopSignal)()
  try {
    const version = await deps.version()
    const format = args.isOn("json") ? "json" : settings.config.log.format
    let port: number | undefined = settings.config.listen.port || undefined
    const open = (): Promise<ServeResources> =>
      openResources(settings, {
        now: world.dateMs,
        env: world.env,
        port: () => port,
        withoutPolicyFolder: args.isOn("without-policy-folder"),
      })
    const opened = await openWhenAvailable(open, settings, world, { version, format, stop: stop.signal })
    if (opened === undefined) return 0
    const { ground } = opened
    try {
      const onListening = (at: number): void => {
        port = at
      }
      const serving = { settings: opened.settings, stop: stop.signal, isDemo, onListening, version, format }
      return await serveOn(ground, world, deps, serving)
    } finally {
      await ground.close()
    }
  } finally {
    stop.release()
  }
}

type ServeRun = {
  readonly settings: ServeSettings
  readonly stop: AbortSignal
  readonly isDemo: boolean
  readonly onListening: (port: number) => void
  readonly version: string
  readonly format: "text" | "json"
}

async function serveOn(
  ground: ServeResources,
  world: World,
  deps: ServeDeps,
  { settings, stop, isDemo, onListening, version, format }: ServeRun,
): Promise<0> {
  const { config, file } = settings
  const sink = format === "json" ? world.stdout : world.stderr
  const mask = createMask(secretsOf(settings, ground.admin))
  const log = createLog({ level: config.log.level, format, write: sink.write, now: world.dateMs, mask })
  const base = gatewayOptions(config, ground)
  const { upstreams } = base
  const told = { serviceVersion: version, upstreams, onFault: log.fault, now: world.dateMs }
  const telemetry = config.telemetry && (await deps.openTelemetry({ ...config.telemetry, ...told }))
  const onRecord: GatewayOptions["onRecord"] = (record) => {
    log.record(record)
    telemetry?.observe(record)
  }
  const silences = [ground.holdfast.subscribe(log.sessionEvent), ground.operator.subscribe(log.operatorEvent)]
  const stopPruning = pruneInBackground(ground.store, config.retention, world.dateMs, log)
  try {
    const gateway = await startOn(deps.startGateway, {
      ...base,
      inspector: inspectorFolder(),
      version,
      now: world.dateMs,
      onRecord,
      onFault: log.fault,
    })
    onListening(gateway.port)
    const noted = { url: gateway.url, pid: process.pid, startedMs: world.dateMs(), version }
    const more = present({ tokenFile: ground.admin.file, upstream: upstreamPrint(config.upstreams) })
    const forget = noteGateway(ground.place, { ...noted, ...more })
    try {
      const wantsToken = config.listen.token !== undefined
      const started: StartedGateway = {
        url: gateway.url,
        version,
        ground,
        upstreams,
        wantsToken,
        isDemo,
        ...present({ config: file?.name, moving: movingWords(ground.place, world.env) }),
      }
      await sink.write(
        format === "json" ? welcomeLine(started, world.dateMs()) : asTyped(welcomeText(started), world.env),
      )
      const place = { url: gateway.url, store: ground.store, version, world, signal: stop, onFault: log.fault }
      const shown = isDemo
        ? deps.showDemo(place).catch((error: unknown) => stop.aborted || log.fault(error))
        : undefined
      await untilAborted(stop)
      if (format === "text") await sink.write(lastWords)
      await shown
    } finally {
      forget()
      await gateway.close()
    }
  } finally {
    for (const silence of silences) silence()
    await stopPruning()
    await telemetry?.close()
  }
  return 0
}

/** Interval between two applications of the retention limits. */
const pruneEveryMs = 3_600_000

/** Applies the retention limits now and every hour. The returned function stops it, after a running pass has ended. */
function pruneInBackground(
  store: Store,
  limits: RetentionLimits,
  now: () => number,
  log: LogSink,
): () => Promise<void> {
  if (limits.maxAgeMs === undefined && limits.maxBytes === undefined) return async () => {}
  const prune = (): Promise<void> =>
    applyRetention(store, limits, now()).then(
      (removed) => (removed === 0 ? undefined : log.pruned(removed)),
      (error: unknown) => log.fault(error),
    )
  let pruning = prune()
  const timer = setInterval(() => {
    pruning = pruning.then(prune)
  }, pruneEveryMs)
  return async () => {
    clearInterval(timer)
    await pruning
  }
}

const lastWords = "holdfast: ending, once the requests under way have. Ctrl-C again ends it at once.\n"

/** Starts a server. A port that cannot be opened is the most common failure, and gets its own message. */
async function startOn<Options extends Pick<GatewayOptions, "host" | "port">, StartedGateway>(
  begin: (options: Options) => Promise<StartedGateway>,
  gateway: Options,
): Promise<StartedGateway> {
  try {
    return await begin(gateway)
  } catch (error) {
    const problem = error instanceof HoldfastError ? error.problem : undefined
    if (problem?.code !== "option-invalid" || problem.option !== "port") throw error
    const sentence = `The gateway cannot listen at ${gateway.host}: its port is ${problem.found}.`
    const next = "Choose another with --port N (0 for any free one; npm start -- --port N), or with HOLDFAST_PORT=N."
    return unusable("port-unusable", sentence, next, { port: gateway.port, host: gateway.host })
  }
}
