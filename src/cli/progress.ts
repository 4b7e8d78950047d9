import { Worker } from "node:worker_threads"
import type { Sink } from "./world.ts"

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

/** A line on the terminal while something takes more than two seconds, unless programs listen. Answers with how to end it. */
export function startProgress(isSilent: boolean, stderr: Sink): () => Promise<void> {
  if (isSilent || !stderr.isTerminal) return async () => {}
  const worker = new Worker(ticking, { eval: true })
  let ended = false
  return async () => {
    if (ended) return
    ended = true
    await worker.terminate()
    await stderr.write("\r\x1b[K")
  }
}
