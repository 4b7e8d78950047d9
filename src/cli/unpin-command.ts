import type { Command } from "./command.ts"
import { misuse } from "./failure.ts"
import { sentenceOf } from "./printable.ts"
import { signAndSubmit, signingOptions } from "./sign-and-submit.ts"

export const unpinCommand: Command = {
  summary: "Take back a rule that was given by command, signed",
  usage: "unpin ID --key FILE [--print] [--json]",
  options: signingOptions,
  maxPositionals: 1,
  notes: `Any trusted key may take back what any other gave. A rule of a file is taken back by changing the file.

  holdfast policy
  holdfast unpin c12 --key operator.key`,
  run: async (args, world) => {
    const [rule = ""] = args.positionals
    if (rule.trim() === "") return misuse("It was not said which rule.", "Write its ID; holdfast policy lists them.")
    return signAndSubmit(args, world, { type: "unpin", rule }, () => [`Taken back: ${sentenceOf(rule)}.`])
  },
}
