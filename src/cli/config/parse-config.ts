import { LineCounter, parseDocument } from "yaml"
import { type Fault, faultAt, type Path, type Place } from "./fault.ts"
import { jsonFault } from "./json-fault.ts"

export type Parsed = { readonly value: unknown; readonly place: Place } | { readonly faults: readonly Fault[] }

/** What is wrong with YAML, by the parser's code: its own sentences may repeat what stands there. */
const yamlWords: Readonly<Record<string, string>> = {
  BAD_INDENT: "is not indented as YAML wants it",
  TAB_AS_INDENT: "is indented with a tab, and YAML takes blanks alone",
  DUPLICATE_KEY: "says the same name twice",
  MISSING_CHAR: "lacks a sign, such as a colon, a comma or a closing bracket",
  BLOCK_AS_IMPLICIT_KEY: "has two names in one line",
  MULTIPLE_DOCS: "begins a second document",
  ALIAS_PROPS: "has an alias that cannot be used",
  BAD_ALIAS: "has an alias that names nothing",
}

/** Aliases are expanded to so many values at most: a few lines of YAML can stand for gigabytes. */
const maxAliases = 100

/** Read YAML, or JSON, which YAML can tell the lines of. */
export function parseConfig(text: string, source: string, kind: "json" | "yaml"): Parsed {
  const lines = new LineCounter()
  const nowhere: Place = { source, lineOf: () => undefined }
  const at = (offset: number): Place => ({ source, lineOf: () => lines.linePos(offset).line })
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "silent" })
  if (kind === "json") {
    if (!isJson(text))
      return syntax(at(jsonFault(text)), "is no JSON from here on", "Mend the file. YAML has fewer signs.")
  } else {
    const [error] = document.errors
    if (error !== undefined)
      return syntax(at(error.pos[0]), yamlWords[error.code] ?? "is no YAML from here on", "Mend the file.")
  }
  const lineOf = (path: Path): number | undefined => {
    for (let length = path.length; length > 0; length--) {
      const offset = offsetOf(document, path.slice(0, length))
      if (offset !== undefined) return lines.linePos(offset).line
    }
    return undefined
  }
  try {
    const value: unknown = kind === "json" ? JSON.parse(text) : document.toJS({ maxAliasCount: maxAliases })
    // A file in which all is commented out says nothing, which is no fault.
    return { value: kind === "yaml" && value === null ? {} : value, place: { source, lineOf } }
  } catch {
    return syntax(nowhere, "has an alias that names nothing, or too many of them", "Write the values out.")
  }
}

const syntax = (place: Place, says: string, next: string): Parsed => ({ faults: [faultAt(place, [], says, next)] })

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Where a value stands, or its name where it has one: the line that a person would look for. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: Path): number | undefined {
  const above = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  const items = membersOf(above)
  const last = path.at(-1)
  const item = typeof last === "number" ? items[last] : items.find((member) => nameOf(member) === last)
  return startOf(typeof item === "object" && item !== null && "key" in item ? item.key : item)
}

const membersOf = (node: unknown): readonly unknown[] =>
  typeof node === "object" && node !== null && "items" in node && Array.isArray(node.items) ? node.items : []

function nameOf(member: unknown): unknown {
  const key = typeof member === "object" && member !== null && "key" in member ? member.key : undefined
  return typeof key === "object" && key !== null && "value" in key ? key.value : key
}

function startOf(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range)) return undefined
  const [start] = node.range
  return typeof start === "number" ? start : undefined
}
