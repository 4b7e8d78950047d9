import { lazy, lazyPattern } from "../../language/lazy.ts"
import { wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { assert } from "../../message/assert.ts"
import { services } from "../facts/media.ts"
import { sourceOf } from "./grammar.ts"
import lists from "./values.json" with { type: "json" }

/** The values that a rule names, by kind. */
export type RuleValues = Readonly<Record<ValueKind, readonly string[]>>

/** Marks that replace values; a list of values of one kind becomes one mark. Domains include those of addresses: `@example.com`. */
export const marks = {
  recipients: "‹recipient›",
  domains: "‹domain›",
  paths: "‹path›",
  regions: "‹region›",
  languages: "‹language›",
  media: "‹medium›",
  commands: "‹command›",
  tools: "‹tool›",
} as const

export type ValueKind = keyof typeof marks

/** A text with marks in place of its values. */
export type Marked = {
  readonly text: string
  readonly values: RuleValues
  /** True if a value was recognized by an ambiguous form: a word with a digit as a machine, a city as a region. */
  readonly isDoubtful: boolean
}

/** How to recognize values of a kind. If `valuesOf` returns none, the text stays as it is. */
type ValueForm = {
  readonly kind: ValueKind
  readonly pattern: RegExp
  /** Returns the values of a match; without it, the whole match. */
  readonly valuesOf?: (found: string, groups: readonly (string | undefined)[], original: string) => readonly string[]
  /** Returns the rest of the match that stays in the text after the mark. */
  readonly restOf?: (found: string) => string
  readonly isDoubtful?: true
}

/** Programs that rules name, each with its subcommands. */
const programs: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...Object.entries(lists.programs).map(([name, words]) => [name, new Set(words.split(" "))] as const),
  ...lists.plainPrograms.flatMap((line) => line.split(" ")).map((name) => [name, new Set<string>()] as const),
])
const command = new RegExp(
  `(?<![\\w./@-])(${[...programs.keys()]
    .sort((one, other) => other.length - one.length)
    .join("|")})((?: (?:--?[\\w-]+(?:=[\\w-]+)?|(?!and |or |nor )[a-z][a-z-]*|\\d{3,4}))*)(?![\\w@/-]|\\.\\w)`,
  "g",
)
/** Returns the command with the words and options that belong to it, without the rest of the sentence. */
function commandOf(found: string): string {
  const [name = "", ...rest] = found.split(" ")
  const end = rest.findIndex((word) => !(/^[-\d]/.test(word) || programs.get(name)?.has(word)))
  return [name, ...(end < 0 ? rest : rest.slice(0, end))].join(" ")
}

const mailProviders: ReadonlyMap<string, string> = new Map(Object.entries(lists.mailProviders))

/** Compiles a table to one pattern with a group per entry. */
function namesIn<Entry>(
  table: readonly (readonly [names: string, entry: Entry])[],
  [before, behind]: readonly [string, string],
): { readonly pattern: RegExp; readonly entryOf: (groups: readonly (string | undefined)[]) => Entry | undefined } {
  const groups = table.map(([names]) => `(${names.replace(/\((?!\?)/g, "(?:")})`)
  return {
    pattern: new RegExp(`${before}(?:${groups.join("|")})${behind}`, "gu"),
    entryOf: (found) => table[found.findIndex((group) => group !== undefined)]?.[1],
  }
}

const wholeWord = ["(?<![\\p{L}-])", "(?![\\p{L}-])"] as const

/** True if a region's abbreviation is a pronoun: "eu" in Portuguese, "us" in English. Upper case makes it a region. */
const isPronoun = (found: string, original: string): boolean =>
  /(?:^|\s)(?:eu|ue|us|usa|uk)(?:\s|$)/.test(found) && !/(?<![\p{L}-])(?:EU|UE|US|USA|UK)(?![\p{L}-])/u.test(original)

/** Place names as regions of the large clouds. An everyday name is also kept as a value, since a call may contain it literally. */
function placeForms(): readonly ValueForm[] {
  const places = (key: "names" | "everyday") =>
    namesIn(
      lists.places.flatMap((place) => {
        const names = place[key]
        return names === undefined ? [] : [[anyOf(names), [place.regions].flat().join(" ")] as const]
      }),
      wholeWord,
    )
  const [plain, everyday] = [places("names"), places("everyday")]
  return [
    {
      kind: "regions",
      pattern: plain.pattern,
      valuesOf: (found, groups, original) =>
        isPronoun(found, original) ? [] : (plain.entryOf(groups) ?? "").split(" "),
    },
    {
      kind: "regions",
      pattern: everyday.pattern,
      valuesOf: (found, groups) =>
        [...(everyday.entryOf(groups) ?? "").split(" "), found].filter((region) => region !== ""),
      isDoubtful: true,
    },
  ]
}

/** Channels by name, and the services that the guard tells apart. */
function mediaForm(): ValueForm {
  const named = Object.entries(lists.media).map(([medium, names]) => [anyOf(names), medium] as const)
  // "Signal" is also a common word, so it has a form of its own in the table.
  const serviceNames = Object.values(services).flatMap((names) => names.filter((name) => name !== "signal"))
  const media = namesIn(
    [...named, ...serviceNames.map((name) => [name, name] as const)],
    ["(?<![\\p{L}#_-])", "(?![\\p{L}_-])"],
  )
  return { kind: "media", pattern: media.pattern, valuesOf: (_, groups) => [media.entryOf(groups) ?? ""] }
}

function languageForm(): ValueForm {
  const named = Object.entries(lists.languages).map(([code, names]) => [anyOf(names), code] as const)
  const languages = namesIn(named, wholeWord)
  return { kind: "languages", pattern: languages.pattern, valuesOf: (_, groups) => [languages.entryOf(groups) ?? ""] }
}

/** Lists that the patterns of `values.json` refer to as `%name%`. */
const pieces: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(lists.pieces).map(([name, list]) => [name, anyOf(list)])),
  fileEndings: anyOf(lists.fileEndings),
  mailProviders: anyOf([...mailProviders.keys()]),
  plainPrograms: anyOf([...wordSet(...lists.laterPrograms)]),
  wordPrograms: anyOf([...wordSet(...lists.wordPrograms)]),
}

/** Matches words with a slash between them that are not paths. */
const noPath = lazyPattern(`^${anyOf(lists.noPaths)}$`)

/** Functions that derive the values from a match, by the name that the table uses. */
const readers = {
  provider: (found) => [mailProviders.get(found) ?? found],
  folder: (found) => [found.endsWith("/") ? found : `${found}/`],
  first: (_, [name = ""]) => [name],
  firstFolder: (_, [name = ""]) => [`${name}/`],
  file: (found) => (noPath.test(found) ? [] : [found.replace(/\.$/, "")]),
  call: (found) => [found === "texts" ? "sms" : "phone"],
} as const satisfies Readonly<
  Record<string, (found: string, groups: readonly (string | undefined)[]) => readonly string[]>
>

/** A form in `values.json`: its value is the match itself, a fixed value, or derived by a reader. */
type FormEntry = {
  readonly kind: string
  readonly pattern: readonly string[]
  readonly value?: string
  readonly reader?: string
  /** Pattern that the original text has to match. */
  readonly original?: string
  readonly isDoubtful?: boolean
}

const isKind = (kind: string): kind is ValueKind => Object.hasOwn(marks, kind)
const isReader = (name: string): name is keyof typeof readers => Object.hasOwn(readers, name)

function formOf({ kind, pattern, value, reader = "", original = "", isDoubtful }: FormEntry): ValueForm {
  assert(isKind(kind) && (reader === "" || isReader(reader)), "a form of values.json has an unknown kind or reader")
  const written = new RegExp(original, "u")
  const read = isReader(reader) ? readers[reader] : (found: string) => [value ?? found]
  return {
    kind,
    pattern: new RegExp(
      sourceOf(pattern, "").replace(/%(\w+)%/g, (_, name: string) => pieces[name] ?? ""),
      "gu",
    ),
    valuesOf: (found, groups, text) => (written.test(text) ? read(found, groups) : []),
    ...(isDoubtful === true ? { isDoubtful } : {}),
  }
}

const commandForm: ValueForm = {
  kind: "commands",
  pattern: command,
  valuesOf: (found) => [commandOf(found)],
  restOf: (found) => found.slice(commandOf(found).length),
}

/** All forms in the order they are applied: those that a wider one would cut apart come first. */
const forms = lazy((): readonly ValueForm[] => [
  ...lists.formsBeforeCommands.map(formOf),
  commandForm,
  ...lists.formsBeforePlaces.map(formOf),
  ...placeForms(),
  languageForm(),
  mediaForm(),
  ...lists.formsBehindMedia.map(formOf),
])

/** Replaces the values of a normalized text by marks and returns both. `original` is the whole rule as written. */
export function markValues(plain: string, original: string): Marked {
  const found = valueLists((): string[] => [])
  let isDoubtful = false
  let text = markQuoted(plain, original, found.commands)
  for (const form of forms())
    text = text
      .replace(form.pattern, (whole: string, ...rest: readonly unknown[]) => {
        const groups = rest.slice(
          0,
          rest.findIndex((one) => typeof one === "number"),
        )
        const strings = groups.map((group) => (typeof group === "string" ? group : undefined))
        const values = form.valuesOf?.(whole, strings, original) ?? [whole]
        if (values.length === 0) return whole
        found[form.kind].push(...values)
        isDoubtful ||= form.isDoubtful === true
        return ` ${marks[form.kind]} ${form.restOf?.(whole) ?? ""}`
      })
      .replace(/\s+/g, " ")
  return { text: joinLists(text), values: uniqueValues((kind) => found[kind]), isDoubtful }
}

/** Creates one list per kind. */
const valueLists = <List>(listOf: (kind: ValueKind) => List): Readonly<Record<ValueKind, List>> => ({
  recipients: listOf("recipients"),
  domains: listOf("domains"),
  paths: listOf("paths"),
  regions: listOf("regions"),
  languages: listOf("languages"),
  media: listOf("media"),
  commands: listOf("commands"),
  tools: listOf("tools"),
})

/** Returns the values of all kinds without duplicates. */
export const uniqueValues = (valuesOf: (kind: ValueKind) => readonly string[]): RuleValues =>
  valueLists((kind) => [...new Set(valuesOf(kind))])

/** Marks commands in backticks: the quoted text as a whole is the command. */
function markQuoted(plain: string, original: string, commands: string[]): string {
  let text = plain
  for (const [, span = ""] of original.matchAll(/`([^`]{2,80})`/g)) {
    const whole = span.trim().toLowerCase().replace(/\s+/g, " ")
    const at = text.indexOf(whole)
    if (at < 0 || !programs.has(whole.split(" ", 1)[0] ?? "")) continue
    commands.push(whole)
    text = `${text.slice(0, at)}${marks.commands}${text.slice(at + whole.length)}`
  }
  return text
}

/** Merges marks of one kind that only conjunctions and prepositions separate. */
function joinLists(text: string): string {
  let joined = text.replace(/\s+/g, " ").trim()
  for (const mark of Object.values(marks))
    joined = joined.replace(
      new RegExp(
        `${mark}(?:(?: |,|;|/)*(?:and|or|nor|und|oder|et|ou|y|o|e|en|of|&)?(?: (?:at|in|to|the|under|from|on|by|any|über|an))? *${mark})+`,
        "g",
      ),
      mark,
    )
  return joined.replace(/ ([,.;:])/g, "$1")
}
