import { type Action, type Environment, environmentsIn } from "./action.ts"
import { codeFacts } from "./command-table.ts"
import type { HostFact } from "./hosts.ts"
import type { Leaf } from "./leaf.ts"
import { type PathFact, pathFact } from "./paths.ts"
import { type CommandFact, shellFacts } from "./shell.ts"
import { looksLikeSql, type SqlFact, sqlFacts, startsLikeSql } from "./sql.ts"
import { fold, wordsOf } from "./words.ts"

/** What guards a system, as names of settings, services and statements have it. */
const controls: readonly (readonly [control: string, RegExp])[] = [
  [
    "audit",
    /^(?:audit|audits|auditing|auditd|auditctl|pgaudit|noaudit|auditlog|auditlogs|auditlogging|audittrail|cloudtrail)$/,
  ],
  ["logging", /^(?:logging|rsyslog|syslog|journald|histfile|binlog|telemetry)$/],
  ["authentication", /^(?:mfa|2fa|totp|authentication|sso|captcha|otp|authn)$/],
  ["access", /^(?:rls|authorization|authz|rbac|sandboxing|seccomp|selinux|apparmor|gatekeeper|uac)$/],
  ["network", /^(?:firewall|firewalld|ufw|iptables|nft|nftables|waf|networkpolicy|ddos|ratelimit|throttling|csrf)$/],
  [
    "detection",
    /^(?:antivirus|defender|edr|xdr|guardduty|securityhub|falco|crowdstrike|sentinel|siem|dlp|malware|realtimemonitoring|scanning|monitoring|alerting|alerts|alarm|alarms|fail2ban)$/,
  ],
  ["encryption", /^(?:encryption|encrypted|tls|ssl|hsts)$/],
  [
    "security",
    /^(?:security|guardrail|guardrails|safety|protection|protections|safeguard|safeguards|verification|signing|moderation)$/,
  ],
]

const pairs: readonly (readonly [control: string, RegExp])[] = [
  [
    "logging",
    /\b(?:query|statement|general|slow|access|error|sql|bin|event|security|user|activity|transaction|api|request|flow) logs?\b|\blog (?:statement|bin|connections|duration|min|level|destination|collector|retention)\b/,
  ],
  ["network", /\brate limit\w*|\bnetwork polic\w+|\bblock public\b/],
  ["access", /\brow level security\b|\baccess controls?\b|\bbranch protection\b|\bleast privilege\b|\btwo factor\b/],
]

const off =
  /^(?:disable|disables|disabled|disabling|off|false|none|stop|stopped|stopping|suspend|suspended|pause|paused|remove|removing|delete|deleting|drop|dropping|truncate|detach|bypass|bypassing|skip|skipping|noaudit|deactivate|deactivated|deactivating|mute|muted|silence|silenced|unset|kill|killall|pkill|mask|uninstall|terminate|turnoff|no|insecure|permissive|noverify|nullify|purge|flush|destroy|deaktivieren|desactivar|desactiver|desativar)$/

const on = /^(?:enable|enabled|enabling|on|start|restart|create|true|activate)$/

/** Words between a control and what switches it off. */
const reach = 6
const distances = Array.from({ length: 2 * reach + 1 }, (_, at) => at - reach)

/** Commands and statements that switch a control off in words of their own. */
const sayings: readonly (readonly [control: string, RegExp])[] = [
  [
    "access",
    /\bsetenforce (?:0|permissive)\b|\bcsrutil disable\b|\bspctl (?:master|global) disable\b|\bselinux (?:0|permissive|disabled)\b|\bexecutionpolicy (?:bypass|unrestricted)\b/,
  ],
  [
    "network",
    /\bufw (?:force )?(?:disable|reset)\b|\biptables (?:t \w+ )?(?:f|flush|x|p (?:input|forward|output) accept)\b|\bnft flush\b|\bfirewall (?:cmd )?(?:state off|disable)\b|\badvfirewall set \w+ state off\b/,
  ],
  [
    "audit",
    /\bauditctl (?:e 0|d)\b|\bstop logging\b|\bdelete trail\b|\bnoaudit\b|\baudit trail (?:none|false|0)\b|\bupdate trail\b.{0,80}\bno (?:include|enable|is)\b/,
  ],
  [
    "logging",
    /\b(?:sql log bin|general log|log statement|log connections|slow query log|log min \w+ statement|logging collector|log bin|log duration) (?:to )?(?:0|1|off|none|false|no)\b|\bhistory c\b|\bunset histfile\b|\bhistfile dev null\b|\bset o history\b|\blog level (?:none|off|silent)\b/,
  ],
  ["detection", /\bdisable(?:realtimemonitoring| realtime monitoring)\b|\bdelete detector\b|\bno enable\b/],
  [
    "encryption",
    /\b(?:sslmode disable|ssl off|sslverify false|node tls reject unauthorized 0|no check certificate|verify false|tls skip verify|strict ?host ?key ?checking no)\b/,
  ],
  [
    "security",
    /\bno verify\b|\bdangerously \w+(?: \w+)?\b|\bdisable \w{0,20}security\w*\b|\bdelete public access block\b|\bdrop policy\b/,
  ],
]

/** The controls that a statement, a command or a set of fields switches off. */
function controlsOff(text: string): readonly string[] {
  const words = wordsOf(text.slice(0, 20_000))
  const line = words.join(" ")
  const found = sayings.filter(([, saying]) => saying.test(line)).map(([control]) => control)
  const switches = new Set(words.flatMap((word, at) => (off.test(word) || isZero(words, at) ? [at] : [])))
  if (switches.size === 0) return found
  const near = (at: number): boolean =>
    distances.some((distance) => switches.has(at + distance) && !undone(words, at, at + distance))
  for (const [control, name] of controls) if (words.some((word, at) => name.test(word) && near(at))) found.push(control)
  for (const [control, pair] of pairs) {
    const match = pair.exec(line)
    if (match !== null && near(line.slice(0, match.index).split(" ").length - 1)) found.push(control)
  }
  return found
}

/** `= 0` switches off, `WHERE id = 0` does not: a zero counts right behind the name. */
const isZero = (words: readonly string[], at: number): boolean =>
  words[at] === "0" && at > 0 && !/^(?:id|limit|offset|\d+)$/.test(words[at - 1] ?? "")

/** Is it said to be switched on between the two? */
const undone = (words: readonly string[], one: number, other: number): boolean =>
  words
    .slice(Math.min(one, other), Math.max(one, other))
    .some((word) => on.test(word) && word !== "enabled" && word !== "enable")

/** What the SQL, the shell commands and the code in a call do, and what its plain fields ask for. */
export type Programs = {
  readonly statements: readonly SqlFact[]
  readonly commands: readonly CommandFact[]
  readonly paths: readonly PathFact[]
  readonly hosts: readonly HostFact[]
  readonly mailed: readonly string[]
  readonly destructive: ReadonlySet<string>
  readonly environments: ReadonlySet<Environment>
  readonly controlsOff: ReadonlySet<string>
  readonly actions: ReadonlySet<Action>
  /** Values that are no shell command. */
  readonly rest: readonly Leaf[]
  /** Programs that were read, of any language. */
  readonly read: number
  readonly changes: boolean
  readonly network: boolean
  readonly obscured: boolean
  readonly tooMany: boolean
}

type Reading = {
  readonly statements: SqlFact[]
  readonly commands: CommandFact[]
  readonly paths: PathFact[]
  readonly hosts: HostFact[]
  readonly mailed: string[]
  readonly destructive: Set<string>
  readonly environments: Set<Environment>
  readonly controlsOff: Set<string>
  readonly actions: Set<Action>
  readonly rest: Leaf[]
  read: number
  changes: boolean
  network: boolean
  obscured: boolean
  tooMany: boolean
}

const readSqlInto = (reading: Reading, text: string): void => {
  const { statements, tooMany } = sqlFacts(text)
  reading.read++
  reading.tooMany ||= tooMany
  for (const statement of statements) {
    reading.statements.push(statement)
    reading.obscured ||= statement.obscured
    reading.changes ||= statement.writes
    if (statement.destructive) reading.destructive.add("data")
    reading.actions.add(statement.writes ? (statement.destructive ? "delete" : "write") : "query")
    if (statement.writes) for (const control of controlsOff(statement.words.join(" "))) reading.controlsOff.add(control)
  }
  // What is switched off may stand in quotes: `audit_trail = 'none'`.
  if (statements.some(({ writes }) => writes)) for (const control of controlsOff(text)) reading.controlsOff.add(control)
}

const actionOf: Readonly<Record<string, Action | undefined>> = {
  read: "read",
  write: "write",
  delete: "delete",
  send: "send",
  deploy: "deploy",
}

function readShellInto(reading: Reading, text: string): void {
  const facts = shellFacts(text)
  reading.read++
  for (const one of facts.commands) reading.commands.push(one)
  for (const one of facts.paths) reading.paths.push(one)
  for (const one of facts.hosts.map((host) => ({ host, contacted: true, suspect: host.includes("xn--") })))
    reading.hosts.push(one)
  for (const one of facts.mailed) reading.mailed.push(one)
  reading.obscured ||= facts.obscured
  reading.tooMany ||= facts.tooMany
  for (const kind of facts.destructive) reading.destructive.add(kind)
  for (const { effects, line } of facts.commands) {
    for (const effect of effects) {
      const action = actionOf[effect]
      if (action !== undefined) reading.actions.add(action)
    }
    reading.network ||= effects.has("network")
    reading.changes ||= !effects.has("read") || effects.has("write") || effects.has("delete")
    const looks = effects.size === 1 && effects.has("read") && !/^(?:set|unset|export|history)\b/.test(line)
    // A package manager's audit is a report on packages.
    const told = /^(?:npm|pnpm|yarn|bun|npx)\b/.test(line) ? line.replace(/\s--no-audit\b/g, "") : line
    if (!looks) for (const control of controlsOff(fold(told))) reading.controlsOff.add(control)
  }
  for (const sql of facts.sql) if (looksLikeSql(sql) || startsLikeSql(sql)) readSqlInto(reading, sql)
  for (const code of facts.code) readCodeInto(reading, code)
}

/** A command quoted in a program may open a secret, whatever runs it. */
function readSecretWords(reading: Reading, literal: string): void {
  for (const word of literal.slice(0, 4_000).split(/\s+/)) {
    const fact = /[/~.]/.test(word) ? pathFact(word, "unknown") : undefined
    if (fact?.secret === true) reading.paths.push(fact)
  }
}

function readCodeInto(reading: Reading, code: string): void {
  const facts = codeFacts(code)
  reading.read++
  reading.obscured ||= facts.obscured
  reading.tooMany ||= facts.tooMany
  reading.network ||= facts.effects.has("network")
  reading.changes ||= facts.effects.has("write") || facts.effects.has("delete") || facts.effects.has("send")
  if (facts.destructive) reading.destructive.add("data")
  for (const effect of facts.effects) {
    const action = actionOf[effect]
    if (action !== undefined) reading.actions.add(action)
  }
  for (const literal of facts.literals) {
    if (looksLikeSql(literal)) readSqlInto(reading, literal)
    if (/^[^\s]+$/.test(literal) && /[/\\~]|^\./.test(literal)) reading.paths.push(pathFact(literal, "unknown"))
    else if (/[/~.]/.test(literal)) readSecretWords(reading, literal)
    if (facts.effects.has("send") && literal.includes("@")) reading.mailed.push(literal)
  }
  for (const script of facts.scripts) readShellInto(reading, script)
  for (const control of controlsOff(fold(code))) reading.controlsOff.add(control)
}

const shellTool = /^(?:bash|shell|sh|zsh|terminal|command|cmd|console|powershell|exec|execute|run|process|subprocess)$/
const sqlTool =
  /^(?:db|sql|database|query|postgres|postgresql|mysql|sqlite|mssql|oracle|snowflake|bigquery|redshift|clickhouse|duckdb|psql)$/
const codeTool = /^(?:python|ipython|repl|code|javascript|node|jupyter|notebook|eval|script|interpreter)$/

/** Stores whose commands are calls: `db.users.drop()`. */
const documentTool = /^(?:mongo|mongosh|mongodb|couchbase|couchdb|firestore|cosmos)$/
/** Fields that say which language a program is in, when that is a shell's. */
const languageField = /^(?:language|lang|interpreter|runtime|kernel|shell|type)$/
const shellName = /^\s*(?:bash|sh|zsh|ksh|dash|shell|powershell|pwsh|cmd)\s*$/

/** What such a tool is given is looked for, not run. */
const searchTool = /^(?:search|grep|rg|find|lookup|web|google|websearch|glob)$/

/** `either` is a command in a tool that may run a shell as well as another language. */
type Kind = "sql" | "shell" | "code" | "either" | "none"

/** Which language a value is to be read in. */
function kindOf(leaf: Leaf, tool: readonly string[], runs: boolean, inShell: boolean): Kind {
  const { role, text, value } = leaf
  if (typeof value !== "string" || text.trim() === "") return "none"
  let known: boolean | undefined
  const looks = (): boolean => {
    known ??= looksLikeSql(text)
    return known
  }
  const sql = tool.some((word) => sqlTool.test(word))
  if (!runs && !sql && tool.some((word) => searchTool.test(word))) return "none"
  if (sql && (startsLikeSql(text) || looks())) return "sql"
  if (role === "sql" && startsLikeSql(text) && looks()) return "sql"
  const programs = runs && tool.some((word) => codeTool.test(word))
  if (programs && role === "command") return "either"
  // `source` names a file in most calls, and holds the program itself in some.
  if (role === "code" || (programs && (role !== "path" || /\s/.test(text.trim())))) return inShell ? "either" : "code"
  if (role === "command" && tool.some((word) => documentTool.test(word))) return "either"
  if (role === "command") return startsLikeSql(text) && looks() ? "sql" : "shell"
  if (!runs) return startsLikeSql(text) && looks() && role !== "body" && role !== "subject" ? "sql" : "none"
  if (role === "path" || role === "url" || role === "environment" || role === "recipient" || role === "region")
    return "none"
  if (sql) return looks() ? "sql" : "none"
  return startsLikeSql(text) && looks() ? "sql" : tool.some((word) => shellTool.test(word)) ? "shell" : "none"
}

const destroying = /^(?:delete|drop|truncate|purge|destroy|wipe|erase|terminate|flush)$/
const deedField = /^(?:action|operation|op|verb|method|command|task|http_method|mode)$/

/** Read every value in its language, and the fields as what they ask for. */
export function programsOf(tool: string, named: ReadonlySet<Action>, leaves: readonly Leaf[]): Programs {
  const reading: Reading = {
    statements: [],
    commands: [],
    paths: [],
    hosts: [],
    mailed: [],
    destructive: new Set(),
    environments: new Set(),
    controlsOff: new Set(),
    actions: new Set(),
    rest: [],
    read: 0,
    changes: false,
    network: false,
    obscured: false,
    tooMany: false,
  }
  const words = wordsOf(tool)
  const runs = named.has("execute") || words.some((word) => shellTool.test(word) || codeTool.test(word))
  const inShell = leaves.some(({ keys, folded }) => languageField.test(keys.at(-1) ?? "") && shellName.test(folded))
  for (const leaf of leaves) {
    const kind = kindOf(leaf, words, runs, inShell)
    if (kind === "sql") readSqlInto(reading, leaf.folded === leaf.text.toLowerCase() ? leaf.text : leaf.folded)
    if (kind === "shell" || kind === "either") readShellInto(reading, leaf.text)
    if (kind === "code" || kind === "either") readCodeInto(reading, leaf.text)
    // What was decoded may be a command, or a word of one.
    if (kind !== "shell" || leaf.encoded) reading.rest.push(leaf)
  }
  readFields(reading, tool, named, leaves)
  return reading
}

/** What fields and the tool's name say without any language: an environment, a deed, a setting and its value. */
function readFields(reading: Reading, tool: string, named: ReadonlySet<Action>, leaves: readonly Leaf[]): void {
  const said = leaves.filter(
    ({ role, value, keys }) =>
      (role !== "body" && role !== "subject" && role !== "recipient" && role !== "sender") ||
      // A switch is a switch, also in a patch: only texts are prose.
      (typeof value === "boolean" && keys.length > 1),
  )
  for (const environment of environmentsIn(tool, false)) reading.environments.add(environment)
  for (const { folded, text, role, keys, value } of said) {
    const source = folded === text.toLowerCase() ? text : folded
    for (const environment of environmentsIn(source.slice(0, 100_000), role === "environment" || role === "url"))
      reading.environments.add(environment)
    if (value === true)
      for (const environment of environmentsIn(keys.at(-1) ?? "", true)) reading.environments.add(environment)
  }
  const deeds = said.filter(
    ({ keys, folded }) => deedField.test(keys.at(-1) ?? "") && /^\s*[\w-]{1,60}\s*$/.test(folded),
  )
  const asked = [...wordsOf(tool), ...deeds.flatMap(({ folded }) => wordsOf(folded))]
  if (named.has("delete") && asked.some((word) => destroying.test(word)) && reading.commands.length === 0) {
    const structured = asked.some((word) =>
      /^(?:table|database|db|schema|collection|index|bucket|row|rows|record|records|keyspace|volume|snapshot|backup|topic|queue)$/.test(
        word,
      ),
    )
    const fields = said.some(({ keys }) =>
      /^(?:table|database|db|collection|schema|bucket|index)$/.test(keys.at(-1) ?? ""),
    )
    reading.destructive.add(structured || fields ? "data" : "infrastructure")
  }
  const looks = [...named].every((action) => action === "read" || action === "query" || action === "send")
  if (looks || reading.statements.length + reading.commands.length > 0) return
  const settings = said.filter(({ text }) => text.length <= 200).slice(0, 200)
  // Of an address, the path says what is acted on.
  const shown = ({ role, folded }: Leaf): string =>
    role === "url" ? folded.replace(/^\s*[a-z+]{2,10}:\/\/[^/\s]*/, "") : folded
  const line = `${tool} ${settings.map((leaf) => `${leaf.keys.slice(-3).join(" ")} ${shown(leaf)}`).join(" ; ")}`
  for (const control of controlsOff(line)) reading.controlsOff.add(control)
}
