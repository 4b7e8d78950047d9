import { startGateway } from "../gateway/gateway.ts"
import type { Gateway, GatewayOptions } from "../gateway/gateway-options.ts"
import { type OpenTelemetryOptions, openTelemetry, type Telemetry } from "../gateway/telemetry/open-telemetry.ts"
import { present } from "../message/present.ts"
import { createMask } from "../model/secret.ts"
import type { Arguments, Options } from "./arguments.ts"
import type { Command } from "./command.ts"
import { configJsonSchema } from "./config/config-schema.ts"
import { usualPort } from "./config/resolve-config.ts"
import { type Failure, isFailure, misuse } from "./failure.ts"
import { type ShowDemo, showDemo, wantsDemo } from "./serve-demo.ts"
import { createLog, type LogSink } from "./serve-log.ts"
import { type Ground, openGround } from "./serve-open.ts"
import { gatewayOptions, secretsOf } from "./serve-options.ts"
import { failedSettings, readSettings, type Settings, settingOptions } from "./serve-settings.ts"
import { startOn, startTelemetry } from "./serve-start.ts"
import { openWhenThere } from "./serve-waiting.ts"
import { type Started, welcomeLine, welcomeText } from "./serve-welcome.ts"
import { type StopSignal, stopSignal } from "./stop-signal.ts"
import { readVersion } from "./version.ts"
import type { World } from "./world.ts"

/** All that the command needs beside its world. */
export type ServeDeps = {
  readonly startGateway: (options: GatewayOptions) => Promise<Gateway>
  readonly openTelemetry: (options: OpenTelemetryOptions) => Promise<Telemetry | undefined>
  readonly showDemo: ShowDemo
  readonly version: () => Promise<string>
  readonly stop?: () => StopSignal
}

const options: Options = {
  ...settingOptions,
  demo: { help: "show a scripted agent at work, also where there is a key" },
  "no-demo": { help: "show none, also where there is no key" },
  "without-policy-folder": {
    help: "serve also without the rules and policies of a policy folder, or of keys in it, that are gone",
  },
  "print-schema": { help: "print the JSON Schema of the configuration, and start nothing" },
  json: { help: "JSON lines on stdout, and nothing else; the same as --log-format json" },
}

const notes = `Agents talk to it as they do to the model's own API; it needs no change to them but the address:

  holdfast serve
  ANTHROPIC_BASE_URL=http://127.0.0.1:${usualPort} claude

Every option has its variable, HOLDFAST_PORT for --port; an option counts before its variable, that before the
configuration, and that before the default. The client's own key is passed on unless an upstream has one in the
configuration. Where others than this machine can reach it, it wants a token from every client:

  holdfast serve --upstream http://127.0.0.1:8000 --window 32000
  holdfast serve --host 0.0.0.0 --token-env HOLDFAST_TOKEN
  holdfast serve --config deploy/holdfast.config.yaml --log-format json

The first Ctrl-C lets the requests under way end; a second one ends it at once. holdfast doctor says what is amiss.`

/** Put the gateway between agents and their models. */
export const createServeCommand = (deps: ServeDeps): Command => ({
  summary: "Serve as a gateway between agents and their models",
  usage: "serve [--port N] [--host H] [--upstream URL] [--config FILE] [OPTIONS]",
  options,
  maxPositionals: 0,
  notes,
  run: (args, world) => serve(args, world, deps),
})

export const serveCommand: Command = createServeCommand({
  startGateway,
  openTelemetry,
  showDemo,
  version: readVersion,
})

async function serve(args: Arguments, world: World, deps: ServeDeps): Promise<0 | Failure> {
  if (args.isOn("print-schema")) {
    await world.stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`)
    return 0
  }
  if (args.isOn("demo") && args.isOn("no-demo"))
    return misuse("--demo and --no-demo exclude one another.", "Choose one.")
  const settings = await readSettings(args, world.env)
  if ("faults" in settings) return await failedSettings(settings.faults, args.isOn("json"), world)
  const isDemo = wantsDemo(args, world.env, settings)
  const stop = (deps.stop ?? stopSignal)()
  try {
    const version = await deps.version()
    const format = args.isOn("json") ? "json" : settings.config.log.format
    let port: number | undefined = settings.config.listen.port || undefined
    const open = (): Promise<Ground | Failure> =>
      openGround(settings, {
        now: world.dateMs,
        env: world.env,
        port: () => port,
        withoutPolicyFolder: args.isOn("without-policy-folder"),
      })
    const opened = await openWhenThere(open, settings, world, { version, format, stop: stop.signal })
    if (opened === undefined) return 0
    if (isFailure(opened)) return opened
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

type Serving = {
  readonly settings: Settings
  readonly stop: AbortSignal
  readonly isDemo: boolean
  readonly onListening: (port: number) => void
  readonly version: string
  readonly format: "text" | "json"
}

async function serveOn(
  ground: Ground,
  world: World,
  deps: ServeDeps,
  { settings, stop, isDemo, onListening, version, format }: Serving,
): Promise<0 | Failure> {
  const { config, file } = settings
  const sink = format === "json" ? world.stdout : world.stderr
  const mask = createMask(secretsOf(config, ground.admin))
  const log = createLog({ level: config.log.level, format, write: sink.write, now: world.dateMs, mask })
  const base = gatewayOptions(config, ground)
  const { upstreams } = base
  const telemetry = await startTelemetry(settings, deps.openTelemetry, {
    version,
    upstreams,
    onFault: log.fault,
    now: world.dateMs,
  })
  const onRecord: GatewayOptions["onRecord"] = (record) => {
    log.record(record)
    telemetry?.observe(record, present({ traceparent: record.traceparent }))
  }
  const silence = listenTo(ground, log)
  try {
    const gateway = await startOn(deps.startGateway, {
      ...base,
      version,
      now: world.dateMs,
      onRecord,
      onFault: log.fault,
    })
    if (isFailure(gateway)) return gateway
    onListening(gateway.port)
    try {
      const wantsToken = config.listen.token !== undefined
      const started: Started = {
        url: gateway.url,
        version,
        ground,
        upstreams,
        wantsToken,
        isDemo,
        ...present({ config: file?.name }),
      }
      await sink.write(format === "json" ? welcomeLine(started, world.dateMs()) : welcomeText(started))
      const place = { url: gateway.url, store: ground.store, version, world, signal: stop, onFault: log.fault }
      const shown = isDemo
        ? deps.showDemo(place).catch((error: unknown) => stop.aborted || log.fault(error))
        : undefined
      await ending(stop)
      if (format === "text") await sink.write(lastWords)
      await shown
    } finally {
      await gateway.close()
    }
  } finally {
    silence()
    await telemetry?.close()
  }
  return 0
}

const lastWords = "holdfast: ending, once the requests under way have. Ctrl-C again ends it at once.\n"

/** Ends when the program is to end. */
async function ending(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener("abort", resolve, { once: true }))
}

function listenTo({ holdfast, operator }: Ground, log: LogSink): () => void {
  const ends = [holdfast.subscribe(log.sessionEvent), operator.subscribe(log.operatorEvent)]
  return () => {
    for (const end of ends) end()
  }
}
