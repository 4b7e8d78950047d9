import { directs } from "../../language/imperative.ts"
import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { oneLine } from "../summary/summary.ts"
import { valueText } from "./call-text.ts"
import { placeholder } from "./file-change.ts"
import words from "./outcome-words.json" with { type: "json" }
import { exit, exitWell, type ResultText, textEnds } from "./result-text.ts"

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
  /** The beginning of a longer output that has neither `line` nor `value`. */
  readonly begins?: string
}

/** Maximum length of a quoted line of a tool's output. */
export const maxQuoted = 160

/** Maximum length of an output that is read as a message about the call rather than as content. */
const brief = 600

const errorStarts = anyOf(
  "[\\w.]{0,60}(?:Error|Exception|Warning as error)\\b|error(?:\\[\\w{1,12}\\])?[: ]|fatal[: ]|FAILED\\b|FAIL\\b",
  "panic[: ]|E {3}|ERROR\\b|failed to\\b|npm (?:ERR!|error)|\\S{1,80}\\(\\d{1,6},\\d{1,5}\\): error",
  "\\S{1,120}:\\d{1,6}:(?:\\d{1,5}:)? (?:fatal )?error\\b",
  // The program's name and its error ("docker: Error response from …"), or a mark before what failed ("X Pull request … is not mergeable").
  "[a-z][\\w.-]{0,30}: (?:Error response from|Error: |fatal: |[Ff]ailed to [a-z]|[Uu]nable to [a-z])|[✗✘✖❌⨯]\\ufe0f? \\S",
  "X [A-Z]\\p{L}+ .{0,300}(?<![\\p{L}])(?:not|cannot|failed|denied)(?![\\p{L}])",
)
const errorLine = new RegExp(
  `^(?!\\W{0,8}(?:E|e)rror:\\s{0,3}\\(?(?:none|null|n/a)?\\)?\\s{0,3}$)\\W{0,8}${errorStarts}`,
  "u",
)
const shellError = new RegExp(anyOf(words.shellErrors), "im")
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
const blockedHead = new RegExp(
  anyOf(
    `\\b(?:is|are|was|were|has been) ${anyOf(words.blocked)}\\b`,
    "\\b(?:doesn['’]t|does not) want to proceed\\b",
    "\\b(?:did not|didn['’]t|does not|doesn['’]t) (?:allow|approve|permit) (?:the |this |that )?(?:tool|call|action|command|edit|operation)\\b",
    "\\[operation cancell?ed\\]",
  ),
  "i",
)
/** Words of a beginning that says that something was done. */
const saysDone = new RegExp(`\\b${anyOf(words.done)}\\b|成功|已完成|完了|완료`, "i")
const tally =
  /(?<![\w:.])\d{1,6} (?:tests? )?(?:passed|passing|failed|failing|failures?|errors?|warnings?)(?![\w/-]|\.\w| occurred)|\b(?:Tests?|Ran|Test Suites)[: ]+\d|^OK\b|BUILD (?:SUCCESS|FAILED)|\b0 errors\b|test result:/
const failedTally =
  /^(?!.*\b0 remaining\b).*(?<![\w:.])[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?|errors?)(?![\w/-]|\.\w| occurred)|BUILD FAILED|FAILED \((?:failures|errors)=/

/** Error message of a program that prints files. */
const cannotPrint =
  /^[a-z][\w.-]{0,20}: (?:\S{1,80}: )?.{0,120}(?:No such file|cannot|Permission denied|Is a directory|not found|unrecognized|invalid|unknown revision|not a git)/im

const reports = anyOf(
  "\\[[\\w./ ()-]{1,80} [\\da-f]{7,40}\\] \\S|[\\da-f]{7,40}\\.{2,3}[\\da-f]{7,40}\\s{1,8}\\S{1,80}\\s{1,40}-> ",
  "\\* \\[new (?:branch|tag)\\]|Switched to (?:a new )?branch|Already (?:on|up[ -]to[ -]date)",
  "Everything up-to-date|Merge made by|Fast-forward|HEAD is now at ",
  "Successfully (?:installed|built|tagged|merged|rebased|uninstalled)|added \\d{1,6} packages?",
  "removed \\d{1,6} packages?|up to date, audited|[✓✔] \\S|(?:UPDATE|DELETE|COPY|INSERT 0) \\d{1,9}$",
  "(?:CREATE|ALTER|DROP|TRUNCATE) (?:TABLE|INDEX|VIEW|MATERIALIZED VIEW|SEQUENCE|TYPE|FUNCTION|SCHEMA|DATABASE|EXTENSION|ROLE|TRIGGER)$",
  "Query OK, \\d|Setting up \\S|created \\S{1,120}$|deployment\\S{0,120} (?:created|configured|unchanged)",
  "Login Succeeded",
  "https?://\\S{1,200}/(?:pull|pulls|merge_requests|issues|releases|runs|commit)/[^\\s/]{1,80}$",
  '(?:Apply|Destroy) complete! |Rollback was a success|Release "\\S{1,60}" has been \\p{L}+|deployment "\\S{1,60}" successfully rolled out',
  "[a-z][\\w.-]{1,60}/[\\w.-]{1,80} (?:patched|scaled|restarted|annotated|labell?ed|cordoned|uncordoned|drained|evicted|replaced|rolled back)\\b",
  "Submitted batch job \\d|Your job \\d{1,12} |Job <\\d{1,12}> is submitted",
)
/** Lines that common tools print on success: a commit, push, merge, branch or installation. */
const accomplished = new RegExp(`^\\s{0,4}${reports}`, "u")

const ranStatement = /^\s{0,4}[A-Z]{4,10}(?: [A-Z]{4,12}){0,2}(?: \d{1,9}){0,2}$/

/** Creating a table is left out: it may be temporary and gone with the session. */
const changedData = /^\s*(?:(?:UPDATE|DELETE|INSERT|MERGE)(?: 0)? [1-9]\d*|(?:ALTER|DROP|TRUNCATE)(?: [A-Z]+)+)\s*$/

const changesStay = (told: string, { tail }: ResultText): boolean =>
  changedData.test(told) && !/^\s*ROLLBACK\s*$/m.test(tail)

function lastLine(text: string, wanted: RegExp): string | undefined {
  return text.split("\n").findLast((line) => wanted.test(line.slice(0, 400)))
}

/** True for a line such as `ERROR`, or a heading that ends in a colon, which needs the line after it. */
const isBareHead = (line: string): boolean =>
  /^\W*(?:error|fatal|failed|failure|exception)\W*$/i.test(line) || (line.length <= 60 && /[:：]$/.test(line))

function firstLine(text: string, wanted: RegExp, unless?: RegExp): string | undefined {
  const lines = text.split("\n")
  const at = lines.findIndex((line) => wanted.test(line.slice(0, 400)) && unless?.test(line.slice(0, 400)) !== true)
  const found = lines[at]
  if (found === undefined || !isBareHead(found.trim())) return found
  const next = lines.slice(at + 1, at + 4).find((line) => line.trim() !== "")
  return `${found.trim()} ${next ?? ""}`.trim()
}

const quoted = (line: string | undefined): { readonly line?: string } =>
  line === undefined || !/[\p{L}\p{N}]/u.test(line) ? {} : { line: oneLine(withoutCall(line), maxQuoted) }

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
  const counted = runs && !prints ? lastLine(text.tail, tally) : undefined
  const rejection = flag === false || (prints && flag === undefined) ? undefined : rejectionIn(text)
  if (rejection !== undefined) return { failed: true, rejected: true, ...quoted(rejection) }
  const failed = flag ?? hasFailed(text, runs, prints, counted)
  if (failed)
    return tellsWhy(text, runs) ? { failed, ...quoted(failureLine(text, failedCount(text, counted))) } : { failed }
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
    runs && !prints && !isSilent ? (lastLine(text.tail, accomplished) ?? change ?? successIn(text)) : undefined
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
  counted === undefined || failedTally.test(counted) ? counted : (lastLine(tail, failedTally) ?? counted)

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
  const line = tail.includes("[+] ") ? lastLine(tail, goodMark) : undefined
  return line?.slice(line.indexOf("[+]"))
}
const resultMark = /^[^[\]\n]{0,90}\[[*+]\]\s+\S/
const goodMark = /^[^[\]\n]{0,90}\[\+\]\s+\S/
const badMark = /^[^[\]\n]{0,90}\[-\]\s+\S/
const changedTo = /\b(?:saved|created|deleted|removed|added|written|uploaded|changed from|set to)\b/i

/** An answer with one field for the old value and one for the new. */
const wasAndIs = /^\s{0,4}\{(?=.*"(?:was|old|previous|before|cancelled)"\s{0,3}:).*"(?:now|new|current|after)"\s{0,3}:/s
const changed = new RegExp(`\\b${anyOf(words.changed)}\\b|^[^\\s:]{2,60}: \\S{1,40} (?:->|→|=>) \\S`, "im")

/** Returns the first line of an output with the number of lines. */
function beginningOf({ head, whole }: ResultText): string | undefined {
  const lines = (whole ?? head).split("\n").filter((line) => /[\p{L}\p{N}]/u.test(line))
  const [first] = lines
  if (first === undefined || noOutput.test(head.slice(0, 80))) return undefined
  if (lines.length > 1 && isRow(first)) return undefined
  return `${oneLine(first, maxBeginning)} … (${whole === undefined ? "more than " : ""}${lines.length} lines)`
}

/** True for a row or header of a table: mostly figures and column names, which tell nothing without the rest. */
function isRow(line: string): boolean {
  const words = line.trim().split(/[\s|,]+/)
  return words.length >= leastCells && words.filter((word) => /[\d_]/.test(word)).length >= words.length / 2
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

/** The Docker daemon refused one step; the output of other steps may surround the line. */
const fromDaemon = /^(?:docker: )?Error response from daemon: \S/m

function saysFailed({ head, tail, length, exitedWell }: ResultText, runs: boolean): boolean {
  if (exitedWell === true) return false
  if (exit.test(tail.slice(-400)) || exit.test(head.slice(0, 200))) return true
  if (exitWell.test(tail.slice(-400)) || exitWell.test(head.slice(0, 200))) return false
  if (/^Traceback \(most recent/m.test(tail)) return true
  if (flagged.test(head.slice(0, 300))) return true
  if (runs && (fromDaemon.test(head) || fromDaemon.test(tail))) return true
  if (length <= brief && (refused.test(head.slice(0, 200)) || blockedHead.test(head.slice(0, 300)))) return true
  if (runs && brokenOff.test(tail.slice(-300))) return true
  return length <= brief && runs && (firstLine(head, shellError, warning) ?? firstLine(head, errorLine)) !== undefined
}
/** A warning did not stop the program. */
const warning = /^\W{0,8}warn(?:ing)?\b/i

const messageKeys: readonly string[] = words.messageKeys
const codeKeys = ["type", "code", "error_code", "errorCode"]

/** Returns the error message of a JSON answer: one line under a key meant for it. */
function messageIn(answer: unknown, depth = 0): string | undefined {
  if (typeof answer === "string") return answer.length <= brief ? firstLine(answer, /\S/) : undefined
  if (typeof answer !== "object" || answer === null || depth > maxAnswerDepth) return undefined
  if (Array.isArray(answer)) return messageIn(answer[0], depth + 1)
  const fieldOf = (key: string): unknown => Reflect.get(answer, key)
  const told = messageKeys.map(fieldOf).filter(isSaid)
  const [first, second] = told.map((one) => messageIn(one, depth + 1))
  const code = codeKeys.map(fieldOf).find((one) => typeof one === "string" && isErrorName.test(one))
  if (first === undefined && typeof code === "string") return code
  if (first === undefined) return depth > 0 ? undefined : messageIn(wrappers.map(fieldOf).find(isSaid), depth + 1)
  // A code is returned with the sentence beside it.
  if (isCode.test(first)) return second === undefined ? first : `${first}: ${second}`
  return typeof code === "string" && !first.includes(code) ? `${code}: ${first}` : first
}
const maxAnswerDepth = 4

/** Returns the first string of an answer that reads like a refusal, under any key: `"smtp": "550 5.1.1 … User unknown"`. */
function refusingSentence(answer: unknown, depth = 0): string | undefined {
  if (typeof answer === "string") return answer.length <= brief && refusingWords.test(answer) ? answer : undefined
  if (typeof answer !== "object" || answer === null || depth > 2) return undefined
  for (const value of Object.values(answer).slice(0, maxMembers)) {
    const found = refusingSentence(value, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}
const refusingWords =
  /^[45]\d\d[ -]\S+ \S|\b(?:unknown|rejected|denied|refused|failed|invalid|expired|exceeded|unavailable|cannot|could not|not (?:found|allowed|possible|available|permitted))\b.*\s/i
/** Keys that wrap the content of an answer, and with it the error. */
const wrappers = ["result", "data", "response", "payload", "body"]
const isCode = /^[\w.-]{1,60}$/
/** An error name such as `LIMIT_EXCEEDED` or `SlotTaken`, which does not occur in prose. */
const isErrorName = /^(?:[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[A-Z][a-z\d]+(?:[A-Z][a-z\d]+)+)$/

const isSaid = (value: unknown): boolean =>
  (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null)

/** Returns the line that names the error: a traceback ends with it, a compiler's output begins with it. */
function failureLine(text: ResultText, counted: string | undefined): string | undefined {
  const { head, tail } = text
  const answer = text.whole === undefined ? undefined : parseJson(text.whole)
  if (typeof answer === "object" || /^\s{0,20}(?:\{|\[\s{0,8}["{[\]])/.test(head))
    return messageIn(answer) ?? refusingSentence(answer)
  const marked = /<error>([^<>\n]{4,300})<\/error>\s*$/.exec(tail)?.[1]
  if (marked !== undefined) return marked
  const traced = /Traceback \(most recent/.test(tail)
    ? lastLine(tail, /^[\w.]{1,80}(?:Error|Exception|Exit|Interrupt)\b/)
    : undefined
  return (
    traced ??
    refusalIn(head) ??
    firstLine(head, fromServer) ??
    firstLine(head, pushRejected)?.trim() ??
    firstLine(tail, errorLine) ??
    firstLine(head, errorLine) ??
    firstLine(head, shellError) ??
    lastLine(tail, badMark)?.trim() ??
    counted ??
    exitLine(head, tail) ??
    firstLine(head, /\S/)
  )
}

/** A server's reason for refusing a push, as a sentence. */
const fromServer =
  /^remote: (?!(?:Enumerating|Counting|Compressing|Resolving|Total|Processing|To |Create|Visit|View|Please|See|Use)\b)(?:\S+ ){4}\S/

/** The reason why one branch was rejected; the line after it only says that some were. */
const pushRejected = /^ ?! \[[\w ]{0,20}rejected\] \S/

/** Returns the line with the exit code, followed by a more telling line if it says nothing else. */
function exitLine(head: string, tail: string): string | undefined {
  const line = lastLine(tail, exit)
  if (line === undefined || !/^\W*(?:process |command )?exit\D{0,24}\d{1,3}\W*$/i.test(line)) return line
  const others = head.split("\n").filter((one) => /\p{L}{3}/u.test(one) && !exit.test(one) && !streamLabel.test(one))
  const telling =
    others.find((one) => /\b(?:fail\w*|errors?|denied|refused|missing|not|cannot)\b|[✗✘×]/i.test(one)) ?? others[0]
  return telling === undefined ? line : `${line.trim()}: ${telling.trim()}`
}

/** A line that only names what follows: `stderr:`, `stdout: (empty)`. */
const streamLabel = /^\W*(?:std ?(?:out|err)|(?:standard )?output|error output)\W*(?:empty|none)?\W*$/i

/** Returns the sentence that refuses or regrets; a heading may stand before it. */
const refusalIn = (head: string): string | undefined => {
  if (!blockedHead.test(head.slice(0, 300)) && !regrets(head)) return undefined
  const sentences = head.slice(0, brief).split(/(?<=[.;!])\s+(?=\S)|(?<=。)|\n/)
  const said = sentences.find((one) => blockedHead.test(one) || apologizes.test(one) || staysAsItWas.test(one))
  // "No action taken" gives no reason: the error before it does.
  const why = nothingDone.test(said ?? "") ? sentences.find((one) => errorLine.test(one) && one !== said) : undefined
  return (why ?? said)?.replace(/;$/, "")
}
const nothingDone = /^(?:no|nothing|nichts|rien|nada|niente)(?![\p{L}]).{0,80}$/iu

/** True if a service politely declines. */
export const regrets = (head: string): boolean =>
  !/^\s{0,20}[[{<]/.test(head) &&
  (apologizes.test(head.slice(0, 400)) || (staysAsItWas.test(head.slice(0, 400)) && !saysDone.test(head.slice(0, 200))))
/** Says that everything stays as it was, in an answer that does not say that anything was done. */
const staysAsItWas = new RegExp(`(?<![\\p{L}])${anyOf(words.keeps)}`, "iu")
const apologizes = new RegExp(
  anyOf(
    `(?<![\\p{L}])${anyOf(words.regrets)}(?![\\p{L}])`,
    words.regretsIdeographic,
    `(?<![\\p{L}])(?:nothing|no [\\p{L} ]{2,24}) (?:has been|was|were|is) ${anyOf(words.notMade)}(?![\\p{L}])`,
    `(?<![\\p{L}])${anyOf(words.cannotElsewhere)}`,
    "ничего не|не удалось",
    words.cannotIdeographic,
  ),
  "iu",
)

/** Returns the output of a short run, if it is a value rather than a text. */
function shortOutput({ whole }: ResultText): string | undefined {
  const lines = (whole ?? "").split("\n").filter((line) => line.trim() !== "")
  const [only = ""] = lines
  return lines.length > 0 && lines.length <= 3 && isValue(only) ? oneLine(only, maxQuoted) : undefined
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

export function parseJson(text: string): unknown {
  if (!/^\s{0,20}[[{"\d]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the caller reads the text as it is.
    return undefined
  }
}

const maxMembers = 16

/** Returns a JSON value without its prose: strings that are no short values are left out. */
function valuesOnly(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value !== "" && isValue(value) ? value : undefined
  if (value === null || typeof value !== "object") return value ?? undefined
  if (depth >= 3) return undefined
  if (Array.isArray(value))
    return nonEmpty(value.slice(0, maxMembers).flatMap((item) => valuesOnly(item, depth + 1) ?? []))
  const kept: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value).slice(0, maxMembers)) {
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
