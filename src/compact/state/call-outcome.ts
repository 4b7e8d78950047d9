import { anyOf } from "../../language/word-lists.ts"
import type { ToolResultPart } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createPerObject } from "../../message/recall.ts"
import { missingResult } from "../../message/repair.ts"
import { oneLine } from "../summary/summary.ts"
import type { CallDeed } from "./call-deed.ts"
import { changesForCertain, looksOnly } from "./changing-commands.ts"
import { endsInPrinting, isPrinting } from "./command-runs.ts"
import { regrets } from "./failure-reason.ts"
import type { FileDeed } from "./file-change.ts"
import { isValue, maxQuoted, type Outcome, outcomeOf, printedByCommand } from "./outcome-of.ts"
import words from "./outcome-words.json" with { type: "json" }
import { screenText } from "./page-elements.ts"
import { reportsIn, writtenIn } from "./reports.ts"
import { parseJson, printedRecords, type ResultText, resultText, textEnds } from "./result-text.ts"

/** Reads how a call ended; for a change only what it created matters, because the rest was in the call. */
export const callOutcome = createPerObject((result: ToolResultPart, deed: CallDeed): Outcome => {
  const told = resultText(result)
  // The placeholder for a missing result says nothing about how the call ended.
  if (told.whole === missingResult) return { failed: false }
  const text = deed.type === "command" ? printedByCommand(told) : deed.type === "call" ? answerIn(told) : told
  const prints = deed.type === "command" && isPrinting(deed.command)
  const shown = deed.type === "call" && deed.changes === "little" ? pageSaysDone(told) : undefined
  if (shown !== undefined && result.failed !== true) return { failed: false, sure: true, isDone: true, value: shown }
  const searched = deed.type === "command" && deed.searches === true ? withoutExit(text) : undefined
  const found =
    searched === undefined
      ? outcomeOf(text, deed.type === "command", result.failed ?? toldFlag(deed, text), prints)
      : outcomeOf(searched, true, undefined, prints)
  // That a deleted file no longer exists is the intended outcome.
  const isGone = found.failed && deed.type === "command" && confirmsRemoval(found.line ?? "", deed.files)
  const outcome: Outcome = isGone || isEmptySearch(deed, text) ? { failed: false, sure: true } : found
  if (deed.type === "command") {
    const ended = outcome.failed ? outcome : withPrintedRecords(deed, withoutShownFile(deed, outcome), text)
    return withReports(deed, outcome.failed ? ended : withCommit(deed, ended, text), text)
  }
  const isDone =
    deed.type === "call" &&
    !outcome.failed &&
    (doneAsNamed(deed.tool, told) || (deed.changes === "maybe" && acknowledges(deed.tool, told, deed.input)))
  if (deed.type !== "call" || (deed.changes === "no" && !isDone) || outcome.failed) return outcome
  const { sure, line } = outcome
  // The states of rows in a list were not set by this call.
  const { says, did } = deed.changes === "maybe" && listsRows.test(told.head.slice(0, 400)) ? {} : outcome
  return { failed: false, ...present({ sure, says, did, line }), ...(isDone ? { isDone } : {}) }
})

/** Returns what a changing command created, if it printed its answer as JSON: the names and states in it. */
function withPrintedRecords(deed: CallDeed, outcome: Outcome, { head, tail, whole }: ResultText): Outcome {
  const isTold = outcome.value !== undefined || (outcome.line !== undefined && !/^[[{]/.test(outcome.line))
  if (deed.type !== "command" || deed.changes !== "yes" || isTold) return outcome
  const { line: _, begins: __, ...ended } = outcome
  const values = printedRecords(whole ?? `${head}\n${tail}`).flatMap((record) => {
    const made = madeBy(textEnds(record), { tool: deed.command, input: deed.command })
    return made?.split(", ").some((part) => namesOrState.test(part)) === true ? made : []
  })
  return values.length === 0 ? outcome : { ...ended, sure: true, value: oneLine(values.join(", "), maxQuoted) }
}

const namesOrState = /^\w{0,24}(?:id|Id|number|ref|url|status|state)=/

/** Adds to the outcome of a changing command what its other steps report with an exact value, also those before the one that failed. */
function withReports(deed: CallDeed, outcome: Outcome, text: ResultText): Outcome {
  if (deed.type !== "command" || deed.changes === "no" || outcome.rejected === true) return outcome
  if (deed.changes !== "yes") {
    const written = outcome.failed || isPrinting(deed.command) ? undefined : writtenIn(text)
    return written === undefined ? outcome : { ...outcome, line: outcome.line ?? written, did: true }
  }
  const main = outcome.line ?? outcome.value
  const told = `${deed.command} ${main ?? ""}`
  const isNews = (report: string): boolean =>
    main === undefined
      ? !told.includes(report)
      : (report.match(exactValue) ?? []).some((value) => !told.includes(value)) && !loggedCommit.test(report)
  const also = reportsIn(text).filter(isNews)
  return also.length === 0 ? outcome : { ...outcome, also }
}
const exactValue = /\w[\w.:@%+/-]*[\d/_-][\w.:/@%+-]*\w/g
/** A commit is told by its hash already. */
const loggedCommit = /^\[[^\]]{1,80} [\da-f]{7,40}\] /

const listsRows = /"(?:rows|items|results?|entries|records|hits|events|data|list)"\s{0,3}:\s{0,3}\[\s{0,8}\{/

/** The failure flag for cases in which the output's words alone do not decide; undefined if unknown. */
const toldFlag = (deed: CallDeed, text: ResultText): boolean | undefined =>
  complaintFlag(deed, text) ?? lookupFlag(deed, text) ?? printedCodeFlag(deed, text) ?? exitCodeFlag(deed, text)

/** Returns true (failed) if the output ends with a nonzero exit code behind the label that the command prints. */
function printedCodeFlag(deed: CallDeed, { tail }: ResultText): true | undefined {
  if (deed.type !== "command" || deed.codeLabel === undefined) return undefined
  const last = tail.trimEnd().split("\n").at(-1)?.trim() ?? ""
  return last.startsWith(deed.codeLabel.trim()) && lastCode.test(last) ? true : undefined
}
const lastCode = /(?<!\d)[1-9]\d{0,2}$/

/** Returns false (not failed) for a good exit code, if the command has no step that hides one, or if it only reads. */
const exitCodeFlag = (deed: CallDeed, { exitedWell }: ResultText): false | undefined =>
  deed.type === "command" &&
  exitedWell === true &&
  (deed.isOneChain === true || (deed.changes === "no" && looksOnly(deed.command)))
    ? false
    : undefined

/** Drops the text of the outcome if the command changed something and then showed a file: that text did not result from the change. */
function withoutShownFile({ command }: Extract<CallDeed, { type: "command" }>, outcome: Outcome): Outcome {
  if (outcome.did === true || !endsInPrinting(command) || !changesForCertain(command)) return outcome
  const { failed, sure } = outcome
  return { failed, ...present({ sure }) }
}

/** Returns the heading with which a page confirms an action after a click, with the first details below it. */
function pageSaysDone({ head }: ResultText): string | undefined {
  if (!head.includes("[ref=")) return undefined
  const lines = head.split("\n")
  const at = lines.findIndex((line) => /^\s{0,20}- (?:heading "[^"]+" \[level=1\]|status: |alert: )/.test(line))
  const heading = /"([^"]+)"|: (.+)$/
    .exec(lines[at] ?? "")
    ?.slice(1)
    .find((one) => one !== undefined)
  const title = /(?:^|\n)- Page Title: ([^\n|]{3,80})/.exec(head)?.[1]?.trim()
  const said = [heading, title].find((one) => one !== undefined && pageDone.test(one) && !pageNotDone.test(one))
  if (said === undefined || pageNotDone.test(heading ?? "")) return undefined
  const more = lines
    .slice(at + 1, at + 6)
    .flatMap((line) => /^\s{0,20}- (?:text|paragraph|definition "[^"]+"): .+$/.exec(line)?.[0].trim().slice(2) ?? [])
    .map((line) => line.replace(/^(?:text|paragraph): /, "").replace(/^definition "([^"]+)"/, "$1"))
  return oneLine([said, ...more].join("; "), maxQuoted)
}
const pageDone = new RegExp(`(?<![\\p{L}])${anyOf(words.pageDone)}(?![\\p{L}])`, "iu")
const pageNotDone =
  /(?<![\p{L}])(?:not|nearly|almost|draft|before you|could|unable|sorry|error|failed|pending|step \d|someone was)(?![\p{L}])|n['’]t(?![\p{L}])/iu

/** Returns true (failed) if a changing tool answers with a complaint: an apology, its own name first, or a refusing status. */
const complaintFlag = (deed: CallDeed, text: ResultText): true | undefined => {
  const { head, length } = text
  if (deed.type === "files") return length <= briefly && writes(deed.files) && regrets(head) ? true : undefined
  if (deed.type !== "call" || deed.changes === "no") return undefined
  if (length <= polite && regrets(head)) return true
  if (deed.changes !== "yes") return undefined
  if (offersInstead.test(head.slice(0, 1_000))) return true
  if (length <= 300 && head.startsWith(`${deed.tool}: `)) return true
  if (/^\s{0,4}\{/.test(head) && length <= polite && notDone.test(head)) return true
  return refusing.test(head.slice(0, 400)) && !doneAsNamed(deed.tool, text) ? true : undefined
}
/**
 * Returns false (not failed) if a lookup reports the state of the very thing that was asked for: a failure in it is that thing's, not the
 * call's.
 */
function lookupFlag(deed: CallDeed, { whole }: ResultText): false | undefined {
  if (deed.type !== "call" || deed.changes !== "no" || whole === undefined || !whole.startsWith("{")) return undefined
  const parsed = parseJson(whole)
  if (typeof parsed !== "object" || parsed === null || "error" in parsed || "errors" in parsed) return undefined
  const given = JSON.stringify(deed.input) ?? ""
  const isAsked = ([key, value]: readonly [string, unknown]): boolean =>
    nameKey.test(key) && /^(?:string|number)$/.test(typeof value) && givenValue(given, value)
  return Object.entries(parsed).some(isAsked) ? false : undefined
}

const givenValue = (given: string, value: unknown): boolean =>
  given.includes(JSON.stringify(value)) || given.includes(JSON.stringify(String(value)))

/** A sentence in a field that says outright that nothing was done. */
const notDone = new RegExp(
  anyOf(
    "(?:nothing|no changes?) (?:was|were|has been|have been) (?:changed|made|booked|moved|saved|updated)",
    "(?:was|has) not (?:been )?(?:changed|moved|booked|applied|processed|saved|updated)(?! yet)",
    words.notDoneIdeographic,
  ),
  "i",
)
/** Maximum length of a refusal in sentences, and of one that cannot be part of a file's content. */
const [polite, briefly] = [1200, 300]
const writes = (files: readonly FileDeed[]): boolean => files.some(({ deed }) => deed !== "read")
/** A reason together with alternatives means that the request was refused. */
const offersInstead =
  /^\s{0,4}\{(?=[\s\S]{0,900}"reason"\s{0,3}:\s{0,3}")(?=[\s\S]{0,900}"(?:alternatives?|suggestions?|suggested)"\s{0,3}:)/
const refusing = new RegExp(
  `^\\s{0,4}\\{[^[\\]]{0,300}?"${anyOf(words.stateFields)}"\\s{0,3}:\\s{0,3}"${anyOf(words.refusingStates)}"`,
  "i",
)

/** What each change created, given the results before it. */
const madeBefore = new WeakMap<ToolResultPart, { readonly deed: CallDeed; readonly value: string | undefined }>()

/** Adds to the outcome of a change the names that it created and no earlier result contains. */
export function withMade(
  results: readonly ToolResultPart[],
  read: Outcome,
  result: ToolResultPart,
  deed: CallDeed,
): Outcome {
  if (read.failed || deed.type !== "call" || (deed.changes === "no" && read.isDone !== true)) return read
  const known = madeBefore.get(result)
  const value =
    known?.deed === deed
      ? known.value
      : madeBy(answerIn(resultText(result)), deed, (id) => results.some((one) => screenText(one).includes(id)))
  madeBefore.set(result, { deed, value })
  return { ...read, ...present({ value }) }
}

/** True if the status of an answer confirms the tool's own verb: `verify_contact` and "verified". */
function doneAsNamed(tool: string, { head }: ResultText): boolean {
  const [verb = ""] = (tool.split(/__|[.:/]/).at(-1) ?? "").split(/[_-]|(?<=[a-z])(?=[A-Z])/)
  const status = /"(?:status|state)"\s{0,3}:\s{0,3}"([a-z_-]{4,30}ed)"/i.exec(head.slice(0, 600))?.[1]?.toLowerCase()
  return verb.length > 3 && status?.startsWith(verb.toLowerCase().replace(/(?:e|y)$/, "")) === true
}

/**
 * True if an answer only confirms that something was done, with the names of what was created: `{"ok": true, "blocks": ["bl_03"]}`; or if
 * it has an id named after the tool's first word that the call did not know: `refuel_data` and `refuel_id`.
 */
function acknowledges(tool: string, { whole }: ResultText, given: unknown): boolean {
  const parsed = whole === undefined ? undefined : parseJson(whole)
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return false
  const entries: readonly (readonly [string, unknown])[] = Object.entries(parsed)
  const named = JSON.stringify(given) ?? ""
  const isGiven = (value: unknown): boolean => typeof value !== "object" && named.includes(String(value))
  const [first = "", ...rest] = (tool.split(/__|[.:/]/).at(-1) ?? "").split(/[_-]|(?<=[a-z])(?=[A-Z])/)
  if (rest.length > 0 && first.length > 3)
    if (entries.some(([key, value]) => key.toLowerCase() === `${first.toLowerCase()}_id` && !isGiven(value)))
      return true
  const isName = (value: unknown): boolean =>
    Array.isArray(value) ? value.every(isName) : typeof value !== "object" && /^\S{1,80}$/.test(String(value))
  const says = entries.some(
    ([key, value]) => /^(?:ok|success|succeeded|acknowledged|accepted)$/i.test(key) && value === true,
  )
  // A numbered name that was not in the input belongs to something new.
  if (says && entries.some(([, value]) => typeof value === "string" && isNumbered.test(value) && !isGiven(value)))
    return true
  return (
    says &&
    entries.length <= 4 &&
    entries.every(([key, value]) => typeof value === "boolean" || isGiven(value) || (key !== "result" && isName(value)))
  )
}

/** Returns the text answer of a tool if everything beside it is flags, ids and times of the call. */
function answerIn(text: ResultText): ResultText {
  if (text.whole === undefined || !text.whole.startsWith("{")) return text
  const parsed = parseJson(text.whole)
  if (typeof parsed !== "object" || parsed === null) return text
  const entries: readonly (readonly [string, unknown])[] = Object.entries(parsed)
  const said = entries.filter(([key, value]) => answerKeys.test(key) && typeof value === "string" && value !== "")
  const rest = entries.filter((entry) => !said.includes(entry))
  const [[, answer] = []] = said
  if (said.length !== 1 || typeof answer !== "string" || rest.length === 0) return text
  if (!rest.every(([key, value]) => value === true || envelopeKeys.test(key))) return text
  return rest.some(([, value]) => value === true) ? { ...textEnds(answer), exitedWell: true } : textEnds(answer)
}
const answerKeys = /^(?:result|output|content|text|response|answer|data|stdout)$/
const envelopeKeys = new RegExp(`^${anyOf(words.envelopeKeys)}(?:_?(?:ms|s|seconds))?$`, "i")

/** Keys of the name of what a change created, and of its state. */
const nameKey =
  /(?:^|_)(?:id|ids|number|code|ref|reference|confirmation|key|url|version|revision|tag|pnr|locator|localizador|voucher)$|(?:Id|Number|Code|Key|Ref|Url|Version)$/
/** Ids of the sender were not created by the call; the timestamp of a chat message is its id. */
const senderKey = /^(?:bot|app|team|client|request|trace|workspace|tenant|org)_?id$|^api_?version$/i
const isNameOf = ({ key, value }: Leaf): boolean =>
  (nameKey.test(key) && !senderKey.test(key)) || (key === "ts" && /^\d{10}\.\d{4,6}$/.test(String(value)))
const standKey =
  /(?:^|_)(?:status|state|total|amount|balance)$|(?:Status|State|Total|Amount|Balance)$|^(?:stan|estado|stato|statut|état|etat|zustand|durum|tila|tilstand|状态|状態|상태)$/i
const saysNothing = /^(?:ok|okay|success|successful|succeeded|saved|stored|recorded|added|true|1|200)$/i
/** A state as programs write it. */
const stateWord = /^(?:[A-Z]{4,}(?:_[A-Z]{2,}){0,3}|(?!ok|success)[a-z]{3,20}ed)$/
const maxMade = 4
const leastOthers = 3
/** A value that is recognizable as a name under any key: `HTL-90417`. */
const isNumbered = /^(?=.{5,40}$)(?=.*\d)[A-Z]{2,6}[-_]?[A-Z\d][A-Z\d-]*$/
/** Limits on the depth of nested answers and on members read of each. */
const maxMadeDepth = 3
const maxMadeMembers = 64

/**
 * Returns the ids, state or amount in the answer to a change that were not in its input. `isSeen`: true if an earlier result contains a
 * value.
 */
function madeBy(
  { whole }: ResultText,
  { tool, input: given }: Pick<Extract<CallDeed, { type: "call" }>, "tool" | "input">,
  isSeen: (value: string) => boolean = () => false,
): string | undefined {
  const parsed = whole === undefined ? undefined : parseJson(whole)
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    return parsed === undefined && isValue(whole ?? "") && whole !== "" ? oneLine(whole ?? "", maxQuoted) : undefined
  }
  const named = JSON.stringify(given) ?? ""
  const isNew = (value: unknown): boolean =>
    typeof value !== "object" && isValue(String(value)) && !named.includes(String(value))
  const all = leavesIn(withoutWrapper(parsed), 0)
  const isGivenKey = (key: string): boolean => typeof given === "object" && given !== null && key in given
  // Inside nested values only a word with a digit counts as the name of something new.
  const isId = /^(?=.{5})(?:\p{L}.*\d|\d{5})/u
  const isTop = ({ depth }: Leaf): boolean => depth === 0
  const found = all.filter(
    (leaf) =>
      (isNameOf(leaf) || (isTop(leaf) && isNamedAfter(tool, leaf))) &&
      isNew(leaf.value) &&
      // A nested value under a key of the input belongs to another thing of that kind.
      (isTop(leaf) || !isGivenKey(leaf.key)) &&
      (isTop(leaf) || isId.test(String(leaf.value))) &&
      !isSeen(String(leaf.value)),
  )
  const top = found.filter(isTop)
  // If the answer echoes a name from the input, many nested names under one key are other things of that kind.
  const isEchoed = all.some(
    ({ key, value }) => nameKey.test(key) && isValue(String(value)) && named.includes(String(value)),
  )
  const others = (leaf: Leaf): boolean =>
    isEchoed && !isTop(leaf) && found.filter(({ key, depth }) => key === leaf.key && depth > 0).length >= leastOthers
  const isMade = (leaf: Leaf): boolean => isNumbered.test(String(leaf.value)) && isNew(leaf.value)
  const outer = all.filter((leaf) => isTop(leaf) && isMade(leaf))
  const numbered = outer.length > 0 || found.length > 0 ? outer : all.filter((leaf) => leaf.depth === 1 && isMade(leaf))
  // If the top level names what was created, `id`s of nested steps and parts are left out.
  const names = (
    top.length > 0 ? found.filter((leaf) => isTop(leaf) || leaf.key !== "id") : [...found, ...numbered]
  ).filter((leaf) => !others(leaf))
  // Beside a name, a state such as "ok" adds nothing.
  const isStand = ({ key, value }: Leaf): boolean =>
    ((standKey.test(key) || (key === "result" && stateWord.test(String(value)))) &&
      !(names.length > 0 && saysNothing.test(String(value)))) ||
    isBooked(key, value)
  const stands = all.filter((leaf) => isTop(leaf) && isStand(leaf) && isNew(leaf.value))
  const main = [...names, ...stands]
  const told = Map.groupBy(main.length > 0 ? main : saidBeside(all, isNew), ({ key }) => key)
  const made = [...told]
    .slice(0, maxMade)
    .map(([key, leaves]) => `${key}=${listed([...new Set(leaves.map(({ value }) => String(value)))])}`)
  const parts = [...made, ...notAppliedTo(withoutWrapper(parsed))]
  return parts.length === 0 ? undefined : parts.join(", ")
}

/** Lists what a change was not applied to although the rest succeeded: `failed=p.sand (LITIGATION_HOLD)`. */
function notAppliedTo(answer: object): readonly string[] {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(answer)
  return entries.flatMap(([key, value]) => {
    if (!leftOutKey.test(key) || !Array.isArray(value) || value.length === 0) return []
    const named = value.slice(0, maxLeftOut).map((one: unknown) => {
      if (typeof one !== "object" || one === null) return oneLine(String(one), maxLeftName)
      const short = Object.values(one).filter((part) => typeof part !== "object" && String(part).length <= maxLeftName)
      const [first = "", why] = short.map((part) => oneLine(String(part), maxLeftName))
      return why === undefined ? first : `${first} (${why})`
    })
    return [`${key}=${named.filter((name) => name !== "").join("; ")}${value.length > maxLeftOut ? "; …" : ""}`]
  })
}
const leftOutKey = /^(?:failed|failures?|errors|skipped|rejected|refused|ignored|not_?\w+|unprocessed|unmatched)$/i
const [maxLeftOut, maxLeftName] = [3, 32]

/** True if the key is a word of the tool's name and the value a number: `submit_job` and `job`. */
const isNamedAfter = (tool: string, { key, value }: Leaf): boolean =>
  key.length > 2 &&
  /\d{4}/.test(String(value)) &&
  tool
    .toLowerCase()
    .split(/[^a-z]+/)
    .includes(key.toLowerCase())

/** Returns the one record that an answer wraps, if everything beside it is ids, times and flags of the call. */
function withoutWrapper(answer: object): object {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(answer)
  const inner = entries.filter(([, value]) => typeof value === "object" && value !== null)
  const [[, only] = []] = inner
  const isWrapped = inner.length === 1 && typeof only === "object" && only !== null && !Array.isArray(only)
  const tellsNothing = ([key, value]: readonly [string, unknown]): boolean =>
    value === only || envelopeKeys.test(key) || typeof value === "boolean"
  const isWhole = inner.some(([key]) => wholeKey.test(key))
  const isAlone = entries.every(
    (entry) => tellsNothing(entry) || (isWhole && !standKey.test(entry[0]) && !nameKey.test(entry[0])),
  )
  return isWrapped && isAlone ? only : answer
}
/** Keys of the one member that holds the whole answer, whatever is told beside it. */
const wholeKey = /^(?:result|data|response|payload|body|output)$/i

/** Values of a short answer that are neither a name nor a state: `previous=on, points=200`. */
const saidBeside = (all: readonly Leaf[], isNew: (value: unknown) => boolean): readonly Leaf[] =>
  all.length > maxSaid
    ? []
    : all
        .filter(
          ({ key, value, depth }) =>
            depth === 0 &&
            typeof value !== "boolean" &&
            isNew(value) &&
            !isInternal.test(String(value)) &&
            !envelopeKeys.test(key) &&
            !isPosting(key, value),
        )
        .slice(0, maxBeside)
const [maxSaid, maxBeside] = [10, 3]
const whenKeys = /(?:^|_)(?:ts|time|timestamp|date|at|ok|success|checksum|etag|hash)$|(?:At|Time|Date)$/
/** The time of the write says nothing about it; the day of a booking does. */
const isPosting = (key: string, value: unknown): boolean => whenKeys.test(key) && !isBooked(key, value)
const isBooked = (key: string, value: unknown): boolean =>
  (key === "date" && /^\d{4}-\d\d-\d\d$/.test(String(value))) ||
  (/^(?:time_?)?(?:window|slot)$/i.test(key) && /^\d{1,2}(?:[:.]\d\d)? ?[-–]/.test(String(value)))

/** A hexadecimal id that only programs use. */
const isInternal = /^(?=.*[a-f])(?=.*\d)[\da-f]{8,}$/

/** Joins the values of one key; consecutive numbers become a range. */
function listed(values: readonly string[]): string {
  const [first = ""] = values
  const isRange =
    values.length > 2 && values.every((value, n) => /^\d{1,15}$/.test(value) && Number(value) === Number(first) + n)
  if (isRange) return `${first}..${values.at(-1) ?? ""}`
  return values.length > maxSame ? `${values.slice(0, maxSame).join(", ")}, …` : values.join(", ")
}
const maxSame = 6

type Leaf = { readonly key: string; readonly value: unknown; readonly depth: number }

function leavesIn(answer: object, depth: number): readonly Leaf[] {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(answer).slice(0, maxMadeMembers)
  const own = entries.filter(([, value]) => typeof value !== "object").map(([key, value]) => ({ key, value, depth }))
  if (depth >= maxMadeDepth || Array.isArray(answer)) return depth >= maxMadeDepth ? own : insideOf(entries, depth)
  return [...own, ...insideOf(entries, depth)]
}

const insideOf = (entries: readonly (readonly [string, unknown])[], depth: number): readonly Leaf[] =>
  entries.flatMap(([, value]) => (typeof value === "object" && value !== null ? leavesIn(value, depth + 1) : []))

/** True if a search found nothing, which is no failure. */
const isEmptySearch = (deed: CallDeed, { whole = "" }: ResultText): boolean =>
  deed.type === "call" &&
  deed.changes === "no" &&
  /^\s*(?:no (?:matches|files|results?|matching \w+|occurrences)(?: were)?(?: found)?|(?:found )?0 (?:matches|results|files))\b.{0,80}\s*$/i.test(
    whole,
  )

/** For a command that commits, the outcome is the commit, whatever else it printed. */
function withCommit(
  { command, runs }: Extract<CallDeed, { type: "command" }>,
  outcome: Outcome,
  { head, tail }: ResultText,
): Outcome {
  if (![command, ...runs].some((run) => /(?:^|[\s;&])git (?:-\S+ \S+ )?commit\b/.test(run))) return outcome
  const hash =
    /^\s{0,4}(?:Output: )?(?:\[[^\]\n]{1,80} ([\da-f]{7,40})\] \S|(?:\* )?([\da-f]{7,12})\s(?:\([^)\n]{1,80}\) )?\S)/m
  const found = hash.exec(head) ?? hash.exec(tail)
  // Amending gives the commit another hash, which the log shows.
  const amended = /--amend\b/.test(command) ? /^\s{0,4}([\da-f]{7,12})\s\S/m.exec(tail)?.[1] : undefined
  // Each of several commits prints its own branch and hash.
  const told = `${head}\n${tail}`
  const branches = [...told.matchAll(branchAndHash)].map(([, each = ""]) => each)
  const several = [...new Set(branches.length > 1 ? branches : loggedCommits(runs, told))]
  const commit = amended ?? (several.length > 1 ? several.join(", ") : (found?.[1] ?? found?.[2]))
  return commit === undefined ? outcome : { failed: false, sure: true, value: `commit ${commit}` }
}

/** Returns the commits that a following `git log` shows, oldest first, if it shows as many as the command made. */
function loggedCommits(runs: readonly string[], told: string): readonly string[] {
  const made = runs.filter((run) => /^git (?:-\S+ \S+ )?commit\b/.test(run)).length
  const logged = [...told.matchAll(/^\s{0,4}([\da-f]{7,12})\s(?:\([^)\n]{1,80}\) )?\S/gm)].map(([, hash = ""]) => hash)
  return made < 2 || logged.length < made ? [] : logged.slice(0, made).reverse()
}

/** Returns the output without its "Exit code: 1" line; undefined if it has none. */
function withoutExit({ whole }: ResultText): ResultText | undefined {
  const rest = whole?.replace(exitedWithOne, "")
  return rest === undefined || rest === whole ? undefined : textEnds(rest)
}
const exitedWithOne = /^Exit code:? 1(?:\n|$)|\n?Exit code: 1\s*$/

const branchAndHash = /^\s{0,4}\[[^\]\n]{1,80} ([\da-f]{7,40})\] \S/gm

/** True if a failure only says that a file deleted by the same command is missing, by its name or by a pattern that matches it. */
const confirmsRemoval = (line: string, files: readonly FileDeed[]): boolean => {
  if (!/No such file|cannot (?:access|stat|find)|not found/i.test(line)) return false
  const named = line.match(/[\w.@+*/-]{1,119}[\w*]/g)?.map(baseName) ?? []
  return files.some(
    ({ path, deed }) => deed === "deleted" && named.some((name) => matchesPattern(baseName(path), name)),
  )
}

const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** True if the name matches a pattern such as `chart-*.html`. */
function matchesPattern(name: string, pattern: string): boolean {
  const [start = "", ...rest] = pattern.split("*")
  const end = rest.at(-1)
  if (end === undefined) return name === pattern
  return start + end !== "" && name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end)
}
