import type { ToolResultPart } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createPerObject } from "../../message/recall.ts"
import type { CallDeed } from "./call-deed.ts"
import { isPrinting } from "./command-runs.ts"
import type { FileDeed } from "./file-change.ts"
import {
  doneAsNamed,
  madeBy,
  type Outcome,
  outcomeOf,
  printedByCommand,
  type ResultText,
  resultText,
} from "./outcome-of.ts"
import { screenText } from "./page-elements.ts"

/** How a call ended; of a change only what it made is of interest, because the rest was in the call. */
export const callOutcome = createPerObject((result: ToolResultPart, deed: CallDeed): Outcome => {
  const told = resultText(result)
  const text = deed.type === "command" ? printedByCommand(told) : told
  const prints = deed.type === "command" && isPrinting(deed.command)
  const found = outcomeOf(text, deed.type === "command", result.failed ?? complains(deed, text), prints)
  // That a removed file is not there any more is what was wanted.
  const isGone = found.failed && deed.type === "command" && confirmsRemoval(found.line ?? "", deed.files)
  const outcome: Outcome = isGone || isEmptySearch(deed, text) ? { failed: false, sure: true } : found
  if (deed.type === "command" && !outcome.failed) return withCommit(deed, outcome, text)
  const isDone = deed.type === "call" && !outcome.failed && doneAsNamed(deed.tool, text)
  if (deed.type !== "call" || (deed.changes === "no" && !isDone) || outcome.failed) return outcome
  const { sure, says, did, line } = outcome
  return { failed: false, ...present({ sure, says, did, line }), ...(isDone ? { isDone } : {}) }
})

/** Does a tool that is to change something answer as programs complain, with its own name first? */
const complains = (deed: CallDeed, { head, length }: ResultText): true | undefined =>
  deed.type === "call" && deed.changes === "yes" && length <= 300 && head.startsWith(`${deed.tool}: `)
    ? true
    : undefined

/** What each change was found to have made up, by what was known before it. */
const madeBefore = new WeakMap<ToolResultPart, { readonly deed: CallDeed; readonly value: string | undefined }>()

/** A change with what it made up that no result before it named. */
export function withMade(
  results: readonly ToolResultPart[],
  read: Outcome,
  result: ToolResultPart,
  deed: CallDeed,
): Outcome {
  if (read.failed || deed.type !== "call" || (deed.changes === "no" && read.isDone !== true)) return read
  const known = madeBefore.get(result)
  const value =
    known?.deed === deed
      ? known.value
      : madeBy(resultText(result), deed.input, (id) => results.some((one) => screenText(one).includes(id)))
  madeBefore.set(result, { deed, value })
  return { ...read, ...present({ value }) }
}

/** A search that found nothing did not fail. */
const isEmptySearch = (deed: CallDeed, { whole = "" }: ResultText): boolean =>
  deed.type === "call" &&
  deed.changes === "no" &&
  /^\s*(?:no (?:matches|files|results?|matching \w+|occurrences)(?: were)?(?: found)?|(?:found )?0 (?:matches|results|files))\b.{0,80}\s*$/i.test(
    whole,
  )

/** Of a command that commits, the commit is what came of it, whatever else it printed. */
function withCommit(
  { command, runs }: Extract<CallDeed, { type: "command" }>,
  outcome: Outcome,
  { head, tail }: ResultText,
): Outcome {
  if (![command, ...runs].some((run) => /(?:^|[\s;&])git (?:-\S+ \S+ )?commit\b/.test(run))) return outcome
  const hash =
    /^\s{0,4}(?:Output: )?(?:\[[^\]\n]{1,80} ([\da-f]{7,40})\] \S|(?:\* )?([\da-f]{7,12})\s(?:\([^)\n]{1,80}\) )?\S)/m
  const found = hash.exec(head) ?? hash.exec(tail)
  const commit = found?.[1] ?? found?.[2]
  return commit === undefined ? outcome : { failed: false, sure: true, value: `commit ${commit}` }
}

/** Does a failure only say that what the same command deleted is missing? */
const confirmsRemoval = (line: string, files: readonly FileDeed[]): boolean =>
  /No such file|cannot (?:access|stat|find)|not found/i.test(line) &&
  files.some(({ path, deed }) => deed === "deleted" && line.includes(path.slice(path.lastIndexOf("/") + 1)))
