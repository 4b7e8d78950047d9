import { resolve } from "node:path"
import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import { policyOption, policyPlace } from "./ask-operator.ts"
import { tellAnswer } from "./ask-store.ts"
import type { Command } from "./command.ts"
import { dataOption, dataPlace } from "./data-place.ts"
import { isFailure } from "./failure.ts"
import { count } from "./paper.ts"
import { ruleLines } from "./policy-show.ts"

export const policyCheck: Command = {
  summary: "Read a policy directory as a start would, and say what is wrong with which file and line",
  usage: "policy check [DIR] [--json]",
  options: { ...policyOption, ...dataOption, json: { help: "one JSON object on stdout, and nothing else" } },
  maxPositionals: 1,
  notes: `The exit code is 1 if anything is wrong. It says which rules were read: each list item and each paragraph of a .md
or .txt file is one, headings are none, and a list behind a line that ends in a colon belongs to that line.

  holdfast policy check
  holdfast policy check deploy/policy`,
  run: async (args, world) => {
    const [named] = args.positionals
    const place = dataPlace(args.valueOf("data"), world.env)
    if (isFailure(place)) return place
    const directory = named === undefined ? policyPlace(args, world.env, place) : resolve(named)
    if (isFailure(directory)) return directory
    const { standing, keys } = await inspectOperator({ directory, now: world.dateMs })
    const { rules, guard } = standing
    const policies = guard?.policies.length ?? 0
    const sizes = `${count(policies, "policy", "policies")}, ${count(keys.size, "key")}`
    return tellAnswer(
      {
        json: { directory, rules, policies, keys: keys.size },
        text: (paper) => [...ruleLines(rules, paper), `Nothing is wrong: ${count(rules.length, "rule")}, ${sizes}.`],
      },
      args.isOn("json"),
      world,
    )
  },
}
