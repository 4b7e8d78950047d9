import { type ToolResultPart, textOf } from "../../message/message.ts"
import { readTree, type Tree } from "./json-tree.ts"

/** Number of characters at the end in which shells and test runners say how a run ended. */
const endLength = 1_000
/** Maximum length of an output that is a message about the run rather than content that the run printed. */
const maxBriefLength = 600

const certainFailure = /\bexit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}[1-9]|^Traceback \(most recent/
const likelyFailure = /command not found|No such file or directory|^(?:fatal|error|Error)\b|\berror:|Permission denied/

/** Matches the lines by which `hasFailed` decides: while one of them is shown, the result reads as failed. */
export const failureLine = new RegExp(`${certainFailure.source}|${likelyFailure.source}`)

/** Number of characters to keep on either side of the match in a failure line. */
const aroundFailure = 80

/** Returns the last line that shows a failure, cut around the match; undefined if there is none. */
export function failureExcerpt(text: string): string | undefined {
  const line = text.split("\n").findLast((each) => failureLine.test(each)) ?? ""
  const found = failureLine.exec(line)
  if (found === null) return undefined
  return line.slice(Math.max(0, found.index - aroundFailure), found.index + aroundFailure).toWellFormed()
}

const certainFailureAnywhere = new RegExp(certainFailure, "m")
const likelyFailureAnywhere = new RegExp(likelyFailure, "m")

/** True if a tool's run failed, by its flag or its output. JSON records say so in their own fields, which are kept. */
export function hasFailed(part: ToolResultPart): boolean {
  if (part.failed !== undefined) return part.failed
  const text = textOf(part)
  if (looksLikeJson(text)) return false
  return (
    certainFailureAnywhere.test(text.slice(-endLength)) ||
    (text.length <= maxBriefLength && likelyFailureAnywhere.test(text))
  )
}

/** Maximum length of a text that is parsed as JSON: no model could have read a longer one either. */
const maxJsonLength = 1_000_000

/** True if a text starts like a JSON list or record, also after it was shortened as JSON. */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]\s*(?:["[{\]}\d-]|true\b|false\b|null\b)/.test(text)

/** Parses a text as a JSON list or record, with its numbers verbatim. */
export function readJsonTree(text: string): Tree | undefined {
  if (text.length > maxJsonLength || !looksLikeJson(text)) return undefined
  const tree = readTree(text)
  if (tree !== undefined || !/^\s*\[\s*[tfn]/.test(text)) return tree
  // A list that starts with a bare word is only recognized as the item of another list.
  const outer = readTree(`[${text}]`)
  return outer?.type === "list" && outer.items.length === 1 && outer.items[0]?.type === "list"
    ? outer.items[0]
    : undefined
}
