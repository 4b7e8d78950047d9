import { anyOf } from "../../language/word-lists.ts"
import { changesForCertain } from "./changing-commands.ts"
import words from "./command-words.json" with { type: "json" }
/**
 * Normalizes what a command line runs, so that a later run of the same thing is recognized: agents write a command in many ways, with
 * other steps around it.
 */

/** Steps of a script that only prepare or announce the next one. */
export const idleStep = /^\s*(?:echo|cd|set|export|sleep|source|printf|pwd)\b[^|&>]*$/

/** Programs that print existing content, whatever their output says. */
const printsContent =
  /^(?:[a-z]?grep|rg|ag|cat|bat|nl|head|tail|sed -n|awk|less|ls|tree|find|fd|jq|wc|strings|diff|git (?:show|diff|log|blame|grep|ls-files|status))(?![\w-])/

/**
 * True if all steps of a command, except idle ones, only print existing content, so that a word such as "error" in it says nothing about
 * the outcome.
 */
export const isPrinting = (command: string): boolean =>
  command
    .split(/&&|;|\|\|/)
    .filter((step) => !idleStep.test(step))
    .every((step) => printsContent.test(step.trim()) && !intoFile.test(step))

/** True if a command ends by showing a file or a list, whatever it did before. */
export const endsInPrinting = (command: string): boolean => {
  const last = withoutQuoted(command).split(/&&|;/).at(-1)?.trim() ?? ""
  return showsFile.test(last) && !intoFile.test(last)
}
const showsFile = /^(?:cat|tail|head|ls|grep|sed -n|wc|jq|less|df|du|ps)(?![\w-])/

/** True if a command ends in a search, whose exit code 1 only means that nothing was found. */
export function endsInSearch(command: string): boolean {
  const chain = withoutQuoted(command)
    .split(/;|\n/)
    .findLast((one) => one.trim() !== "")
  const [last = "", ...before] = (chain ?? "").split("&&").reverse()
  if (before.length >= maxSteps) return false
  const finding = last.split("|").at(-1)?.trim() ?? ""
  return /^(?:[a-z]?grep|git grep|rg|ag|diff|cmp)(?![\w-])/.test(finding) && before.every((step) => idleStep.test(step))
}

/** Output redirected into a file is not shown. */
const intoFile = /^[^"'\n]{0,200}(?<![2&])>{1,2}\s{0,3}(?!&|\/dev\/null)\S/

/** Limits on the characters and steps read of a command. */
const maxCommand = 4_000
const maxSteps = 12

/** Keeps a quoted word and replaces quoted text, which names no program and whose characters end no step. */
const withoutQuoted = (command: string): string =>
  command
    .slice(0, maxCommand)
    // A program passed as quoted text (`-c`, `-e`) is identified by its text.
    .replace(
      givenProgram,
      (_, option: string, text: string) => `${option} ${text.slice(1, maxGiven).replace(/[^\w.:/-]+/g, "_")}`,
    )
    .replace(/'[^'\n]{0,600}'|"(?:[^"\\\n]|\\.){0,600}"/g, (text) => (/[\s;&|]/.test(text) ? "-" : text.slice(1, -1)))

const givenProgram = /(?<=\s)(-[ec]) ('[^'\n]{1,600}'|"(?:[^"\\\n]|\\.){1,600}")/g
const maxGiven = 80

/** Returns the words of a step without the variables and wrappers before it. */
function wordsOf(step: string): readonly string[] {
  const bare = step
    .trim()
    .replace(
      /^\s{0,4}(?:(?:[A-Z_][A-Z0-9_]{0,40}=\S{0,80}|sudo|time|npx|bunx|(?:uv|poetry|pdm|pipenv|hatch)(?: run)?|timeout \d{1,6})\s{1,4})+/,
      "",
    )
  return bare.trim().split(/\s+/, 12)
}

/** Options whose value says on which part of a project or cluster something runs. */
const scopeOption =
  /^(?:--(?:filter|package|project|prefix|workspace|dir|cwd|context|namespace|manifest-path)|-[FpCnwk])$/

/** Returns what a step runs: the program with its first words, the part that it runs on, and the first argument. */
function runOf(step: string): string {
  const [scope, named]: [string[], string[]] = [[], []]
  const words = wordsOf(step.split("|", 1)[0] ?? "")
  for (const [n, word] of words.entries()) {
    const given = /^--(?:filter|package|project)=(.+)$/.exec(word)?.[1]
    if (given !== undefined || scopeOption.test(words[n - 1] ?? "")) scope.push(given ?? word)
    else if (!/^[-<>]|^\d+$|^2>/.test(word)) named.push(word)
  }
  const verb = named[1] === "run" || named[1] === "exec" ? 3 : 2
  // A push names the remote before the branch, and a rollout its own verb before what it is about.
  const more = named[1] === "push" || named[1] === "rollout" ? 2 : 1
  return [...named.slice(0, verb), ...scope, ...named.slice(verb, verb + more)].join(" ")
}

/** Returns what each step of the last chain runs: the exit code says nothing about the chains before it. */
export function runsOf(command: string): readonly string[] {
  const chains = withoutQuoted(command).split(/;|\n/)
  const last = chains.findLast((chain) => chain.trim() !== "" && !isPrinting(chain)) ?? ""
  return last
    .split("&&")
    .slice(-maxSteps)
    .flatMap((step) => [runOf(step), ...targetsOf(step)])
}

/** Programs that take several targets at once, so that success counts for each of them. */
const severalTargets = /^(?:\.\/)?(?:gradlew?|make|gmake|ninja|mvnw?|bazel|just|nox|ant|sbt|task)$/

function targetsOf(step: string): readonly string[] {
  const [program = "", ...words] = wordsOf(step.split("|", 1)[0] ?? "")
  const targets = words.filter((word) => !/^[-<>]|=|^\d+$/.test(word))
  return severalTargets.test(program) && targets.length > 1 ? targets.map((target) => `${program} ${target}`) : []
}

/** Returns what a failed command attempted: its last step that does not only print. */
export function triedRun(command: string): string {
  const steps = withoutQuoted(command).split(/&&|;/).slice(-maxSteps)
  return runOf(steps.findLast((step) => !isPrinting(step)) ?? steps.at(-1) ?? "")
}

/** True if a successful run covers a failed one, which is the same or a more specific run. */
export const covers = (well: string, failed: string): boolean =>
  well !== "" && failed.startsWith(well) && /^(?:$|[\s:/])/.test(failed.slice(well.length))

/**
 * Returns a command without steps that only prepare or look, if any others remain. A loop or branch is one step; a tool call is not split.
 */
export function mainSteps(command: string): string {
  // Quoted text that was cut has no end, so steps cannot be told apart.
  if ((command.match(/(?<!\\)'/g)?.length ?? 0) % 2 === 1) return command
  if (!/&&|;/.test(command) || /(?:^|[;\s])(?:do|then|esac)\s|^[\w.:-]{1,80}\(/.test(command)) return command
  const steps = command.match(/(?:"(?:\\.|[^"\\]){0,400}"|'[^']{0,400}'|(?<!&)&(?!&)|[^&;"']|["'])+(?:&&|;)?/g) ?? []
  const left = steps.map((step) => step.trim()).filter((step) => /[^&;]/.test(step) && !preparing.test(step))
  const doing = left.filter((step) => changesForCertain(step))
  const main = doing.length === 0 ? left : doing
  // A step that usually only prepares may be the only change here.
  if (doing.length === 0 && steps.some((step) => changesForCertain(step))) return command
  return main.length === 0 ? command : main.join(" ").replace(/\s{0,3}(?:&&|;)$/, "")
}
const preparing = new RegExp(`^${anyOf(words.preparing)}(?![\\w-])`)
