import type { AuditLine } from "../guard/operator/audit-view.ts"
import type { Command as OperatorCommand } from "../guard/operator/command.ts"
import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import { present } from "../message/present.ts"
import { askOperator, operatorOptions } from "./ask-operator.ts"
import type { Command } from "./command.ts"
import { count, moment } from "./paper.ts"
import { clip } from "./printable.ts"
import { readCount } from "./read-count.ts"
import { table } from "./table.ts"

const usualLimit = 50
/** A listing is held whole before it is told. */
const maxLimit = 100_000

export const policyLog: Command = {
  summary: "The audit log: every command accepted or refused, and every change of the policy directory",
  usage: "policy log [--limit N] [--json]",
  options: { limit: { value: "N", help: `the last so many lines; ${usualLimit} unless given` }, ...operatorOptions },
  maxPositionals: 0,
  notes: `Every line is checked as it is read, signatures included. Of a flood of refused commands some have lines; the
others are counted in them. Times are in UTC.

  holdfast policy log
  holdfast policy log --limit 1000 --json`,
  run: async (args, world) => {
    const limit = readCount("--limit", args.valueOf("limit"), { least: 1, most: maxLimit }) ?? usualLimit
    return askOperator(args, world, async ({ store, directory }) => {
      const all = (await inspectOperator(present({ store, directory }))).lines
      const lines = all.slice(-limit)
      const rows = lines.map((line) => [String(line.number), moment(line.atMs), wordsFor(line)])
      return {
        json: { lines, more: all.length > lines.length },
        text: (paper) => (rows.length === 0 ? ["The audit log is empty."] : table(columns, rows, paper)),
      }
    })
  },
}

const columns = [{ title: "LINE", align: "right" }, { title: "WHEN" }, { title: "WHAT" }] as const

const width = 200

function wordsFor(line: AuditLine): string {
  switch (line.type) {
    case "log-opened":
      return `begun, for ${line.audience}`
    case "command-accepted":
      return `${commandWords(line.command)} (key ${line.key.slice(0, 8)})`
    case "command-refused": {
      const more = line.unwritten === undefined ? "" : `, and ${count(line.unwritten, "other")} before it`
      return `refused: ${line.reason}${line.key === undefined ? "" : ` (key ${line.key.slice(0, 8)})`}${more}`
    }
    case "directory-changed": {
      const { files, added, removed } = line
      return `policy directory: ${count(files.length, "file")}, ${count(added.length, "rule")} in, ${removed.length} out`
    }
  }
}

function commandWords(command: OperatorCommand): string {
  switch (command.type) {
    case "pin":
      return `pinned: ${clip(command.text, width)}`
    case "unpin":
      return `taken back: ${command.rule}`
    case "add-policy":
      return `policy in force: ${command.name}`
    case "remove-policy":
      return `policy taken away: ${command.name}`
    case "approve":
      return `call approved: ${command.call}`
    case "refuse":
      return `call refused: ${command.call}`
  }
}
