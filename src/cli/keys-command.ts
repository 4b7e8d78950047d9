import { existsSync } from "node:fs"
import { mkdir, readFile, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { createKeyPair, readPublicKey } from "../guard/operator/command.ts"
import { makeKeyRing, readDirectory } from "../guard/operator/directory.ts"
import { codeOrThrow } from "../message/errors.ts"
import { readStoreKey } from "../store/sealed-store.ts"
import { dataOption, dataPlace, openPlace, operatorOptions, placeWords, policyDirectory } from "./ask-store.ts"
import { type Command, type CommandGroup, needed } from "./command.ts"
import { unwritable, writeNew } from "./deliver.ts"
import { readInput } from "./read-input.ts"
import { usualKey } from "./sign-and-submit.ts"
import { sentenceOf, table } from "./terminal/output.ts"

const keysList: Command = {
  options: operatorOptions,
  run: async (args, world) => {
    const directory = policyDirectory(args, world.env)
    const ring = makeKeyRing((await readDirectory(directory)).keys)
    const keys = [...ring.values()].map(({ fingerprint, state, source }) => ({ fingerprint, state, file: source }))
    const rows = keys.map(({ fingerprint, state, file }) => [fingerprint, state, file])
    return {
      json: { keys },
      text: (paper) =>
        rows.length === 0
          ? ["No key is trusted.", "Make one with holdfast keys new, and trust it with holdfast keys trust FILE.pub"]
          : table(columns, rows, paper),
    }
  },
}

const columns = ["KEY", "STATE", "FILE"] as const

const keysTrust: Command = {
  options: operatorOptions,
  maxPositionals: 1,
  run: async (args, world) => {
    const path = needed(args.positionals[0], "which key", "Name the file of a public key: operator.pub")
    const directory = policyDirectory(args, world.env)
    const input = await readInput(path, world, "the file of a public key")
    const { fingerprint } = readPublicKey(input.text, path)
    const target = join(directory, "keys", `${basename(path).replace(/\.(?:pub|pem)$/, "")}.pub`)
    await copyKey(target, input.text)
    const words = `Trusted: ${fingerprint}, as ${sentenceOf(target)}.`
    return { json: { fingerprint, file: target }, text: () => [words] }
  },
}

/** Copies a key. It is not a failure if the same key is already there, but it is if another one has the name. */
async function copyKey(target: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o755 })
    await writeNew(target, text, 0o644)
  } catch (error) {
    const there = await readFile(target, "utf8").catch(() => "")
    if (there.trim() !== text.trim()) unwritable(target, codeOrThrow(error))
  }
}

/** The file of the public key: beside the private one. */
const publicFile = (path: string): string => `${path.replace(/\.(?:key|pem)$/, "")}.pub`

const keysNew: Command = {
  options: { json: { help: "one JSON object on stdout, and nothing else" } },
  maxPositionals: 1,
  run: async (args, world) => {
    const path = args.positionals[0] ?? usualKey(world.env)
    if (args.positionals[0] === undefined) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const fingerprint = await writePair(path)
    const publicPath = publicFile(path)
    return {
      json: { fingerprint, privateKey: path, publicKey: publicPath },
      text: () => [
        `${sentenceOf(path)} has the private key, for its owner alone; ${sentenceOf(publicPath)} the public one.`,
        `Its fingerprint is ${fingerprint}.`,
        `To have its commands obeyed: holdfast keys trust ${sentenceOf(publicPath)}`,
      ],
    }
  },
}

async function writePair(path: string): Promise<string> {
  const { privateKey, publicKey, fingerprint } = createKeyPair()
  const publicPath = publicFile(path)
  if (existsSync(publicPath)) unwritable(publicPath, "EEXIST")
  await writeNew(path, privateKey, 0o600)
  try {
    await writeNew(publicPath, publicKey, 0o644)
  } catch (error) {
    // Remove the private key: without its public half nobody can trust it.
    await rm(path, { force: true })
    throw error
  }
  return fingerprint
}

const keysStore: Command = {
  options: {
    ...dataOption,
    "new-key-file": { value: "FILE", help: "the file that has the new key: 32 bytes in hexadecimal or base64" },
    json: { help: "one JSON object on stdout, and nothing else" },
  },
  run: async (args, world) => {
    const file = needed(args.valueOf("new-key-file"), "which key", "Name its file with --new-key-file.")
    const place = dataPlace(args.valueOf("data"), world.env)
    const input = await readInput(file, world, "the file of the new key")
    const store = await openPlace(place, world.env, { nextKey: readStoreKey(input.text) })
    await store.close()
    return {
      json: { changed: true },
      text: () => [
        `${placeWords(place).replace(/^t/, "T")} opens with the new key from now on, and not with the old one.`,
      ],
    }
  },
}

export const keysCommand: CommandGroup = {
  commands: new Map([
    ["new", keysNew],
    ["list", keysList],
    ["trust", keysTrust],
    ["store", keysStore],
  ]),
}
