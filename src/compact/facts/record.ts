import { type Emit, type FactKind, isOneLine, maxValueLength, minValueLength, type TextOrigin } from "./fact.ts"
import { readTree, type Tree } from "./json-tree.ts"
import { kindOf, labelOfKey } from "./kind-of.ts"
import { isSentence, kindOfPhrase, tellingLines, textMentions } from "./prose.ts"

type Place = {
  readonly key: string
  readonly parent: string
  readonly subject?: string | undefined
  /** Is it one of several of its sort? */
  readonly listed?: boolean
}

/** What keys say of their values: that they name a record, that they reach someone or something, that they are its title, that they are a shell's input, or too little. */
const namingKey =
  /(?:^|[_\s-])(?:id|ids|uuid|guid|key|code|sku|slug|number|no|ref|email|path|url)$|(?:Id|Number|Code|Key)$/i
const reachingKey = /(?:^|[_\s-])(?:zip|zipcode|postcode|phone|mobile|fax|port)$/i
const titleKey = /^(?:name|title|login|username|subject)$|(?:_name|Name| name)$/i
const commandKey = /^(?:cmd|command|commands|script|shell|bash|shell_?command|command_?line)$/i
const vague = /^(?:id|name|value|amount|type|status|number|key|code|total|count|date|time|source|text|data|content)$/i
/** What answers are wrapped in. */
const wrapping = /^(?:results?|data|output|response|content|payload|body|items|records|rows|entries)$/i
const naming: ReadonlySet<FactKind | undefined> = new Set(["id", "hash", "email", "path", "url", "date"])

/** Digits in quotes, and many of them, are no quantity; nor are so many that nobody counts that far. */
const longNumber = /^\d{6,}$/
const endlessNumber = /^\d{9,}$/
const countingKey = /time|date|stamp|size|bytes|count|total|amount|duration|(?:_|^)(?:at|ts|ms|ns)$|At$/i
/** Words that are values in no one's book. */
const filler = /^(?:true|false|null|none|nan|yes|no|undefined|nil)?$/i

/** A title or name may be a long one; any other text of an answer that is longer than a line of an address is content. */
const maxTitleLength = 120
const maxWordsLength = 64

/** The values of a JSON-like tree under their keys; those of one record carry the value that names it. */
export function recordMentions(tree: Tree, reading: TextOrigin, emit: Emit): void {
  walk(tree, { key: "", parent: "" }, reading, emit)
}

function walk(tree: Tree, place: Place, reading: TextOrigin, emit: Emit): void {
  if (tree.type === "scalar") {
    leaf(tree.text, tree.quoted, place, reading, emit)
    return
  }
  if (tree.type === "list") {
    for (const item of tree.items) walk(item, { ...place, listed: true }, reading, emit)
    return
  }
  const subject = headOf(tree.entries, reading, place) ?? place.subject
  for (const [key, value] of tree.entries) {
    if (value.type !== "scalar" && isName(key)) {
      // A key that is itself a value, as in a map by id: it names the record below it.
      leaf(key, true, place, reading, emit)
      walk(value, { key: place.key, parent: place.parent, subject: key }, reading, emit)
    } else walk(value, { key, parent: place.key, subject }, reading, emit)
  }
}

const isName = (key: string): boolean => naming.has(kindOf(key)) || longNumber.test(key)

/**
 * The member that names a record: one whose key says so, else the first that looks like a name, else a title, unless the record is the
 * only one of its sort that its owner has. A call's input has none: its values are peers.
 */
function headOf(
  entries: readonly (readonly [string, Tree])[],
  { inCall }: TextOrigin,
  { subject: owner, listed = false }: Place,
): string | undefined {
  if (inCall) return undefined
  let shaped: string | undefined
  let titled: string | undefined
  for (const [key, value] of entries) {
    if (value.type !== "scalar" || filler.test(value.text) || !isOneLine(value.text)) continue
    const kind = kindOf(value.text)
    if (namingKey.test(key) && kind !== "amount") return value.text
    if (shaped === undefined && kind !== "date" && naming.has(kind)) shaped = value.text
    if (titled === undefined && titleKey.test(key)) titled = value.text
  }
  return shaped ?? (listed ? titled : (owner ?? titled))
}

function leaf(text: string, quoted: boolean, { key, parent, subject }: Place, reading: TextOrigin, emit: Emit): void {
  if (filler.test(text)) return
  const inner = quoted && !reading.inCall ? readTree(text) : undefined
  if (inner !== undefined) {
    walk(inner, { key, parent, subject }, reading, emit)
    return
  }
  const kind = isOneLine(text) && text.length >= minValueLength ? kindOfLeaf(text, quoted, key, reading) : undefined
  if (kind !== undefined) {
    const full =
      parent !== "" && !wrapping.test(parent) && (vague.test(key) || kind === "number") ? `${parent} ${key}` : key
    const label = kind === "command" ? "" : labelOfKey(full)
    const labelFrom = label === "" ? "kind" : "key"
    const said = { kind, value: text, label: label === "" ? kind : label, labelFrom } as const
    emit(subject === undefined || subject === text ? said : { ...said, subject })
  }
  // Nothing in it is a value of its own.
  const isWhole = kind === "id" || kind === "amount" || kind === "date"
  if (!quoted || isWhole || !/[\s=]/.test(text)) return
  textMentions(text, reading, emit)
  if (reading.inCall && kind === undefined) long(text, key, emit)
}

/** Of what a call passes on at length: the commands one by one, or the lines that tell something. */
function long(text: string, key: string, emit: Emit): void {
  const commands = commandKey.test(key) ? commandsIn(text) : []
  for (const value of commands) emit({ kind: "command", value, label: "command", labelFrom: "kind" })
  tellingLines(text, ({ kind, value }) => {
    if (isOneLine(value) && !commands.includes(value)) emit({ kind, value, label: kind, labelFrom: "kind" })
  })
}

/** Commands kept of one script: the first ones say what it does. */
const maxCommands = 4

function commandsIn(text: string): readonly string[] {
  const lines = text.slice(0, 4 * maxValueLength).split(/[\p{Cc}\u2028\u2029]+/u)
  const typed = lines.findIndex((line) => line.includes("<<"))
  return (typed < 0 ? lines : lines.slice(0, typed + 1))
    .flatMap((line) => (line.length > maxValueLength ? line.split(/ && | ; | \| /) : [line]))
    .map((line) => line.trim())
    .filter((line) => line.length >= 4 && isOneLine(line))
    .slice(0, maxCommands)
}

/** What a value is, by its looks and by its key. */
export function kindOfLeaf(text: string, quoted: boolean, key: string, { inCall }: TextOrigin): FactKind | undefined {
  if (inCall && commandKey.test(key)) return "command"
  const kind = kindOf(text) ?? (text.includes(" ") ? kindOfPhrase(text) : undefined)
  if (kind === "number") return text.length >= 4 && isNumberOf(text, quoted, key) ? "id" : "number"
  if (kind !== undefined) return kind === "identifier" && !inCall ? "word" : kind
  if (!quoted) return undefined
  if (namingKey.test(key) && !/\s/.test(text)) return "id"
  if (titleKey.test(key) && text.length <= maxTitleLength) return "name"
  if (inCall) return isSentence(text) ? undefined : text.length >= 4 ? "argument" : "word"
  return text.length <= maxWordsLength ? "word" : undefined
}

const isNumberOf = (text: string, quoted: boolean, key: string): boolean =>
  namingKey.test(key) ||
  reachingKey.test(key) ||
  (quoted && longNumber.test(text)) ||
  (endlessNumber.test(text) && !countingKey.test(key))
