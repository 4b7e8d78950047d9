import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeEach, expect, test } from "vitest"
import { defineConfig } from "./config-schema.ts"
import { readConfig, readsTypes } from "./read-config.ts"

const root = await mkdtemp(join(tmpdir(), "holdfast-config-"))
let [folder, n] = ["", 0]
beforeEach(async () => {
  folder = join(root, String(n++))
  await mkdir(folder)
})
afterAll(() => rm(root, { recursive: true }))

const write = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)

const same = { recall: true, listen: { port: 5000 } }
test.each([
  ["holdfast.config.json", JSON.stringify(same)],
  ["holdfast.config.yaml", "recall: true\nlisten: { port: 5000 }\n"],
  ["holdfast.config.yml", "\ufeffrecall: true\nlisten:\n  port: 5000\n"],
  ["holdfast.config.ts", "const port: number = 5000\nexport default { recall: true, listen: { port } }\n"],
])("%s in the folder is read", async (name, text) => {
  await write(name, text)
  expect(await readConfig(undefined, folder)).toMatchObject({ name, folder, config: same })
})

test("without one there is none, and one can be named that lies elsewhere", async () => {
  expect(await readConfig(undefined, folder)).toBeUndefined()
  await mkdir(join(folder, "deploy"))
  await write("deploy/other.yaml", "recall: true")
  expect(await readConfig("deploy/other.yaml", folder)).toMatchObject({
    name: "deploy/other.yaml",
    folder: join(folder, "deploy"),
  })
})

test("two in one folder are one too many", async () => {
  await write("holdfast.config.json", "{}")
  await write("holdfast.config.yaml", "{}")
  const sentence = "holdfast.config.json stands beside holdfast.config.yaml, and one of them alone can be meant."
  expect(await readConfig(undefined, folder)).toMatchObject({ faults: [{ sentence }] })
})

test.each([
  ["gone.yaml", "gone.yaml is not there."],
  ["gone.ts", "gone.ts is not there."],
  [".", ". is no configuration by its ending."],
  ["settings.toml", "settings.toml is no configuration by its ending."],
  ["folder.yaml", "folder.yaml is a folder."],
  ["large.json", "large.json has 100001 bytes, and at most 100000 are read."],
  ["none.ts", "none.ts has no default export."],
  ["throws.ts", "throws.ts could not be run: it threw TypeError."],
  ["wrong.ts", 'wrong.ts: listen.port is "x", where a whole number from 0 to 65535 was expected.'],
])("%s: one sentence", async (name, sentence) => {
  await mkdir(join(folder, "folder.yaml"))
  await write("settings.toml", "")
  await write("large.json", " ".repeat(100_001))
  await write("none.ts", "export const port = 1\n")
  await write("throws.ts", "throw new TypeError(`hunter2`)\n")
  await write("wrong.ts", "export default { listen: { port: 'x' } }\n")
  const read = await readConfig(name, folder)
  expect(read).toMatchObject({ faults: [{ sentence }] })
  expect(JSON.stringify(read)).not.toContain("hunter2")
})

test.each([
  ["22.17.1", false],
  ["22.18.0", true],
  ["23.0.0", true],
  ["24.21.0", true],
  ["21.7.3", false],
])("Node.js %s reads TypeScript: %s", (version, reads) => {
  expect(readsTypes(version)).toBe(reads)
})

test("defineConfig gives back what it is given", () => {
  expect(defineConfig(same)).toBe(same)
})
