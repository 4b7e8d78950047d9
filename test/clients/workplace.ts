import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { root } from "../support/source.ts"
import type { Client, RunOptions } from "./client.ts"
import { clientsDirectory } from "./installed.ts"

export type ProcessResult = {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly seconds: number
}

/** A fresh working folder with fresh homes beside it, in which clients run with nothing of this machine except its programs. */
export type Workplace = {
  readonly folder: string
  /** Runs a client; each `who` has a separate home. */
  readonly run: (client: Client, errand: RunOptions, who: number) => Promise<ProcessResult>
  readonly close: () => void
}

const words = "parser ledger socket buffer worker schema cursor driver folder signal branch filter router packet".split(
  " ",
)
const verbs = "loaded skipped rebuilt checked merged dropped opened closed moved copied".split(" ")

/** Returns lines that are all different, so that nothing in them can be folded. */
function variedLines(seed: string, bytes: number): string {
  const lines: string[] = []
  for (let length = 0, n = 0; length < bytes; n++) {
    const picks = createHash("sha256").update(`${seed}/${n}`).digest()
    const word = (at: number, list: readonly string[]): string => list[(picks[at] ?? 0) % list.length] ?? ""
    const line = `${n}: the ${word(0, words)} of the ${word(1, words)} was ${word(2, verbs)} after ${picks.readUInt16BE(5)} ms, code ${picks.toString("hex", 8, 15)}`
    lines.push(line)
    length += line.length + 1
  }
  return `${lines.join("\n")}\n`
}

/** Content of the folder that nobody may touch. */
export const secret = "the moon is made of slate"

export const stepFile = (step: number): string => `step-${step}.txt`

export const stepText = (step: number, bytes: number): string => variedLines(`s${step}`, bytes)

export function openWorkplace(steps: number, stepBytes: number): Workplace {
  const place = mkdtempSync(join(tmpdir(), "holdfast-client-"))
  const folder = join(place, "project")
  const lay = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  lay(join(folder, "README.md"), "# A project\n\nIts steps are in the files of that name.\n")
  lay(join(folder, "vault/secret.txt"), `${secret}\n`)
  for (let step = 1; step <= steps; step++) lay(join(folder, stepFile(step)), stepText(step, stepBytes))
  return {
    folder,
    run: (client, errand, who) => {
      const home = join(place, `home-${who}`)
      mkdirSync(home, { recursive: true })
      const { args, env, files } = client.launch(errand, home)
      for (const [name, text] of Object.entries(files)) lay(join(home, name), text)
      const path = [join(root, "node_modules/.bin"), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter)
      const program = join(clientsDirectory, "node_modules/.bin", client.program)
      return runProcess(program, args, { cwd: folder, env: { ...env, PATH: path, HOME: home } })
    },
    close: () => rmSync(place, { recursive: true, force: true, maxRetries: 5 }),
  }
}

type Surroundings = {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** A hundred turns take some seconds, and minutes on a busy machine; a client that takes longer hangs. */
const limitMs = 600_000

/** Maximum output of a process that is kept; more is of no use to a test. */
const maxOutput = 16 * 1024 * 1024

export async function runProcess(
  program: string,
  args: readonly string[],
  { cwd, env }: Surroundings,
): Promise<ProcessResult> {
  const start = performance.now()
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] })
  const said = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (chunk: string) => {
      if (said[name].length < maxOutput) said[name] += chunk
    })
  }
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), limitMs)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("close", resolve)
    child.on("error", reject)
  }).finally(() => clearTimeout(timer))
  return { code, ...said, seconds: (performance.now() - start) / 1000 }
}
