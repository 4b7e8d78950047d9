import type { ToolResultPart } from "../../message/message.ts"
import { createPerObject } from "../../message/recall.ts"
import { oneLine } from "../summary/summary.ts"
import type { CallDeed } from "./call-deed.ts"
import { admits } from "./note-draft.ts"

/** Adds to calls that name an element of a page or screen by its id what that element is, from its line on the page. */

/** Names of arguments that take an element id. */
const elementKey = /^(?:bid|ref|uid|eid|index|node|target|element|element_?id|node_?id|backend_?node_?id)$/i
const elementId = /^[\w-]{1,16}$/

/** Maximum number of characters read of a page. */
const maxPage = 400_000
const maxName = 80

/** Marks of a page that gives its elements ids, at the beginning of its lines or within them. */
const marked =
  /(?:^|\n)[ \t]{0,80}(?:[-*][ \t])?(?:\[[\w-]{1,16}\]|(?:bid|uid|ref|eid)[:=][\w-]{1,16}|[^\n]{1,160}\[ref=[\w-]{1,16}\])/gi
const markedBefore = /(?:^|\n)[ \t]{0,80}(?:[-*][ \t])?(?:\[[\w-]{1,16}\]|(?:bid|uid|ref|eid)[:=][\w-]{1,16})/gi
const markedWithin = /\[ref=/i
const leastMarked = 5
/** Number of characters in which marks are looked for: a page has them from its beginning. */
const maxLooked = 8_000

export const screenText = ({ content }: ToolResultPart): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n")

/** True if a result is such a page. */
export const isScreen = createPerObject((result: ToolResultPart): boolean => {
  const text = screenText(result).slice(0, maxLooked)
  let found = 0
  for (const _ of text.matchAll(markedWithin.test(text) ? marked : markedBefore))
    if (++found >= leastMarked) return true
  return false
})

/** Adds to a call the name of each element behind its id, if the last page shown has it. */
export function withElement(deed: CallDeed, input: unknown, page: string): CallDeed {
  if (deed.type !== "call" || page === "" || typeof input !== "object" || input === null) return deed
  let { text } = deed
  for (const [key, value] of Object.entries(input)) {
    const id = String(value)
    if (!elementKey.test(key) || !elementId.test(id)) continue
    const name = nameOf(id, page)
    if (name !== undefined && !text.includes(name)) text = text.replace(`${key}=${id}`, () => `${key}=${id} "${name}"`)
  }
  return text === deed.text ? deed : { ...deed, text }
}

/** Returns the text of an element's line without its states: `BID:a12 textbox Caller, required` is a textbox Caller. */
function nameOf(id: string, page: string): string | undefined {
  const at = new RegExp(
    `(?:^|\\n)([^\\n]{0,200}?)(?:\\[(?:ref=)?${id}\\]|(?:bid|uid|ref|eid)[:=]${id}(?![\\w-]))([^\\n]{0,200})`,
    "i",
  )
  const [, before = "", after = ""] = at.exec(page.slice(0, maxPage)) ?? []
  const told = /\p{L}/u.test(after.replace(/\[[^\]]*\]/g, "")) ? after : before
  const bare = told.replace(/^[\s:*-]+|\[[^\]]*\]|,?\s[a-z]+=(?:'[^']*'|[^\s,]+)|, [a-z]+(?=,|$)/gi, "")
  const name = oneLine(bare.replace(/["`]/g, "'"), maxName)
  return /\p{L}/u.test(name) && admits(name, "tool") ? name : undefined
}
