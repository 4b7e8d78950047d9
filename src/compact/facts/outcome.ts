import type { ToolResultPart } from "../../message/part.ts"
import { textOf } from "../../message/text.ts"
import type { FactState } from "./fact.ts"

/** How much of the end of an output is looked at: that is where shells and test runners say how it went. */
const edge = 1_000

/** An output no longer than this is a message about the run rather than content that a run printed. */
const brief = 600

const plainFailure = /\bexit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}[1-9]|^Traceback \(most recent/m
const likelyFailure = /command not found|No such file or directory|^(?:fatal|error|Error)\b|\berror:|Permission denied/m

/** Did a tool's run go wrong, by its flag or by its own words? */
export function hasFailed(part: ToolResultPart): boolean {
  if (part.failed !== undefined) return part.failed
  const text = textOf(part)
  return plainFailure.test(text.slice(-edge)) || (text.length <= brief && likelyFailure.test(text))
}

/** What a run says of its command, given what was known. */
export function stateAfter(known: FactState, failed: boolean): FactState {
  if (failed) return "failed"
  return known === "failed" || known === "resolved" ? "resolved" : "current"
}
