import { type ChildProcess, spawn } from "node:child_process"
import { constants } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { startGateway } from "../gateway/gateway.ts"
import { describe, HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { StoredRules } from "../session/stored-rules.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { isObject } from "../wire/json.ts"
import { openPlace, placeWords } from "./ask-store.ts"
import { type Arguments, asTyped, type Command, misuse, type Options, unusable } from "./command.ts"
import { tallyLogs, tallyWords } from "./log-tally.ts"
import {
  askAdmin,
  clientsOf,
  findGateways,
  joinGateway,
  noteGateway,
  type RunningGateway,
  readAdmin,
  upstreamPrint,
} from "./running-gateway.ts"
import { openResources } from "./serve-open.ts"
import { configuredPlace, gatewayOptions, readSettings, type ServeSettings, settingOptions } from "./serve-settings.ts"
import { openRuled } from "./standing-rules.ts"
import { count, jsonLine, number, sentenceOf } from "./terminal/output.ts"
import { readVersion, stopSignal, type World } from "./world.ts"
import { clientNames, type Launch, setupOf, upstreamOf } from "./wrap-clients.ts"

const options: Options = {
  ...settingOptions,
  port: { value: "N", help: "port of the gateway that is started; any free one unless given" },
  quiet: { help: "say nothing before and after" },
  summary: { value: "F", help: "how to say at the end what was done; text unless given", oneOf: ["text", "json"] },
}

export const wrapCommand: Command = {
  options,
  maxPositionals: 100_000,
  passesOn: true,
  run: wrap,
}

type WrappedCall = {
  readonly session?: string
  /** It was refused, or its response broke off and the client did not cause that. */
  readonly failed: boolean
  /** The reason, according to the gateway. */
  readonly why?: string
}

const isFailed = (status: number, ending: unknown): boolean =>
  status >= 400 || ending === "upstream-cut" || ending === "upstream-failed"

const cutWords = (ending: unknown): string | undefined =>
  ending === "upstream-cut" ? "The provider's answer broke off, or was silent for too long." : undefined

/** The gateway that the client uses, and the calls made through it. */
type GatewayConnection = {
  readonly url: string
  readonly words: string
  readonly calls: () => Promise<readonly WrappedCall[]>
  readonly store: Store
  readonly storedRules: () => Promise<StoredRules>
  readonly faults: () => readonly string[]
  /** A one-time link to a session in the inspector; undefined if the gateway ends with the client. */
  readonly link: (session: string) => Promise<string | undefined>
  readonly close: () => Promise<void>
}

async function wrap(args: Arguments, world: World): Promise<number> {
  const [program, ...rest] = args.positionals
  if (program === undefined)
    return misuse(
      "It was not said what to run.",
      `Name a client: holdfast wrap ${clientNames.join(" | ")}, or any command.`,
    )
  const setup = setupOf(program)
  const elsewhere = upstreamOf(setup, world.env)
  const upstream = args.valueOf("upstream") ?? elsewhere
  if (upstream !== undefined && typeof upstream !== "string")
    return misuse(
      `The environment names several APIs: ${upstream.join(", ")}.`,
      "Say which one is meant with --upstream URL.",
    )
  const connection = await connectGateway(withUpstream(args, upstream), world, program, upstream)
  const sinceMs = world.dateMs()
  let launch: Launch | undefined
  try {
    launch = setup.launch(connection.url, world.env)
    const isQuiet = args.isOn("quiet")
    if (!isQuiet) await world.stderr.write(`holdfast: ${sentenceOf(program)} goes through ${connection.words}.\n`)
    const exitCode = await runProgram(program, [...launch.args, ...rest], { ...world.env, ...launch.env })
    if (!isQuiet) await printSummary(connection, sinceMs, args, world)
    return exitCode
  } finally {
    launch?.clear?.()
    await connection.close()
  }
}

/** Adds the API that the client was configured with as `--upstream`. */
const withUpstream = (args: Arguments, upstream: string | undefined): Arguments =>
  upstream === undefined
    ? args
    : { ...args, valueOf: (option) => (option === "upstream" ? upstream : args.valueOf(option)) }

/** Limit on the sessions in the report; titles, checks and subagents are sessions too. */
const maxSessions = 200

async function printSummary(
  connection: GatewayConnection,
  sinceMs: number,
  args: Arguments,
  world: World,
): Promise<void> {
  const calls = await connection.calls()
  const sessions: SessionRow[] = []
  for (const id of [...new Set(calls.flatMap(({ session }) => session ?? []))].slice(0, maxSessions)) {
    const row = await connection.store.session(id)
    if (row !== undefined) sessions.push(row)
  }
  const tally = {
    ...(await tallyLogs(connection.store, sessions, await connection.storedRules(), sinceMs)),
    calls: calls.length,
  }
  const failures = calls.filter(({ failed }) => failed)
  const failed = failures.length
  const why = failures.findLast(({ why: told }) => told !== undefined)?.why
  for (const fault of connection.faults()) await world.stderr.write(`holdfast: ${sentenceOf(fault)}\n`)
  if (args.valueOf("summary") === "json") return await world.stderr.write(jsonLine({ ...tally, failed }))
  if (why !== undefined)
    await world.stderr.write(`holdfast: ${failed === 1 ? "A call" : "The last call that"} failed: ${why}\n`)
  const words = `${count(calls.length, "model call")}${failed === 0 ? "" : ` (${number(failed)} failed)`}`
  const [first] = sessions
  const link = first === undefined ? undefined : await connection.link(first.id)
  const look = first === undefined ? "" : ` See: ${link ?? asTyped("holdfast sessions show @last", world.env)}`
  await world.stderr.write(`holdfast: ${tallyWords(tally, words)}.${look}\n`)
}

async function connectGateway(
  args: Arguments,
  world: World,
  program: string,
  upstream: string | undefined,
): Promise<GatewayConnection> {
  const settings = await readSettings(args, world.env)
  const place = configuredPlace(settings.config, world.env)
  const asked = ["port", "host", "window", "policy", "config"]
    .filter((name) => args.isOn(name))
    .map((name) => `--${name}`)
  const wanted = upstream === undefined ? undefined : upstreamPrint(settings.config.upstreams)
  for (const gateway of findGateways(place)) {
    const isOther = upstream !== undefined && gateway.upstream !== wanted
    const others = [...asked, ...(isOther ? [`--upstream ${upstream}`] : [])]
    if (others.length > 0 && (await askAdmin(gateway, "/admin/status")) !== undefined)
      return refuseOther(gateway, others)
    const leave = joinGateway(place, gateway)
    if ((await askAdmin(gateway, "/admin/status")) !== undefined)
      return await joinRunning(gateway, place, args, world, leave)
    leave()
  }
  return await startOwn(settings, args, world, program)
}

/** A store has one gateway at a time, and the one that runs keeps its settings. */
const refuseOther = ({ url }: RunningGateway, others: readonly string[]): never =>
  unusable(
    "store-in-use",
    `The gateway at ${url} serves this store, and ${others.join(" and ")} asks for another one.`,
    "Leave that out to use it, stop it, or name another store for this client with --data.",
  )

/** Uses a running gateway. Other clients may use it too, so the report covers all its calls since the start. */
async function joinRunning(
  gateway: RunningGateway,
  place: string,
  args: Arguments,
  world: World,
  leave: () => void,
): Promise<GatewayConnection> {
  const { dateMs, env } = world
  const store = await openPlace(place, env).catch((error: unknown) => {
    leave()
    throw error
  })
  const sinceMs = dateMs()
  return {
    url: gateway.url,
    words: `the gateway at ${gateway.url}`,
    store,
    calls: async () => {
      const { traces } = (await readAdmin(gateway, "/admin/traces?limit=1000")) ?? {}
      const lines = Array.isArray(traces) ? traces.filter(isObject) : []
      return lines.flatMap(({ atMs, session, status, format, how, ending, problem }): readonly WrappedCall[] => {
        if (typeof atMs !== "number" || atMs < sinceMs || typeof format !== "string" || how === "passed") return []
        const why = isObject(problem) && typeof problem.sentence === "string" ? problem.sentence : cutWords(ending)
        const named = typeof session === "string" ? session : undefined
        return [{ failed: isFailed(Number(status), ending), ...present({ session: named, why }) }]
      })
    },
    storedRules: async () => (await openRuled({ store, place }, args, world)).holdfast.storedRules,
    faults: () => [],
    link: async (session) => {
      const { code } = (await readAdmin(gateway, "/admin/sign-in-codes", "POST")) ?? {}
      return typeof code === "string"
        ? `${gateway.url}/inspector#code=${code}/s/${encodeURIComponent(session)}`
        : undefined
    },
    close: async () => {
      leave()
      await store.close()
    },
  }
}

/** Limit on faults reported at the end, when the client has left the terminal. */
const maxFaults = 5

async function startOwn(
  settings: ServeSettings,
  args: Arguments,
  world: World,
  program: string,
): Promise<GatewayConnection> {
  let port: number | undefined
  const { dateMs: now, env } = world
  const resources = await openResources(settings, { now, env, port: () => port, withoutPolicyFolder: false })
  const calls: WrappedCall[] = []
  const faults: string[] = []
  const onFault = (error: unknown): void => {
    if (faults.length < maxFaults)
      faults.push(error instanceof HoldfastError ? describe(error.problem).sentence : String(error))
  }
  const base = gatewayOptions(settings.config, resources)
  const version = await readVersion()
  try {
    const gateway = await startGateway({
      ...base,
      port: args.isOn("port") ? base.port : 0,
      ...{ version, now, onFault },
      onRecord: ({ format, how, session, status, ending, problem }) => {
        const why = problem === undefined ? cutWords(ending) : describe(problem).sentence
        if (format !== undefined && how !== "passed")
          calls.push({ failed: isFailed(status, ending), ...present({ session, why }) })
      },
    })
    port = gateway.port
    const noted = { url: gateway.url, pid: process.pid, startedMs: now(), version, wraps: program }
    const more = present({ tokenFile: resources.admin.file, upstream: upstreamPrint(settings.config.upstreams) })
    const forget = noteGateway(resources.place, { ...noted, ...more })
    return {
      url: gateway.url,
      words: `${gateway.url}, with ${placeWords(resources.place)}`,
      calls: async () => calls,
      store: resources.store,
      storedRules: async () => resources.holdfast.storedRules,
      faults: () => faults,
      link: async () => undefined,
      close: async () => {
        await whileUsed(resources.place, world)
        forget()
        await gateway.close()
        await resources.close()
      },
    }
  } catch (error) {
    await resources.close()
    throw error
  }
}

const lookMs = 500

/** Waits while other clients use this gateway: it ends with the last of them, or at Ctrl-C. */
async function whileUsed(place: string, { stderr }: World): Promise<void> {
  if (clientsOf(place) === 0) return
  await stderr.write("holdfast: another client still uses this gateway, which ends with it. Ctrl-C ends it now.\n")
  const stop = stopSignal()
  while (!stop.signal.aborted && clientsOf(place) > 0)
    await sleep(lookMs, undefined, { signal: stop.signal }).catch(() => undefined)
  stop.release()
}

/** Signals that are passed to the client. A terminal sends keyboard signals to the client itself; then they are not passed again. */
const passedSignals = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH"] as const
const keyboardSignals = ["SIGINT", "SIGQUIT"] as const

/** Runs a program in this terminal to its end, and returns its exit code like a shell. */
async function runProgram(program: string, args: readonly string[], env: World["env"]): Promise<number> {
  const child = spawn(program, args, { stdio: "inherit", env, shell: false })
  const release = passSignals(child)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.on("error", reject)
  child.on("close", (code, signal) => resolve(code ?? 128 + (signal === null ? 1 : (constants.signals[signal] ?? 1))))
  return await promise.catch((error: Error) => notStarted(program, error)).finally(release)
}

function passSignals(child: ChildProcess): () => void {
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
  const fromKeyboard = (signal: NodeJS.Signals): void => {
    if (process.stdin.isTTY !== true) child.kill(signal)
  }
  for (const signal of passedSignals) process.on(signal, pass)
  for (const signal of keyboardSignals) process.on(signal, fromKeyboard)
  return () => {
    for (const signal of passedSignals) process.off(signal, pass)
    for (const signal of keyboardSignals) process.off(signal, fromKeyboard)
  }
}

function notStarted(program: string, error: Error): never {
  const code = "code" in error ? String(error.code) : error.message
  const isMissing = code === "ENOENT"
  unusable(
    "program-unusable",
    isMissing ? `There is no program ${program}.` : `The program ${program} could not be started (${code}).`,
    isMissing ? "Install it, or check the name and PATH." : "Check that it may be run.",
  )
}
