/** Programs that look and change nothing. */
const looks = new Set(
  "cd export set ls cat head tail grep rg find fd pwd echo which wc tree file stat less more awk env ps df du type sed date whoami open id sort uniq diff jq history xxd strings hexdump man code".split(
    " ",
  ),
)

const gitLooks = new Set("status log diff show branch blame remote rev-parse ls-files stash".split(" "))

/** Steps of one command line that are looked at. */
const maxSteps = 12

const stepsOf = (command: string): readonly string[] => command.split(/&&|;/, maxSteps)

/** The words of one step without the settings and wrappers before it. */
function wordsOf(step: string): readonly string[] {
  const bare = step
    .trim()
    .replace(/^\s{0,4}(?:(?:[A-Z_][A-Z0-9_]{0,40}=\S{0,80}|sudo|time|npx|bunx|uv|poetry|timeout \d{1,6})\s{1,4})+/, "")
  return bare.trim().split(/\s+/, 12)
}

/** Does a command only look? */
export const onlyLooks = (command: string): boolean => stepsOf(command).every(stepLooks)

function stepLooks(step: string): boolean {
  const [program = "", verb = ""] = wordsOf(step)
  if (program === "git") return gitLooks.has(verb)
  if (program === "sed") return !/\s-i/.test(step)
  return looks.has(program) && !/[^>&\d]>{1,2}\s{0,3}[\w./~]/.test(step)
}

/** What makes two commands runs of the same thing: the program of the last step and its first words that are no options. */
export function sameRun(command: string): string {
  const words = wordsOf(stepsOf(command).at(-1) ?? "").filter((word) => !word.startsWith("-"))
  return words.slice(0, words[1] === "run" ? 3 : 2).join(" ")
}
