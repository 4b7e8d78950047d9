import { isTemplateUse } from "../guard/operator/is-template-use.ts"
import { tryParse } from "../wire/json.ts"
import type { Command } from "./command.ts"
import { isFailure, misuse, unusable } from "./failure.ts"
import { sentenceOf } from "./printable.ts"
import { readInput } from "./read-input.ts"
import { signAndSubmit, signingOptions } from "./sign-and-submit.ts"

export const policyAdd: Command = {
  summary: "Add a policy by command, or replace one of the same name, signed",
  usage: "policy add NAME FILE|- --key FILE [--print] [--json]",
  options: signingOptions,
  maxPositionals: 2,
  notes: `The file has policies in Cedar, or one use of a template as JSON: {"template":"spend-limit","amount":100}.

  holdfast policy add spending spend.json --key operator.key`,
  run: async (args, world) => {
    const [name = "", path] = args.positionals
    if (name === "") return misuse("It was not said how to call the policy.", "Write: holdfast policy add NAME FILE")
    if (path === undefined)
      return misuse("It was not said which file has the policy.", "Write: holdfast policy add NAME FILE (- for stdin)")
    const input = await readInput(path, world, "policies in Cedar, or one use of a template as JSON")
    if (isFailure(input)) return input
    const value = input.text.trimStart().startsWith("{") ? tryParse(input.text) : input.text
    if (typeof value !== "string" && !isTemplateUse(value)) {
      const sentence = `${input.name} is neither Cedar nor one use of a known template.`
      return unusable("policy-invalid", sentence, 'Give {"template":"…", …} or policies in Cedar.')
    }
    return signAndSubmit(args, world, { type: "add-policy", name, policy: value }, (_accepted, store) => [
      `Added: the policy ${sentenceOf(name)}.`,
      `Every gateway on ${store} judges by it from its next answer on; one on another store does not.`,
    ])
  },
}
