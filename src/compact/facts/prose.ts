import { instructs } from "../../message/channel.ts"
import { definitionsIn } from "./code-lines.ts"
import type { FactKind } from "./fact.ts"
import { kindOf } from "./kind-of.ts"
import { type Label, labelBefore } from "./label.ts"
import { maxLabelLength, maxValueLength, minValueLength } from "./limits.ts"
import { isOneLine } from "./one-line.ts"
import { commandsIn, type Phrase, phrasesIn, quotedIn, saidIn } from "./phrases.ts"
import type { Emit, Reading } from "./reading.ts"
import { followsNoun, statementAt } from "./statement.ts"
import { eachWord } from "./words.ts"

/** The values that a text speaks of, each with the words that say what it is. */
export function textMentions(text: string, reading: Reading, emit: Emit): void {
  const own = reading.spoken && reading.channel === "user"
  const take = (phrase: Phrase): void => (own ? state(text, phrase, emit) : mention(text, phrase, emit))
  const within = new Set<number>()
  phrasesIn(text, (phrase) => {
    if (within.size < maxWithin)
      for (const { index } of phrase.value.matchAll(wordStart)) within.add(phrase.start + index)
    take(phrase)
  })
  const takeOutside = (phrase: Phrase): void => (within.has(phrase.start) ? undefined : take(phrase))
  if (reading.spoken && instructs(reading.channel)) saidIn(text, takeOutside)
  else if (reading.channel === "assistant" && !reading.inCall) {
    // A model capitalises many a word; a name of several is something that it speaks of.
    saidIn(text, (phrase) => (phrase.value.includes(" ") ? takeOutside(phrase) : undefined))
  }
  if (reading.inCall) quotedIn(text, take)
  else if (reading.channel === "assistant") commandsIn(text, take)
  definitionsIn(text, take)
  eachWord(text, (word, start) => {
    if (!within.has(start)) valuesOf(word, start, text, reading, emit)
  })
}

/** Words of phrases remembered in one text; one that has more fills its share of the ledger before them. */
const maxWithin = 10_000

/** Where the words of a value of several begin: they are no values of their own. */
const wordStart = /(?<![^ ,\u00a0\u202f])[^ ,\u00a0\u202f]/g

/** `key=value` in one word, as in options, query strings and environment files. */
const assigned = /^(-{0,2}[\p{L}_][\p{L}\p{N}_.-]*)=(.+)$/u
/** `path:line`, and what tools print behind it. */
const located = /^(.*[^\d:]):(\d+)(?::.*)?$/u
/** `path-line-`, as a search prints the lines around what it found. */
const around = /^(.*\.\w{1,5})-\d{1,6}(?:-.*)?$/
/** What stands in a command for a value that is given elsewhere: `$1`. */
const placeholder = /^\$\d{1,2}$/
/** A member of a URL's query. */
const asked = /[?&]([\w.-]{1,32})=([^&#\s]{2,120})/g

function valuesOf(word: string, start: number, text: string, reading: Reading, emit: Emit): void {
  const kind = kindOf(word)
  if (kind === undefined && !word.includes("=") && !word.includes(":")) return
  if (kind === "identifier" && reading.channel !== "user") {
    // Code is full of them, and nothing around one says more of it.
    if (word.length >= minTellingLength && word.length <= maxValueLength)
      emit({ kind, value: word, label: kind, labelFrom: "kind" })
    return
  }
  const accept = (phrase: Phrase, label?: Label): void => accepted(phrase, text, reading, emit, label)
  if (kind === "url")
    for (const query of word.matchAll(asked)) acceptPair(query[1] ?? "", query[2] ?? "", start, accept)
  if ((kind === "path" || kind === "id") && word.includes("-")) {
    const [, path = ""] = around.exec(word) ?? []
    if (kindOf(path) === "path") {
      mention(text, { kind: "path", value: path, start }, emit)
      return
    }
  }
  if (kind !== undefined && kind !== "id") {
    const closesTag = kind === "path" && text[start - 1] === "<"
    if (!closesTag) accept({ kind, value: word, start })
    return
  }
  if (word.includes("=")) {
    const [, key = "", value = ""] = assigned.exec(word) ?? []
    if (acceptPair(key, value, start + word.length - value.length, accept)) return
  }
  if (word.includes(":")) {
    const [, path = "", line = ""] = located.exec(word) ?? []
    if (kindOf(path) === "path") {
      mention(text, { kind: "path", value: path, start }, emit)
      if (reading.spoken && instructs(reading.channel))
        mention(text, { kind: "path", value: `${path}:${line}`, start }, emit)
      return
    }
  }
  if (kind === "id") accept({ kind, value: word, start })
}

function acceptPair(
  key: string,
  value: string,
  start: number,
  accept: (phrase: Phrase, label: Label) => void,
): boolean {
  const kind = kindOf(value)
  if (kind === undefined) return false
  accept({ kind, value, start }, { label: key.replace(/^-+/, "").slice(0, maxLabelLength), labelFrom: "pair" })
  return true
}

/** Kinds that ordinary text is full of once the value is short. */
const common: ReadonlySet<FactKind> = new Set(["identifier", "id", "number"])
const minTellingLength = 4

const year = /^(?:19|20)\d\d$/

/** Numbers are everywhere in outputs: they count where a person or a call brings them up, or where they have a key. */
function accepted(phrase: Phrase, text: string, { spoken, channel }: Reading, emit: Emit, given?: Label): void {
  if (phrase.value.length < minTellingLength && common.has(phrase.kind)) return
  if (year.test(phrase.value) || (channel !== "user" && placeholder.test(phrase.value))) return
  const found = given ?? labelAt(text, phrase)
  const label = spoken || found?.labelFrom === "pair" ? found : unlabelled(phrase.kind)
  if (phrase.kind === "number" && !spoken && label?.labelFrom !== "pair") return
  if (spoken && channel === "user" && given === undefined) state(text, phrase, emit)
  else mention(text, phrase, emit, label)
}

/** What the user says of a value: the words of his sentence say what it is, and whether it takes another's place. */
function state(text: string, phrase: Phrase, emit: Emit): void {
  const { label, updates } = statementAt(text, phrase.start, phrase.value.length)
  const told: Emit = (found) => emit(updates ? { ...found, updates } : found)
  const named =
    label?.labelFrom === "pair" ||
    needsWords.has(phrase.kind) ||
    updates ||
    followsNoun(text.slice(Math.max(0, phrase.start - 40), phrase.start))
  if (label === undefined || !named || selfEvident.has(phrase.kind)) mention(text, phrase, told)
  else if (phrase.value.length >= minValueLength && isOneLine(phrase.value))
    told({ kind: phrase.kind, value: phrase.value, ...label })
}

function mention(text: string, phrase: Phrase, emit: Emit, given?: Label): void {
  const { kind: shape, value } = phrase
  if (value.length < minValueLength || !isOneLine(value)) return
  const kind = shape === "quote" ? (kindOf(value) ?? shape) : shape
  const label = given ?? labelAt(text, phrase)
  const telling = label !== undefined && (label.labelFrom === "pair" ? !selfEvident.has(kind) : needsWords.has(kind))
  const { label: name, labelFrom } = telling ? label : unlabelled(kind)
  emit({ kind, value, label: name, labelFrom })
}

const labelAt = (text: string, { kind, start }: Phrase): Label | undefined =>
  selfEvident.has(kind) ? undefined : labelBefore(text, start)

const unlabelled = (kind: FactKind): Label => ({ label: kind, labelFrom: "kind" })

/** What these are is plain to see; what happens to stand before a colon adds nothing. */
const selfEvident: ReadonlySet<FactKind> = new Set(["command", "identifier", "name", "quote", "error", "line"])

/** These say little without the words that lead up to them: "budget $600", "reservation K7XQ2". */
const needsWords: ReadonlySet<FactKind> = new Set(["id", "amount", "number", "version"])
