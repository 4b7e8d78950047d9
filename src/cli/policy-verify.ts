import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { operatorLog } from "../store/reserved-log.ts"
import { askOperator, operatorOptions } from "./ask-operator.ts"
import type { Command } from "./command.ts"
import { count } from "./paper.ts"

export const policyVerify: Command = {
  summary: "Check the whole audit log: that no line was changed, lost or put in, and every signature",
  usage: "policy verify [--head N:HASH] [--json]",
  options: {
    head: { value: "N:HASH", help: "a head that was printed before; the log must still have that line" },
    ...operatorOptions,
  },
  maxPositionals: 0,
  notes: `The exit code is 1 if anything is damaged. A log whose end was cut off hangs together all the same: keep the head
that is printed somewhere else, and give it the next time.

  holdfast policy verify
  holdfast policy verify --head 12:9f86d081884c7d65…`,
  run: async (args, world) => {
    const known = readHead(args.valueOf("head"))
    return askOperator(args, world, async ({ store, directory }) => {
      const { lines, log } = await inspectOperator(present({ store, directory }))
      if (known !== undefined && lines[known.seq - 1]?.hash !== known.hash) {
        const reason = `line ${known.seq} is missing or is not what it was`
        throw new HoldfastError({ code: "store-corrupt", store: "audit log", session: operatorLog, reason })
      }
      const head = `${log.head.seq}:${log.head.hash}`
      const words =
        lines.length === 0 ? "The audit log is empty." : `Whole: ${count(lines.length, "line")}. Head: ${head}`
      return { json: { lines: lines.length, head }, text: () => [words] }
    })
  },
}

function readHead(text: string | undefined): { readonly seq: number; readonly hash: string } | undefined {
  if (text === undefined) return undefined
  const [, digits = "", hash = ""] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (hash !== "" && Number(digits) > 0) return { seq: Number(digits), hash }
  const found = JSON.stringify(text.slice(0, 40))
  throw new HoldfastError({ code: "option-invalid", option: "--head", expected: "a number, a colon and a hash", found })
}
