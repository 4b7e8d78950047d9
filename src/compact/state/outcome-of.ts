import { directs } from "../../language/imperative.ts"
import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { oneLine } from "../summary/summary.ts"
import { valueText } from "./call-text.ts"
import {
  blockedHead,
  brief,
  errorLine,
  failureReason,
  mostMembers,
  reasonWithin,
  saysDone,
  shellError,
} from "./failure-reason.ts"
import { placeholder } from "./file-change.ts"
import words from "./outcome-words.json" with { type: "json" }
import { accomplished } from "./reports.ts"
import { exit, exitWell, firstMatch, lastMatch, parseJson, type ResultText, textEnds } from "./result-text.ts"

/**
 * How a call ended, as far as its result tells. `line` is the line of the output that says so; `value` holds the short values that a
 * lookup returned. Neither failed nor sure: unknown.
 */
export type Outcome = {
  readonly failed: boolean
  readonly sure?: true
  /** True if the user rejected the call; `line` is then the user's reason, if any. */
  readonly rejected?: true
  /** True if the text says that something was done. */
  readonly says?: true
  /** True if a short answer says that something has changed. */
  readonly did?: true
  /** True if the status in the answer confirms the verb in the tool's name. */
  readonly isDone?: true
  readonly line?: string
  readonly value?: string
  /** Lines that report what the steps of a command did, beside `line` or `value`, or before the command failed. */
  readonly also?: readonly string[]
  /** The beginning of a longer output that has neither `line` nor `value`. */
  readonly begins?: string
}

/** Maximum length of a quoted line of a tool's output. */
export const maxQuoted = 160

/** Last lines of build tools and shells that gave up. */
const brokenOff = new RegExp(
  anyOf(
    "^\\S{0,20}make(?:\\[\\d{1,3}\\])?: \\*\\*\\*|\\berrors? occurred|^error: |^npm ERR!|ELIFECYCLE|[Bb]uild failed",
    "[Cc]ompilation (?:failed|terminated)|[Ss]egmentation fault|core dumped|^FAIL",
  ),
  "m",
)
const flagged = new RegExp(
  anyOf(
    // A number or "none" under such a key is data, not an error.
    `"${anyOf(words.errorFields)}"\\s{0,3}:\\s{0,3}(?:"(?!\\d{1,9}"|(?:none|no|null|n/a|false)")[^"]|\\{|\\[\\s{0,3}["{])`,
    `"${anyOf(words.successFields)}"\\s{0,3}:\\s{0,3}false`,
    '"(?:status|state)"\\s{0,3}:\\s{0,3}"(?:error|failed|failure)"',
    '"(?:is_?error|isError)"\\s{0,3}:\\s{0,3}true|"(?:exit_?code|returncode)"\\s{0,3}:\\s{0,3}[1-9]',
    '"status(?:_?code)?"\\s{0,3}:\\s{0,3}[45]\\d\\d\\b|\\\\"error\\\\"\\s{0,3}:',
    "^\\W{0,3}(?:error|fehler|erreur|ошибка|错误|失败|오류|エラー)(?![\\p{L}-])",
  ),
  "iu",
)
/** Beginning of a short answer that says that nothing was done. */
const refused = new RegExp(
  `^\\W{0,3}(?:(?:the |your )?${anyOf(words.asked)}?\\s?(?:has |was |is |were |had )?${anyOf(words.notDone)}\\b|${anyOf(words.refusals)})`,
  "i",
)
const tally =
  /(?<![\w:.])\d{1,6} (?:tests? )?(?:passed|passing|failed|failing|failures?|errors?|warnings?)(?![\w/-]|\.\w| occurred)|\b(?:Tests?|Ran|Test Suites)[: ]+\d|^OK\b|BUILD (?:SUCCESS|FAILED)|\b0 errors\b|test result:/
const failedTally =
  /^(?!.*\b0 remaining\b).*(?<![\w:.])[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?|errors?)(?![\w/-]|\.\w| occurred)|BUILD FAILED|FAILED \((?:failures|errors)=/

/** Error message of a program that prints files. */
const cannotPrint =
  /^[a-z][\w.-]{0,20}: (?:\S{1,80}: )?.{0,120}(?:No such file|cannot|Permission denied|Is a directory|not found|unrecognized|invalid|unknown revision|not a git)/im

const ranStatement = /^\s{0,4}[A-Z]{4,10}(?: [A-Z]{4,12}){0,2}(?: \d{1,9}){0,2}$/

/** Creating a table is left out: it may be temporary and gone with the session. */
const changedData = /^\s*(?:(?:UPDATE|DELETE|INSERT|MERGE)(?: 0)? [1-9]\d*|(?:ALTER|DROP|TRUNCATE)(?: [A-Z]+)+)\s*$/

const changesStay = (told: string, { tail }: ResultText): boolean =>
  changedData.test(told) && !/^\s*ROLLBACK\s*$/m.test(tail)

const quoted = (line: string | undefined): { readonly line?: string } =>
  line === undefined || !/[\p{L}\p{N}]/u.test(line) ? {} : { line: oneLine(withoutCall(line), maxQuoted) }

/** Maximum length of the reason of a failure, which may be several parts of an output. */
const maxReason = 200
const because = (reason: string | undefined): { readonly line?: string } =>
  reason === undefined || !/[\p{L}\p{N}]/u.test(reason) ? {} : { line: reasonWithin(withoutCall(reason), maxReason) }

/** Removes the call that some harnesses repeat before the error. */
const withoutCall = (line: string): string => line.replace(repeatedCall, "")
const repeatedCall = /^.{0,120}? with (?:arguments?|args|inputs?|parameters?):? [{[(].{0,4000}[}\])]: (?=\S{3})/

/**
 * Reads the outcome of a call from its error flag, if it has one, and otherwise from the text. `runs`: the text is a program's output;
 * `prints`: the program shows existing content.
 */
export function outcomeOf(text: ResultText, runs: boolean, flag?: boolean, prints = false): Outcome {
  if (text.whole !== undefined && placeholder.test(text.whole))
    return { failed: flag === true, ...(flag === false ? { sure: true } : {}) }
  const counted = runs && !prints ? lastMatch(text.tail, tally) : undefined
  const rejection = flag === false || (prints && flag === undefined) ? undefined : rejectionIn(text)
  if (rejection !== undefined) return { failed: true, rejected: true, ...quoted(rejection) }
  const failed = flag ?? hasFailed(text, runs, prints, counted)
  if (failed)
    return tellsWhy(text, runs) ? { failed, ...because(failureReason(text, failedCount(text, counted))) } : { failed }
  const says = saysDone.test(text.head.slice(0, 300)) && !doubts.test(text.head.slice(0, 300))
  const change = runs && !prints ? changeIn(text) : undefined
  const did = !prints && (saysChanged(text) || change !== undefined)
  const sure = {
    ...(flag === false || says || did || isSure(text, runs) ? { sure: true as const } : {}),
    ...(says ? { says: true as const } : {}),
    ...(did ? { did: true as const } : {}),
  }
  if (counted !== undefined) return { failed, ...sure, ...quoted(counted) }
  const isSilent = text.length <= brief && noOutput.test(text.head)
  const told =
    runs && !prints && !isSilent ? (lastMatch(text.tail, accomplished) ?? change ?? successIn(text)) : undefined
  // A database echoes the statement that it ran and the number of rows: a value, not an instruction.
  if (told !== undefined && ranStatement.test(told))
    return { failed, sure: true, value: told.trim(), ...(changesStay(told, text) ? { did: true as const } : {}) }
  if (told !== undefined)
    return { failed, sure: true, ...(told === change ? { did: true as const } : {}), ...quoted(told.trim()) }
  const value = isSilent ? undefined : (tableIn(text) ?? (runs ? shortOutput(text) : valueIn(text)))
  // One or two lines tell how the call went; more is content.
  const isSaid = value === undefined && text.length <= brief && !isSilent
  const lines = isSaid ? text.head.split("\n").filter((each) => /[\p{L}\p{N}]/u.test(each)) : []
  const line =
    lines.length > 0 && lines.length <= (runs ? 1 : 3)
      ? quoted(lines[0])
      : runs && !isSilent
        ? quoted(lastWord(text))
        : {}
  const begins = runs && value === undefined && line.line === undefined ? beginningOf(text) : undefined
  return value === undefined ? { failed, ...sure, ...line, ...present({ begins }) } : { failed, ...sure, value }
}

/** Returns what the user said when rejecting the call, as clients report it; empty if nothing, undefined if not rejected. */
function rejectionIn({ head, tail, length }: ResultText): string | undefined {
  const isRejected = rejects.test(head.slice(0, maxRejection)) || rejectedAtEnd.test(tail.slice(-maxRejection))
  if (length > maxRejected || !isRejected) return undefined
  const [, said = "", feedback = said] =
    /the user said:\s*([^\n]{1,400})|<feedback>\s*([^<\n]{1,400})|(?<=user )(?:feedback|message|reason):\s*([^\n]{1,400})/i.exec(
      head.slice(0, maxRejected),
    ) ?? []
  return feedback.trim()
}
const [maxRejection, maxRejected] = [300, 1_200]
/** Some clients repeat the command first: `Rejected("rejected by user")`. */
const rejectedAtEnd = /\bRejected\(\W{0,4}rejected by (?:the )?user/
const rejects = new RegExp(anyOf(words.rejectedByUser), "i")

/** After several test suites, returns the count of the last one that failed. */
const failedCount = ({ tail }: ResultText, counted: string | undefined): string | undefined =>
  counted === undefined || failedTally.test(counted) ? counted : (lastMatch(tail, failedTally) ?? counted)

/** A long answer of anything but a program is content, unless it begins as an error. */
const tellsWhy = ({ head, length }: ResultText, runs: boolean): boolean =>
  runs || length <= brief || /^\W{0,3}(?:[A-Z]\w{0,30})?(?:Error|Exception)\b/.test(head)

/** Reads a small table as database clients print it: one row with its column names, several rows as cells only. */
function tableIn({ whole = "" }: ResultText): string | undefined {
  if (whole.length > maxTable) return undefined
  const [head = "", rule = "", ...rows] = whole
    .trim()
    .split("\n")
    .filter((line) => !/^\(\d[^()]{0,80}\)$/.test(line.trim()))
  if (!/^\s{0,8}-{2,}[-+\s]*$/.test(rule) || rows.length === 0) return undefined
  const cells = (row: string): readonly string[] => row.split("|").map((cell) => cell.trim())
  const names = cells(head)
  const told = rows.map((row) =>
    rows.length > 1 ? cells(row).join(" ") : names.map((name, at) => `${name}=${cells(row)[at] ?? ""}`).join(", "),
  )
  return oneLine(told.join("; "), maxQuoted)
}
const maxTable = 1_500

/** True if one to three lines say that something changed: "rolled back (revision 90)", "image_format: avif -> webp". */
const saysChanged = ({ whole = "" }: ResultText): boolean =>
  (whole.length <= shortNews &&
    whole.trim().split("\n").length <= 3 &&
    changed.test(whole.replace(ranRemotely, "")) &&
    !doubts.test(whole)) ||
  (whole.length <= brief && wasAndIs.test(whole))
const shortNews = 240
/** Header that Ansible prints before any command's output on a host: `web-01 | CHANGED | rc=0 >>`. */
const ranRemotely = /\| CHANGED \| rc=\d+ >>/g

/** Returns the last line marked `[*]` or `[+]` in which a program says what it changed: `[*] Saved SAM to C:\\Temp`. */
function changeIn({ tail }: ResultText): string | undefined {
  if (!tail.includes("[*] ") && !tail.includes("[+] ")) return undefined
  const marked = tail.split("\n").filter((line) => resultMark.test(line.slice(0, 200)))
  const line = marked.findLast((one) => !doubts.test(one) && changedTo.test(one))
  return line?.slice(line.search(/\[[*+]\]/))
}

/** Returns the last success marked `[+]`. */
function successIn({ tail }: ResultText): string | undefined {
  const line = tail.includes("[+] ") ? lastMatch(tail, goodMark) : undefined
  return line?.slice(line.indexOf("[+]"))
}
const resultMark = /^[^[\]\n]{0,90}\[[*+]\]\s+\S/
const goodMark = /^[^[\]\n]{0,90}\[\+\]\s+\S/
const changedTo = /\b(?:saved|created|deleted|removed|added|written|uploaded|changed from|set to)\b/i

/** An answer with one field for the old value and one for the new. */
const wasAndIs = /^\s{0,4}\{(?=.*"(?:was|old|previous|before|cancelled)"\s{0,3}:).*"(?:now|new|current|after)"\s{0,3}:/s
const changed = new RegExp(`\\b${anyOf(words.changed)}\\b|^[^\\s:]{2,60}: \\S{1,40} (?:->|→|=>) \\S`, "im")

/** Returns the first line of an output with the number of lines. */
function beginningOf({ head, whole }: ResultText): string | undefined {
  const lines = (whole ?? head).split("\n").filter((line) => /[\p{L}\p{N}]/u.test(line) && !progress.test(line))
  const [first] = lines
  if (first === undefined || noOutput.test(head.slice(0, 80))) return undefined
  if (lines.length > 1 && isRow(first)) return undefined
  return `${oneLine(first, maxBeginning)} … (${whole === undefined ? "more than " : ""}${lines.length} lines)`
}

/** The meter of a download. */
const progress = /^\s{0,8}(?:% Total\s|Dload\s|\d{1,3} +\S+ +\d{1,3} +\S+ +\d{1,3} .*--?:--)|--:--:--/

/** True for a row or header of a table: mostly figures and column names, which tell nothing without the rest. */
function isRow(line: string): boolean {
  const words = line.trim().split(/[\s|,]+/)
  return words.length >= leastCells && words.filter((word) => /[\d_]|^[A-Z]{2,}/.test(word)).length >= words.length / 2
}
const leastCells = 3

/** Maximum length of a quoted first line in characters. */
const maxBeginning = 80

/** Returns the last line of a build or run, if it says how that went. */
const lastWord = ({ tail }: ResultText): string | undefined => {
  const line = tail.trimEnd().split("\n").at(-1)?.trim()
  return line !== undefined && lastWordPattern.test(line) ? line : undefined
}
const lastWordPattern = new RegExp(`\\b${anyOf(words.lastWords)}\\b|✓|✔|成功|완료`)

/** True if the result shows success: by its exit code, as JSON data, or as a command that printed nothing. */
function isSure({ head, tail, length, exitedWell }: ResultText, runs: boolean): boolean {
  if (exitedWell === true || exitWell.test(tail.slice(-400)) || exitWell.test(head.slice(0, 200))) return true
  if (/^\s{0,20}[[{]\s{0,8}["[{\]}\d]/.test(head)) return true
  return runs && (length === 0 || (length <= brief && noOutput.test(head)))
}

/** Placeholder of a harness for empty output. */
const noOutput =
  /^\s*(?:[(<[]?(?:no output|empty|no content|(?:\w{2,10} ){0,2}(?:completed|ran|run|executed|finished)\b[^\n]{0,40}\b(?:no|any|without) (?:output|stdout)(?: or errors?)?)[)>\]]?\.?)?\s*$/i
/** Words that deny or doubt that something was done. */
const doubts =
  /\b(?:can(?:not|['’]t)?|could(?:n['’]t)?|must|should|only|not|no|nothing|fail\w*|errors?|escapes?|invalid|unable|denied|unless|please|without|missing|warning|refus\w*|reject\w*|timeout)\b/i

function hasFailed(text: ResultText, runs: boolean, prints: boolean, counted: string | undefined): boolean {
  if (prints) return exit.test(text.tail.slice(-400)) || (text.length <= brief && cannotPrint.test(text.head))
  return counted === undefined ? saysFailed(text, runs) : failedTally.test(counted) || exit.test(text.tail)
}

/** The Docker daemon or a merge stopped one step; the output of other steps may surround the line. */
const stoppedInside = /^(?:(?:docker: )?Error response from daemon: \S|CONFLICT \(.{3,200}\bconflict\b)/m

function saysFailed({ head, tail, length, exitedWell }: ResultText, runs: boolean): boolean {
  if (exitedWell === true) return false
  if (exit.test(tail.slice(-400)) || exit.test(head.slice(0, 200))) return true
  if (exitWell.test(tail.slice(-400)) || exitWell.test(head.slice(0, 200))) return false
  if (/^Traceback \(most recent/m.test(tail)) return true
  if (flagged.test(head.slice(0, 300))) return true
  if (runs && (stoppedInside.test(head) || stoppedInside.test(tail))) return true
  if (length <= brief && (refused.test(head.slice(0, 200)) || blockedHead.test(head.slice(0, 300)))) return true
  if (runs && brokenOff.test(tail.slice(-300))) return true
  return length <= brief && runs && (firstMatch(head, shellError, warning) ?? firstMatch(head, errorLine)) !== undefined
}
/** A warning did not stop the program. */
const warning = /^\W{0,8}warn(?:ing)?\b/i

/** Returns the output of a short run, if it is a value rather than a text. */
function shortOutput({ whole }: ResultText): string | undefined {
  const lines = (whole ?? "").split("\n").filter((line) => line.trim() !== "")
  const [only = ""] = lines
  return lines.length > 0 && lines.length <= 3 && isValue(only) && !(lines.length > 1 && isRow(only))
    ? oneLine(only, maxQuoted)
    : undefined
}

/** True for a few words that are no sentence: a name, number, id or date. */
export const isValue = (text: string): boolean => {
  const line = text.trim()
  const words = line.length <= 60 ? line.split(/\s+/).length : 0
  return (
    words > 0 &&
    words <= 4 &&
    /[\p{L}\p{N}]/u.test(line) &&
    !/[.!?。！？]$|[<>]|^\(.*\)$/.test(line) &&
    !(words > 1 && directs(line))
  )
}

/** Maximum length of the values of a JSON answer in characters. */
const maxValuesLength = 150

function valueIn({ whole }: ResultText): string | undefined {
  if (whole === undefined) return undefined
  const parsed = parseJson(whole)
  if (parsed === undefined) return isValue(whole) ? oneLine(whole, maxQuoted) : undefined
  const kept = valuesOnly(parsed, 0)
  if (kept === undefined) return undefined
  const text = valueText(kept, maxValuesLength)
  return typeof kept === "object" ? text.slice(1, -1) : text
}

/** Returns a JSON value without its prose: strings that are no short values are left out. */
function valuesOnly(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value !== "" && isValue(value) ? value : undefined
  if (value === null || typeof value !== "object") return value ?? undefined
  if (depth >= 3) return undefined
  if (Array.isArray(value))
    return nonEmpty(value.slice(0, mostMembers).flatMap((item) => valuesOnly(item, depth + 1) ?? []))
  const kept: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, mostMembers)) {
    const inner = isValue(key) ? valuesOnly(item, depth + 1) : undefined
    if (inner !== undefined) kept[key] = inner
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}

const nonEmpty = (items: readonly unknown[]): unknown => (items.length === 0 ? undefined : items)

const outputKeys = ["stdout", "output", "stderr"]

/** Unwraps a command's output from the JSON in which some agents put it, and appends an exit code that means failure. */
export function printedByCommand(text: ResultText): ResultText {
  if (text.whole === undefined || !text.whole.startsWith("{")) return text
  const parsed = parseJson(text.whole)
  if (typeof parsed !== "object" || parsed === null) return text
  const printed = outputKeys.map((key): unknown => Reflect.get(parsed, key)).filter((one) => typeof one === "string")
  if (printed.length === 0) return text
  const about: unknown = Reflect.get(parsed, "metadata")
  const [code] = [parsed, about].flatMap((one) => (typeof one === "object" && one !== null ? exitCodeIn(one) : []))
  if (typeof code !== "number" && flagged.test(text.head.slice(0, 300))) return text
  const failed = typeof code === "number" && code !== 0 ? [`Exit code: ${code}`] : []
  return textEnds([...printed.filter((one) => one !== ""), ...failed].join("\n"))
}

const exitCodeIn = (fields: object): readonly number[] =>
  ["exit_code", "exitCode", "returncode"]
    .map((key): unknown => Reflect.get(fields, key))
    .filter((code) => typeof code === "number")
