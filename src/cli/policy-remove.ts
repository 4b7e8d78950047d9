import type { Command } from "./command.ts"
import { misuse } from "./failure.ts"
import { sentenceOf } from "./printable.ts"
import { signAndSubmit, signingOptions } from "./sign-and-submit.ts"

export const policyRemove: Command = {
  summary: "Take away a policy that was added by command, signed",
  usage: "policy remove NAME --key FILE [--print] [--json]",
  options: signingOptions,
  maxPositionals: 1,
  notes: `A policy of a file is taken away by changing the file.

  holdfast policy remove spending --key operator.key`,
  run: async (args, world) => {
    const [name = ""] = args.positionals
    if (name === "") return misuse("It was not said which policy.", "Write its name; holdfast policy lists them.")
    return signAndSubmit(args, world, { type: "remove-policy", name }, () => [`Taken away: ${sentenceOf(name)}.`])
  },
}
