import { spawn } from "node:child_process"
import { join } from "node:path"
import { present } from "../message/present.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { sseStep, startSse } from "../wire/sse.ts"
import { dataPlace, type OpenedStore, openIfThere, placeWords, storeOptions } from "./ask-store.ts"
import { type Arguments, asTyped, type Command, unusable } from "./command.ts"
import { type LogTally, ruleWords, tallyLogs, tallyWords } from "./log-tally.ts"
import {
  type AdminFields,
  askAdmin,
  enforcedCounts,
  findGateways,
  type RunningGateway,
  readAdmin,
} from "./running-gateway.ts"
import { readAdminToken } from "./serve-open.ts"
import { configuredPlace, readSettings, settingOptions } from "./serve-settings.ts"
import { type ListedSession, listSessions, sessionTable } from "./sessions-show.ts"
import { openRuled } from "./standing-rules.ts"
import {
  clip,
  count,
  jsonLine,
  moment,
  number,
  type Paper,
  paragraph,
  paragraphs,
  sentenceOf,
} from "./terminal/output.ts"
import { stopSignal, type World } from "./world.ts"

/** Limits on the sessions listed, and on those that today's figures are read from. */
const maxListed = 5
const maxTallied = 200

const dayMs = 86_400_000

/** A running gateway, with facts from its admin API. */
type GatewayState = {
  readonly gateway: RunningGateway
  readonly status?: AdminFields
  readonly standing?: AdminFields
  readonly ready?: AdminFields
}

type Status = {
  readonly place: string
  readonly gateways: readonly GatewayState[]
  readonly sessions: number
  readonly today: number
  readonly tally?: LogTally
  readonly latest: readonly ListedSession[]
}

/** Shows gateways, sessions and today's figures on one screen. */
export const statusCommand: Command = {
  options: storeOptions,
  run: async (args, world) => {
    const place = dataPlace(args.valueOf("data"), world.env)
    const gateways: GatewayState[] = []
    for (const gateway of findGateways(place)) gateways.push(await stateOf(gateway))
    const store = await openIfThere(place, world.env)
    const status =
      store === undefined
        ? { place, gateways, sessions: 0, today: 0, latest: [] }
        : await readStatus({ store, place }, gateways, args, world).finally(() => store.close())
    const json = { ...status, place: placeWords(place), running: gateways.length > 0 }
    return { json, text: (paper) => screenOf(status, paper, world.env) }
  },
}

async function stateOf(gateway: RunningGateway): Promise<GatewayState> {
  const ready = await askReady(gateway.url)
  const [status, standing] = [await readAdmin(gateway, "/admin/status"), await readAdmin(gateway, "/admin/pins")]
  return { gateway, ...present({ status, standing, ready }) }
}

/** The body of the readiness probe, whatever its status: a gateway that is not ready states the reasons. */
async function askReady(url: string): Promise<AdminFields | undefined> {
  try {
    const value: unknown = await (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(3000) })).json()
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

async function readStatus(
  opened: OpenedStore,
  gateways: readonly GatewayState[],
  args: Arguments,
  world: World,
): Promise<Status> {
  const { store, place } = opened
  const rows = await store.sessions()
  const nowMs = world.dateMs()
  const sinceMs = nowMs - (nowMs % dayMs)
  const today = rows.filter(({ updatedMs }) => updatedMs >= sinceMs)
  const { holdfast } = await openRuled(opened, args, world)
  const tally = await tallyLogs(store, today.slice(0, maxTallied), holdfast.storedRules, sinceMs)
  const latest = await listSessions(store, rows.slice(0, maxListed))
  return { place, gateways, sessions: rows.length, today: today.length, tally, latest }
}

const listLength = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

function screenOf(
  { place, gateways, sessions, today, tally, latest }: Status,
  paper: Paper,
  env: World["env"],
): readonly string[] {
  const none = asTyped("none runs on this store. holdfast wrap claude, or holdfast serve, starts one.", env)
  const running = paragraphs("Gateway", gateways.length === 0 ? [none] : gateways.map(gatewayWords), paper)
  const standing = gateways.find((state) => state.standing !== undefined)?.standing
  const rules = standing === undefined ? [] : [enforcedCounts(listLength(standing.rules), listLength(standing.judging))]
  const held = tally === undefined ? [] : [`${ruleWords(tally)} in the sessions of today`]
  const words = [...rules, ...held].join("; ")
  return [
    ...running,
    ...paragraph("Store", placeWords(place).replace(/^the (?:store )?/, ""), paper),
    ...paragraph("Sessions", `${number(sessions)}, ${number(today)} written to today`, paper),
    ...(tally === undefined ? [] : paragraph("Today", `${tallyWords(tally)}.`, paper)),
    ...(words === "" ? [] : paragraph("Rules", words, paper)),
    ...paragraph("Degraded", degradedWords(gateways), paper),
    ...(latest.length === 0 ? [] : ["", ...sessionTable(latest, paper)]),
  ]
}

function gatewayWords({ gateway, status }: GatewayState): string {
  const { url, startedMs, wraps, version } = gateway
  const whom = wraps === undefined ? "" : `, for ${sentenceOf(wraps)} alone`
  const load = status === undefined ? "" : `, ${count(Number(status.requestsInFlight ?? 0), "request")} under way`
  const waiting = Number(status?.approvals ?? 0)
  const asked = waiting === 0 ? "" : `, ${count(waiting, "approval")} waiting for an answer`
  return `${url} since ${moment(startedMs)} (UTC), version ${version}${whom}${load}${asked}`
}

const reasonWords: Readonly<Record<string, string>> = {
  "store-full": "no room is left on the store's disk",
  "store-unavailable": "the store cannot be reached or written; holdfast doctor says why",
  "store-locked": "another program locks the store",
}

/** The reasons why gateways are degraded, according to their probes and admin APIs. */
function degradedWords(gateways: readonly GatewayState[]): string {
  if (gateways.length === 0) return "nothing runs"
  const reasons = gateways.flatMap(({ gateway, status, ready }) => {
    if (ready === undefined) return [`${gateway.url} does not answer`]
    const told = Array.isArray(ready.reasons) ? ready.reasons.filter(isObject) : []
    const durability = isObject(status?.durability) ? status.durability : {}
    const unsaved = durability.durable === false ? ["the store does not take what is written"] : []
    return [
      ...told.map(({ part, code }) => reasonWords[String(code)] ?? `${String(part)}: ${String(code)}`),
      ...unsaved,
    ]
  })
  return reasons.length === 0 ? "no" : `yes: ${reasons.join("; ")}`
}

export const tailCommand: Command = {
  options: { ...storeOptions, json: { help: "each event as a line of JSON" } },
  run: tail,
}

async function tail(args: Arguments, world: World): Promise<number> {
  const place = dataPlace(args.valueOf("data"), world.env)
  const [gateway] = findGateways(place)
  if (gateway === undefined)
    return unusable(
      "gateway-missing",
      `No gateway serves ${placeWords(place)}.`,
      "Start one with holdfast serve or holdfast wrap, or say which store with --data.",
    )
  const stop = stopSignal()
  try {
    const stream = await askAdmin(gateway, "/admin/events", { signal: stop.signal })
    if (stream?.body === null || stream === undefined)
      return stop.signal.aborted
        ? 0
        : unusable("gateway-missing", `The gateway at ${gateway.url} does not answer.`, "See holdfast status.")
    if (!args.isOn("json")) await world.stderr.write(`holdfast: following ${gateway.url}. Ctrl-C ends this.\n`)
    let state = startSse()
    for await (const chunk of stream.body) {
      const [next, events] = sseStep(state, chunk)
      state = next
      for (const event of events) {
        const value = event.type === "event" ? tryParse(event.data) : undefined
        if (!isObject(value)) continue
        const line = args.isOn("json") ? jsonLine(value) : eventLine(value, world.dateMs())
        if (line !== undefined) await world.stdout.write(line)
      }
    }
    return 0
  } catch (error) {
    if (stop.signal.aborted) return 0
    if (error instanceof TypeError) return 0 // The gateway ended.
    throw error
  } finally {
    stop.release()
  }
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "")
const numberIn = (value: unknown): string => (typeof value === "number" ? number(value) : "?")

/** The line for an event; undefined for events that are only for programs. */
function eventLine(event: AdminFields, nowMs: number): string | undefined {
  const words = eventWords(event)
  if (words === undefined) return undefined
  const atMs = typeof event.atMs === "number" ? event.atMs : nowMs
  const time = new Date(atMs).toISOString().slice(11, 19)
  const named = event.session ?? (isObject(event.approval) ? event.approval.session : "")
  const session = clip(textIn(named).replace(/^[\w-]+\.~?/, ""), 14).padEnd(14)
  return `${time}  ${session}  ${sentenceOf(words)}\n`
}

function eventWords(event: AdminFields): string | undefined {
  const receipt = isObject(event.receipt) ? event.receipt : {}
  const judged = Array.isArray(event.judged) ? event.judged.filter(isObject) : []
  switch (event.type) {
    case "exchange-ended": {
      const denied = judged.filter(({ decision }) => decision !== "allow").map(({ tool }) => `denied ${textIn(tool)}`)
      const size =
        receipt.contextTokens === undefined
          ? []
          : [`${numberIn(receipt.contextTokens)} of ${numberIn(receipt.windowTokens)} tokens`]
      return [
        `${String(event.status)} ${textIn(event.model) || textIn(event.path)}`,
        textIn(event.how).replace("-", " "),
        ...size,
        `${typeof event.totalMs === "number" ? number(Math.round(event.totalMs)) : "?"} ms`,
        ...denied,
      ].join(", ")
    }
    case "compaction-installed":
      return `compacted ${numberIn(event.beforeTokens)} -> ${numberIn(event.afterTokens)} tokens (${textIn(event.remedy)}, ${textIn(event.checkpoint)})`
    case "compaction-undone":
      return `the compaction ${textIn(event.checkpoint)} is taken back`
    case "rules-found":
      return `${count(listLength(event.pins), "rule")} found and pinned`
    case "unpin-unmatched":
      return `/unpin took nothing back: ${numberIn(event.fitting)} rules fit its words`
    case "call-judged":
      return event.decision === "allow" ? undefined : `${textIn(event.decision)}: ${textIn(event.tool)}`
    case "approval-asked":
      return `waits for a person: ${textIn(isObject(event.approval) ? event.approval.tool : "")}; holdfast open answers it`
    case "approval-settled":
      return `the call that waited was ${textIn(event.outcome)}`
    case "approval-turned-away":
      return `refused: ${textIn(event.tool)}, because too many calls wait for a person`
    case "durability-degraded":
      return "the store does not take what is written; it is kept in memory"
    case "durability-restored":
      return "the store takes it again"
    default:
      return undefined
  }
}

/** Time limit for a response: a gateway on this machine responds at once. */
const answerMs = 5000

/** The program that opens a link, by platform. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
}

export const openCommand: Command = {
  options: {
    print: { help: "print the link and open nothing" },
    json: { help: "one JSON object on stdout, and nothing else; opens nothing" },
    ...settingOptions,
  },
  run: async (args, world) => {
    const settings = await readSettings(args, world.env)
    const { admin, listen } = settings.config
    const place = configuredPlace(settings.config, world.env)
    const token = admin.token ?? (await readAdminToken(join(place, "..", "admin-token")))
    if (token === undefined)
      return unusable(
        "admin-token-missing",
        `There is no admin token beside ${place}: no gateway has been started with this store.`,
        "Start one with holdfast serve, or name the same --data, --config and variables that it was started with.",
      )
    const isAddressGiven = args.isOn("port") || args.isOn("host")
    const [running] = isAddressGiven ? [] : findGateways(place)
    const base = running?.url ?? localUrl(listen)
    const code = await askForCode(base, typeof token === "string" ? token : token.token)
    const link = `${base}/inspector#code=${code}`
    if (args.isOn("json")) await world.stdout.write(jsonLine({ link }))
    else await world.stdout.write(`${link}\n`)
    if (!args.isOn("print") && !args.isOn("json")) openLink(link)
    return 0
  },
}

/** The URL by which a program on this machine reaches a gateway: the loopback address if it listens at all addresses. */
export function localUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  const name = host === "0.0.0.0" || host === "::" || host === "" ? "127.0.0.1" : host
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`
}

async function askForCode(base: string, token: string): Promise<string> {
  const failed = (why: string, next: string): never =>
    unusable("gateway-unreachable", `The gateway at ${base} ${why}.`, next)
  const elsewhere = "Start it with holdfast serve, or say where it listens: --port N, --host H."
  const [status, text] = await fetch(`${base}/admin/sign-in-codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(answerMs),
  })
    .then(async (answer) => [answer.status, await answer.text()] as const)
    .catch(() => failed("does not answer", elsewhere))
  const told = tryParse(text)
  if (status === 200 && isObject(told) && typeof told.code === "string") return told.code
  if (status === 401) failed("has another admin token", "It was started with another store: name the same --data.")
  return failed(`answered with ${status}`, elsewhere)
}

/** Opens a link in the browser. Errors are ignored, because the link is printed too. */
function openLink(link: string): void {
  const [program = "xdg-open", ...before] = openers[process.platform] ?? ["xdg-open"]
  const child = spawn(program, [...before, link], { stdio: "ignore", detached: true })
  child.on("error", () => {})
  child.unref()
}
