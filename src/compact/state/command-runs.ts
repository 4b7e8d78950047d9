import { anyOf } from "../../language/word-lists.ts"
import { changesForCertain } from "./changing-commands.ts"
import words from "./command-words.json" with { type: "json" }
/**
 * What a command line runs, so that a later run of the same thing is known: agents write a command in many ways, with other steps around it.
 */

/** Steps of a script that only prepare or announce the next one. */
export const idleStep = /^\s*(?:echo|cd|set|export|sleep|source|printf|pwd)\b[^|&>]*$/

/** Programs that print what is there: whatever their output says is content. */
const printsContent =
  /^(?:[a-z]?grep|rg|ag|cat|bat|nl|head|tail|sed -n|awk|less|ls|tree|find|fd|jq|wc|strings|diff|git (?:show|diff|log|blame|grep|ls-files|status))(?![\w-])/

/** Does the last step of a command only print what is there, so that a word such as "error" in it says nothing of how it went? */
export const isPrinting = (command: string): boolean =>
  command
    .split(/&&|;|\|\|/)
    .filter((step) => !idleStep.test(step))
    .every((step) => printsContent.test(step.trim()) && !intoFile.test(step))

/** Does a command end by showing a file or a list, whatever it did before? */
export const endsInPrinting = (command: string): boolean => {
  const last = withoutQuoted(command).split(/&&|;/).at(-1)?.trim() ?? ""
  return showsFile.test(last) && !intoFile.test(last)
}
const showsFile = /^(?:cat|tail|head|ls|grep|sed -n|wc|jq|less|df|du|ps)(?![\w-])/

/** Does a command end in a search, whose exit code 1 only says that nothing was found? */
export function endsInSearch(command: string): boolean {
  const chain = withoutQuoted(command)
    .split(/;|\n/)
    .findLast((one) => one.trim() !== "")
  const [last = "", ...before] = (chain ?? "").split("&&", maxSteps).reverse()
  const finding = last.split("|").at(-1)?.trim() ?? ""
  return /^(?:[a-z]?grep|git grep|rg|ag|diff|cmp)(?![\w-])/.test(finding) && before.every((step) => idleStep.test(step))
}

/** What is printed into a file shows nothing. */
const intoFile = /^[^"'\n]{0,200}(?<![2&])>{1,2}\s{0,3}(?!&|\/dev\/null)\S/

/** How much of a command is read, and how many of its steps. */
const maxCommand = 4_000
const maxSteps = 12

/** A word in quotes stays; a text in quotes names nothing that is run, and no sign in it ends a step. */
const withoutQuoted = (command: string): string =>
  command
    .slice(0, maxCommand)
    // A program that is given as a text is another one where the text is another.
    .replace(
      givenProgram,
      (_, option: string, text: string) => `${option} ${text.slice(1, maxGiven).replace(/[^\w.:/-]+/g, "_")}`,
    )
    .replace(/'[^'\n]{0,600}'|"(?:[^"\\\n]|\\.){0,600}"/g, (text) => (/[\s;&|]/.test(text) ? "-" : text.slice(1, -1)))

const givenProgram = /(?<=\s)(-[ec]) ('[^'\n]{1,600}'|"(?:[^"\\\n]|\\.){1,600}")/g
const maxGiven = 80

/** The words of one step without the settings and wrappers before it. */
function wordsOf(step: string): readonly string[] {
  const bare = step
    .trim()
    .replace(/^\s{0,4}(?:(?:[A-Z_][A-Z0-9_]{0,40}=\S{0,80}|sudo|time|npx|bunx|uv|poetry|timeout \d{1,6})\s{1,4})+/, "")
  return bare.trim().split(/\s+/, 12)
}

/** Options whose value says on what part something is run. */
const scopeOption =
  /^(?:--(?:filter|package|project|prefix|workspace|dir|cwd|context|namespace|manifest-path)|-[FpCnwk])$/

/** What a step runs: the program and its first words that are no options, the part it is run on, and what is named behind. */
function runOf(step: string): string {
  const [scope, named]: [string[], string[]] = [[], []]
  const words = wordsOf(step.split("|", 1)[0] ?? "")
  for (const [n, word] of words.entries()) {
    const given = /^--(?:filter|package|project)=(.+)$/.exec(word)?.[1]
    if (given !== undefined || scopeOption.test(words[n - 1] ?? "")) scope.push(given ?? word)
    else if (!/^[-<>]|^\d+$|^2>/.test(word)) named.push(word)
  }
  const verb = named[1] === "run" || named[1] === "exec" ? 3 : 2
  // A push names where to before it names what.
  const more = named[1] === "push" ? 2 : 1
  return [...named.slice(0, verb), ...scope, ...named.slice(verb, verb + more)].join(" ")
}

/** What the last chain of a command line runs, step by step: how the chains before it went, its end does not say. */
export function runsOf(command: string): readonly string[] {
  const chains = withoutQuoted(command).split(/;|\n/)
  const last = chains.findLast((chain) => chain.trim() !== "" && !isPrinting(chain)) ?? ""
  return last.split("&&", maxSteps).flatMap((step) => [runOf(step), ...targetsOf(step)])
}

/** Programs that take several targets at once: that all went well says so of each. */
const severalTargets = /^(?:\.\/)?(?:gradlew?|make|gmake|ninja|mvnw?|bazel|just|nox|ant|sbt|task)$/

function targetsOf(step: string): readonly string[] {
  const [program = "", ...words] = wordsOf(step.split("|", 1)[0] ?? "")
  const targets = words.filter((word) => !/^[-<>]|=|^\d+$/.test(word))
  return severalTargets.test(program) && targets.length > 1 ? targets.map((target) => `${program} ${target}`) : []
}

/** What a failed command was about: its last step that does not only print. */
export function triedRun(command: string): string {
  const steps = withoutQuoted(command).split(/&&|;/, maxSteps)
  return runOf(steps.findLast((step) => !isPrinting(step)) ?? steps.at(-1) ?? "")
}

/** Does a run that went well cover one that failed: the same, or a part of it? */
export const covers = (well: string, failed: string): boolean =>
  well !== "" && failed.startsWith(well) && /^(?:$|[\s:/])/.test(failed.slice(well.length))

/** A command without the steps that only prepare or look, where others are left. A loop or a branch is one step, and a call is no command. */
export function mainSteps(command: string): string {
  // A text in quotes that was cut has no end, and what stands in it is no step.
  if ((command.match(/(?<!\\)'/g)?.length ?? 0) % 2 === 1) return command
  if (!/&&|;/.test(command) || /(?:^|[;\s])(?:do|then|esac)\s|^[\w.:-]{1,80}\(/.test(command)) return command
  const steps = command.match(/(?:"(?:\\.|[^"\\]){0,400}"|'[^']{0,400}'|(?<!&)&(?!&)|[^&;"']|["'])+(?:&&|;)?/g) ?? []
  const left = steps.map((step) => step.trim()).filter((step) => /[^&;]/.test(step) && !preparing.test(step))
  const doing = left.filter((step) => changesForCertain(step))
  const main = doing.length === 0 ? left : doing
  // What only prepares elsewhere may be all that is changed here.
  if (doing.length === 0 && steps.some((step) => changesForCertain(step))) return command
  return main.length === 0 ? command : main.join(" ").replace(/\s{0,3}(?:&&|;)$/, "")
}
const preparing = new RegExp(`^${anyOf(words.preparing)}(?![\\w-])`)
