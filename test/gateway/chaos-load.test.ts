import { fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { startModelServer } from "../model-server/model-server.ts"
import { bundleProgram } from "../support/programs.ts"
import { startTalk } from "./talk.ts"

const clients = 200
const rounds = Number(process.env.HOLDFAST_LOAD_ROUNDS ?? 2)
/** Maximum memory that may remain in use: names by which sessions are recognized (some 20 MB at most), and exchange records. */
const maxGrowthMb = 25

test("200 clients at a time are all answered, and what they leave in memory is little", async () => {
  const model = await startModelServer({ script: ({ index }) => ({ text: `Answer ${index}.` }) })
  const file = await bundleProgram(new URL("leak-process.ts", import.meta.url))
  const child = fork(file, [model.url], { execArgv: ["--no-warnings", "--expose-gc"] })
  const faults: unknown[] = []
  child.on("message", (told: object) => {
    if ("fault" in told) faults.push(told.fault)
  })
  const numberIn = async (name: string): Promise<number> => {
    for (;;) {
      const [told]: unknown[] = await once(child, "message")
      if (typeof told === "object" && told !== null && name in told) return Number(Object.values(told)[0])
    }
  }
  const port = await numberIn("port")
  const client = async (session: string): Promise<void> => {
    const talk = startTalk(() => `http://127.0.0.1:${port}`, { session, tries: 3 })
    for (const text of ["One.", "Two."]) expect((await talk.say(`${text} ${"word ".repeat(100)}`)).status).toBe(200)
  }
  const heaps: number[] = []
  for (let round = 0; round < rounds; round++) {
    await Promise.all(Array.from({ length: clients }, (_, n) => client(`round-${round}-${n}`)))
    await sleep(100)
    const heap = numberIn("heapMb")
    child.send("measure")
    heaps.push(await heap)
  }
  const ended = once(child, "exit")
  child.send("close")
  await ended
  await model.close()
  expect(faults).toEqual([])
  expect((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)).toBeLessThan(maxGrowthMb)
}, 120_000)
