import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { type Action, type Environment, targetEnvironments } from "./action.ts"
import { finished, newReading, type ProgramReading, type Programs, readFields } from "./call-fields.ts"
import { codeFacts } from "./code.ts"
import { changesSomething } from "./command-table.ts"
import type { MatchedContract } from "./contracts.ts"
import { controlsOff, namesControl } from "./controls.ts"
import { hostOfWord, isSecretUrl } from "./hosts.ts"
import { type Leaf, open, openAll } from "./leaf.ts"
import { foundIn } from "./options.ts"
import { folderField, patchedFiles, patchedTexts, pathFact } from "./paths.ts"
import words from "./secret-words.json" with { type: "json" }
import { secretStore } from "./secrets.ts"
import { shellFacts } from "./shell.ts"
import { looksLikeSql, sqlFacts, startsLikeSql } from "./sql.ts"
import { anyWord, fold, wordsOf } from "./words.ts"

const readSqlInto = (reading: ProgramReading, text: string, environments: readonly Environment[] = []): void => {
  const { statements, scripts, files, tooMany } = sqlFacts(text)
  reading.read++
  reading.tooMany ||= tooMany
  for (const statement of statements) {
    reading.statements.push(statement)
    reading.changes ||= statement.writes || scripts.length > 0
    reading.elsewhere ||= statement.writes || scripts.length > 0
    if (statement.destructive) reading.destructions.push({ kind: "data", environments })
    reading.actions.add(statement.writes ? (statement.destructive ? "delete" : "write") : "query")
    if (statement.unresolved === undefined) continue
    open(reading.open, "statements", `of a statement it is not known what it does: ${statement.unresolved}`)
    if (statement.unresolved.startsWith("it calls the function"))
      open(reading.open, "network", `of a statement it is not known what it does: ${statement.unresolved}`)
    if (environments.length === 0) reading.destructions.push({ kind: "unknown", environments })
  }
  // A file that is read or written by URL, and statements that load an extension.
  for (const address of foundIn(text, /\b(?:from|join|copy|attach|to|into)\s+'([a-z][a-z\d+]{1,10}:\/\/[^']+)'/gi)) {
    reading.network = true
    readUrlInto(reading, address)
  }
  if (/(?:^|;)\s*(?:force\s+)?(?:install|load)\s+\w|\bload_extension\s*\(/i.test(text))
    open(reading.open, "everything", "it loads an extension")
  for (const path of files) reading.paths.push(pathFact(path, "unknown"))
  if (secretColumns.test(text)) reading.paths.push(secretStore)
  for (const script of scripts) readShellInto(reading, script)
  // A control that is switched off may be in quotes: `audit_trail = 'none'`.
  if (statements.some(({ writes }) => writes)) for (const control of controlsOff(text)) reading.controlsOff.add(control)
}

/** Matches selected columns that hold credentials, and the tables in which databases keep those. */
const secretColumns = new RegExp(
  anyOf(
    `\\bselect\\b(?:(?!\\bfrom\\b)[^;']){0,2000}?(?<![\\w.])(?:\\w{1,40}\\.)?(?:\\w{1,20}_?)?${anyOf(words.secretColumns)}(?:_?(?:hash|digest|enc|encrypted|plain|key))?(?=\\s*(?:,|\\bfrom\\b|\\bas\\b|$))`,
    `\\b(?:from|join)\\s+(?:\\w+\\.)?${anyOf(words.secretTables)}\\b`,
  ),
  "i",
)

const actionOf: Readonly<Record<string, Action | undefined>> = {
  read: "read",
  write: "write",
  delete: "delete",
  send: "send",
  deploy: "deploy",
  pay: "purchase",
}

const scriptFile =
  /\.(?:sh|bash|zsh|fish|command|ps1|bat|cmd)$|(?:^|\/)(?:crontab|\.bashrc|\.zshrc|\.profile|\.bash_profile|\.git\/hooks\/[\w-]+|\.husky\/[\w-]+)$/i
const codeFile = /\.(?:py|js|mjs|cjs|ts|rb|pl|php|lua)$/i

function readShellInto(reading: ProgramReading, text: string, folder?: string): void {
  const facts = shellFacts(text)
  reading.read++
  reading.commands.push(...facts.commands)
  reading.paths.push(...facts.paths)
  // Relative paths are also resolved against the folder of the command, if the call names it.
  if (folder !== undefined && facts.paths.length <= maxPlaced)
    for (const fact of facts.paths)
      if (!/^(?:[/~$]|[a-z]:)/i.test(fact.path))
        reading.paths.push({ ...fact, ...pathFact(`${folder}/${fact.path}`, fact.access) })
  for (const host of facts.hosts) reading.hosts.push({ host, contacted: true, suspect: host.includes("xn--") })
  reading.mailed.push(...facts.mailed)
  reading.told.push(...facts.told)
  reading.tooMany ||= facts.tooMany
  reading.destructions.push(...facts.destructions)
  for (const environment of facts.environments) reading.environments.add(environment)
  for (const [kind, why] of facts.open) {
    open(reading.open, kind, why)
    if (kind === "statements" && facts.environments.length === 0)
      reading.destructions.push({ kind: "unknown", environments: [] })
  }
  for (const { effects, line, isLocal, fed = "" } of facts.commands) {
    for (const effect of effects) {
      const action = actionOf[effect]
      if (action !== undefined) reading.actions.add(action)
    }
    reading.network ||= effects.has("network") || effects.has("install")
    const isChanging = changesSomething(effects)
    reading.changes ||= isChanging
    reading.elsewhere ||= !isLocal && isChanging
    // Skipped: a script for a shell is read on its own, and reading changes nothing, also with sudo.
    const isShell = /^(?:ba|z|da|k)?sh (?:-\S+ )*-\w*c /.test(line)
    const isRead = [...effects].every((effect) => effect === "read" || effect === "privilege") && effects.has("read")
    const looks = isShell || (isRead && !/^(?:set|unset|export|history)\b/.test(line))
    // A package manager's audit is a report on packages.
    const told = /^(?:npm|pnpm|yarn|bun|npx)\b/.test(line)
      ? line.replace(/\s--no-audit\b/g, "")
      : named(withoutMessage(line))
    if (!looks) for (const control of controlsOff(fold(`${told} ${fed}`))) reading.controlsOff.add(control)
    const governs = !effects.has("read") && isChanging
    const isSystem = effects.has("privilege") || clouds.test(line)
    // The object of the change comes from a pipe, and the script names a control.
    const isFedControl = / \*(?= |$)/.test(line) && namesControl(fold(text.slice(0, 20_000)))
    if (governs && isSystem && (isFedControl || namesControl(fold(told)) || controlServices.test(line)))
      open(reading.open, "controls", "it changes something about a control, and nobody has said what")
  }
  for (const setting of facts.settings)
    for (const control of controlsOff(fold(setting))) reading.controlsOff.add(control)
  // Commands that a database client runs itself, such as `\!` and `\copy … program`.
  for (const { text: sql } of facts.sql) {
    for (const program of foundIn(sql, clientPrograms)) readShellInto(reading, program.replaceAll("''", "'"))
    if (/\\(?:gexec|ir?|include(?:_relative)?)\b/.test(sql)) {
      open(reading.open, "statements", "it runs statements that are put together when it runs")
      if (facts.environments.length === 0) reading.destructions.push({ kind: "unknown", environments: [] })
    }
  }
  // Some systems begin a query with `FROM`.
  const statements = facts.sql
    .map(withoutClientCommands)
    .map((one) => (/^\s*from\s/i.test(one.text) ? { ...one, text: `select * ${one.text}` } : one))
  for (const { text: sql, environments } of statements)
    if (looksLikeSql(sql) || startsLikeSql(sql)) readSqlInto(reading, sql, environments)
  for (const { text: code, language } of facts.code) readCodeInto(reading, code, language)
  for (const [path, content] of facts.written)
    if (content !== undefined) reading.written.push(...scriptsOf(path, content))
}

const clientPrograms =
  /\\copy\b[^\n]{0,4000}?\b(?:to|from)\s+program\s+'((?:[^'\n]|'')*)'|^\s*\\(?:!|o\s*\||g\s*\|)\s*(.+)$/gim

/** Matches lines for the database client itself that show things or choose a database, and are no statements. */
const clientLines =
  /^[ \t]*\\(?:timing|x|pset|echo|q|conninfo|l|a|t|f|encoding|d\w*\+?|c(?:onnect)?)(?![\w])[ \t]*([^\n;]*)$/gm
function withoutClientCommands<One extends { readonly text: string; readonly environments: readonly Environment[] }>(
  one: One,
): One {
  if (!one.text.includes("\\")) return one
  const chosen = [...one.text.matchAll(clientLines)].flatMap(([line, name = ""]) =>
    /\\c/.test(line) ? targetEnvironments([name]) : [],
  )
  return { ...one, text: one.text.replace(clientLines, ""), environments: [...one.environments, ...chosen] }
}

/** Maximum number of files of one script that are resolved against the folder of the call. */
const maxPlaced = 60

function readUrlInto(reading: ProgramReading, url: string): void {
  const host = hostOfWord(url)
  if (host !== undefined) reading.hosts.push({ host, contacted: true, suspect: false })
}

/** Matches programs that administer whole systems. */
const clouds =
  /^(?:aws|gcloud|az|kubectl|oc|doctl|oci|ibmcloud|hcloud|linode-cli|okta|cf|flyctl|heroku|gsutil|tailscale|cloudflared|databricks|snow|vault|consul|nomad|argocd|istioctl)\b/

const controlCommands = anyOf(
  `aws (?:\\S+ )*?${anyOf(words.controlServices)} [a-z]`,
  "gcloud (?:\\S+ )*?(?:scc|org-policies|access-context-manager|security-policies) [a-z]",
  "az (?:\\S+ )*?(?:security|policy|sentinel|defender) [a-z]|vault (?:audit|auth|policy) ",
)
/** Matches commands for cloud services that are security controls: what they change may be a control. */
const controlServices = new RegExp(`^${controlCommands}`)

/**
 * Cuts a program's name after its first word, because the rest of a name does not name a control. Cmdlets (`Disable-…`) keep theirs.
 */
const named = (line: string): string =>
  line.replace(/^(?!(?:disable|stop|remove|set|clear|new|add|enable|uninstall|aa)-)([a-z\d]+)-[\w-]+/, "$1")

/** Removes the message that a command records: text for people, up to the next long option. */
const withoutMessage = (line: string): string =>
  /^(?:git (?:commit|tag|merge|notes|stash|revert)|gh (?:pr|issue|release)|jj (?:describe|commit)) /.test(line)
    ? line.replace(/\s(?:-\w*m|-[tb]|--(?:message|title|body|notes))[ =](?:(?!\s--\w).)*/gs, "")
    : line

const isScript = (path: string, content: string): boolean =>
  scriptFile.test(path) || /^#!.*\b(?:ba|z|da|k)?sh\b/.test(content)

/** Shell scripts in a file: the file itself, the recipes of a Makefile, the scripts of a package.json. */
function scriptsOf(path: string, content: string): readonly string[] {
  if (isScript(path, content)) return [content]
  if (/(?:^|\/)(?:gnu)?makefile$|\.mk$|(?:^|\/)justfile$/i.test(path))
    return [
      content
        .split("\n")
        .filter((line) => /^[\t ]/.test(line))
        .map((line) => line.replace(/^\s+[@-]?/, ""))
        .join("\n"),
    ]
  if (!/(?:^|\/)package\.json$/.test(path)) return []
  return foundIn(content, /"[\w:-]+"\s*:\s*"((?:[^"\\]|\\.)*)"/g)
    .map((script) => script.replaceAll('\\"', '"'))
    .filter((script) => /\s/.test(script))
}

/** Reads the paths of secrets in a text quoted in a program, which may be a command. */
function readSecretWords(reading: ProgramReading, literal: string): void {
  for (const word of literal.slice(0, 4_000).split(/\s+/)) {
    // Regular expressions look like patterns of names.
    if (/[.\])]\*|\*\?|\\/.test(word)) continue
    const fact = /[/~.]/.test(word) ? pathFact(word, "unknown") : undefined
    if (fact?.secret === true) reading.paths.push(fact)
  }
}

const scriptCells = /^\s*%%(?:bash|sh|script|system|sx)\b.*((?:\n(?!\s*%%).*)*)/gm

/** Commands of a notebook (`!ls`, `%cd x`) as one script, because a change of folder applies to those that follow. */
function notebookScript(code: string): string {
  const lines = code.split("\n").flatMap((line) => {
    const [, bang, verb = "", rest = ""] = /^\s*(?:[\w,. ]+=\s*)?(?:(!{1,2})|%{1,2}(\w+)\s+)(.*)$/.exec(line) ?? []
    if (bang !== undefined) return [rest]
    if (/^(?:system|sx|script|bash|sh)$/.test(verb)) return [rest]
    if (/^(?:cd|pushd|popd|cat|ls|ll|cp|mv|rm|rmdir|mkdir|more|less|man)$/.test(verb)) return [`${verb} ${rest}`]
    if (/^(?:run|load|pycat|pfile|loadpy)$/.test(verb)) return [`cat ${rest.replace(/^(?:-\w+\s+)+/, "")}`]
    return /^(?:writefile|file)$/.test(verb) ? [`tee ${rest}`] : []
  })
  return lines.join("\n")
}

/** Matches a call that prints, up to its argument. */
const printing =
  /\b(?:print|pprint|puts|echo|console\.\w+|stdout\.write|stderr\.write|p|die|warn|printf|println)\b[^;\n]{0,300}$/
const secretVariable =
  /\b(?:os\.environ(?:\.get)?\s*[[(]\s*|os\.getenv\s*\(\s*|process\.env(?:\.|\[)|ENV(?:\.fetch)?\s*[[(]\s*|getenv\s*\(\s*|\$ENV\{|Deno\.env\.get\s*\(\s*)["']?(\w*(?:KEY|SECRET|TOKEN|PASSW|CREDENTIAL|PRIVATE)\w*)/gi

/** Matches a member that is named after a secret, and is neither assigned nor called. */
const secretMember =
  /\.(?:secret_?key|api_?key|client_?secret|private_?key|passw(?:or)?d|credentials)\b(?!\s*[=(])[^;\n]{0,100}/i

/** Matches the use of something that holds many secrets, as a whole. */
const secretHolder = new RegExp(
  anyOf(
    "\\bos\\.environ(?!\\s*[[.])|\\bos\\.environ\\.(?:items|values|copy)\\b|\\bprocess\\.env(?!\\s*[.[])",
    "\\bENV\\.(?:to_h|each|map|select|inspect)|\\bkeyring\\.get_password|\\.get_credentials\\s*\\(",
    "\\.get_frozen_credentials\\b|\\bget_secret_value\\b|\\baccess_secret_version\\b|\\$ENV\\b(?!\\.)|^-n env$",
    "\\bdocument\\.cookie\\b(?!\\s*=[^=])",
    "(?:stringify|entries|values|assign)\\s*\\([^)]{0,40}\\b(?:local|session)Storage\\b",
    "\\.\\.\\.(?:window\\.)?(?:local|session)Storage\\b",
    "\\b(?:local|session)Storage\\b(?!\\.(?:setItem|removeItem|clear))[^;\\n]{0,80}(?:token|secret|auth|key|jwt|session)",
  ),
  "i",
)

/** True if a program prints the environment, or the value of a variable for a secret. */
function printsSecrets(code: string): boolean {
  if (secretHolder.test(code)) return true
  if (
    secretMember.test(code) &&
    (printing.test(
      code
        .split("\n")
        .find((line) => secretMember.test(line))
        ?.replace(secretMember, "") ?? "",
    ) ||
      !/[;\n=]/.test(code.trim()))
  )
    return true
  return [...code.matchAll(secretVariable)].some(({ index }) => {
    const before = code.slice(Math.max(0, index - 400), index)
    return before.trim() === "" || printing.test(before)
  })
}

function readCodeInto(reading: ProgramReading, code: string, language = "other"): void {
  for (const script of foundIn(code, scriptCells)) readShellInto(reading, script)
  const commands = notebookScript(code)
  if (commands.trim() !== "") readShellInto(reading, commands)
  const facts = codeFacts(code, language)
  reading.read++
  openAll(reading.open, facts.unresolved)
  reading.tooMany ||= facts.tooMany
  reading.network ||= facts.effects.has("network")
  reading.changes ||= facts.effects.has("write") || facts.effects.has("delete") || facts.effects.has("send")
  reading.elsewhere ||=
    facts.effects.has("delete") || facts.effects.has("send") || (facts.effects.has("write") && !isScratch(code))
  const targets = targetEnvironments(facts.literals)
  for (const [, server = "", sql = ""] of code.matchAll(/^\s*%%?sql\b[ \t]*(\S*:\/\/\S*)?([\s\S]*)/gm))
    readSqlInto(reading, sql, targetEnvironments([server]))
  const folders = foundIn(code, /\bchdir\s*\(\s*["'`]([^"'`\n]{1,500})["'`]/g)
  if (facts.destructive || (targets.includes("production") && facts.takesAway))
    reading.destructions.push({ kind: "data", environments: targets })
  // Beside statements, which are read separately, a call that is not known to only look.
  if (targets.includes("production") && facts.acts)
    open(reading.open, "statements", "the program acts on production, and what it does shows only when it runs")
  if (facts.overwrites) reading.destructions.push({ kind: "repository", environments: [] })
  if (printsSecrets(code)) reading.paths.push(pathFact("/proc/self/environ", "read"))
  for (const url of facts.urls) readUrlInto(reading, url)
  if (facts.urls.some(isSecretUrl)) reading.paths.push(secretStore)
  for (const effect of facts.effects) {
    const action = actionOf[effect]
    if (action !== undefined) reading.actions.add(action)
  }
  const takesFolders =
    /\b(?:copytree|rglob|os\.walk|make_archive|cpSync|readdirSync|Dir\.glob|iterdir|scandir|listdir)\b/.test(code)
  const changing = (["delete", "write"] as const).find((effect) => facts.effects.has(effect))
  const access = changing ?? (facts.effects.has("execute") ? "unknown" : "read")
  for (const literal of facts.literals) {
    if (looksLikeSql(literal))
      readSqlInto(reading, literal, targetEnvironments(facts.literals.filter((one) => one !== literal)))
    if (/^[^\s(|+^\\{}]+$/.test(literal) && !/[.\]]\*|\*\?/.test(literal) && /[/\\~]|^\.|\.\w{1,6}$/.test(literal))
      for (const path of [literal, ...folders.map((folder) => `${folder}/${literal}`)])
        reading.paths.push(takesFolders ? { ...pathFact(path, access), tree: "files" } : pathFact(path, access))
    else if (/[/~.]/.test(literal)) readSecretWords(reading, literal)
    if (facts.effects.has("send") && literal.includes("@")) reading.mailed.push(literal)
    if (facts.effects.has("send") && /\s\S+\s/.test(literal)) reading.told.push(literal)
  }
  for (const script of facts.scripts) readShellInto(reading, script)
  // Line by line, and without multi-line strings: those are data of the program, not what it does.
  for (const line of code.replace(/"""[^"]*"""|'''[^']*'''/g, "").split("\n", maxLines))
    for (const control of controlsOff(fold(line.slice(0, 400)))) reading.controlsOff.add(control)
}

/** True if a program writes only into temporary files or files of the project. A database or a service is neither. */
const isScratch = (code: string): boolean =>
  !/\.(?:to_sql|to_gbq|write_gbq|put|update|insert|create|patch|set|upsert|merge|save|commit|bulk_\w+)\w*\s*\(/.test(
    code,
  ) &&
  [
    ...code.matchAll(/(?:\.to_\w+|\bopen|\.savefig|\.write_\w+|writeFile\w*)\s*\(\s*(?:[rbfu]?["'`]([^"'`\n]*))?/g),
  ].every(([, file]) => file !== undefined && !/prod/i.test(file) && /^(?:\/tmp\/|(?![/~]|\.\.)[\w./-]+$)/.test(file))

/** Maximum number of lines of a program that are searched for controls. */
const maxLines = 500

const shellTool = /^(?:bash|shell|sh|zsh|terminal|command|cmd|console|powershell|exec|execute|run|process|subprocess)$/
const sqlTool =
  /^(?:db|sql|database|query|postgres|postgresql|mysql|sqlite|mssql|oracle|snowflake|bigquery|redshift|clickhouse|duckdb|psql)$/
const codeTool = /^(?:python|ipython|repl|code|javascript|js|node|jupyter|notebook|eval|evaluate|script|interpreter)$/

/** Matches document databases, whose commands are function calls: `db.users.drop()`. */
const documentTool = /^(?:mongo|mongosh|mongodb|couchbase|couchdb|firestore|cosmos)$/
/** Matches fields that say which language a program is in. */
const languageField = /^(?:language|lang|interpreter|runtime|kernel|shell|type)$/
const shellName = /^\s*(?:bash|sh|zsh|ksh|dash|shell|powershell|pwsh|cmd)\s*$/

/** Matches tools that search for their arguments and do not run them. */
const searchTool = /^(?:search|grep|rg|find|lookup|web|google|websearch|glob)$/

/** Language of a value. `either`: a command for a tool that may run a shell as well as another language. */
type Kind = "sql" | "shell" | "code" | "either" | "none"

/** Language in which a value is to be read. */
function kindOf(leaf: Leaf, tool: readonly string[], runs: boolean, inShell: boolean, hasProgram: boolean): Kind {
  const { role, text, value } = leaf
  if (typeof value !== "string" || text.trim() === "") return "none"
  let known: boolean | undefined
  const looks = (): boolean => {
    known ??= looksLikeSql(text)
    return known
  }
  const sql = anyWord(tool, sqlTool)
  if (!runs && !sql && anyWord(tool, searchTool)) return "none"
  if (sql && (startsLikeSql(text) || looks())) return "sql"
  if (role === "sql" && startsLikeSql(text) && looks()) return "sql"
  const programs = runs && anyWord(tool, codeTool)
  if (programs && role === "command") return "either"
  // `source` names a file in most calls, and holds the program itself in some.
  if (role === "code" || (programs && (role !== "path" || /\s/.test(text.trim())))) return inShell ? "either" : "code"
  if (role === "command" && anyWord(tool, documentTool))
    return /(?:command|cmd|script|query)$/.test(leaf.field) ? "either" : "none"
  if (role === "command") return startsLikeSql(text) && looks() ? "sql" : "shell"
  // A function in a field whose name says nothing is meant to be run.
  if (role === "other" && /^\s*(?:async\s*)?(?:\([^()]*\)|\w+)\s*=>|^\s*(?:async\s+)?function\b[^(]*\(/.test(text))
    return "code"
  if (!runs) return startsLikeSql(text) && looks() && role !== "body" && role !== "subject" ? "sql" : "none"
  if (role === "path" || role === "url" || role === "environment" || role === "recipient" || role === "region")
    return "none"
  // Fields that select tests or jobs, or name them.
  if (
    /^(?:filter|grep|pattern|suite|tests?|test_\w+|spec|name|title|labels?|tags?|reporter|description|match)$/.test(
      leaf.field,
    )
  )
    return "none"
  if (sql) return looks() ? "sql" : "none"
  return startsLikeSql(text) && looks()
    ? "sql"
    : !hasProgram && /\S[\s/]\S/.test(text) && anyWord(tool, shellTool)
      ? "shell"
      : "none"
}

/** Language of a field whose role a contract declares. */
const declaredKind = ({ role, value, text }: Leaf): Kind => {
  if (typeof value !== "string" || text.trim() === "") return "none"
  if (role === "command" && startsLikeSql(text) && looksLikeSql(text)) return "sql"
  return role === "sql" ? "sql" : role === "command" ? "shell" : role === "code" ? "code" : "none"
}

/**
 * Reads every value in its language, and the fields for what they ask: what a call does now, and what files it writes may do `later`.
 * `later` is undefined if it writes none that could be run.
 */
export function programsOf(
  tool: string,
  named: ReadonlySet<Action>,
  leaves: readonly Leaf[],
  declared?: MatchedContract,
): { readonly now: Programs; readonly later?: Programs } {
  const reading = newReading()
  const words = wordsOf(tool)
  const runs = named.has("execute") || words.some((word) => shellTool.test(word) || codeTool.test(word))
  const inShell = leaves.some(({ field, folded }) => languageField.test(field) && shellName.test(folded))
  const hasProgram = leaves.some(({ role }) => role === "command" || role === "code")
  const folder = leaves.find(({ field, text }) => folderField.test(field) && /^[/~]/.test(text))?.text
  if (runs && declared === undefined) reading.actions.add("execute")
  for (const leaf of leaves) {
    const kind = declared === undefined ? kindOf(leaf, words, runs, inShell, hasProgram) : declaredKind(leaf)
    if (kind === "sql") readSqlInto(reading, leaf.folded === leaf.text.toLowerCase() ? leaf.text : leaf.folded)
    if (kind === "shell" || kind === "either") readShellInto(reading, leaf.text, folder)
    if (kind === "code" || kind === "either") readCodeInto(reading, leaf.text)
    if (leaf.role === "patch") for (const path of patchedFiles(leaf.text)) reading.paths.push(pathFact(path, "write"))
    // Decoded text may be a command, or a word of one.
    if (kind !== "shell" || leaf.encoded) reading.rest.push(leaf)
  }
  readFields(reading, tool, named, leaves)
  return { now: finished(reading), ...present({ later: laterPrograms(reading, named, leaves) }) }
}

/** Matches mentions of files, mail, secrets or production: a written program without one does nothing later that has to be known. */
const worthReading = /["'`](?:\/|~)|\.ssh|\.env|secret|credential|passw|smtp|mail|prod|\bkey/i

/** Matches project files that define commands, and the keys under which they define them. */
const manifest =
  /(?:^|\/)(?:package|composer|tasks|launch|settings|settings\.local|devcontainer|deno|\.mcp|mcp|turbo|nx|lerna)\.jsonc?$|(?:^|\/)(?:Pipfile|pyproject\.toml)$/i
const manifestScripts = /^(?:scripts?|tasks?|commands?|hooks?|\w+_?commands?|program)$/

/** Matches ways to switch off the verification of TLS or of host keys in a program. */
const verificationOff = new RegExp(
  anyOf(
    "\\brejectUnauthorized[\"']?\\s*[:=]\\s*false\\b|\\bInsecureSkipVerify\\s*[:=]\\s*true\\b",
    "\\bverify\\s*=\\s*False\\b|\\bCERT_NONE\\b|\\bcheck_hostname\\s*=\\s*False\\b",
    "_create_unverified_context\\b|\\bNODE_TLS_REJECT_UNAUTHORIZED\\b[\"'\\]]*\\s*[:=]\\s*[\"']?0",
    "\\bCURLOPT_SSL_VERIFY(?:PEER|HOST)\\s*(?:,|=>)\\s*(?:0|false)|\\bVERIFY_NONE\\b",
    "\\bstrict-?ssl\\s*[:=]\\s*false\\b|\\bdanger_accept_invalid_certs\\(\\s*true|\\btrustAllCert\\w*",
    "\\bsslmode=disable\\b|\\bStrictHostKeyChecking[ =]no\\b",
  ),
)
const configures =
  /\.(?:go|java|kt|rs|cs|swift|c|cc|cpp|h|tsx|jsx|ya?ml|toml|json|ini|conf|cfg|properties|npmrc)$|(?:^|\/)\.(?:npmrc|env[\w.]*|gitconfig)$/i

/**
 * Reads what the files that a call writes would do when they are run. Programs are read for files, mail and data, and not for the network.
 */
function laterPrograms(
  reading: ProgramReading,
  named: ReadonlySet<Action>,
  leaves: readonly Leaf[],
): Programs | undefined {
  const scripts = [...reading.written]
  const code: string[] = []
  const controls: string[] = []
  const paths = named.has("write") ? leaves.filter(({ role }) => role === "path").map(({ text }) => text.trim()) : []
  const write = (into: readonly string[], text: string): void => {
    const held = into.flatMap((path) => scriptsOf(path, text))
    if (held.length > 0) scripts.push(...held)
    else if (into.some((path) => codeFile.test(path)) && worthReading.test(text)) code.push(text)
  }
  const isManifest = paths.some((path) => manifest.test(path))
  for (const { role, text, keys, field, value } of leaves) {
    if (text.length < 8) continue
    if (isManifest && typeof value === "string" && keys.some((key) => manifestScripts.test(key))) scripts.push(text)
    if (role === "body" && !/^(?:old|search|before)/.test(field)) {
      write(paths, text)
      if (paths.some((path) => codeFile.test(path) || configures.test(path)) && verificationOff.test(text))
        controls.push("encryption")
    }
    if (role === "patch" || role === "body") for (const file of patchedTexts(text)) write([file.path], file.text)
  }
  if (scripts.length + code.length + controls.length === 0) return undefined
  const later = newReading()
  for (const control of controls) later.controlsOff.add(control)
  for (const script of scripts) readShellInto(later, script)
  const written = newReading()
  for (const text of code) readCodeInto(written, text)
  if (code.length > 0) {
    later.paths.push(
      ...written.paths.filter(({ secret, path }) => secret || path.startsWith("/") || path.startsWith("~")),
    )
    later.mailed.push(...written.mailed)
    later.destructions.push(...written.destructions.filter(({ environments }) => environments.includes("production")))
    for (const environment of written.environments) later.environments.add(environment)
  }
  later.open.clear()
  return finished(later)
}
