import { askOperator, operatorOptions } from "./ask-operator.ts"
import type { Command } from "./command.ts"
import { isFailure } from "./failure.ts"
import { readInput } from "./read-input.ts"
import { type Submission, submitTo } from "./sign-and-submit.ts"

export const policySubmit: Command = {
  summary: "Send a command that was signed elsewhere with --print",
  usage: "policy submit FILE|- [--json]",
  options: operatorOptions,
  maxPositionals: 1,
  notes: `It is good for a day, and counts once, wherever it is sent.

  holdfast policy submit command.txt`,
  run: async (args, world) => {
    const input = await readInput(args.positionals[0], world, "a command that --print printed")
    if (isFailure(input)) return input
    const submission: Submission = {
      make: () => input.text,
      words: ({ line, rule }) => [rule === undefined ? `Done, as c${line.number}.` : `Pinned as ${rule}.`],
    }
    return askOperator(args, world, (asked) => submitTo(asked, world, submission), { make: true })
  },
}
