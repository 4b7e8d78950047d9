import { makeKeyRing } from "../guard/operator/key-ring.ts"
import { readDirectory } from "../guard/operator/read-directory.ts"
import { policyOption, policyPlace } from "./ask-operator.ts"
import { tellAnswer } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { dataOption, dataPlace } from "./data-place.ts"
import { isFailure } from "./failure.ts"
import { table } from "./table.ts"

export const keysList: Command = {
  summary: "The keys of the policy directory, and what each is good for",
  usage: "keys list [--json]",
  options: { ...policyOption, ...dataOption, json: { help: "one JSON object on stdout, and nothing else" } },
  maxPositionals: 0,
  notes: `trusted: its commands are obeyed. retired: what it said stands, and it says nothing more. revoked: nothing that it
said stands. Move its file between keys, keys/retired and keys/revoked to change that.

  holdfast keys list`,
  run: async (args, world) => {
    const place = dataPlace(args.valueOf("data"), world.env)
    if (isFailure(place)) return place
    const directory = policyPlace(args, world.env, place)
    if (isFailure(directory)) return directory
    const ring = makeKeyRing((await readDirectory(directory)).keys)
    const keys = [...ring.values()].map(({ fingerprint, state, source }) => ({ fingerprint, state, file: source }))
    const rows = keys.map(({ fingerprint, state, file }) => [fingerprint, state, file])
    return tellAnswer(
      {
        json: { keys },
        text: (paper) =>
          rows.length === 0
            ? ["No key is trusted.", "Make one with holdfast keys new, and trust it with holdfast keys trust FILE.pub"]
            : table(columns, rows, paper),
      },
      args.isOn("json"),
      world,
    )
  },
}

const columns = [{ title: "KEY" }, { title: "STATE" }, { title: "FILE" }] as const
