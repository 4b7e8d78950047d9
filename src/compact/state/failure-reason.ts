import { anyOf } from "../../language/word-lists.ts"
import { oneLine } from "../summary/summary.ts"
import words from "./outcome-words.json" with { type: "json" }
import { exit, firstMatch, lastMatch, parseJson, printedRecords, type ResultText } from "./result-text.ts"

/** Finds why a call failed: the line of its result that names the reason. */

/** Maximum length of an output that is read as a message about the call rather than as content. */
export const brief = 600
/** Maximum number of members read of a JSON answer. */
export const mostMembers = 16

const errorStarts = anyOf(
  "[\\w.]{0,60}(?:Error|Exception|Warning as error)\\b|error(?:\\[\\w{1,12}\\])?[: ]|fatal[: ]|FAILED\\b|FAIL\\b",
  "panic[: ]|E {3}|ERROR\\b|failed to\\b|npm (?:ERR!|error)|\\S{1,80}\\(\\d{1,6},\\d{1,5}\\): error",
  "\\S{1,120}:\\d{1,6}:(?:\\d{1,5}:)? (?:fatal )?error\\b",
  // The program's name and its error ("docker: Error response from …"), or a mark before what failed ("X Pull request … is not mergeable").
  "[a-z][\\w.-]{0,30}: (?:Error response from|Error: |fatal: |[Ff]ailed to [a-z]|[Uu]nable to [a-z])|[✗✘✖❌⨯×]\\ufe0f? \\S",
  "CONFLICT \\(.{3,200}\\bconflict(?![\\p{L}])",
  "X [A-Z]\\p{L}+ .{0,300}(?<![\\p{L}])(?:not|cannot|failed|denied)(?![\\p{L}])",
)
export const errorLine = new RegExp(
  `^(?!\\W{0,8}(?:E|e)rror:\\s{0,3}\\(?(?:none|null|n/a)?\\)?\\s{0,3}$)\\W{0,8}${errorStarts}`,
  "u",
)
export const shellError = new RegExp(anyOf(words.shellErrors), "im")
/** Words of a beginning that says that something was done. */
export const saysDone = new RegExp(`\\b${anyOf(words.done)}\\b|成功|已完成|完了|완료`, "i")
export const blockedHead = new RegExp(
  anyOf(
    `\\b(?:is|are|was|were|has been) ${anyOf(words.blocked)}\\b`,
    "\\b(?:doesn['’]t|does not) want to proceed\\b",
    "\\b(?:did not|didn['’]t|does not|doesn['’]t) (?:allow|approve|permit) (?:the |this |that )?(?:tool|call|action|command|edit|operation)\\b",
    "\\[operation cancell?ed\\]",
  ),
  "i",
)

/**
 * Returns the reason of a failure: the line that names the error (a traceback ends with it, a compiler's output begins with it), with the
 * deepest cause that the output gives for it, or the message of the first failed test with the test's name.
 */
export function failureReason(text: ResultText, counted: string | undefined): string | undefined {
  const { head, tail, whole = head } = text
  const isRecord = /^\s{0,20}(?:\{|\[\s{0,8}["{[\]])/.test(head)
  const answer =
    parseJson(whole) ?? (isRecord || announced.test(head) ? parseJson(printedRecords(whole)[0] ?? "") : undefined)
  const told = typeof answer === "object" || isRecord ? (messageIn(answer) ?? refusingSentence(answer)) : undefined
  if (told !== undefined || isRecord) return told
  const line = failureLine(text, counted)
  const test = failedTest(tail) ?? failedTest(head)
  if (test !== undefined)
    return counted === undefined || !/(?<!\d)(?:[2-9]|\d\d+) /.test(counted) ? test : `${test}; ${counted.trim()}`
  return line === undefined ? undefined : withCause(line, text)
}

/** One line that announces an error as data: "MCP error: tool returned isError=true". */
const announced = /^[^\n{}]{1,160}\n\s{0,8}\{/

function failureLine({ head, tail }: ResultText, counted: string | undefined): string | undefined {
  const marked = /<error>([^<>\n]{4,300})<\/error>\s*$/.exec(tail)?.[1]
  if (marked !== undefined) return marked
  const traced = /Traceback \(most recent/.test(tail)
    ? lastMatch(tail, /^[\w.]{1,80}(?:Error|Exception|Exit|Interrupt)\b/)
    : undefined
  return (
    traced ??
    firstMatch(head, fromServer) ??
    firstMatch(head, pushRejected)?.trim() ??
    refusalIn(head) ??
    firstMatch(tail, errorLine, resultOnly) ??
    firstMatch(head, errorLine, resultOnly) ??
    firstMatch(head, shellError) ??
    lastMatch(tail, badMark)?.trim() ??
    firstMatch(head, findingLine) ??
    lastMatch(tail, countOfFindings)?.trim() ??
    counted ??
    firstMatch(tail, errorLine) ??
    exitLine(head, tail) ??
    firstMatch(head, /\S/)
  )
}

/** The finding of a linter or compiler at a place: "src/a.py:3:8: F401 …", "F401 [*] `os` imported but unused". */
const findingLine = /^\s{0,8}(?:[\w./-]{1,120}\.\w{1,5}:\d{1,6}:\d{1,5}:? \S|[A-Z]{1,5}\d{3,5}:? (?:\[\*\] )?\S)/

/** How much a scanner found, which is why it ended with an exit code. */
const countOfFindings =
  /(?<![\p{L}])(?:issues?|leaks?|findings?|vulnerabilit\p{L}+|problems?|violations?)(?![\p{L}])[^\n\d]{0,20}\d|\d (?:issues?|leaks?|findings?|vulnerabilit\p{L}+|problems?|violations?)(?![\p{L}])/iu

/** Lines that only say that a build or a step failed. */
const resultOnly =
  /^\W*(?:> Task \S+ FAILED|FAILURE: Build failed|BUILD FAILED|error: (?:test run failed|script )|Error: Process completed)/

/** Forms in which test runners name a failed test; the message follows in a later line, or behind the name. */
const failedTests = [
  /^FAILED (\S+::\S.{0,200}?) - (\S.{2,300})$/,
  /^\s{0,4}(?:FAIL \[\s{0,4}[\d.]+s\]|--- FAIL:|FAIL {1,3}(?=\S.* > )|not ok \d+ -|●) {1,2}(\S.{2,200}?)(?: \([\d.]+ ?m?s\))?$/,
  /^test (\S{3,200}) \.\.\. FAILED$/,
  /^(\S.{1,120} > .{2,200}) FAILED$/,
  /^\s{1,4}\d{1,4}\) (\S.{4,200}?)[ ─-]{0,200}$/,
] as const
/** The message of a failed assertion, as it stands below the test's name. */
const message =
  /^\W{0,8}(?:E {1,3})?(?:[\w.]{0,60}(?:Error|Exception|Failure)\b: ?\S|[\w./-]{1,80}_test\.go:\d+: \S|thread '.{1,80}' panicked at|panicked at|[Ee]xpected\b.{0,80}\b(?:but|to|got|received|actual)\b|assert\b|Failure\/Error: \S)/
/** Maximum number of lines between a test's name and its message, and lengths of both in characters. */
const [maxBetween, maxMessage, maxTestName] = [30, 110, 80]

/** Returns the message of the first failed test with the test's name. */
function failedTest(output: string): string | undefined {
  const lines = output.split("\n").map((line) => line.slice(0, 400))
  for (const [n, line] of lines.entries()) {
    const [, name, said] = failedTests.map((form) => form.exec(line)).find((match) => match !== null) ?? []
    if (name === undefined) continue
    const found = lines.slice(n + 1, n + maxBetween).findIndex((one) => message.test(one))
    const at = n + 1 + found
    // A panic names its place first and its message in the next line.
    const told = said ?? (found < 0 ? undefined : /panicked at .*:$/.test(lines[at] ?? "") ? lines[at + 1] : lines[at])
    if (told !== undefined) return `${reasonWithin(told, maxMessage)} in ${oneLine(name, maxTestName)}`
  }
  return undefined
}

/** Causes below an error: numbered, behind "Caused by:", or drawn as a tree. */
const causeLine =
  /^\s{0,12}(?:Caused by: |caused by: |Cause: |cause: |\d{1,2}: (?=\p{L})|[├╰└]─[▶>─]? ?|DETAIL: )(\S.{5,400})$/u
/** Maximum number of lines below the error that may be causes. */
const maxCauses = 12

/** Adds the deepest cause to the line of an error. */
function withCause(line: string, { head, tail, whole }: ResultText): string {
  const lines = (whole ?? `${head}\n${tail}`).split("\n")
  const at = lines.findIndex((one) => one.trim() !== "" && line.trim().startsWith(one.trim()))
  const causes = lines.slice(at + 1, at + 1 + maxCauses).flatMap((one) => causeLine.exec(one.slice(0, 500))?.[1] ?? [])
  const deepest = causes.at(-1)?.trim()
  return deepest === undefined || line.includes(deepest) ? line : `${line.trim()}; cause: ${deepest}`
}

/**
 * Shortens a reason to a length: of an error that wraps others ("a: b: c") its beginning and the innermost parts stay, because these say
 * what is wrong.
 */
export function reasonWithin(reason: string, length: number): string {
  const line = oneLine(reason, 4 * length)
  if (line.length <= length) return line
  // A printed error object has its message between quotation marks.
  const [, inner] = /\bmessage["']?[:=] ?"([^"]{8,120})"/.exec(line) ?? []
  if (inner !== undefined) return `${oneLine(line, length - inner.length - gap.length)}${gap}${inner}`
  const parts = line.split(/(?<=[:;]) /)
  const [first = ""] = parts
  const room = length - Math.min(first.length, Math.floor(length / 3)) - gap.length
  let end = ""
  for (const part of parts.slice(1).reverse()) {
    if (advice.test(part)) continue
    if (end.length + part.length + 1 > room) break
    end = end === "" ? part : `${part} ${end}`
  }
  return end === "" ? oneLine(line, length) : `${oneLine(first, length - end.length - gap.length)}${gap}${end}`
}
const gap = " … "
/** Parts that advise the reader rather than say what is wrong. */
const advice = /^(?:please|hint|try|use|run|see|did you mean|for (?:more|help|details))\b/i

/** A server's reason for refusing a push, as a sentence. */
const fromServer =
  /^remote: (?!(?:Enumerating|Counting|Compressing|Resolving|Total|Processing|To |Create|Visit|View|Please|See|Use)\b)(?:\S+ ){4}\S/

/** The reason why one branch was rejected; the line after it only says that some were. */
const pushRejected = /^ ?! \[[\w ]{0,20}rejected\]\s{1,40}\S/

/** Returns the line with the exit code, followed by a more telling line if it says nothing else. */
function exitLine(head: string, tail: string): string | undefined {
  const line = lastMatch(tail, exit)
  if (line === undefined || !/^\W*(?:process |command )?exit\D{0,24}\d{1,3}\W*$/i.test(line)) return line
  const others = head
    .split("\n")
    .filter((one) => /\p{L}{3}/u.test(one) && !/[\u2500-\u25ff]/.test(one) && !exit.test(one) && !streamLabel.test(one))
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

const messageKeys: readonly string[] = words.messageKeys
const codeKeys = ["type", "code", "error_code", "errorCode"]

/** Returns the error message of a JSON answer: one line under a key meant for it. */
function messageIn(answer: unknown, depth = 0): string | undefined {
  if (typeof answer === "string") return answer.length <= brief ? firstMatch(answer, /\S/) : undefined
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
  for (const value of Object.values(answer).slice(0, mostMembers)) {
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

const badMark = /^[^[\]\n]{0,90}\[-\]\s+\S/
