import type { FactKind, Mention } from "./fact.ts"
import type { Tree } from "./json-tree.ts"
import { kindOf } from "./kind-of.ts"
import { labelOfKey } from "./label.ts"
import { maxValueLength, minValueLength } from "./limits.ts"
import { isOneLine } from "./one-line.ts"
import { textMentions } from "./prose.ts"
import type { Reading } from "./reading.ts"

type Place = { readonly key: string; readonly parent: string; readonly subject?: string }

/** What keys say of their values: that they name a record, that they are its title, that they are a shell's input, or too little. */
const namingKey =
  /(?:^|[_\s-])(?:id|ids|uuid|guid|key|code|sku|slug|number|no|ref|email|path|url)$|(?:Id|Number|Code|Key)$/i
const titleKey = /^(?:name|title|login|username|subject)$|(?:_name|Name)$/i
const commandKey = /^(?:cmd|command|commands|script|shell|bash|shell_?command|command_?line)$/i
const vague = /^(?:id|name|value|amount|type|status|number|key|code|total|count|date|time|source|text|data|content)$/i
const naming: ReadonlySet<FactKind | undefined> = new Set(["id", "hash", "email", "path", "url", "date"])

/** Digits in quotes, and many of them, are no quantity. */
const longNumber = /^\d{6,}$/
/** Words that are values in no one's book. */
const filler = /^(?:true|false|null|none|nan|yes|no|undefined|nil)?$/i

/** A title or name may be a long one; any other text of an answer that is longer than a line of an address is content. */
const maxTitleLength = 120
const maxWordsLength = 64

/** The values of a JSON-like tree under their keys; those of one record carry the value that names it. */
export function* recordMentions(tree: Tree, reading: Reading): Generator<Mention> {
  yield* walk(tree, { key: "", parent: "" }, reading)
}

function* walk(tree: Tree, place: Place, reading: Reading): Generator<Mention> {
  if (tree.type === "scalar") return yield* leaf(tree, place, reading)
  if (tree.type === "list") {
    for (const item of tree.items) yield* walk(item, place, reading)
    return
  }
  const subject = headOf(tree.entries, reading) ?? place.subject
  const inner = { parent: place.key, ...(subject === undefined ? {} : { subject }) }
  for (const [key, value] of tree.entries) {
    if (value.type !== "scalar" && isName(key)) yield* keyed(key, value, place, reading)
    else yield* walk(value, { key, ...inner }, reading)
  }
}

const isName = (key: string): boolean => naming.has(kindOf(key)) || longNumber.test(key)

/** A key that is itself a value, as in a map by id: it names the record below it. */
function* keyed(key: string, value: Tree, place: Place, reading: Reading): Generator<Mention> {
  yield* leaf({ text: key, quoted: true }, place, reading)
  yield* walk(value, { key: place.key, parent: place.parent, subject: key }, reading)
}

/** The member that names a record: one whose key says so, else the first that looks like a name. A call's input has none: its values are peers. */
function headOf(entries: readonly (readonly [string, Tree])[], { inCall }: Reading): string | undefined {
  if (inCall) return undefined
  const scalars = entries.flatMap(([key, value]) =>
    value.type === "scalar" && !filler.test(value.text) && isOneLine(value.text) ? [[key, value.text] as const] : [],
  )
  const head =
    scalars.find(([key]) => namingKey.test(key)) ??
    scalars.find(([, text]) => naming.has(kindOf(text)) && kindOf(text) !== "date") ??
    scalars.find(([key]) => titleKey.test(key))
  return head?.[1]
}

function* leaf(
  { text, quoted }: { readonly text: string; readonly quoted: boolean },
  { key, parent, subject }: Place,
  reading: Reading,
): Generator<Mention> {
  if (filler.test(text)) return
  const kind = isOneLine(text) && text.length >= minValueLength ? kindOfLeaf(text, quoted, key, reading) : undefined
  const label = labelOfKey(parent !== "" && (vague.test(key) || kind === "number") ? `${parent} ${key}` : key)
  const own = subject === undefined || subject === text ? {} : { subject }
  const labelled =
    label === "" ? { label: kind ?? "", labelFrom: "kind" as const } : { label, labelFrom: "key" as const }
  if (kind !== undefined) yield { kind, value: text, ...labelled, ...own }
  if (quoted && /\s|=/.test(text)) yield* textMentions(text, reading)
  if (reading.inCall && kind === undefined && commandKey.test(key)) yield* firstLine(text)
}

/** Of a command of many lines the first says what it does. */
function* firstLine(text: string): Generator<Mention> {
  const [line = ""] = text.trimStart().split(/[\p{Cc}\u2028\u2029]/u, 1)
  if (line.length >= 4 && line.length <= maxValueLength)
    yield { kind: "command", value: line, label: "command", labelFrom: "kind" }
}

function kindOfLeaf(text: string, quoted: boolean, key: string, { inCall }: Reading): FactKind | undefined {
  if (inCall && commandKey.test(key)) return "command"
  const kind = kindOf(text)
  if (kind === "number")
    return (namingKey.test(key) && text.length >= 4) || (quoted && longNumber.test(text)) ? "id" : "number"
  if (kind !== undefined) return kind === "identifier" && !inCall ? "word" : kind
  if (!quoted) return undefined
  if (namingKey.test(key) && !/\s/.test(text)) return "id"
  if (titleKey.test(key) && text.length <= maxTitleLength) return "name"
  if (inCall) return text.length >= 4 ? "argument" : "word"
  return text.length <= maxWordsLength ? "word" : undefined
}
