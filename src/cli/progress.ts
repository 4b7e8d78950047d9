import { Worker } from "node:worker_threads"
import type { CompactChoices } from "./compact-choices.ts"
import type { Sink } from "./world.ts"

/** A shorter text is done before anyone would look for a sign of life. */
const leastLength = 1_000_000
const quietMs = 2000

/** It runs beside the main thread, which computes and could not say anything meanwhile. */
const ticking = `
const { writeSync } = require("node:fs")
let seconds = ${quietMs / 1000}
const tick = () => {
  try { writeSync(2, "\\rholdfast: still at work, " + seconds++ + " s") } catch {}
}
setTimeout(() => { tick(); setInterval(tick, 1000) }, ${quietMs})
`

/** A line on the terminal while a large text is worked on for more than two seconds. Answers with how to end it. */
export function startProgress(length: number, output: CompactChoices["output"], stderr: Sink): () => Promise<void> {
  const silent = output === "json" || output === "quiet" || !stderr.isTerminal || length < leastLength
  if (silent) return async () => {}
  const worker = new Worker(ticking, { eval: true })
  let ended = false
  return async () => {
    if (ended) return
    ended = true
    await worker.terminate()
    await stderr.write("\r\x1b[K")
  }
}
