import { maxStatements } from "./limits.ts"

/** One statement: its words and signs in small letters without comments, and the texts quoted in it. */
export type SqlStatement = {
  readonly words: readonly string[]
  readonly strings: readonly string[]
}

export type SqlText = { readonly statements: readonly SqlStatement[]; readonly tooMany: boolean }

/**
 * A comment, a quoted text, a quoted name, a word, a sign. Each alternative starts with another sign, and none can back up. What MySQL
 * runs although it stands in a comment is read as if it stood outside.
 */
const token =
  /--[^\n]*|#[^\n]*|\/\*(?!!)(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\*!\d*|\*\/|'(?:[^'\\]|''|\\.)*'?|\$(\w*)\$|"[^"]*"?|`[^`]*`?|\[[^\]\n]{1,128}\]|[\p{L}_@][\p{L}\p{N}_$@]*(?:\.[\p{L}\p{N}_$]+)*|\d+(?:\.\d+)?|;|[^\s]/gsu

const unquoted = (text: string): string => text.slice(1, text.length > 1 ? -1 : undefined)

/** Split a text into statements. What is left open at the end is read all the same. */
export function readSql(text: string): SqlText {
  const statements: SqlStatement[] = []
  let words: string[] = []
  let strings: string[] = []
  const close = (): void => {
    if (words.length > 0) statements.push({ words, strings })
    words = []
    strings = []
  }
  for (const { 0: piece } of text.matchAll(token)) {
    if (/^(?:--|#|\/\*|\*\/)/.test(piece)) continue
    // What stands between dollar signs is code more often than text, so it is read as such.
    if (/^\$\w*\$$/.test(piece)) continue
    if (piece === ";") close()
    else if (piece.startsWith("'")) {
      strings.push(unquoted(piece).replaceAll("''", "'"))
      words.push("'")
    } else words.push(...nameOf(piece))
    if (statements.length >= maxStatements) return { statements, tooMany: true }
  }
  close()
  return { statements, tooMany: false }
}

function nameOf(piece: string): readonly string[] {
  if (/^["`]/.test(piece)) return [unquoted(piece).toLowerCase()]
  if (/^\[\D/.test(piece)) return [unquoted(piece).toLowerCase()]
  return [piece.toLowerCase()]
}
