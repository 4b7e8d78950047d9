import { HoldfastError } from "../../message/errors.ts"

/** What a frontmatter can say. */
export type Yaml = null | boolean | number | string | readonly Yaml[] | { readonly [name: string]: Yaml }

/** Deeper frontmatter is refused; Prompty's own goes five deep. */
export const maxDepth = 20

/** Refuse a line of the file, with what belongs there. */
export function refuse(line: number, expected: string, found: string): never {
  throw new HoldfastError({ code: "prompty-invalid", line, expected, found })
}

/** A text with a place in it. */
type Cursor = { readonly text: string; readonly line: number; at: number }

/** A plain word as what it stands for: nothing, a truth, a number, otherwise itself. */
export function scalarOf(text: string): Yaml {
  if (/^(?:~|null|Null|NULL|)$/.test(text)) return null
  if (/^(?:true|True|TRUE)$/.test(text)) return true
  if (/^(?:false|False|FALSE)$/.test(text)) return false
  return /^[-+]?(?:0|[1-9]\d{0,15})(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?$/.test(text) ? Number(text) : text
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  "0": "\0",
  '"': '"',
  "\\": "\\",
  "/": "/",
}

/** Read quoted text, or a list or map in brackets, that stands on one line. */
export function readFlow(text: string, line: number): Yaml {
  const cursor: Cursor = { text, line, at: 0 }
  const read = readItem(cursor, 0)
  const sign = next(cursor)
  return sign === "" || sign === "#" ? read : refuse(line, "nothing behind the value", "more text")
}

/** The next sign that is no blank. */
function next(cursor: Cursor): string {
  while (cursor.text[cursor.at] === " ") cursor.at++
  return cursor.text[cursor.at] ?? ""
}

function readItem(cursor: Cursor, depth: number): Yaml {
  const sign = next(cursor)
  if (depth > maxDepth) return refuse(cursor.line, `at most ${maxDepth} levels`, "a deeper one")
  if (sign === '"' || sign === "'") return readQuoted(cursor, sign)
  if (sign === "[") return readEach(cursor, "]", () => readItem(cursor, depth + 1))
  if (sign === "{") return Object.fromEntries(readEach(cursor, "}", () => readPair(cursor, depth + 1)))
  const start = cursor.at
  while (cursor.at < cursor.text.length && !/[,\]}:]/.test(cursor.text[cursor.at] ?? "")) cursor.at++
  if (cursor.at === start) return refuse(cursor.line, "a value", sign === "" ? "the end of the line" : `"${sign}"`)
  return scalarOf(cursor.text.slice(start, cursor.at).trim())
}

function readEach<Item>(cursor: Cursor, close: string, read: () => Item): readonly Item[] {
  const items: Item[] = []
  cursor.at++
  while (next(cursor) !== close) {
    items.push(read())
    const sign = next(cursor)
    if (sign === ",") cursor.at++
    else if (sign !== close) return refuse(cursor.line, `a comma or ${close} on the same line`, "something else")
  }
  cursor.at++
  return items
}

function readPair(cursor: Cursor, depth: number): readonly [string, Yaml] {
  const key = String(readItem(cursor, depth))
  if (next(cursor) !== ":") return refuse(cursor.line, "a colon on the same line", "something else")
  cursor.at++
  return [key, readItem(cursor, depth)]
}

function readQuoted(cursor: Cursor, mark: string): string {
  const { text, line } = cursor
  const pieces: string[] = []
  for (cursor.at++; cursor.at < text.length; cursor.at++) {
    const sign = text[cursor.at] ?? ""
    const twice = mark === "'" && text[cursor.at + 1] === mark
    if (sign === mark && !twice) {
      cursor.at++
      return pieces.join("")
    }
    if (sign === "\\" && mark === '"') {
      cursor.at++
      const meant = escapes[text[cursor.at] ?? ""]
      pieces.push(meant ?? refuse(line, String.raw`one of \n \t \r \0 \" \\ \/`, "another escape"))
    } else {
      if (sign === mark) cursor.at++
      pieces.push(sign)
    }
  }
  return refuse(line, `a closing ${mark} on the same line`, "the end of the line")
}
