import { lazy } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { toolNature } from "../stages/tool-kind.ts"
import table from "./changing-commands.json" with { type: "json" }

/**
 * Does a command line change something? Programs and their verbs stand in `changing-commands.json`: `pr.create` is two words, `*` any word,
 * `create*` a beginning, `**` any number of words.
 */

/** How much of a command is read. */
const maxCommand = 4_000

/** What stands before a program in a step, and is none. */
const wrapper =
  /^(?:(?:\w+=(?!\$\()\S*|sudo(?: -\S+)*|time|nohup|nice|env|command|exec|npx(?: -y)?|bunx|sshpass -\S+(?: '[^'\n]*')?)\s+)+/

/** What is run in a container stands behind its name. */
const inContainer =
  /^(?:(?:docker(?:-compose| compose)?|podman) exec(?: -{1,2}[\w-]+(?:=\S+)?(?:(?<=-[uwe]|--user|--workdir|--env) \S+)?)* [\w.-]+|(?:kubectl|oc) (?:-\S+ \S+ )*exec [^;&|]{1,120}? --) (?=\S)/

type Program = { readonly verbs: readonly (readonly string[])[]; readonly unless: readonly (readonly string[])[] }

const listed = (words: string | undefined): readonly (readonly string[])[] =>
  (words ?? "").split(" ").flatMap((verb) => (verb === "" ? [] : [verb.split(".")]))

const programs = lazy((): ReadonlyMap<string, Program> => {
  const unless: ReadonlyMap<string, string> = new Map(Object.entries(table.unless))
  return new Map(
    Object.entries(table.verbs).flatMap(([names, verbs]) => {
      const program = { verbs: listed(verbs), unless: listed(unless.get(names)) }
      return names.split(" ").map((name) => [name, program] as const)
    }),
  )
})
const always = lazy((): ReadonlySet<string> => new Set(table.always.split(" ")))
const valueOptions: ReadonlySet<string> = new Set(table.valueOptions.split(" "))

/** Is it the name of a program whose verbs are known? A tool of that name takes what stands behind it. */
export const isProgram = (name: string): boolean => programs().has(name)

/** Its words without options before the verb and their values. */
function wordsBehind(words: readonly string[]): readonly string[] {
  let at = 0
  while (words[at]?.startsWith("-")) at += valueOptions.has(words[at] ?? "") ? 2 : 1
  return words.slice(at)
}

function matches(pattern: readonly string[], words: readonly string[]): boolean {
  const [first = "", ...rest] = pattern
  if (first === "**") return words.slice(0, maxWords).some((_, at) => matches(rest, words.slice(at)))
  const word = words[0] ?? ""
  const fits = first === "*" ? word !== "" : first.endsWith("*") ? word.startsWith(first.slice(0, -1)) : word === first
  return fits && (rest.length === 0 || matches(rest, wordsBehind(words.slice(1))))
}
const maxWords = 8

/** Other forms: what unpacks, plans, mails, writes to a database, migrates or deploys. */
const changingForms: readonly RegExp[] = [
  /^tar -?(?!\w*O)\w*x/,
  /^crontab (?!-l\b)/,
  /^[\w./-]{1,80}-(?:strip|objcopy) /,
  /^(?:mailx?|mutt|sendmail|msmtp|swaks) .{0,200}\S@/,
  /^gh api .{0,300}(?:-X|--method)[ =]?(?:POST|PUT|PATCH|DELETE)/i,
  /^(?:psql|mysql|sqlite3|wp db query) .{0,400}\b(?:INSERT|UPDATE|DELETE|CREATE(?! (?:\w+ )?TEMP)|DROP|ALTER|TRUNCATE)\b/i,
  /^create-\w/,
  /^ansible .{0,200}\s-m (?:ansible\.builtin\.)?(?:systemd|service|copy|template|apt|yum|dnf|package|file|user|group|lineinfile|cron|reboot|mount|pip|get_url)(?![\w.])/,
  /^gcloud composer .{0,200}\s(?:trigger|clear|pause|unpause|backfill)\s/,
  /^openocd .{0,400}["'\s](?:program|flash|load_image) /,
]
const migrating = new RegExp(
  `^${anyOf(table.migrators)} (?:-{1,2}[\\w-]+(?:[ =][^\\s-]\\S*)? ){0,3}(?:[\\w-]{1,20}[:. ]){0,2}${anyOf(table.migrations)}(?![\\w-]|[:. ]${anyOf(table.migrationLooks)})`,
  "i",
)
const deploying = new RegExp(
  `^(?:bash |sh )?(?:\\.{0,2}/)?(?:[\\w.-]{1,40}/){1,6}${anyOf(table.deployScripts)}[\\w-]{0,20}(?:\\.(?:sh|py|rb|ts|js))?(?=\\s|$)(?! (?:--help|status|list|--dry-run))`,
  "i",
)

/** The steps of a command line: what stands between its operators. */
const steps = (command: string): readonly string[] =>
  command
    .slice(0, maxCommand)
    .split(/&&|\|\||[;\n|(]|\bthen |\bdo /)
    .map((step) => step.trim().replace(wrapper, "").replace(inContainer, "").replace(wrapper, ""))

function stepChanges(step: string): boolean {
  const [path = "", ...words] = step.split(/\s+/, 24).filter((word) => word !== "…")
  const name = path.slice(path.lastIndexOf("/") + 1)
  if (always().has(name)) return words.length > 0 && !(name === "unzip" && unpacksNothing.test(words[0] ?? ""))
  const program = programs().get(name)
  const behind = wordsBehind(words)
  if (program?.verbs.some((verb) => matches(verb, behind)))
    return !program.unless.some((verb) => matches(verb, behind)) && !(name === "git" && onlyNames(behind))
  return changingForms.some((form) => form.test(step)) || migrating.test(step) || deploying.test(step)
}

const unpacksNothing = /^-\w*[lptvZ]/

/** `git branch` and `git tag` by themselves list what there is; `git branch NAME` makes one, and is told by what follows. */
const onlyNames = ([verb = "", next = ""]: readonly string[]): boolean =>
  (verb === "branch" && !/^-[dDmMcC]$/.test(next)) || (verb === "tag" && (next === "" || listsTags.test(next)))
const listsTags = /^(?:-n\d*|--(?:no-)?(?:contains|merged)|--points-at|--sort\S*|--format\S*|--column)$/

/** A program that is left running by itself. */
const leftRunning = /\bnohup [^\n]{1,300}[^&]&(?!&)/

/** Does a command change something for certain? What else it does, its outcome says. */
export const changesForCertain = (command: string): boolean =>
  leftRunning.test(command) || steps(command).some(stepChanges)

/** Does a program that nobody here knows do something by the verb behind its name: `rangectl submit --slot web`? */
export const changesByVerb = (command: string): boolean =>
  steps(command).some((step) => {
    const [path = "", ...words] = step.split(/\s+/, 8)
    return /^[\w./-]{2,60}$/.test(path) && !knownTools.test(path) && anyVerbs.has(wordsBehind(words)[0] ?? "")
  })
const anyVerbs: ReadonlySet<string> = new Set(table.anyVerbs.split(" "))
/** Programs whose first word behind them is what they work on, not what they do. */
const knownTools = new RegExp(`(?:^|/)${anyOf(table.ownTools)}$`)

/** Does each step of a command ask a program for something by its first words: `flagctl list`, `tool status job-7`? */
export const looksOnly = (command: string): boolean =>
  command
    .split(/&&|\|\||[;\n]/)
    .map((step) => step.trim())
    .every(
      (step) =>
        asksProgram.test(withoutPlace(step).replace(" … ", " ")) ||
        asksDatabase.test(step) ||
        toolNature("bash", step).writes === false,
    )

/** A program with the options before its verb that say where: a cluster, a folder, a profile. */
export const programAndPlace = /^[\w./-]{1,60}(?: -{1,2}[a-z][\w-]{0,40}(?:=| (?!-))\S{1,80}){1,6} (?=[a-z])/
/** A step that has to be told in few words says what is done rather than where: `kubectl … delete job a`. */
export const withoutPlace = (step: string): string =>
  step
    .replace(settings, "")
    .replace(asksAtPlace, "$1 … ")
    .replace(programAndPlace, (head) => `${/^\S+/.exec(head)} … `)
const settings = /^(?:\w+=(?!\$\()\S{0,80} )+(?=\S)/
/** The client of a database with where it asks, before what it asks. */
const asksAtPlace =
  /^(psql|mysql|mariadb|sqlcmd|clickhouse-client|mongosh|redis-cli)(?: (?!-(?:c|e|f|Q)\b|--(?:command|execute|file|eval|query)\b)-\S+(?: (?!-)[^\s"']\S{0,80})?){1,10} (?=["'-])/
/** A statement that only asks, given to the client of a database. */
const asksDatabase =
  /^(?:psql|mysql|mariadb|sqlite3|sqlcmd) .{0,200}["']\s{0,8}(?:select|explain|show|with|\\d)\b(?!.{0,1000}\b(?:insert|update|delete|create|drop|alter|truncate)\s)/is
const asksProgram = new RegExp(`^[\\w./-]{1,60}(?: [\\w:-]{1,40}){0,2} ${anyOf(table.lookingVerbs)}(?![\\w-])`)
