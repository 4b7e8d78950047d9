import { rm, stat, writeFile } from "node:fs/promises"
import { createKeyPair } from "../guard/operator/key-pair.ts"
import { tellAnswer } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { unwritable } from "./deliver.ts"
import { type Failure, isFailure } from "./failure.ts"
import { sentenceOf } from "./printable.ts"

const usualFile = "operator.key"

/** Where the public half goes: beside the private one. */
export const publicFile = (path: string): string => `${path.replace(/\.(?:key|pem)$/, "")}.pub`

export const keysNew: Command = {
  summary: "Make a pair of keys: FILE for its owner alone, and FILE.pub to be trusted",
  usage: "keys new [FILE] [--json]",
  options: { json: { help: "one JSON object on stdout, and nothing else" } },
  maxPositionals: 1,
  notes: `FILE is ${usualFile} unless given; of NAME.key the public half is NAME.pub. A file that is there is never written over.
The private key has no passphrase: keep the file where nobody else can read it.

  holdfast keys new
  holdfast keys new ~/.config/holdfast/operator.key`,
  run: async (args, world) => {
    const path = args.positionals[0] ?? usualFile
    const made = await writePair(path)
    if (isFailure(made)) return made
    const { fingerprint } = made
    const publicPath = publicFile(path)
    return tellAnswer(
      {
        json: { fingerprint, privateKey: path, publicKey: publicPath },
        text: () => [
          `${sentenceOf(path)} has the private key, for its owner alone; ${sentenceOf(publicPath)} the public one.`,
          `Its fingerprint is ${fingerprint}.`,
          `To have its commands obeyed: holdfast keys trust ${sentenceOf(publicPath)}`,
        ],
      },
      args.isOn("json"),
      world,
    )
  },
}

async function writePair(path: string): Promise<{ readonly fingerprint: string } | Failure> {
  const { privateKey, publicKey, fingerprint } = createKeyPair()
  const publicPath = publicFile(path)
  const taken = await stat(publicPath).then(
    () => true,
    () => false,
  )
  if (taken) return unwritable(publicPath, "EEXIST")
  const failed = await writeNew(path, privateKey, 0o600)
  if (failed !== undefined) return failed
  const half = await writeNew(publicPath, publicKey, 0o644)
  if (half === undefined) return { fingerprint }
  // A private key that nobody can trust is of no use to anyone but a thief.
  await rm(path, { force: true })
  return half
}

/** Write a file that must not be there yet. */
export async function writeNew(path: string, text: string, mode: number): Promise<Failure | undefined> {
  try {
    await writeFile(path, text, { flag: "wx", mode })
    return undefined
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    return unwritable(path, String(error.code))
  }
}
