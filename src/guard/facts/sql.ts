import { maxScriptDepth, maxStatements } from "./leaf.ts"

/** What one statement does. */
export type SqlFact = {
  readonly verb: string
  readonly targets: readonly string[]
  readonly writes: boolean
  /** Takes away data or structure. */
  readonly destructive: boolean
  /** Changes rows without saying which. */
  readonly unbounded: boolean
  /** Runs a text that is put together only when it runs. */
  readonly obscured: boolean
  readonly words: readonly string[]
}

const readers = new Set("select show explain describe desc with values pragma use help list table".split(" "))
const verbs = new Set(
  "select show explain describe desc with values pragma use insert update delete merge replace upsert drop truncate alter create grant revoke set reset call exec execute do copy load unload vacuum analyze reindex rename comment begin start commit rollback savepoint lock kill flush optimize attach detach prepare deallocate declare import export backup restore shutdown noaudit audit disable enable cluster refresh purge undrop deny backup if while go".split(
    " ",
  ),
)
const changing = new Set(
  "insert update delete merge replace upsert drop truncate alter create grant revoke rename purge noaudit deny".split(
    " ",
  ),
)
/** Words after which the name of what is acted on stands. */
const beforeTarget = new Set(
  "from into update table database schema view index user role policy trigger function procedure sequence materialized keyspace collection bucket cluster tablespace warehouse on join using truncate".split(
    " ",
  ),
)
const noTarget = new Set(
  "if exists not table only concurrently cascade restrict all select set where values ( ) ' , * . = into from temporary temp or replace view database schema delete update each row".split(
    " ",
  ),
)

function targetsOf(words: readonly string[]): readonly string[] {
  const targets: string[] = []
  for (const [at, word] of words.entries()) {
    if (!beforeTarget.has(word)) continue
    let next = at + 1
    while (next < words.length && next < at + 5 && noTarget.has(words[next] ?? "")) next++
    const name = words[next]
    if (name === undefined || noTarget.has(name) || !/^[\p{L}_@]/u.test(name)) continue
    const dotted = words[next + 1] === "." ? `${name}.${words[next + 2] ?? ""}` : name
    targets.push(dotted)
    let more = next + (dotted === name ? 1 : 3)
    while (words[more] === "," && /^[\p{L}_]/u.test(words[more + 1] ?? "") && more < next + 200) {
      targets.push(words[more + 1] ?? "")
      more += 2
    }
  }
  return [...new Set(targets)]
}

/** `WHERE 1=1`, `WHERE true` and no `WHERE` at all leave nothing out. */
function isUnbounded(words: readonly string[]): boolean {
  const where = words.lastIndexOf("where")
  if (where < 0) return !words.includes("limit")
  const rest = words.slice(where + 1, where + 6).join(" ")
  return /^(?:\(? ?)?(?:true|1|not false|(\d+) = \1|' = ')(?: |$)/.test(rest) && !/ and /.test(` ${rest} `)
}

/** A word that changes something, wherever it stands: behind `WITH`, behind `EXPLAIN ANALYZE`, in a block. */
function changesIn(words: readonly string[]): readonly string[] {
  return words.filter((word, at) => {
    if (!changing.has(word)) return false
    if (at === 0) return true
    const before = words[at - 1] ?? ""
    const after = words[at + 1] ?? ""
    // `FOR UPDATE`, `ON DELETE`, `replace(x)`, `GRANT SELECT, DELETE ON`: said, not done.
    if (/^(?:for|on|or|,|no|key)$/.test(before) || after === "(") return false
    return /^(?:delete from|insert into|drop \w+|truncate \w+|alter \w+|update [\p{L}_]\S*|merge into|create \w+)$/u.test(
      `${word} ${after}`,
    )
  })
}

function statementFact({ words, strings }: SqlStatement): SqlFact {
  const verb = words.find((word) => word !== "(") ?? ""
  const changes = changesIn(words)
  const reads = readers.has(verb) && changes.length === 0
  const into = verb === "select" && words.includes("into")
  const harmful = /^(?:drop|truncate|delete|purge)$/
  const alters = changes.includes("alter") && /\b(?:drop|disable)\b/.test(words.slice(0, 200).join(" "))
  const whole = (changes.includes("update") || changes.includes("delete")) && isUnbounded(words)
  const flush = /^(?:flushall|flushdb|shutdown)$/.test(verb)
  const built = /^(?:exec|execute|prepare|do)$/.test(verb) && strings.length === 0 && /[@|+]/.test(words.join(""))
  return {
    verb,
    targets: targetsOf(words),
    writes: (!reads && !/^(?:begin|start|commit|rollback|savepoint)$/.test(verb)) || into,
    destructive: changes.some((word) => harmful.test(word)) || alters || flush || (changes.includes("update") && whole),
    unbounded: whole,
    obscured: built,
    words,
  }
}

/** MySQL runs what stands in a comment that begins with an exclamation mark. */
const opened = (text: string): string =>
  text.includes("/*!") ? text.replace(/\/\*!\d{0,6}([^*]{0,2000})\*\//g, " $1 ") : text

type SqlFacts = { readonly statements: readonly SqlFact[]; readonly tooMany: boolean }

/** What a text of SQL does, with what it runs out of quoted texts. */
export function sqlFacts(text: string, depth = 0): SqlFacts {
  // A text put together from quoted pieces is read as a whole.
  const joined = opened(text).replace(/'\s{0,20}(?:\|\||\+)\s{0,20}'/g, "")
  const { statements, tooMany } = readSql(joined)
  const inner = statements.flatMap(({ words, strings }) =>
    depth < maxScriptDepth &&
    words.some((word) => /^(?:exec|execute|prepare|do|immediate|eval|sp_executesql|query)$/.test(word))
      ? strings.filter(looksLikeSql).map((inside) => sqlFacts(inside, depth + 1))
      : [],
  )
  return {
    statements: [...statements.map(statementFact), ...inner.flatMap((facts) => facts.statements)],
    tooMany: tooMany || inner.some((facts) => facts.tooMany),
  }
}

const shape =
  /\b(?:drop\s+(?:table|database|schema|view|index|user|role|policy|trigger|function|procedure|column|audit|materialized|keyspace|collection|server)|truncate\s+(?:table\s+)?["`[\w]|delete\s+from\s+\S|alter\s+(?:table|database|system|user|role|server|session|audit|schema|login|policy)\b|update\s+["`[\w.\]]+\s+set\s|insert\s+into\s|create\s+(?:or\s+replace\s+)?(?:temp\w*\s+|unique\s+)?(?:table|database|schema|view|index|user|role|policy|trigger|function|procedure|server|login)\b|select\s[^;]{0,2000}?\bfrom\s|set\s+(?:global|session|persist)\s|noaudit\s|grant\s+[\w, ]{1,200}\s(?:on|to)\s|revoke\s+[\w, ]{1,200}\s(?:on|from)\s)/i

/** Does a text have a statement of SQL in it? */
export const looksLikeSql = (text: string): boolean =>
  shape.test(opened(text.slice(0, 200_000)).replace(/\/\*[^*]{0,200}\*\/|\s+/g, " "))

/** Is the first word one that a statement starts with? */
export const startsLikeSql = (text: string): boolean => {
  const first = /^(?:\s|--[^\n]*\n|\/\*[^*]{0,400}\*\/|\(|;)*([a-z]+)/i.exec(opened(text.slice(0, 5_000)))?.[1]
  return first !== undefined && verbs.has(first.toLowerCase())
}

/** One statement: its words and signs in small letters without comments, and the texts quoted in it. */
type SqlStatement = {
  readonly words: readonly string[]
  readonly strings: readonly string[]
}

type SqlText = { readonly statements: readonly SqlStatement[]; readonly tooMany: boolean }

/**
 * A comment, a quoted text, a quoted name, a word, a sign. Each alternative starts with another sign, and none can back up. What MySQL
 * runs although it stands in a comment is read as if it stood outside.
 */
const token =
  /--[^\n]*|#[^\n]*|\/\*(?!!)(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\*!\d*|\*\/|'(?:[^'\\]|''|\\.)*'?|\$(\w*)\$|"[^"]*"?|`[^`]*`?|\[[^\]\n]{1,128}\]|[\p{L}_@][\p{L}\p{N}_$@]*(?:\.[\p{L}\p{N}_$]+)*|\d+(?:\.\d+)?|;|[^\s]/gsu

const unquoted = (text: string): string => text.slice(1, text.length > 1 ? -1 : undefined)

/** Split a text into statements. What is left open at the end is read all the same. */
function readSql(text: string): SqlText {
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
