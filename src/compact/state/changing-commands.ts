import { lazy } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { toolNature } from "../stages/tool-kind.ts"
import table from "./changing-commands.json" with { type: "json" }

/**
 * True if a command line changes something. Programs and their verbs stand in `changing-commands.json`: `pr.create` is two words, `*` any
 * word, `create*` a prefix, `**` any number of words.
 */

/** Maximum number of characters read of a command. */
const maxCommand = 4_000

/** Prefixes of a step before its program: variables, `sudo`, `time` and the like. */
const wrapper =
  /^(?:(?:\w+=(?!\$\()\S*|sudo(?: -\S+)*|time|nohup|nice|env|command|exec|npx(?: -y)?|bunx|sshpass -\S+(?: '[^'\n]*')?)\s+)+/

/** Prefix of a command run in a container. */
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

/** True for a program whose verbs are known; a tool of that name takes the program's arguments. */
export const isProgram = (name: string): boolean => programs().has(name)

/** Returns the words without leading options and their values. */
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

/** Other commands that change something: unpacking, cron tables, mail, database writes, deployments. */
const changingForms: readonly RegExp[] = [
  /^tar -?(?!\w*O)\w*x/,
  /^crontab (?!-l\b)/,
  /^[\w./-]{1,80}-(?:strip|objcopy) /,
  /^(?:mailx?|mutt|sendmail|msmtp|swaks) .{0,200}\S@/,
  /^(?:gh|glab) api .{0,300}(?:-X|--method)[ =]?(?:POST|PUT|PATCH|DELETE)/i,
  /^(?:psql|mysql|sqlite3|wp db query) .{0,400}\b(?:INSERT|UPDATE|DELETE|CREATE(?! (?:\w+ )?TEMP)|DROP|ALTER|TRUNCATE|pg_(?:terminate|cancel)_backend|pg_reload_conf|setval)\b/i,
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

/** Splits a command line at its operators, and removes prefixes from each step. */
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

/** True for `git branch` and `git tag` calls that list; creating a branch does not count as a change, because later commands show it. */
const onlyNames = ([verb = "", next = ""]: readonly string[]): boolean =>
  (verb === "branch" && !/^-[dDmMcC]$/.test(next)) || (verb === "tag" && (next === "" || listsTags.test(next)))
const listsTags = /^(?:-n\d*|--(?:no-)?(?:contains|merged)|--points-at|--sort\S*|--format\S*|--column)$/

/** A program left running in the background. */
const leftRunning = /\bnohup [^\n]{1,300}[^&]&(?!&)/

/** True if a command certainly changes something; whether any other command did, its outcome tells. */
export const changesForCertain = (command: string): boolean =>
  leftRunning.test(command) || steps(command).some(stepChanges)

/**
 * True if the verb after an unknown program's name, or after the thing that it works on, changes something: `rangectl submit --slot web`,
 * `ladder backfill submit`, `ci-tool update-credential main`.
 */
export const changesByVerb = (command: string): boolean =>
  steps(command).some((step) => {
    const [path = "", ...words] = step.replace(runner, "").split(/\s+/, 8)
    if (!/^[\w./-]{2,60}$/.test(path) || knownTools.test(path)) return false
    const [first = "", second = ""] = wordsBehind(words)
    return isChange(first) || (/^[a-z][a-z-]{1,20}s?$/.test(first) && anyVerbs.has(second))
  })
const isChange = (word: string): boolean =>
  anyVerbs.has(word) || anyVerbs.has(/^([a-z]{3,12})-[a-z]/.exec(word)?.[1] ?? "")
/** Runs the program named behind it. */
const runner = /^(?:(?:uv|poetry|pdm|pipenv|hatch) run|(?:pnpm|yarn|npm) exec(?: --)?|bundle exec) (?=[a-z])/
const anyVerbs: ReadonlySet<string> = new Set(table.anyVerbs.split(" "))
/** Programs whose first argument is not a verb but what they work on. */
const knownTools = new RegExp(`(?:^|/)${anyOf(table.ownTools)}$`)

/** True if every step only reads, judged by the first words of each: `flagctl list`, `tool status job-7`. */
export const looksOnly = (command: string): boolean =>
  command
    .split(/&&|\|\||[;\n]/)
    .map((step) => step.trim())
    .every(
      (step) =>
        readingVerb.test(withoutPlace(step).replace(" … ", " ")) ||
        readsDatabase.test(step) ||
        toolNature("bash", step).writes === false,
    )

/** A program with the options before its verb that say where it works: a cluster, a folder, a profile. */
export const programAndPlace = /^[\w./-]{1,60}(?: -{1,2}[a-z][\w-]{0,40}(?:=| (?!-))\S{1,80}){1,6} (?=[a-z])/
/** Shortens a step to what is done, without the place: `kubectl … delete job a`. */
export const withoutPlace = (step: string): string =>
  step
    .replace(settings, (all) => [...all.matchAll(addressed)].map(([, name, end]) => `${name}=…${end} `).join(""))
    .replace(connectionOptions, "$1 … ")
    .replace(programAndPlace, (head) => `${/^\S+/.exec(head)} … `)
const settings = /^(?:\w+=(?!\$\()\S{0,80} )+(?=\S)/
/** A setting with an address: its end says on which database or server something was done. */
const addressed = /(\w+)=(?:\S{0,60}:\/\/(?:[^\s@]{0,200}@)?|…)(\S{1,40})\S{0,400}(?=\s)/g
/** A database client with its connection options, before its query. */
const connectionOptions =
  /^(psql|mysql|mariadb|sqlcmd|clickhouse-client|mongosh|redis-cli)(?: (?!-(?:c|e|f|Q)\b|--(?:command|execute|file|eval|query)\b)-\S+(?: (?!-)[^\s"']\S{0,80})?){1,10} (?=["'-])/
/** A read-only statement passed to a database client. */
const readsDatabase =
  /^(?:psql|mysql|mariadb|sqlite3|sqlcmd) .{0,200}["']\s{0,8}(?:select|explain|show|with|\\d)\b(?!.{0,1000}\b(?:insert|update|delete|create|drop|alter|truncate)\s)/is
const readingVerb = new RegExp(`^[\\w./-]{1,60}(?: [\\w:-]{1,40}){0,2} ${anyOf(table.lookingVerbs)}(?![\\w-])`)
