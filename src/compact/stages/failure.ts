import type { ToolResultPart } from "../../message/part.ts"
import { textOf } from "../../message/text.ts"
import { looksLikeJson } from "./read-json.ts"

/** Where shells and test runners say how it went: so many characters from the end. */
const edge = 1_000
/** An output no longer than this is a message about the run rather than content that the run printed. */
const brief = 600

const plain = /\bexit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}[1-9]|^Traceback \(most recent/
const likely = /command not found|No such file or directory|^(?:fatal|error|Error)\b|\berror:|Permission denied/

/** The lines by which `hasFailed` tells: as long as one of them stands, the result reads as failed. */
export const failureLine = new RegExp(`${plain.source}|${likely.source}`)

/** Characters of a failure line on either side of what tells. */
const aroundFailure = 80

/** The last line that tells of a failure, cut to what tells; nothing where none does. */
export function failureOf(text: string): string | undefined {
  const line = text.split("\n").findLast((each) => failureLine.test(each)) ?? ""
  const found = failureLine.exec(line)
  if (found === null) return undefined
  return line.slice(Math.max(0, found.index - aroundFailure), found.index + aroundFailure).toWellFormed()
}

const plainAnywhere = new RegExp(plain, "m")
const likelyAnywhere = new RegExp(likely, "m")

/** Did a tool's run go wrong, by its flag or by its own words? Records say it in their own fields, which are kept. */
export function hasFailed(part: ToolResultPart): boolean {
  if (part.failed !== undefined) return part.failed
  const text = textOf(part)
  if (looksLikeJson(text)) return false
  return plainAnywhere.test(text.slice(-edge)) || (text.length <= brief && likelyAnywhere.test(text))
}
