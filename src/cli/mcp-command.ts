import { type HttpOptions, serveHttp } from "../mcp/http.ts"
import { createMcpSource, type McpScope, type McpSource } from "../mcp/source.ts"
import { serveStdio } from "../mcp/stdio.ts"
import { HoldfastError, refuseOption } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { Store } from "../store/store.ts"
import { dataOption, dataPlace, missingCode, openPlace } from "./ask-store.ts"
import { type Arguments, type Command, failCommand, failureIn, misuse, type Options } from "./command.ts"
import { sentenceOf } from "./terminal/output.ts"
import { readVersion, type StopSignal, stopSignal, untilAborted, type World } from "./world.ts"

/** The dependencies of the command. */
export type McpDeps = {
  /** Opens what a scope may see; `data` is the place of the store, if one was named. */
  readonly openSource: (scope: McpScope, data: string | undefined, env: World["env"]) => Promise<OpenedSource>
  readonly version: () => Promise<string>
  readonly stop?: () => StopSignal
}

const defaultPort = 4142

const options: Options = {
  session: { value: "ID", help: "serve the record of this session" },
  agent: { value: "NAME", help: "serve the memory of this agent, all its sessions" },
  tenant: { value: "ID", help: "with --agent: of this tenant; may be left out where the agent has one alone" },
  "agent-memory": { help: "with --session: search all that its agent remembers, not this session's notes alone" },
  ...dataOption,
  http: { help: `serve streamable HTTP instead of stdio; PORT may follow, ${defaultPort} unless given` },
  host: { value: "H", help: "address to listen on; 127.0.0.1 unless given" },
  "token-env": { value: "NAME", help: "environment variable that holds the bearer token" },
  "allow-host": { value: "NAME", help: "host name by which the server may be called", repeats: true },
  "allow-origin": { value: "URL", help: "web page that may call the server", repeats: true },
}

/** Serves a session or an agent's memory to MCP clients. */
export const createMcpCommand = (deps: McpDeps): Command => ({
  options,
  maxPositionals: 1,
  run: (args, world) => serve(args, world, deps),
})

export const mcpCommand: Command = createMcpCommand({ openSource: openMcpSource, version: readVersion })

async function serve(args: Arguments, world: World, deps: McpDeps): Promise<0> {
  const scope = scopeOf(args)
  const http = httpOf(args, world.env)
  const opened = await deps.openSource(scope, args.valueOf("data"), world.env)
  const { source, close, notice } = opened
  const { signal: stop, release } = (deps.stop ?? stopSignal)()
  try {
    if (notice !== undefined) await world.stderr.write(`holdfast: ${sentenceOf(notice)}\n`)
    const told = { onFault: (error: unknown) => tellFault(error, world), version: await deps.version() }
    if (http === undefined) await serveOnPipes(source, told, stop, world)
    else await serveOnPort(source, { ...http, ...told }, stop, world)
  } finally {
    await close()
    release()
  }
  return 0
}

type ServerOptions = Pick<HttpOptions, "onFault" | "version">

async function serveOnPipes(source: McpSource, told: ServerOptions, stop: AbortSignal, world: World): Promise<void> {
  if (world.stdinIsTerminal)
    await world.stderr.write("holdfast: waiting for an MCP client on standard input. Ctrl-D ends it.\n")
  await serveStdio(source, { ...told, input: world.stdin, write: world.stdout.write, stop })
}

async function serveOnPort(source: McpSource, http: HttpOptions, stop: AbortSignal, world: World): Promise<void> {
  const { url, close } = await serveHttp(source, http)
  try {
    await world.stderr.write(`holdfast: MCP at ${url}. Ctrl-C ends it.\n`)
    await untilAborted(stop)
  } finally {
    await close()
  }
}

function scopeOf(args: Arguments): McpScope {
  const [session, agent] = [args.valueOf("session"), args.valueOf("agent")]
  const next = "Write --session ID for one session, or --agent NAME for all that an agent remembers."
  if (session !== undefined && agent !== undefined) return misuse("--session and --agent exclude one another.", next)
  const whole = args.isOn("agent-memory")
  if (whole && session === undefined) return misuse("--agent-memory means nothing without --session.", next)
  const tenant = args.valueOf("tenant")
  if (tenant !== undefined && agent === undefined) return misuse("--tenant means nothing without --agent.", next)
  if (session !== undefined && session !== "") return { session, ...(whole ? { memory: "agent" } : {}) }
  if (agent !== undefined && agent !== "") return { agent, ...present({ tenant }) }
  return misuse("It was not said whose record to serve.", next)
}

const httpOnly = ["host", "token-env", "allow-host", "allow-origin"]

/** The options for serving over HTTP; undefined without `--http`. */
function httpOf(args: Arguments, env: World["env"]): HttpOptions | undefined {
  const [port] = args.positionals
  const stray = port ?? httpOnly.filter(args.isOn).map((name) => `--${name}`)[0]
  if (!args.isOn("http"))
    return stray === undefined ? undefined : misuse(`${stray} means nothing without --http.`, "Add --http.")
  return {
    port: port === undefined ? defaultPort : portOf(port),
    allowedHosts: args.valuesOf("allow-host"),
    allowedOrigins: args.valuesOf("allow-origin"),
    ...present({ host: args.valueOf("host"), token: tokenOf(args.valueOf("token-env"), env) }),
  }
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  const found = JSON.stringify(text.slice(0, 40))
  refuseOption("--http", "a port from 0 to 65535", found)
}

function tokenOf(name: string | undefined, env: World["env"]): string | undefined {
  if (name === undefined) return undefined
  const token = env[name]
  if (token !== undefined && token !== "") return token
  const found = `${JSON.stringify(name.slice(0, 80))}, which is not set`
  const expected = "the name of an environment variable that holds the token"
  refuseOption("--token-env", expected, found)
}

/** Prints a fault on stderr, because stdout belongs to the protocol; with a stack trace only in debug mode. */
function tellFault(error: unknown, { stderr, debug }: World): void {
  const words = error instanceof Error ? error.message : String(error)
  const place = debug && error instanceof Error ? `${error.stack}\n` : ""
  void stderr.write(`holdfast: a question could not be answered: ${sentenceOf(words)}\n${place}`)
}

/** A source that can be closed. `notice` is printed before it is used. */
type OpenedSource = {
  readonly source: McpSource
  readonly close: () => Promise<void>
  readonly notice?: string
}

/**
 * Opens what a scope may see of the store at a place. A client often starts its MCP server before its first message, so a store that does
 * not exist yet is opened again with every request; one that cannot be used is a failure at once.
 */
export async function openMcpSource(
  scope: McpScope,
  data: string | undefined,
  env: World["env"],
): Promise<OpenedSource> {
  const place = dataPlace(data, env)
  let opening: Promise<Store> | undefined
  const open = (): Promise<Store> => {
    opening ??= openPlace(place, env).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const source = createMcpSource(scope, () =>
    open().catch((error: unknown) => {
      failureIn(error)
      const reason = "nothing has been written to it yet"
      throw new HoldfastError({ code: "store-unavailable", store: "session", reason })
    }),
  )
  const missing = await open().then(() => undefined, failureIn)
  if (missing !== undefined && missing.code !== missingCode) failCommand(missing)
  const close = async (): Promise<void> => {
    const opened = await opening?.catch(() => undefined)
    await opened?.close()
  }
  const notice = missing === undefined ? undefined : `${missing.sentence} It is looked for with every question.`
  return { source, close, ...present({ notice }) }
}
