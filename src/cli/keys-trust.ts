import { mkdir, readFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { readPublicKey } from "../guard/operator/key.ts"
import { policyOption, policyPlace } from "./ask-operator.ts"
import { tellAnswer } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { dataOption, dataPlace } from "./data-place.ts"
import { unwritable } from "./deliver.ts"
import { type Failure, isFailure, misuse } from "./failure.ts"
import { writeNew } from "./keys-new.ts"
import { sentenceOf } from "./printable.ts"
import { readInput } from "./read-input.ts"

export const keysTrust: Command = {
  summary: "Copy a public key into the policy directory: commands signed with it are obeyed from then on",
  usage: "keys trust FILE.pub [--json]",
  options: { ...policyOption, ...dataOption, json: { help: "one JSON object on stdout, and nothing else" } },
  maxPositionals: 1,
  notes: `The folder is made if it is not there. A program that is running takes it up by itself. Compare the fingerprint with
the one that its owner sees.

  holdfast keys trust operator.pub`,
  run: async (args, world) => {
    const [path] = args.positionals
    if (path === undefined) return misuse("It was not said which key.", "Name the file of a public key: operator.pub")
    const place = dataPlace(args.valueOf("data"), world.env)
    if (isFailure(place)) return place
    const directory = policyPlace(args, world.env, place)
    if (isFailure(directory)) return directory
    const input = await readInput(path, world, "the file of a public key")
    if (isFailure(input)) return input
    const { fingerprint } = readPublicKey(input.text, path)
    const target = join(directory, "keys", `${basename(path).replace(/\.(?:pub|pem)$/, "")}.pub`)
    const failure = await copyKey(target, input.text)
    if (failure !== undefined) return failure
    const words = `Trusted: ${fingerprint}, as ${sentenceOf(target)}.`
    return tellAnswer({ json: { fingerprint, file: target }, text: () => [words] }, args.isOn("json"), world)
  },
}

/** One that is there already is no failure; another of the same name is. */
async function copyKey(target: string, text: string): Promise<Failure | undefined> {
  try {
    await mkdir(join(target, ".."), { recursive: true, mode: 0o755 })
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    return unwritable(target, String(error.code))
  }
  const failure = await writeNew(target, text, 0o644)
  if (failure === undefined) return undefined
  const there = await readFile(target, "utf8").catch(() => "")
  return there.trim() === text.trim() ? undefined : failure
}
