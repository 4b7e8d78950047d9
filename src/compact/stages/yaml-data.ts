/** Maximum length: longer texts are files rather than data. */
const maxLength = 20_000
/** Minimum number of lines: fewer are a remark. */
const leastLines = 3

const entry = /^([A-Za-zÀ-ÿ_][\w./À-ÿ-]{0,60}|"[^"]{1,60}"):(?: (.*))?$/
/** Match how services' answers start, and fields inside fields. Other lists of words and values may be any output. */
const answerStart = /^(?:---\s*\n)?(?:ok|status|state|result|success|error|id|code|estado|stato|statut)\s?:/
const nestedFields = /^[\w./À-ÿ-]{1,60}:\s*\n {1,8}\S/m

type Line = { readonly indent: number; readonly text: string }
type ParseResult<Value> = { readonly value: Value; readonly next: number }

/**
 * Converts a service's YAML answer to JSON. Supports the simple subset that services write: fields by indentation, lists, quoted words, and
 * braces. Undefined if any line is something else.
 */
export function yamlAsJson(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed.length > maxLength || !entry.test(trimmed.slice(0, 200).split("\n", 1)[0] ?? "")) return undefined
  if (!answerStart.test(trimmed) && !nestedFields.test(trimmed)) return undefined
  const lines = linesOf(trimmed)
  if (lines === undefined || lines.length < leastLines) return undefined
  const read = readFields(lines, 0, 0)
  return read === undefined || read.next !== lines.length ? undefined : JSON.stringify(read.value)
}

/** Removes a comment: a match to the end of the line behind its last quotation mark. */
function withoutComment(line: string, comment: RegExp): string {
  const quoted = Math.max(line.lastIndexOf('"'), line.lastIndexOf("'")) + 1
  return line.slice(0, quoted) + line.slice(quoted).replace(comment, "")
}

/** Returns the lines with content; undefined if one is indented by a tab. */
function linesOf(text: string): readonly Line[] | undefined {
  const lines: Line[] = []
  for (const line of text.split("\n")) {
    const content = withoutComment(line, /(?<=[:,\]}]) +# .*$/s).trimEnd()
    if (content === "" || content === "---" || /^\s*#/.test(content)) continue
    const indent = content.length - content.trimStart().length
    if (content.slice(0, indent).includes("\t")) return undefined
    lines.push({ indent, text: content.slice(indent) })
  }
  return lines
}

/** Parses the fields at one indentation. `first` is the text of the first one, where it is not all of its line. */
function readFields(
  lines: readonly Line[],
  from: number,
  indent: number,
  first?: string,
): ParseResult<Record<string, unknown>> | undefined {
  const fields: Record<string, unknown> = {}
  let at = from
  for (let text = first ?? textAt(lines, at, indent); text !== undefined; text = textAt(lines, at, indent)) {
    const [whole, key = "", given = ""] = entry.exec(text) ?? []
    if (whole === undefined) return undefined
    const read = valueAt(lines, at, indent, given)
    if (read === undefined) return undefined
    fields[key.replaceAll('"', "")] = read.value
    at = read.next
  }
  return at === from || (lines[at]?.indent ?? 0) > indent ? undefined : { value: fields, next: at }
}

/** Returns the text of a line, if it has this indentation. */
const textAt = (lines: readonly Line[], at: number, indent: number): string | undefined =>
  lines[at]?.indent === indent ? lines[at].text : undefined

/** Parses the value after a key: on its line, or below it. */
function valueAt(lines: readonly Line[], at: number, indent: number, given: string): ParseResult<unknown> | undefined {
  const value = given.trim()
  const below = lines[at + 1]
  if (/^[|>][+-]?$/.test(value)) return readBlock(lines, at + 1, indent)
  if (value !== "") return { value: scalarOf(value), next: at + 1 }
  if (below === undefined || below.indent < indent) return { value: null, next: at + 1 }
  if (below.text === "-" || below.text.startsWith("- ")) return readList(lines, at + 1, below.indent)
  return below.indent > indent ? readFields(lines, at + 1, below.indent) : { value: null, next: at + 1 }
}

function readBlock(lines: readonly Line[], from: number, indent: number): ParseResult<string> {
  let at = from
  while ((lines[at]?.indent ?? 0) > indent) at++
  const words = lines.slice(from, at).map(({ text }) => text)
  return { value: words.join("\n"), next: at }
}

/** Parses the items of a list, each a value or fields that start on its line. */
function readList(lines: readonly Line[], from: number, indent: number): ParseResult<readonly unknown[]> | undefined {
  const items: unknown[] = []
  let at = from
  for (let line = lines[at]; line?.indent === indent && /^-(?: |$)/.test(line.text); line = lines[at]) {
    const item = line.text.slice(1).trimStart()
    const inner = indent + line.text.length - item.length
    if (!entry.test(item)) {
      items.push(scalarOf(item))
      at++
      continue
    }
    const read = readFields(lines, at, inner, item)
    if (read === undefined) return undefined
    items.push(read.value)
    at = read.next
  }
  return (lines[at]?.indent ?? 0) > indent ? undefined : { value: items, next: at }
}

/** Limit on brackets within brackets: what is deeper is text. */
const maxDepth = 20

/** Parses a word, number, quoted text, or what is in braces; everything else is text. */
function scalarOf(said: string, depth = maxDepth): unknown {
  const plain = withoutComment(said, / #.*$/s).trim()
  if (/^(?:true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?)$/.test(plain)) return JSON.parse(plain)
  if (/^"(?:[^"\\]|\\.)*"$/.test(plain)) return plain.slice(1, -1).replaceAll('\\"', '"')
  if (/^'[^']*'$/.test(plain)) return plain.slice(1, -1)
  if (depth === 0) return plain
  const [open, close] = [plain[0], plain.at(-1)]
  if (open === "{" && close === "}")
    return Object.fromEntries(
      partsOf(plain).map((part) => {
        const colon = part.indexOf(":")
        return colon < 1
          ? [part, null]
          : [part.slice(0, colon).replaceAll('"', "").trim(), scalarOf(part.slice(colon + 1).trim(), depth - 1)]
      }),
    )
  return open === "[" && close === "]" ? partsOf(plain).map((part) => scalarOf(part, depth - 1)) : plain
}

/** Splits the content of a pair of brackets at the commas that are not in inner brackets or quotes. */
function partsOf(inBrackets: string): readonly string[] {
  const parts: string[] = []
  let [depth, quoted, start] = [0, false, 1]
  for (let at = 1; at < inBrackets.length; at++) {
    const sign = inBrackets[at] ?? ""
    if (sign === '"') quoted = !quoted
    else if (!quoted && (sign === "{" || sign === "[")) depth++
    else if (!quoted && depth > 0 && (sign === "}" || sign === "]")) depth--
    else if (!quoted && depth === 0 && (sign === "," || at === inBrackets.length - 1)) {
      const part = inBrackets.slice(start, at).trim()
      if (part !== "") parts.push(part)
      start = at + 1
    }
  }
  return parts
}
