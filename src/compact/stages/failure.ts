import { type ToolResultPart, textOf } from "../../message/message.ts"
import { readTree, type Tree } from "./json-tree.ts"

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
export function failureExcerpt(text: string): string | undefined {
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

/** A longer text is not read as JSON: no model could have read it either. */
const maxJsonLength = 1_000_000

/** Does a text open like a list or a record? Told by its first signs, and the same of what is left when it was shortened as JSON. */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]\s*(?:["[{\]}\d-]|true\b|false\b|null\b)/.test(text)

/** The list or record that a text is, with its numbers verbatim. */
export function readJsonTree(text: string): Tree | undefined {
  if (text.length > maxJsonLength || !looksLikeJson(text)) return undefined
  const tree = readTree(text)
  if (tree !== undefined || !/^\s*\[\s*[tfn]/.test(text)) return tree
  // A list that starts with a bare word is read as the only item of another one.
  const outer = readTree(`[${text}]`)
  return outer?.type === "list" && outer.items.length === 1 && outer.items[0]?.type === "list"
    ? outer.items[0]
    : undefined
}
