import type { Store } from "../store/store.ts"
import type { Arguments } from "./arguments.ts"
import type { Settings } from "./serve-settings.ts"
import type { World } from "./world.ts"

/** Where a demo plays: beside a gateway that listens. */
export type DemoPlace = {
  /** The gateway's address, for real agents. */
  readonly url: string
  readonly store: Store
  readonly version: string
  readonly world: World
  /** Aborts when the gateway is to end. */
  readonly signal: AbortSignal
  readonly onFault: (error: unknown) => void
}

/** Something to see without a key. It ends when it has been seen. */
export type ShowDemo = (place: DemoPlace) => Promise<void>

const usualColumns = 80

/** A scripted agent at work, at a pace to read along where someone does. */
export const showDemo: ShowDemo = async ({ url, store, version, world, signal, onFault }) => {
  const { playDemo } = await import("./demo/play-demo.ts")
  const { stdout, dateMs: now } = world
  const { write, hasColour: colour, columns = usualColumns } = stdout
  const pace = stdout.isTerminal ? "read" : "none"
  await playDemo({ connectUrl: url, store, version, now, write, colour, columns, pace, signal, onFault })
}

/** Without one of these nobody here could ask a real model by what is known. */
const keyNames = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"]

/** Is a demo to be shown: where it is asked for, and where nothing else could be done here. */
export function wantsDemo(args: Arguments, env: World["env"], { config, file }: Settings): boolean {
  if (args.isOn("demo") || args.isOn("no-demo")) return args.isOn("demo")
  return file === undefined && config.isUsual && keyNames.every((name) => (env[name] ?? "") === "")
}
