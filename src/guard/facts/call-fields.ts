import { type Action, actionsOfWords, type Environment, environmentsIn, targetEnvironments } from "./action.ts"
import { withoutBuiltFiles } from "./command-reach.ts"
import { controlsOff, namesControl } from "./controls.ts"
import { destroyedBy, mutationsIn } from "./graphql.ts"
import type { HostFact } from "./hosts.ts"
import { emptyList, type Finished, type Leaf, type OpenKind, open } from "./leaf.ts"
import type { PathFact } from "./paths.ts"
import { secretStore } from "./secrets.ts"
import type { CommandFact, Destruction } from "./shell.ts"
import type { SqlFact } from "./sql.ts"
import { anyWord, wordsOf } from "./words.ts"

const destroying = /^(?:drop|purge|wipe|erase|flush|(?:delete|destroy|truncate|terminate)(?:[a-z]{3,})?)$/
const actionField = /^(?:action|operation|op|verb|method|command|task|http_method|mode)$/

/** Reads what fields and the tool's name say without a program: an environment, an action, a setting and its value. */
export function readFields(
  reading: ProgramReading,
  tool: string,
  named: ReadonlySet<Action>,
  leaves: readonly Leaf[],
): void {
  const said = leaves.filter(
    ({ role, value, keys }) =>
      (role !== "body" && role !== "subject" && role !== "recipient" && role !== "sender") ||
      // A boolean is a setting, also in a patch: only texts are prose. A URL that is the whole value is a target.
      (typeof value === "boolean" && keys.length > 1) ||
      (typeof value === "string" && /^[a-z][a-z\d+]{2,20}:\/\/\S+$/i.test(value)),
  )
  for (const environment of environmentsIn(tool, false)) reading.placed.add(environment)
  for (const { folded, text, role, field, value } of said) {
    const whole = folded === text.toLowerCase() ? text : folded
    const source = role === "command" ? withoutBuiltFiles(whole) : whole
    const isTarget = role === "environment" || role === "url" || /^[a-z][a-z\d+]{2,20}:\/\/\S+$/i.test(text)
    // Production counts wherever it is named; any other environment only in a field that says what is acted on.
    for (const environment of environmentsIn(source.slice(0, 100_000), isTarget))
      if (environment === "production" || isTarget) {
        reading.placed.add(environment)
        // If a field names production, everything that the call changes is there.
        if (role !== "command" && role !== "code") reading.elsewhere ||= environment === "production" && reading.changes
      }
    if (isTarget) for (const environment of targetEnvironments([text])) reading.placed.add(environment)
    if (value === true) for (const environment of environmentsIn(field, true)) reading.placed.add(environment)
  }
  for (const environment of reading.placed) reading.environments.add(environment)
  for (const { text, value } of leaves) if (typeof value === "string") readMutations(reading, text)
  const deeds = said.filter(({ field, folded }) => actionField.test(field) && /^\s*[\w-]{1,60}\s*$/.test(folded))
  const asked = [...wordsOf(tool), ...deeds.flatMap(({ folded }) => wordsOf(folded))]
  if (named.has("delete") && anyWord(asked, destroying) && reading.commands.length === 0) {
    const structured = anyWord(
      asked,
      /^(?:table|database|db|schema|collection|index|bucket|row|rows|record|records|keyspace|volume|snapshot|backup|topic|queue)$/,
    )
    const fields = said.some(({ field }) => /^(?:table|database|db|collection|schema|bucket|index)$/.test(field))
    reading.destructions.push({ kind: structured || fields ? "data" : "infrastructure", environments: [] })
  }
  readRepository(reading, wordsOf(tool), said)
  if (showsVariables(wordsOf(tool)))
    open(reading.open, "paths", "it shows the variables of an environment, in which keys are")
  if (opensSecret(wordsOf(tool)) || asksForSecret(said, named)) reading.paths.push(secretStore)
  const isReading = [...named].every((action) => action === "read" || action === "query")
  if (
    reading.placed.has("production") &&
    (!isReading || anyWord(wordsOf(tool), /^(?:flush\w*|zap|nuke|reset|wipe)$/)) &&
    reading.read === 0
  )
    open(reading.open, "statements", "it acts on production, and nobody has said what it does")
  const looks = [...named].every((action) => action === "read" || action === "query" || action === "send")
  if (looks || reading.statements.length + reading.commands.length > 0) return
  readSettings(reading, tool, said)
}

/** Reads the controls that the settings of a call switch off. */
function readSettings(reading: ProgramReading, tool: string, said: readonly Leaf[]): void {
  // A setting such as `disabled: false` leaves the control on; the search fields of a new alarm are no settings.
  const adds = /^(?:mcp )?(?:\S+ )?(?:create|add|new)(?: |$)/.test(wordsOf(tool).join(" "))
  const settings = said
    .filter(({ text, field, value, folded }) => {
      const key = field
      const isOff = value === false || value === 0 || /^(?:false|0|no|off)$/.test(folded)
      return (
        text.length <= 200 &&
        !(isOff && (offKey.test(key) || figures.test(key))) &&
        !(adds && /^(?:name|query|expression|filter|condition|expr|search)$/.test(key))
      )
    })
    .slice(0, 200)
  // In a URL, the path says what is acted on.
  const shown = ({ role, folded }: Leaf): string =>
    role === "url" ? folded.replace(/^\s*[a-z+]{2,10}:\/\/[^/\s]*/, "") : folded
  const line = `${tool} ${settings.map((leaf) => `${leaf.keys.slice(-3).join(" ")} ${shown(leaf)}`).join(" ; ")}`
  for (const control of controlsOff(line)) reading.controlsOff.add(control)
  const isGeneral = /\b(?:api|request|http|rest|graphql|rpc)\b/.test(wordsOf(tool).join(" "))
  const governed = isGeneral ? wordsOf(line).join(" ") : wordsOf(tool).join(" ")
  if (governing.test(governed) && namesControl(line))
    open(reading.open, "controls", "it changes something about a control, and nobody has said what")
  // A boolean or zero in a tool that is named after a control is about that control.
  for (const { field, folded, value } of settings)
    if (
      !figures.test(field) &&
      (value === false ||
        value === 0 ||
        folded === "false" ||
        folded === "0" ||
        ((value === true || folded === "true") && offKey.test(field)))
    )
      for (const control of controlsOff(`${tool} ${field} 0`)) reading.controlsOff.add(control)
}

/** Matches names of tools that change who may reach or do what. */
const governing =
  /\b(?:firewall|waf|nsg|security groups?|network polic(?:y|ies)|acl|rbac|mfa|sso|rls|selinux|guardrails?)\b/

/** Matches fields whose number is no switch. */
const figures =
  /(?:^|_)(?:threshold|min|max|offset|priority|delay|count|limit|index|port|page|version|severity|timeout|id)(?:_|$)/

const offKey =
  /^(?:is_)?(?:disabled?|off|bypass(?:ed)?|skip(?:ped)?|paused?|suspended?|muted?|inactive|deactivated?|exempt)(?:_|$)/

/** Reads what the mutations in a GraphQL text do. */
function readMutations(reading: ProgramReading, text: string): void {
  if (!text.includes("mutation")) {
    if (!/^\s*(?:query\b[^{]{0,400}|fragment\b[^{]{0,200})\{/.test(text) || /\bsubscription\b/.test(text)) return
    reading.read++
    reading.actions.add("query")
    return
  }
  for (const mutation of mutationsIn(text)) {
    for (const action of actionsOfWords(wordsOf(mutation))) reading.actions.add(action)
    reading.changes = true
    reading.elsewhere = true
    const isForced = /\bforce"?\s*:\s*true\b/i.test(text) && /ref|branch|commit/i.test(mutation)
    const kind = isForced ? "repository" : destroyedBy(mutation)
    if (kind !== undefined) reading.destructions.push({ kind, environments: [] })
  }
}

const secretKeepers =
  /^(?:1password|onepassword|bitwarden|lastpass|dashlane|keepass\w*|keychain|keyring|keyvault|secretsmanager|doppler|infisical|vaultwarden)$/

/** True if the name of a tool says that it shows a secret; names of secrets are none. */
const opensSecret = (words: readonly string[]): boolean =>
  (anyWord(words, secretKeepers) &&
    !anyWord(
      words,
      /^(?:list|search|find|names|create|add|delete|remove|rotate|update|set|put|write|status|generate)$/,
    )) ||
  // A store of secrets; a tool for a vault of notes has notes or files in its name.
  (words.includes("vault") &&
    anyWord(words, /^(?:get|read|show|fetch|reveal|view|access|retrieve|export|unwrap|kv)$/) &&
    !anyWord(words, /^(?:list|metadata|write|put|delete|note|notes|file|files|obsidian|status|health)$/)) ||
  (anyWord(words, /^(?:get|read|show|fetch|reveal|view|access|retrieve|export|dump|copy)$/) &&
    (anyWord(words, secretKeepers) || anyWord(words, /^(?:secrets?|credentials?|passwords?|passphrase|hashicorp)$/)))

/** True for a tool that shows environment variables, which are full of keys. */
const showsVariables = (words: readonly string[]): boolean =>
  !words.includes("names") &&
  anyWord(words, /^(?:env|envs|dotenv|variables|vars)$/) &&
  anyWord(words, /^(?:pull|get|list|show|dump|download|export|read|fetch|print|reveal)$/)

/** True if a setting reveals hidden values, or if an object that is a secret is shown with its content. */
function asksForSecret(said: readonly Leaf[], named: ReadonlySet<Action>): boolean {
  const isShown = said.some(
    ({ field, value, folded }) =>
      (value === true || folded === "true") &&
      /(?:^|_)(?:decrypt(?:ed|ion)?|reveal|unmask(?:ed)?|plain_?text|(?:show|include|with)_(?:sensitive|secrets?|values|credentials?|passwords?))(?:_|$)/.test(
        field,
      ),
  )
  const isSecret = said.some(
    ({ field, folded }) =>
      /^(?:kind|resource|resource_?type|object_?type)$/.test(field) && /^\s*(?:v1\/)?secrets?\s*$/.test(folded),
  )
  const isNames = said.some(
    ({ field, folded }) => /^(?:output|format)$/.test(field) && /^(?:name|names|wide|table)$/.test(folded.trim()),
  )
  const isOne = said.some(({ field }) => /^(?:name|output|format|jsonpath|template)$/.test(field))
  return (
    isShown || (isSecret && isOne && !isNames && (named.has("read") || named.has("query") || named.has("disclose")))
  )
}

/** Reads calls of a repository tool with a force option, or that delete something. */
function readRepository(reading: ProgramReading, words: readonly string[], said: readonly Leaf[]): void {
  if (!anyWord(words, /^(?:git|github|gitlab|bitbucket|repo|repos|repository|branch|push|ref)$/)) return
  const forced = said.some(
    ({ field, value, text }) =>
      (/force|mirror|prune/.test(field) && (value === true || text === "true")) ||
      /^(?:-f|--force\S*|--delete|--mirror)$/.test(text.trim()) ||
      (/^(?:refspecs?|refs?|branch|branches|args?|arguments)$/.test(field) && /^[+:]\S/.test(text.trim())),
  )
  const hosted = anyWord(words, /^(?:github|gitlab|bitbucket|gitea|git)$/)
    ? /^(?:project|projects|release|fork|group)$/
    : /^$/
  const deletes =
    words.includes("delete") &&
    words.some((word) => /^(?:branch|repo|repos|repository|tag|ref)$/.test(word) || hosted.test(word))
  // A request to a repository host that deletes something by URL; comments, labels and the like are not part of the repository.
  const address = said.find(({ text }) => /\/(?:repos|projects|repositories)\//.test(text))?.text
  const isDeleted =
    address !== undefined &&
    !/\/(?:comments|labels|reactions|subscription|assignees|requested_reviewers|lock)\b/.test(address) &&
    said.some(({ field, folded }) => actionField.test(field) && /^\s*delete\s*$/.test(folded))
  if (forced || deletes || isDeleted) reading.destructions.push({ kind: "repository", environments: [] })
}

/** What the SQL, the shell commands and the code in a call do, and what its plain fields ask for. */
export type Programs = Finished<Omit<ProgramReading, "destructions" | "placed" | "written">>

/** Collects what is read in a call; `finished` turns it into `Programs`. */
export type ProgramReading = ReturnType<typeof newReading>

export const newReading = () => ({
  statements: emptyList<SqlFact>(),
  commands: emptyList<CommandFact>(),
  paths: emptyList<PathFact>(),
  hosts: emptyList<HostFact>(),
  mailed: emptyList<string>(),
  /** Texts that its commands and programs send. */
  told: emptyList<string>(),
  destructions: emptyList<Destruction>(),
  destructive: new Set<string>(),
  environments: new Set<Environment>(),
  /** Environments that fields name: they apply to the whole call. */
  placed: new Set<Environment>(),
  controlsOff: new Set<string>(),
  actions: new Set<Action>(),
  /** Values that are no shell command. */
  rest: emptyList<Leaf>(),
  open: new Map<OpenKind, string>(),
  /** Scripts that are written into files: they may be run later. */
  written: emptyList<string>(),
  /** Number of programs that were read, in any language. */
  read: 0,
  changes: false,
  /** True if it changes something besides files of this machine that are not named after production. */
  elsewhere: false,
  network: false,
  tooMany: false,
})

/** Completes a reading: collects what is destroyed and where; an act that names no environment leaves that unresolved. */
export function finished(reading: ProgramReading): Programs {
  for (const { kind, environments } of reading.destructions) {
    if (kind !== "unknown") reading.destructive.add(kind)
    for (const environment of environments) reading.environments.add(environment)
    const isPlaced = environments.length > 0 || reading.placed.size > 0
    if (kind !== "files" && kind !== "repository" && !isPlaced)
      open(reading.open, "environments", "nothing says in which environment it acts")
  }
  return reading
}
