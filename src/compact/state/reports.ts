import { anyOf } from "../../language/word-lists.ts"
import words from "./outcome-words.json" with { type: "json" }
import type { ResultText } from "./result-text.ts"

/** Finds the lines of a command's output that report what its steps did. */

const reports = anyOf(
  "\\[[\\w./ ()-]{1,80} [\\da-f]{7,40}\\] \\S|[\\da-f]{7,40}\\.{2,3}[\\da-f]{7,40}\\s{1,8}\\S{1,80}\\s{1,40}-> ",
  "\\* \\[new (?:branch|tag)\\]|Switched to (?:a new )?branch|Already (?:on|up[ -]to[ -]date)",
  "Everything up-to-date|Merge made by|Fast-forward|HEAD is now at ",
  "Successfully (?:installed|built|tagged|merged|rebased|uninstalled)|added \\d{1,6} packages?",
  "removed \\d{1,6} packages?|up to date, audited|[✓✔] \\S|(?:UPDATE|DELETE|COPY|INSERT 0) \\d{1,9}$",
  "(?:CREATE|ALTER|DROP|TRUNCATE) (?:TABLE|INDEX|VIEW|MATERIALIZED VIEW|SEQUENCE|TYPE|FUNCTION|SCHEMA|DATABASE|EXTENSION|ROLE|TRIGGER)$",
  "Query OK, \\d|Setting up \\S|created \\S{1,120}$|deployment\\S{0,120} (?:created|configured|unchanged)",
  "Success! |Login Succeeded|(?:INFO {1,4}\\[[\\w.]+\\] )?Running (?:upgrade|downgrade) \\S* ?-> \\S",
  "https?://\\S{1,200}/(?:pull|pulls|merge_requests|issues|releases|runs|commit)/[^\\s/]{1,80}$",
  '(?:Apply|Destroy) complete! |Rollback was a success|Release "\\S{1,60}" has been \\p{L}+|deployment "\\S{1,60}" successfully rolled out',
  "[a-z][\\w.-]{1,60}/[\\w.-]{1,80} (?:patched|scaled|restarted|annotated|labell?ed|cordoned|uncordoned|drained|evicted|replaced|rolled back)\\b",
  "Submitted batch job \\d|Your job \\d{1,12} |Job <\\d{1,12}> is submitted",
)
/** Lines that common tools print on success: a commit, push, merge, branch or installation. */
export const accomplished = new RegExp(`^\\s{0,4}${reports}`, "u")

/** Lines that say so in words: "Applied 20251103/add index", "updated credential ci (folder x)", "job.batch/seed created". */
const inWords = new RegExp(
  anyOf(
    `^(?:\\[[\\w .-]{1,30}\\]:? |[-=>*+] )?(?:\\p{L}+ly )?${anyOf(words.reportVerbs)}:? (?=\\S*[^\\s.:!](?:\\s|$))`,
    `^\\S{3,120}(?: \\S{1,60}){0,4} (?:(?:has been|was|is) )?(?:successfully )?${anyOf(words.reportVerbs)}[.!]?$`,
  ),
  "iu",
)
/** Lines of tests and progress, and lines that deny or only announce something. */
const tellsNothing =
  /\(\d+ tests?\)|\b\d+ ?(?:ms|%)$|^\W*(?:compiling|downloading|resolving|fetching|waiting|warn(?:ing)?|note|hint|info:|debug)\b|\b(?:not|no|nothing|would|will|cannot|fail\w*|errors?|already|skipp\w+|ignored|unchanged|if|todo)\b/i

/** Returns the last line that names a file which a command of unknown nature wrote. */
export const writtenIn = (text: ResultText): string | undefined =>
  reportsIn(text).findLast((line) => writes.test(line) && namesFile.test(line))
const writes = /(?<![\p{L}])(?:wrote|written|generated|created|updated|saved|exported)(?![\p{L}])/iu
const namesFile = /(?:^|\s)[\w.@-]*\/[\w./@-]*\.[a-z]\w{0,9}(?=\s|[:,;)]|$)/i

/** Limits on the reports of one command, and on the length of one in characters. */
const [maxReports, maxReport] = [3, 110]

/** Returns the last few lines that report something done, in order, without those of a kind that the output repeats. */
export function reportsIn({ head, tail, whole }: ResultText): readonly string[] {
  const lines = (whole ?? `${head}\n${tail}`)
    .split("\n")
    .map((line) => line.slice(0, 400).replace(took, "").replace(/\s+/g, " ").trim())
  const found = lines.filter(
    (line) => line.length <= maxReport && !tellsNothing.test(line) && (accomplished.test(line) || inWords.test(line)),
  )
  // Of a long series, such as one line for each file, the last stands for all.
  const byForm = new Map(found.map((line) => [formOf(line), line]))
  return [...byForm.values()].slice(-maxReports)
}

/** How long a step took, at the end of its line. */
const took = /\s{1,40}\(?\d{1,6}(?:\.\d{1,9})?\s?m?s\)?\s*$/

/** What two lines of a series share: their first word and their length in words. */
const formOf = (line: string): string => {
  const parts = line.split(/\s+/)
  return `${/^[\p{L}✓✔]+$/u.test(parts[0] ?? "") ? parts[0] : ""} ${parts.length} ${parts.at(-1)?.replace(/\P{L}+/gu, "")}`
}
