import type { Upstream } from "../gateway/upstream.ts"
import type { Guarding } from "../guard/guard-use.ts"
import type { Store } from "../store/store.ts"
import type { Arguments } from "./arguments.ts"
import type { Settings } from "./serve-settings.ts"
import type { World } from "./world.ts"

/** Where a demo plays: through a gateway that listens. */
export type DemoPlace = {
  readonly url: string
  readonly token?: string
  readonly adminToken?: string
  readonly store: Store
  readonly world: World
  /** Aborts when the gateway is to end. */
  readonly signal: AbortSignal
}

/** Something to see without a key: a model of its own that is asked first, what judges its agent's calls, and the play itself. */
export type Demo = {
  readonly upstream: Upstream
  readonly guard?: Guarding
  readonly run: (place: DemoPlace) => Promise<void>
  readonly close: () => Promise<void>
}

/** Without one of these nobody here could ask a real model by what is known. */
const keyNames = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"]

/** Is a demo to be shown: where it is asked for, and where nothing else could be done here. */
export function wantsDemo(args: Arguments, env: World["env"], { config, file }: Settings): boolean {
  if (args.isOn("demo") || args.isOn("no-demo")) return args.isOn("demo")
  return file === undefined && config.isUsual && keyNames.every((name) => (env[name] ?? "") === "")
}
