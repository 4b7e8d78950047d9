import type { Channel, MessageId } from "../../message/message.ts"
import {
  describesValue,
  type Fact,
  type FactKind,
  type FactState,
  factKey,
  isOneLine,
  isPlain,
  type LabelSource,
  type LedgerBlock,
  maxFacts,
  maxLabelLength,
  minValueLength,
  userHeading,
} from "./fact.ts"
import { joinFacts, type Ledger } from "./ledger.ts"
import { kindOfLeaf } from "./record.ts"
import { marks, readTitle } from "./render.ts"

/** A value read from print, and where it ends. */
type Printed = { readonly value: string; readonly end: number }
type PrintedItem = Printed & { readonly state: FactState }

const plainRun = /[^\s`,;()]+/y
const backticks = /`+/y

/** The value that starts at a place, between backticks or plain. */
function readValue(text: string, at: number): Printed | undefined {
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
function readItem(text: string, at: number): PrintedItem | undefined {
  const read = readValue(text, at)
  if (read === undefined) return undefined
  const state = states.find((name) => text.startsWith(marks[name], read.end))
  return state === undefined
    ? { ...read, state: "current" }
    : { value: read.value, state, end: read.end + marks[state].length }
}

/** Values with commas between them, as far as they go. */
function readItems(text: string, start: number): readonly PrintedItem[] {
  const items: PrintedItem[] = []
  for (let item = readItem(text, start); item !== undefined; ) {
    items.push(item)
    item = text.startsWith(", ", item.end) ? readItem(text, item.end + 2) : undefined
  }
  return items
}

const untilSign = /[^`,;()]*/y

/** `title value, value; title value`: each value with its title. */
function readDetails(text: string, start: number): readonly (PrintedItem & { readonly title: string })[] {
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

/** Where the text stood: the message that carries it, and the position of the first message that is read after it. */
type ParsedAt = { readonly messageId: MessageId; readonly position: number }

/**
 * The ledger that a fitted text was printed from, as far as print tells: values, labels, subjects, states, and whether the user gave
 * them. Text from elsewhere gives what happens to read the same, or nothing.
 */
export function parseLedger(text: string, at: ParsedAt): Ledger {
  const facts = new Map<string, Fact>()
  let block: LedgerBlock = "others"
  let title = ""
  for (const line of text.split("\n")) {
    const said = line === userHeading ? nothing : readLine(line, title)
    if (line === userHeading) block = "user"
    title = said.title
    for (const item of said.items) {
      const fact = factOf(item, block, at)
      if (fact === undefined || facts.size >= maxFacts) continue
      add(facts, fact)
    }
  }
  return { facts, running: new Map(), length: Math.max(0, at.position) }
}

/** A name is printed once; so a value that stands in a second place describes something there. */
function add(facts: Map<string, Fact>, fact: Fact): void {
  const isNew = !facts.has(factKey(fact, fact.channel))
  const placed: Fact = isNew || describesValue(fact.kind) ? fact : { ...fact, kind: "word" }
  const key = factKey(placed, placed.channel)
  const known = facts.get(key)
  facts.set(key, known === undefined ? placed : joinFacts(known, placed))
}

/** A value as it stood in print. */
type Item = { readonly title: string; readonly value: string; readonly state: FactState; readonly subject?: string }

/** What a line says, and the title that the lines below it go by. */
type Line = { readonly title: string; readonly items: readonly Item[] }

const nothing: Line = { title: "", items: [] }

function readLine(line: string, title: string): Line {
  if (line.startsWith("  ")) return { title, items: title === "" ? [] : readRecord(line, title) }
  if (line.startsWith("of ")) {
    const owner = readValue(line, "of ".length)
    if (owner === undefined || !line.startsWith(": ", owner.end)) return nothing
    return { title: "", items: ownedBy(owner.value, line, owner.end + 2) }
  }
  const colon = line.indexOf(":")
  if (colon < 1) return nothing
  const name = line.slice(0, colon)
  const only = readItem(line, colon + 2)
  if (only !== undefined && line.startsWith(" (", only.end) && line.endsWith(")")) {
    return { title: name, items: [{ title: name, ...only }, ...ownedBy(only.value, line.slice(0, -1), only.end + 2)] }
  }
  return { title: name, items: readItems(line, colon + 2).map((item) => ({ title: name, ...item })) }
}

function readRecord(line: string, title: string): readonly Item[] {
  const head = readItem(line, 2)
  if (head === undefined || !line.startsWith(": ", head.end)) return []
  return [{ title, ...head }, ...ownedBy(head.value, line, head.end + 2)]
}

const ownedBy = (subject: string, text: string, start: number): readonly Item[] =>
  readDetails(text, start).map((item) => ({ ...item, subject }))

/** Print does not tell who said what was only read: it counts as the least that it may have been. */
const channels: Readonly<Record<LedgerBlock, Channel>> = { user: "user", others: "tool" }

function factOf({ title, value, state, subject }: Item, block: LedgerBlock, at: ParsedAt): Fact | undefined {
  if (value.length < minValueLength || !isOneLine(value) || title.length > maxLabelLength + 2) return undefined
  // What was said before anything that is read after it: a value of the first new message is the later one.
  const position = at.position - 1
  return {
    value,
    ...namedBy(title, value, block, subject),
    ...(subject === undefined ? {} : { subject }),
    source: { messageId: at.messageId },
    channel: channels[block],
    first: position,
    last: position,
    // Once where it came from, and once where it is carried on.
    uses: 2,
    usedInCalls: 0,
    givenByUser: block === "user",
    state,
  }
}

/** Digits that are a quantity unless their label says otherwise. */
const shortNumber = /^\d{1,7}$/

type Named = { readonly kind: FactKind; readonly label: string; readonly labelFrom: LabelSource }

function namedBy(title: string, value: string, block: LedgerBlock, subject: string | undefined): Named {
  const said = readTitle(title)
  if ("kind" in said) return { kind: said.kind, label: said.kind, labelFrom: "kind" }
  const quoted = !shortNumber.test(value)
  const kind =
    kindOfLeaf(value, quoted, said.label, { channel: channels[block], inCall: false, spoken: false }) ?? "word"
  return { kind, label: said.label, labelFrom: block === "user" && subject === undefined ? "pair" : "key" }
}
