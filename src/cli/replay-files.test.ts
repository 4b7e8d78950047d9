import { createHook } from "node:async_hooks"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { findFiles } from "./replay-files.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-replay-files-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const inside = join(folder, "sessions")
mkdirSync(inside)
const [named, other] = [join(inside, "one.jsonl"), join(inside, "two.jsonl.gz")]
for (const path of [named, other, join(inside, "notes.txt")]) writeFileSync(path, "{}\n")

/** Counts the requests to the file system that are made in promises while something runs. */
async function fileRequestsOf(run: () => Promise<unknown>): Promise<number> {
  let requests = 0
  const init = (_: number, type: string): void => {
    if (type === "FSREQPROMISE") requests++
  }
  const hook = createHook({ init }).enable()
  await run().finally(() => hook.disable())
  return requests
}

test("a place is asked for once", async () => {
  expect(await fileRequestsOf(() => findFiles([named]))).toBe(1)
})

test("the transcripts of a folder are found, and a file that is named besides is still a named one", async () => {
  const found = async (...places: readonly string[]): Promise<readonly string[]> =>
    (await findFiles(places)).filter(({ isNamed }) => isNamed).map(({ path }) => path)
  expect((await findFiles([inside])).map(({ path }) => path).toSorted()).toEqual([named, other])
  expect(await found(inside)).toEqual([])
  expect(await found(inside, named)).toEqual([named])
  expect(await found(named, inside)).toEqual([named])
})
