import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { onTestFinished } from "vitest"
import { createKeyPair } from "../../src/guard/operator/command.ts"
import { type Operator, openOperator } from "../../src/guard/operator/operator.ts"
import { openStore } from "../../src/store/open-store.ts"
import type { Store } from "../../src/store/store.ts"
import { main } from "../support/programs.ts"

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** A folder with a store in a file, a policy directory beside it and an operator's key, as a deployment has them. */
export type Desk = {
  readonly data: string
  readonly policy: string
  readonly key: string
  readonly privateKey: string
  readonly write: (name: string, text: string) => void
  /** The program as built, in a process of its own, until it ends. */
  readonly holdfast: (...args: readonly string[]) => Promise<Ran>
  readonly store: () => Promise<Store>
  readonly operator: (store: Store, watch?: boolean) => Promise<Operator>
}

/** Done when the test is over, the last first. */
export const atEnd = (end: () => Promise<void> | void): void => onTestFinished(end)

export function openDesk(files: Readonly<Record<string, string>> = {}): Desk {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-desk-"))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, "holdfast.db")
  const policy = join(folder, "policy")
  const key = join(folder, "operator.key")
  const pair = createKeyPair()
  mkdirSync(join(policy, "keys"), { recursive: true, mode: 0o755 })
  const write = (name: string, text: string): void => writeFileSync(join(policy, name), text, { mode: 0o644 })
  write("keys/operator.pub", pair.publicKey)
  writeFileSync(key, pair.privateKey, { mode: 0o600 })
  for (const [name, text] of Object.entries(files)) write(name, text)
  return {
    data,
    policy,
    key,
    privateKey: pair.privateKey,
    write,
    holdfast: (...args) => run([...args, "--data", data]),
    store: async () => {
      const store = await openStore(data)
      atEnd(() => store.close())
      return store
    },
    operator: async (store, watch = true) => {
      const operator = await openOperator({ store, directory: policy, watch })
      atEnd(() => operator.close())
      return operator
    },
  }
}

export async function run(args: readonly string[], script = main): Promise<Ran> {
  const child = spawn(process.execPath, ["--no-warnings", script, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  const said = { stdout: "", stderr: "" }
  child.stdout.on("data", (chunk) => {
    said.stdout += chunk
  })
  child.stderr.on("data", (chunk) => {
    said.stderr += chunk
  })
  const code = await new Promise<number | null>((done) => child.on("close", done))
  return { code, ...said }
}

/** What a watching program takes up by itself is there after a look or two at files and log; on a busy machine later. */
const patienceMs = 20_000

/** Wait until it is so. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await isSo()); ) {
    if (Date.now() > end) throw new Error("it did not come to that")
    await wait(50)
  }
}
