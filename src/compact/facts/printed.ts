import type { FactState } from "./fact.ts"
import { isPlain } from "./quote-value.ts"
import { marks } from "./render.ts"

/** A value read from print, and where it ends. */
export type Printed = { readonly value: string; readonly end: number }
export type PrintedItem = Printed & { readonly state: FactState }

const plainRun = /[^\s`,;()]+/y
const backticks = /`+/y

/** The value that starts at a place, between backticks or plain. */
export function readValue(text: string, at: number): Printed | undefined {
  backticks.lastIndex = at
  const mark = backticks.exec(text)?.[0]
  if (mark !== undefined) {
    const close = text.indexOf(mark, at + mark.length)
    if (close < 0) return undefined
    const inner = text.slice(at + mark.length, close)
    return { value: mark.length > 1 ? inner.slice(1, -1) : inner, end: close + mark.length }
  }
  plainRun.lastIndex = at
  const value = plainRun.exec(text)?.[0].replace(/:+$/, "") ?? ""
  return isPlain(value) ? { value, end: at + value.length } : undefined
}

const states: readonly FactState[] = ["superseded", "failed", "resolved"]

/** A value with the mark of its state. */
export function readItem(text: string, at: number): PrintedItem | undefined {
  const read = readValue(text, at)
  if (read === undefined) return undefined
  const state = states.find((name) => text.startsWith(marks[name], read.end))
  return state === undefined
    ? { ...read, state: "current" }
    : { value: read.value, state, end: read.end + marks[state].length }
}

/** Values with commas between them, as far as they go. */
export function readItems(text: string, start: number): readonly PrintedItem[] {
  const items: PrintedItem[] = []
  for (let item = readItem(text, start); item !== undefined; ) {
    items.push(item)
    item = text.startsWith(", ", item.end) ? readItem(text, item.end + 2) : undefined
  }
  return items
}

const untilSign = /[^`,;()]*/y

/** `title value, value; title value`: each value with its title. */
export function readDetails(text: string, start: number): readonly (PrintedItem & { readonly title: string })[] {
  const found: (PrintedItem & { readonly title: string })[] = []
  for (let at = start; at < text.length; ) {
    untilSign.lastIndex = at
    const words = untilSign.exec(text)?.[0] ?? ""
    const ticked = text[at + words.length] === "`"
    const length = ticked ? words.length - 1 : words.trimEnd().lastIndexOf(" ")
    const title = words.slice(0, Math.max(0, length))
    const items = title === "" ? [] : readItems(text, at + title.length + 1)
    for (const item of items) found.push({ ...item, title })
    const end = items.at(-1)?.end ?? text.length
    if (!text.startsWith("; ", end)) return found
    at = end + 2
  }
  return found
}
