import { instructs } from "../message/channel.ts"
import type { FactKind, Mention } from "./fact.ts"
import { kindOf } from "./kind-of.ts"
import { type Label, labelBefore } from "./label.ts"
import { maxLabelLength, minValueLength } from "./limits.ts"
import { isOneLine } from "./one-line.ts"
import { commandsIn, definitionsIn, type Phrase, phrasesIn, saidIn } from "./phrases.ts"
import type { Reading } from "./reading.ts"
import { wordsIn } from "./words.ts"

/** The values that a text speaks of, each with the words that say what it is. */
export function* textMentions(text: string, reading: Reading): Generator<Mention> {
  for (const phrase of phrasesIn(text)) yield* mention(text, phrase)
  if (instructs(reading.channel)) for (const phrase of saidIn(text)) yield* mention(text, phrase)
  if (reading.channel === "assistant") for (const phrase of commandsIn(text)) yield* mention(text, phrase)
  for (const phrase of definitionsIn(text)) yield* mention(text, phrase)
  for (const { text: word, start } of wordsIn(text)) yield* valuesOf(word, start, text, reading)
}

/** `key=value` in one word, as in options, query strings and environment files. */
const assigned = /^(-{0,2}[\p{L}_][\p{L}\p{N}_.-]*)=(.+)$/u
/** `path:line`, and what tools print behind it. */
const located = /^(.*[^\d:]):(\d+)(?::.*)?$/u

function* valuesOf(word: string, start: number, text: string, reading: Reading): Generator<Mention> {
  const kind = kindOf(word)
  if (kind !== undefined && kind !== "id") return yield* accepted({ kind, value: word, start }, text, reading)
  const [, key = "", value = ""] = assigned.exec(word) ?? []
  const kindOfValue = kindOf(value)
  if (kindOfValue !== undefined) {
    const label: Label = { label: key.replace(/^-+/, "").slice(0, maxLabelLength), labelFrom: "pair" }
    const phrase = { kind: kindOfValue, value, start: start + word.length - value.length }
    return yield* accepted(phrase, text, reading, label)
  }
  const [, path = "", line = ""] = located.exec(word) ?? []
  if (kindOf(path) === "path") {
    yield* mention(text, { kind: "path", value: path, start })
    if (instructs(reading.channel)) yield* mention(text, { kind: "path", value: `${path}:${line}`, start })
    return
  }
  if (kind === "id") yield* accepted({ kind, value: word, start }, text, reading)
}

/** Kinds that ordinary text is full of once the value is short. */
const common: ReadonlySet<FactKind> = new Set(["identifier", "id", "number"])
const minTellingLength = 4

const year = /^(?:19|20)\d\d$/

/** Numbers and names of code are everywhere in outputs: they count where a person or a call brings them up, or where they have a key. */
function* accepted(phrase: Phrase, text: string, { channel, inCall }: Reading, given?: Label): Generator<Mention> {
  const spoken = inCall || channel !== "tool"
  if (phrase.value.length < minTellingLength && common.has(phrase.kind)) return
  if ((phrase.kind === "identifier" && !spoken) || year.test(phrase.value)) return
  const found = given ?? labelAt(text, phrase)
  const label = spoken || found?.labelFrom === "pair" ? found : unlabelled(phrase.kind)
  if (phrase.kind === "number" && !spoken && label?.labelFrom !== "pair") return
  yield* mention(text, phrase, label)
}

function* mention(text: string, phrase: Phrase, given?: Label): Generator<Mention> {
  const { kind: shape, value } = phrase
  if (value.length < minValueLength || !isOneLine(value)) return
  const kind = shape === "quote" ? (kindOf(value) ?? shape) : shape
  const label = given ?? labelAt(text, phrase)
  const telling = label !== undefined && (label.labelFrom === "pair" ? !selfEvident.has(kind) : needsWords.has(kind))
  yield { kind, value, ...(telling ? label : unlabelled(kind)) }
}

const labelAt = (text: string, { kind, start }: Phrase): Label | undefined =>
  selfEvident.has(kind) ? undefined : labelBefore(text, start)

const unlabelled = (kind: FactKind): Label => ({ label: kind, labelFrom: "kind" })

/** What these are is plain to see; what happens to stand before a colon adds nothing. */
const selfEvident: ReadonlySet<FactKind> = new Set(["command", "identifier", "name", "quote", "error"])

/** These say little without the words that lead up to them: "budget $600", "reservation K7XQ2". */
const needsWords: ReadonlySet<FactKind> = new Set(["id", "amount", "number", "version"])
