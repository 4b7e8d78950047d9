import { parentPort } from "node:worker_threads"
import { type Played, play } from "./play.ts"
import { idOf, type Spec } from "./spec.ts"

/** Plays the episodes that it is sent, and sends back the figures without the texts. */
async function answer(spec: Spec): Promise<void> {
  try {
    const { episode: _, summaries: __, requests: ___, steps: ____, ...played } = await play(spec)
    parentPort?.postMessage({ played } satisfies { played: Played })
  } catch (error) {
    const failed = error instanceof Error ? (error.stack ?? error.message) : String(error)
    parentPort?.postMessage({ id: idOf(spec), failed })
  }
}

parentPort?.on("message", answer)
