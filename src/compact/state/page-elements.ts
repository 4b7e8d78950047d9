import type { ToolResultPart } from "../../message/message.ts"
import { createPerObject } from "../../message/recall.ts"
import { oneLine } from "../summary/summary.ts"
import type { CallDeed } from "./call-deed.ts"
import { admits } from "./note-draft.ts"

/** Calls that name an element of a page or screen by an id: the line of the page that has the id says what it is. */

/** Arguments that take such an id. */
const elementKey = /^(?:bid|ref|uid|eid|index|node|target|element|element_?id|node_?id|backend_?node_?id)$/i
const elementId = /^[\w-]{1,16}$/

/** A page of more characters is read up to here. */
const maxPage = 400_000
const maxName = 80

/** A page that gives its elements ids: the same mark before many of its lines, or within them. */
const marked =
  /(?:^|\n)[ \t]{0,80}(?:[-*][ \t])?(?:\[[\w-]{1,16}\]|(?:bid|uid|ref|eid)[:=][\w-]{1,16}|[^\n]{1,160}\[ref=[\w-]{1,16}\])/gi
const markedBefore = /(?:^|\n)[ \t]{0,80}(?:[-*][ \t])?(?:\[[\w-]{1,16}\]|(?:bid|uid|ref|eid)[:=][\w-]{1,16})/gi
const markedWithin = /\[ref=/i
const leastMarked = 5
/** A page has such marks from its beginning. */
const maxLooked = 8_000

export const screenText = ({ content }: ToolResultPart): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n")

/** Is a result such a page? */
export const isScreen = createPerObject((result: ToolResultPart): boolean => {
  const text = screenText(result).slice(0, maxLooked)
  let found = 0
  for (const _ of text.matchAll(markedWithin.test(text) ? marked : markedBefore))
    if (++found >= leastMarked) return true
  return false
})

/** The call with the name of each element behind its id, where the page that was shown says one. */
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

/** What stands on the line of an id, without its states: `BID:a12 textbox Caller, required` is a textbox Caller. */
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
