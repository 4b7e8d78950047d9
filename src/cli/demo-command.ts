import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { asTyped, type Command, unusable } from "./command.ts"
import { jsonLine, sentenceOf } from "./terminal/output.ts"
import { readVersion, stopSignal, type World } from "./world.ts"
import { clientLines } from "./wrap-clients.ts"

const defaultColumns = 80

/** The surroundings of a demo: a gateway that listens. */
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

/** A demo that needs no API key. Resolves when it has ended. */
export type ShowDemo = (place: DemoPlace) => Promise<void>

/** Shows a scripted agent at work, at reading pace if the output is a terminal. */
export const showDemo: ShowDemo = async ({ url, store, version, world, signal, onFault }) => {
  const { playDemo } = await import("./demo/play-demo.ts")
  const { stdout, dateMs: now } = world
  const { write, hasColour: colour, columns = defaultColumns } = stdout
  const pace = stdout.isTerminal ? "read" : "none"
  await playDemo({ clients: clientLines(url), store, version, now, write, colour, columns, pace, signal, onFault })
  await write(`\nLook at its session and its compactions in a browser: ${asTyped("holdfast open", world.env)}\n`)
}

/** The demo as a command: a gateway, a model and an agent in this process, and a store in memory. */
export const demoCommand: Command = {
  options: {
    fast: { help: "do not wait for anyone who reads along" },
    json: { help: "only what was seen, as one JSON object on stdout" },
  },
  run: async (args, { stdout, stderr, dateMs: now, env }) => {
    const json = args.isOn("json")
    const { signal, release } = stopSignal()
    const { playDemo } = await import("./demo/play-demo.ts")
    try {
      const outcome = await playDemo({
        ...{ store: createMemoryStore(), version: await readVersion(), now, signal },
        write: json ? async () => {} : (text) => stdout.write(asTyped(text, env)),
        colour: stdout.hasColour && !json,
        columns: stdout.columns ?? defaultColumns,
        pace: stdout.isTerminal && !json && !args.isOn("fast") ? "read" : "none",
        onFault: (error) => void stderr.write(`holdfast: ${sentenceOf(String(error))}\n`),
      })
      if (json && outcome.asPromised) await stdout.write(jsonLine(outcome))
      if (outcome.asPromised) return 0
      return unusable(
        "demo-failed",
        "The demo did not show what it promises.",
        "Please report it, with what it printed.",
      )
    } catch (error) {
      // Ended by Ctrl-C.
      if (signal.aborted) return 130
      throw error
    } finally {
      release()
    }
  },
}
