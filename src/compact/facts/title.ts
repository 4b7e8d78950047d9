import type { Fact, FactKind } from "./fact.ts"

/** What a line is called whose values carry no label of their own. */
const titles: Readonly<Record<FactKind, string>> = {
  path: "files",
  identifier: "code",
  quote: "quoted",
  name: "names",
  command: "commands",
  url: "links",
  id: "ids",
  hash: "hashes",
  email: "e-mails",
  error: "errors",
  line: "lines",
  argument: "arguments",
  amount: "amounts",
  date: "dates",
  time: "times",
  version: "versions",
  number: "numbers",
  word: "words",
}

const kindsByTitle: ReadonlyMap<string, FactKind> = new Map(
  [...Object.entries(titles)].flatMap(([kind, title]) => (isKind(kind) ? [[title, kind] as const] : [])),
)

function isKind(kind: string): kind is FactKind {
  return Object.hasOwn(titles, kind)
}

/** A line that opens with a speaker's name could pass for something said. */
const speakers = new Set("system developer operator user human assistant ai tool function".split(" "))
const longestSpeaker = "developer".length

const isSpeaker = (label: string): boolean => label.length <= longestSpeaker && speakers.has(label.toLowerCase())

/** What a value is called in print: its label, or its kind; a label that could be read as anything else stands in quotation marks. */
export function titleOf({ kind, label, labelFrom }: Fact): string {
  if (labelFrom === "kind") return titles[kind]
  return isSpeaker(label) || kindsByTitle.has(label) || label.startsWith("of ") ? `"${label}"` : label
}

/** What a printed title says: a label, or which kind the values are of. */
export function readTitle(title: string): { readonly label: string } | { readonly kind: FactKind } {
  const kind = kindsByTitle.get(title)
  return kind === undefined ? { label: title.replace(/^"(.*)"$/, "$1") } : { kind }
}
