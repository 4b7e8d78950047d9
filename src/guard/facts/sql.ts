import { wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { isObject } from "../../wire/json.ts"
import { emptyList, type Finished, maxScriptDepth, maxStatements } from "./leaf.ts"
import { parseSql, type SqlNode } from "./sql-grammar.ts"
import lists from "./words.json" with { type: "json" }
import { anyWord } from "./words.ts"

export type SqlFact = {
  readonly verb: string
  readonly targets: readonly string[]
  readonly writes: boolean
  /** True if it removes data or structure. */
  readonly destructive: boolean
  /** True if it changes rows without a condition that limits them. */
  readonly unbounded: boolean
  /** Why it may do more than is known: it runs a text or a function that is not in it. */
  readonly unresolved?: string
}

const newReading = () => ({
  statements: emptyList<SqlFact>(),
  /** Commands that the server passes to a shell, and files that it reads or writes. */
  scripts: emptyList<string>(),
  files: emptyList<string>(),
  tooMany: false,
})
type Reading = ReturnType<typeof newReading>

/** Unwraps comments that begin with an exclamation mark: MySQL runs their content. */
const withMysqlComments = (text: string): string =>
  text.includes("/*!") ? text.replace(/\/\*!\d{0,6}([^*]{0,2000})\*\//g, " $1 ") : text

/** Matches characters that other systems read differently from PostgreSQL: their reading counts as well. */
const ambiguous = /\\|--\S|`|\/\*!|#|\[/

/** Reads what a text of SQL does, with PostgreSQL's own grammar, and word by word for systems that differ from it. */
export function sqlFacts(text: string): Finished<Reading> {
  const reading = newReading()
  readText(reading, text, 0)
  return reading
}

/** Maximum depth of nested comments: for each comment that is never closed the grammar scans all that follows it. */
const maxOpenComments = 50

function hasManyOpenComments(text: string): boolean {
  let open = 0
  for (let at = 0; at < text.length; at++) {
    const isOpening = text[at] === "/" && text[at + 1] === "*"
    const isClosing = open > 0 && text[at] === "*" && text[at + 1] === "/"
    if (!isOpening && !isClosing) continue
    open += isOpening ? 1 : -1
    if (open > maxOpenComments) return true
    at++
  }
  return false
}

function readText(reading: Reading, text: string, depth: number): void {
  if (depth > maxScriptDepth || hasManyOpenComments(text)) {
    reading.tooMany = true
    return
  }
  // Joins a text that is concatenated from literals.
  const joined = withMysqlComments(text).replace(/'\s{0,20}(?:\|\||\+)\s{0,20}'/g, "")
  const short = shortened(joined)
  if (short.length > maxSql) {
    reading.tooMany = true
    return
  }
  const tree = parseSql(short)
  const isAmbiguous = ambiguous.test(joined) || joined !== text
  if (tree !== undefined) for (const node of tree.slice(0, maxStatements)) readTree(reading, node, depth)
  if (tree === undefined || isAmbiguous) readWords(reading, joined, depth, tree !== undefined)
  if ((tree?.length ?? 0) > maxStatements || reading.statements.length > maxStatements) reading.tooMany = true
}

/** Maximum length passed to the grammar in characters, without long literals: it takes half a millisecond for each thousand. */
const maxSql = 100_000

/** Cuts long literals, on which the grammar spends as much time as on a statement. */
function shortened(text: string): string {
  if (text.length < 2_000 || /[\\$]/.test(text)) return text
  return text.replace(/'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|[^'"/-]+|./gs, (piece) =>
    piece.startsWith("'") && piece.length > 200 && piece.endsWith("'") ? "'…'" : piece,
  )
}

// Reading by the grammar

const reading = wordSet(...lists.sql.reading)
const dropping = wordSet(...lists.sql.dropping)
/** Matches settings of a session that change what it may do or what is recorded of it. */
const sensitiveSettings = /role|authorization|replication|^log|audit|row_security|read_only|bin_log|sql_log/i

const verbNames: Readonly<Record<string, string>> = {
  DropdbStmt: "drop",
  CreatedbStmt: "create",
  VariableShowStmt: "show",
  VariableSetStmt: "set",
  TransactionStmt: "begin",
}

const verbOf = (kind: string): string =>
  verbNames[kind] ??
  kind
    .replace(/Stmt$/, "")
    .replace(/^([A-Z][a-z]+).*$/, "$1")
    .toLowerCase()

type Found = {
  readonly kinds: Map<string, SqlNode[]>
  readonly names: Set<string>
  readonly aliases: Set<string>
  readonly calls: Set<string>
}

/** Collects all statements, tables and functions of a tree, including those of subqueries. */
function find(found: Found, node: unknown): void {
  if (Array.isArray(node)) {
    for (const one of node) find(found, one)
    return
  }
  if (!isObject(node)) return
  for (const [key, value] of Object.entries(node)) {
    if (/Stmt$/.test(key) && isObject(value) && /^[A-Z]/.test(key))
      found.kinds.set(key, [...(found.kinds.get(key) ?? []), value])
    if (key === "relname" && typeof value === "string")
      found.names.add(typeof node.schemaname === "string" ? `${node.schemaname}.${value}` : value)
    if (key === "dbname" && typeof value === "string") found.names.add(value)
    if (key === "ctename" && typeof value === "string") found.aliases.add(value)
    if (key === "funcname") found.calls.add(textsIn(value).at(-1) ?? "")
    if (key === "objects" && "removeType" in node)
      for (const one of Array.isArray(value) ? value : []) found.names.add(textsIn(one).join("."))
    find(found, value)
  }
}

/** Collects the texts of all name nodes in a tree. */
function textsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn)
  if (!isObject(node)) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === "sval" && typeof value === "string" ? [value] : textsIn(value),
  )
}

function readTree(into: Reading, node: SqlNode, depth: number): void {
  const [kind = ""] = Object.keys(node)
  const found: Found = { kinds: new Map(), names: new Set(), aliases: new Set(), calls: new Set() }
  const explained = node.ExplainStmt
  const isRun = !isObject(explained) || JSON.stringify(explained.options ?? []).includes('"analyze"')
  find(found, node)
  if (!isRun) {
    found.kinds.clear()
    found.calls.clear()
  }
  const kinds = [...found.kinds.keys()]
  const all = (...names: readonly string[]): readonly SqlNode[] => names.flatMap((name) => found.kinds.get(name) ?? [])
  const settings = all("VariableSetStmt").filter(({ name }) => sensitiveSettings.test(String(name)))
  const selectsInto = all("SelectStmt").some(({ intoClause }) => intoClause !== undefined)
  const unbounded = all("DeleteStmt", "UpdateStmt").some(isUnbounded)
  const alters = droppingParts.test(JSON.stringify(all("AlterTableStmt")))
  const merges = JSON.stringify(all("MergeStmt")).includes('"CMD_DELETE"')
  const copies = all("CopyStmt")
  const isPrinted = copies.every(({ is_from: isFrom, filename }) => isFrom !== true && filename === undefined)
  if ([...found.calls].some((name) => fileFunctions.test(name))) into.files.push(...textsIn(node))
  for (const { is_program: isProgram, filename } of copies)
    if (typeof filename === "string") (isProgram === true ? into.scripts : into.files).push(filename)
  const writes = kinds.some(
    (one) => !reading.has(one) && one !== "VariableSetStmt" && !(one === "CopyStmt" && isPrinted),
  )
  into.statements.push({
    verb: verbOf(kind),
    targets: [...found.names].filter((name) => !found.aliases.has(name)).map((name) => name.toLowerCase()),
    writes: writes || selectsInto || settings.length > 0,
    destructive:
      kinds.some((one) => dropping.has(one)) || alters || merges || (unbounded && kinds.includes("UpdateStmt")),
    unbounded,
    ...present({ unresolved: unresolvedIn(found) }),
  })
  // The body of a function or a block is a program of its own; its text is searched for statements.
  for (const inner of all("DoStmt", "CreateFunctionStmt"))
    for (const text of textsIn(inner)) if (looksLikeSql(text)) readWords(into, text, depth + 1, false)
}

/** Matches commands of `ALTER TABLE` that remove or disable something. */
const droppingParts = /"AT_(?:Drop(?:Column|Constraint|Inherit|NotNull)?|Disable\w+|DetachPartition)"/

/** Matches functions that read or write a file of the server. */
const fileFunctions =
  /^(?:pg_read_(?:binary_)?file|pg_ls_dir|pg_stat_file|pg_file_\w+|lo_import|lo_export|load_file|readfile|writefile|load_extension|read_(?:csv|json|parquet|text|blob|ndjson)\w*|(?:csv|parquet|file)_scan)$/i

/** Matches beginnings of the names of functions that only compute or read. */
const harmlessFunctions = new RegExp(`^${anyOf(lists.sql.harmlessFunctions)}`)

function unresolvedIn({ kinds, calls }: Found): string | undefined {
  if (kinds.has("CallStmt")) return "it calls a procedure"
  if (kinds.has("DoStmt")) return "it runs a block of code"
  if (kinds.has("ExecuteStmt") && !kinds.has("PrepareStmt")) return "it runs a statement that was prepared before"
  const strange = [...calls].find(
    (name) => !functions.has(name.toLowerCase()) && !harmlessFunctions.test(name.toLowerCase()),
  )
  return strange === undefined ? undefined : `it calls the function ${strange}`
}

/** True if there is no condition, or one that every row meets. */
const isUnbounded = ({ whereClause }: SqlNode): boolean => whereClause === undefined || isAlways(whereClause)

function isAlways(node: unknown): boolean {
  if (!isObject(node)) return false
  const constant = node.A_Const
  if (isObject(constant))
    return (
      (isObject(constant.boolval) && constant.boolval.boolval === true) ||
      (isObject(constant.ival) && constant.ival.ival !== 0)
    )
  const expression = node.A_Expr
  if (isObject(expression) && textsIn(expression.name).join("") === "=")
    return bare(expression.lexpr) === bare(expression.rexpr)
  const joined = node.BoolExpr
  if (!isObject(joined) || !Array.isArray(joined.args)) return false
  if (joined.boolop === "OR_EXPR") return joined.args.some(isAlways)
  return joined.boolop === "AND_EXPR" && joined.args.every(isAlways)
}

const bare = (node: unknown): string => JSON.stringify(node ?? null).replace(/"location":\d+/g, "")

/** Functions that only read, by their names in the usual systems. */
const functions = wordSet(...lists.sql.functions)

// Reading word by word, for systems with another grammar

const changing = wordSet(...lists.sql.changing)
const looking = wordSet(...lists.sql.looking)
const verbs = new Set([
  ...changing,
  ...looking,
  ...wordSet(
    "set reset call exec execute do vacuum analyze reindex comment lock kill flush optimize prepare deallocate export backup restore shutdown audit disable enable cluster refresh handler xa",
  ),
])
const beforeTarget = wordSet(...lists.sql.beforeTarget)
const noTarget = wordSet(...lists.sql.noTarget)

function targetsOf(words: readonly string[]): readonly string[] {
  const targets = new Set<string>()
  for (const [at, word] of words.entries()) {
    if (!beforeTarget.has(word)) continue
    let next = at + 1
    while (next < words.length && next < at + 5 && noTarget.has(words[next] ?? "")) next++
    const name = words[next] ?? ""
    if (!noTarget.has(name) && /^[\p{L}_@]/u.test(name))
      targets.add(words[next + 1] === "." ? `${name}.${words[next + 2] ?? ""}` : name)
  }
  return [...targets]
}

/** Words that change something, wherever they stand: after `WITH`, after `EXPLAIN ANALYZE`, in a block. */
function changesIn(words: readonly string[]): readonly string[] {
  return words.filter((word, at) => {
    if (!changing.has(word)) return false
    if (at === 0 || (words[at - 1] === "then" && /^(?:delete|update|insert)$/.test(word))) return true
    const after = words[at + 1] ?? ""
    // `FOR UPDATE`, `ON DELETE`, `replace(x)`, `GRANT SELECT, DELETE ON`: mentioned, not done.
    if (/^(?:for|on|or|,|no|key|\.)$/.test(words[at - 1] ?? "") || after === "(") return false
    return /^(?:delete (?:from|\w)|insert \w+|drop \w+|truncate \w+|alter \w+|update [\p{L}_]\S*|merge \w+|create \w+|replace into|load data)$/u.test(
      `${word} ${after}`,
    )
  })
}

type Statement = { readonly words: readonly string[]; readonly strings: readonly string[] }

/** Reads a text word by word. `known`: the grammar has read it too, so only statements that are worse count. */
function readWords(into: Reading, text: string, depth: number, known: boolean): void {
  for (const statement of statementsOf(text)) {
    if (into.statements.length > maxStatements) {
      into.tooMany = true
      return
    }
    const fact = factOfWords(statement)
    const isWorse = fact.destructive || (fact.writes && changing.has(fact.verb))
    const isTold = into.statements.some((one) => one.verb === fact.verb && one.targets.join() === fact.targets.join())
    if (!known || (isWorse && !isTold)) into.statements.push(fact)
    const { words, strings } = statement
    if (anyWord(words, /cmdshell|sys_exec|sys_eval|shell/)) into.scripts.push(...strings)
    if (
      anyWord(words, /^(?:outfile|dumpfile|infile|load_file|openrowset|bulk|attach|readfile|writefile|pg_read_file)$/)
    )
      into.files.push(...strings)
    if (anyWord(words, /^(?:exec|execute|prepare|do|immediate|eval|sp_executesql|query)$/))
      for (const inner of strings) if (looksLikeSql(inner)) readText(into, inner, depth + 1)
  }
}

/** Matches statements that replace a table, which removes its rows; not for a temporary table, which only the session has. */
const replacesTable =
  /^create or replace (?:(?:transient|external|dynamic|hybrid) )?table\b|^(?:insert overwrite|load data (?:\S+ ){0,6}overwrite)\b/

function factOfWords({ words, strings }: Statement): SqlFact {
  const verb = words.find((word) => word !== "(") ?? ""
  const changes = changesIn(words)
  const line = words.join(" ")
  const sets = verb === "set" || verb === "pragma" ? / [:=]|=/.test(line) : false
  const looks = looking.has(verb) && changes.length === 0 && !sets && !/ into (?!@)/.test(line)
  const isWhole = (changes.includes("update") || changes.includes("delete")) && isUnboundedLine(words)
  const alters =
    changes.includes("alter") && /\b(?:drop|disable|delete|clear|detach|exchange|swap)\b/.test(line.slice(0, 4_000))
  const flush = /^(?:flushall|flushdb|shutdown)$/.test(verb)
  return {
    verb,
    targets: targetsOf(words),
    writes: changes.length > 0 || sets || flush || / into (?!@)/.test(line) || (!looking.has(verb) && verbs.has(verb)),
    destructive:
      anyWord(changes, /^(?:drop|truncate|delete|purge)$/) || alters || flush || isWhole || replacesTable.test(line),
    unbounded: isWhole,
    ...present({ unresolved: unresolvedInWords(verb, words, strings, looks) }),
  }
}

function unresolvedInWords(
  verb: string,
  words: readonly string[],
  strings: readonly string[],
  looks: boolean,
): string | undefined {
  if (/^(?:exec|execute|call|do|prepare)$/.test(verb))
    return strings.some(looksLikeSql) && !/[@|+]/.test(words.join(""))
      ? undefined
      : "it runs a procedure or a text that is put together"
  if (!verbs.has(verb)) return "it is no statement of a known grammar"
  if (!looks) return undefined
  const strange = words.find(
    (word, at) =>
      words[at + 1] === "(" &&
      /^[\p{L}_][\p{L}\p{N}_.]*$/u.test(word) &&
      !functions.has(word.replace(/^.*\./, "")) &&
      !notCalls.test(word),
  )
  return strange === undefined ? undefined : `it calls the function ${strange}`
}

/** True for `WHERE 1=1`, `WHERE true`, or no `WHERE` and no `LIMIT`. */
function isUnboundedLine(words: readonly string[]): boolean {
  const where = words.lastIndexOf("where")
  if (where < 0) return !words.includes("limit")
  const rest = words.slice(where + 1, where + 6).join(" ")
  return /^(?:\(? ?)?(?:true|1|not false|(\d+) = \1|' = ')(?: |$)/.test(rest) && !/ and /.test(` ${rest} `)
}

/** Matches words before a parenthesis that are not calls of a function. */
const notCalls = new RegExp(`^${anyOf(lists.sql.notCalls)}$`)

const statementShapes = anyOf(
  `drop\\s+${anyOf(lists.sql.dropped)}`,
  'truncate\\s+(?:table\\s+)?["`[\\w]|delete\\s+from\\s+\\S',
  `alter\\s+${anyOf(lists.sql.altered)}\\b`,
  'update\\s+["`[\\w.\\]]+\\s+set\\s|insert\\s+into\\s|replace\\s+into\\s',
  `create\\s+(?:or\\s+replace\\s+)?(?:temp\\w*\\s+|unique\\s+)?${anyOf(lists.sql.created)}\\b`,
  "select\\s[^;]{0,2000}?\\bfrom\\s|set\\s+(?:global|session|persist)\\s|noaudit\\s",
  "grant\\s+[\\w, ]{1,200}\\s(?:on|to)\\s|revoke\\s+[\\w, ]{1,200}\\s(?:on|from)\\s|merge\\s+into\\s",
  'merge\\s+[\\w.`"]+\\s[^;]{0,2000}?\\bwhen\\s',
)
const shape = new RegExp(`\\b${statementShapes}`, "i")

export const looksLikeSql = (text: string): boolean =>
  shape.test(withMysqlComments(text.slice(0, 200_000)).replace(/\/\*[^*]{0,200}\*\/|\s+/g, " "))

/** True if the first word is one that a statement starts with. */
export const startsLikeSql = (text: string): boolean => {
  const first = /^(?:\s|--[^\n]*\n|\/\*[^*]{0,400}\*\/|\(|;)*([a-z]+)/i.exec(
    withMysqlComments(text.slice(0, 5_000)),
  )?.[1]
  // `set -e` begins a script.
  return first !== undefined && verbs.has(first.toLowerCase()) && !/^\s*set\s+[-+][a-z]/i.test(text)
}

/**
 * Matches a comment, a literal, a quoted name, a word or another character. Each alternative starts with another character, and none can
 * backtrack.
 */
const token =
  /--(?=\s)[^\n]*|#[^\n]*|\/\*(?!!)(?:[^*]|\*(?!\/))*(?:\*\/)?|\/\*!\d*|\*\/|'(?:[^'\\]|''|\\.)*'?|\$(\w*)\$|"[^"]*"?|`[^`]*`?|\[[^\]\n]{1,128}\]|[\p{L}_@][\p{L}\p{N}_$@]*(?:\.[\p{L}\p{N}_$]+)*|\d+(?:\.\d+)?|;|[^\s]/gsu

const inner = (text: string): string => text.slice(1, text.length > 1 ? -1 : undefined)

/** Splits a text into statements, with backslash escapes in literals as some systems have them. An unclosed one at the end is kept. */
function statementsOf(text: string): readonly Statement[] {
  const statements: Statement[] = []
  let words: string[] = []
  let strings: string[] = []
  const close = (): void => {
    if (words.length > 0) statements.push({ words, strings })
    words = []
    strings = []
  }
  for (const { 0: piece } of text.matchAll(token)) {
    // Text between dollar quotes is more often code than data, so it is read as code.
    if (/^(?:--\s|#|\/\*|\*\/|\$\w*\$$)/.test(piece)) continue
    if (piece === ";") close()
    else if (piece.startsWith("'")) {
      strings.push(inner(piece).replaceAll("''", "'"))
      words.push("'")
    } else words.push((/^["`]|^\[\D/.test(piece) ? inner(piece) : piece).toLowerCase())
    if (statements.length > maxStatements) return statements
  }
  close()
  return statements
}
