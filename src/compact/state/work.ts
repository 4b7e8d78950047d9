import { present } from "../../message/present.ts"
import { code } from "../summary/summary.ts"
import type { CallDeed } from "./call-deed.ts"
import { covers } from "./command-runs.ts"
import { changeText, type FileDeed, joinChanges, removedNames, rewriteOf } from "./file-change.ts"
import { type FileState, joinDeeds } from "./file-states.ts"
import { distinct, thenSign } from "./note-draft.ts"
import type { Outcome } from "./outcome-of.ts"
import { createTaskList, keepTasks, type TaskList } from "./task-list.ts"

/** The message in which something was done: its index and its id. */
export type MessagePosition = { readonly at: number; readonly source: string }

/** A command or call, with the outcome of its latest run. */
export type Run = {
  readonly text: string
  readonly kind: "command" | "act" | "lookup"
  /** Number of consecutive runs with the same text and the same outcome. */
  readonly times: number
  /** True for a call of a tool other than a shell. */
  readonly calls: boolean
  readonly little: boolean
  readonly at: number
  readonly sources: readonly string[]
  /** The purpose that the agent stated. */
  readonly purpose?: string
  /** Absent while there is no result. */
  readonly outcome?: Outcome
  /** Numbers, such as job ids, of what earlier runs with the same text created. */
  readonly earlier?: readonly string[]
  /** Number of similar runs before it that failed for the same reason. */
  readonly alike?: number
  /** The later run of the same thing that succeeded, and the files changed between the failure and it. */
  readonly fixed?: { readonly at: number; readonly files: readonly string[]; readonly by: string }
}

/** Everything done so far, updated while the transcript is read. */
export type Work = {
  readonly runs: Map<string, Run>
  readonly files: Map<string, FileState>
  /** The text of the failed run for each thing that has not succeeded since. */
  readonly failures: Map<string, string>
  readonly changes: { readonly path: string; readonly at: number }[]
  /** Contents of the files whose latest change wrote them whole. */
  readonly contents: Map<string, string>
  /** The latest edit of each file. */
  readonly swaps: Map<string, NonNullable<FileDeed["swap"]>>
  readonly list: TaskList
  openFile: string
  /** The branch last checked out. */
  branch: string | undefined
}

export const createWork = (): Work => ({
  runs: new Map(),
  files: new Map(),
  failures: new Map(),
  changes: [],
  contents: new Map(),
  swaps: new Map(),
  list: createTaskList(),
  openFile: "",
  branch: undefined,
})

/** Returns a copy that can be changed independently. */
export const copyOf = (work: Work): Work => ({
  ...work,
  runs: new Map(work.runs),
  files: new Map(work.files),
  failures: new Map(work.failures),
  changes: [...work.changes],
  contents: new Map(work.contents),
  swaps: new Map(work.swaps),
  list: { ...work.list, begun: new Map(work.list.begun) },
})

/** Limits on changes searched for a fix, and on files that a fix names. */
const maxLookedBack = 60
const maxFixFiles = 3

/** Records a call with its outcome; an undefined `outcome` means that there is no result yet. */
export function recordCall(work: Work, deed: CallDeed, outcome: Outcome | undefined, doing: MessagePosition): void {
  if (deed.type === "tasks") keepTasks(work.list, deed.tasks, doing)
  if (deed.type === "files" || deed.type === "command") {
    const done = outcome?.failed === true ? filesBeforeFailure(deed, outcome) : deed.files
    for (const file of done) recordFile(work, file, doing)
  }
  if (deed.type === "files" && outcome?.failed === true)
    recordRun(work, failedFileRun(work, deed.files, outcome.rejected), outcome, doing)
  if (deed.type === "command" && deed.command !== "") {
    const wrote = deed.files.some(({ deed: done }) => done !== "read")
    // What a command did to files is reported with the files.
    const isAct = deed.changes === "yes" || (deed.changes === "maybe" && outcome?.did === true)
    const kind = isAct ? "act" : wrote || deed.changes === "no" ? "lookup" : "command"
    const text = code(deed.command)
    const { purpose } = deed
    const named = { text, kind, calls: false, little: false, same: deed.tried, ...present({ purpose }) } as const
    if (outcome?.failed === false) {
      work.branch = branchOf(deed.command) ?? work.branch
      resolveAll(
        work,
        deed.runs.map((run) => pushOf(run, work.branch)),
        text,
        doing.at,
      )
    }
    recordRun(work, named, outcome, doing)
  }
  if (deed.type === "call") {
    // A call whose tool name does not say whether it changes anything counts as an act if its answer says so or has an id of something
    // new.
    const says = outcome?.says === true || outcome?.did === true || (outcome !== undefined && namesNew(deed, outcome))
    const isAct = deed.changes === "yes" || (deed.changes === "maybe" && says) || outcome?.isDone === true
    const kind = isAct ? "act" : "lookup"
    const same = deed.text.split(",", 1)[0] ?? ""
    const text = code(deed.text)
    recordRun(work, { text, kind, calls: true, little: deed.changes === "little", same }, outcome, doing)
  }
}

/** Returns the branch that a command checks out, if any. */
const branchOf = (command: string): string | undefined =>
  [...command.matchAll(/\bgit (?:switch|checkout)(?: -[cCbB]| --create)? (?!-)([\w./-]{1,100})/g)].at(-1)?.[1]

/** Adds the branch to a bare "git push", so that its success does not count for another branch. */
const pushOf = (run: string, branch: string | undefined): string =>
  run === "git push" ? `git push origin ${branch ?? "HEAD"}` : run

/**
 * True if the answer to a tool whose name does not say whether it changes anything has the id of something new. Several ids, or a plural
 * tool name, mean search results.
 */
export function namesNew(deed: CallDeed, { value = "" }: Outcome): boolean {
  if (deed.type !== "call") return false
  const tool = deed.tool.split("__").at(-1) ?? ""
  if (!/[a-z][_A-Z]/.test(tool) || /[a-rt-z]s$/i.test(tool)) return false
  const pairs = value.split(", ")
  return pairs.some((pair, n) => /(?:^|_)id=|Id=/.test(pair) && (pairs[n + 1] ?? "=").includes("="))
}

type NewRun = Pick<Run, "text" | "kind" | "calls" | "little" | "purpose"> & { readonly same: string }

function failedFileRun(work: Work, files: readonly FileDeed[], rejected = false): NewRun {
  const path = files[0]?.path || work.openFile
  const verb = files[0]?.deed === "read" ? "reading" : "changing"
  // A rejected change is reported with its content; a failed one is not, because the agent tries it again in another form.
  const change = rejected ? files[0]?.change : undefined
  return {
    text: `${verb} ${code(path)}${change === undefined ? "" : ` (${changeText(change, 1)})`}`,
    kind: verb === "reading" ? "lookup" : "command",
    calls: false,
    little: true,
    same: `file ${path}`,
  }
}

function recordRun(work: Work, given: NewRun, outcome: Outcome | undefined, { at, source }: MessagePosition): void {
  const { same: run, ...named } = given
  // A later success does not overrule the user's rejection.
  const same = outcome?.rejected === true ? `rejected ${named.text}` : run
  const failedBefore = work.failures.get(same)
  const isWell = outcome?.failed === false && !isPending.test(outcome.value ?? "")
  if (isWell && failedBefore !== undefined) resolve(work, failedBefore, named.text, at)
  if (isWell && named.calls) resolveCorrected(work, named.text, at)
  const known = work.runs.get(named.text)
  if (isWell) work.failures.delete(same)
  // Runs that failed for the same reason share a line; another reason gets its own.
  const before = outcome?.failed === true ? takeSimilarFailure(work, same, named.text, outcome.line) : undefined
  if (outcome?.failed === true) work.failures.set(same, named.text)
  const alike = (known?.alike ?? 0) + (before === undefined ? 0 : (before.alike ?? 0) + 1)
  const sources = distinct([...(before?.sources ?? []), ...(known?.sources ?? []), source])
  const isSame = known?.outcome !== undefined && known.outcome.failed === outcome?.failed
  const end = isSame && known.outcome?.failed === true ? joinFailures(known.outcome, outcome) : outcome
  const earlier = known === undefined || outcome?.failed === true ? [] : madeBefore(known, outcome)
  work.runs.delete(named.text)
  work.runs.set(named.text, {
    ...named,
    times: isSame ? known.times + 1 : 1,
    at,
    sources,
    ...(end === undefined ? {} : { outcome: end }),
    ...(alike === 0 ? {} : { alike }),
    ...(earlier.length === 0 ? {} : { earlier }),
  })
}

/** Returns the numbers of what the earlier runs created, if this run created something new. */
function madeBefore({ outcome, earlier = [] }: Run, now: Outcome | undefined): readonly string[] {
  const before = madeNumber(outcome)
  const made = madeNumber(now)
  return before === undefined || made === undefined || before === made
    ? earlier
    : [...earlier, before].slice(-maxEarlier)
}
const maxEarlier = 4

/** Returns the id in an answer, or the only number in the line that a run printed: "Submitted batch job 4418203". */
function madeNumber(outcome: Outcome | undefined): string | undefined {
  if (outcome?.failed !== false) return undefined
  const id = /(?:^|, )\w{0,20}(?:id|Id|job)=([^,\s]{3,40})(?:,|$)/.exec(outcome.value ?? "")?.[1]
  const [number, ...others] = outcome.line?.match(/(?<![\w.:/-])\d{4,12}(?![\w.:/-])/g) ?? []
  return id ?? (others.length === 0 ? number : undefined)
}

/** Matches a state that still waits for something, so that nothing has succeeded yet. */
const isPending =
  /(?:^|, )(?:state|status)=(?:challenge|(?:pending|awaiting)_\w|requires?_\w|needs_\w|otp|unconfirmed)/i

/** Removes and returns another run of the same program that failed with the same message; the new failure's line covers it. */
function takeSimilarFailure(
  { failures, runs }: Work,
  same: string,
  text: string,
  line: string | undefined,
): Run | undefined {
  const program = same.split(" ", 2).join(" ")
  // A program is one word or two; after two, more words may follow in a key.
  const start = program.includes(" ") ? `${program} ` : undefined
  for (const key of failures.keys()) {
    if (key !== program && (start === undefined || !key.startsWith(start))) continue
    const failed = failures.get(key) ?? ""
    const run = runs.get(failed)
    if (failed === text || run?.outcome?.line !== line) continue
    runs.delete(failed)
    failures.delete(key)
    return run
  }
  return undefined
}

/**
 * Returns the files that were changed before a chain with `&&` broke off: those of the steps before the only one that has a file named in
 * the error and, if the error begins with a program's name, runs that program.
 */
function filesBeforeFailure(deed: CallDeed, { line = "", rejected }: Outcome): readonly FileDeed[] {
  const steps = deed.type === "command" && rejected !== true ? (deed.steps ?? []) : []
  const names = new Set((line.match(pathInLine) ?? []).map(fileName))
  const program = /^([a-z][\w.-]{0,30}): /.exec(line)?.[1]
  const failing = steps.flatMap(({ text }, n) =>
    (text.match(pathInLine) ?? []).some((path) => names.has(fileName(path))) ? [n] : [],
  )
  const [only, ...others] = failing
  if (only === undefined || others.length > 0) return []
  const isRunHere =
    program === undefined ||
    program === "error" ||
    program === "fatal" ||
    steps[only]?.text.trim().startsWith(program) === true
  return isRunHere ? steps.slice(0, only).flatMap(({ files }) => files) : []
}
const pathInLine = /[\w@+-]*[./][\w@./+-]{3,}(?<![./])/g
const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/** Joins the reasons of two failures of the same thing, the newer last. */
function joinFailures(older: Outcome, newer: Outcome | undefined): Outcome | undefined {
  if (newer !== undefined && newer.line === undefined) return { ...newer, ...present({ line: older.line }) }
  if (newer?.line === undefined || older.line === undefined || older.line.endsWith(newer.line)) return newer
  const last = older.line.split(thenSign).at(-1) ?? older.line
  return { ...newer, line: `${last}${thenSign}${newer.line}` }
}

/** Marks every earlier failure covered by these successful runs as fixed. */
function resolveAll(work: Work, well: readonly string[], by: string, at: number): void {
  for (const [failed, text] of work.failures) {
    if (!well.some((run) => covers(run, failed))) continue
    resolve(work, text, by, at)
    work.failures.delete(failed)
  }
}

/**
 * Marks a failed call as fixed if its error named the wrong and the right value of an argument, and the same call has now succeeded with
 * the right one.
 */
function resolveCorrected(work: Work, well: string, at: number): void {
  const given = well.split(", ")
  for (const [key, text] of work.failures) {
    const reason = work.runs.get(text)?.outcome?.line
    const before = text.split(", ")
    const changed = before.flatMap((argument, n) =>
      argument === given[n] ? [] : [[argument, given[n] ?? ""] as const],
    )
    const [only] = changed
    if (reason === undefined || before.length !== given.length || changed.length !== 1 || only === undefined) continue
    const [[name, wrong], [other, right]] = [argumentOf(only[0]), argumentOf(only[1])]
    if (name !== other || wrong.length < 3 || !reason.includes(wrong) || !reason.includes(right)) continue
    resolve(work, text, well, at)
    work.failures.delete(key)
  }
}

/** Splits the text of an argument into its name and its value. */
function argumentOf(told: string): readonly [string, string] {
  const sign = told.indexOf("=")
  return [told.slice(0, sign + 1), told.slice(sign + 1).replace(/\)?`$/, "")]
}

function resolve(work: Work, failed: string, by: string, at: number): void {
  const run = work.runs.get(failed)
  if (run === undefined) return
  // The failure keeps an entry of its own beside the successful run, even if both are the same command.
  work.runs.delete(failed)
  const files = new Set<string>()
  // Files changed in between explain the success of the same act, not that of another act of the program.
  const isOtherAct = run.kind === "act" && by !== failed
  for (const change of isOtherAct ? [] : work.changes.slice(-maxLookedBack).toReversed()) {
    if (change.at <= run.at || files.size >= maxFixFiles) break
    files.add(change.path)
  }
  work.runs.set(`failed ${failed}`, { ...run, fixed: { at, files: [...files], by } })
}

function recordFile(work: Work, file: FileDeed, { at, source }: MessagePosition): void {
  const named = file.path === "" ? work.openFile : file.path
  const path = file.deed === "restored" ? knownPath(work, named) : named
  if (path === "") return
  const { deed, change, gone } = undoingEdit(work, path, file) ?? changeByWriting(work, path, file)
  work.openFile = path
  if (deed !== "read") {
    work.changes.push({ path, at })
    work.runs.delete(work.failures.get(`file ${path}`) ?? "")
  }
  const known = work.files.get(path)
  work.files.delete(path)
  if (deed === "undone" || deed === "restored") {
    work.files.set(path, stateAfterUndo(known, deed, { at, source }))
    return
  }
  const takenOut = gone ?? (file.swap === undefined ? [] : removedNames(file.swap))
  const joined = deed === "deleted" ? undefined : joinChanges(known?.change, change, takenOut)
  work.files.set(path, {
    deeds: joinDeeds(known?.deeds ?? [], deed),
    edits: (known?.edits ?? 0) + (deed === "edited" ? 1 : 0),
    ...(joined === undefined ? {} : { change: joined }),
    at: deed === "read" ? (known?.at ?? at) : at,
    sources: distinct([...(known?.sources ?? []), source]),
    ...(deed === "read" || known === undefined ? {} : { before: withUndoDepth(known, maxUndone) }),
  })
}

/** Returns the known absolute path that a relative path refers to, if exactly one matches. */
function knownPath({ files }: Work, path: string): string {
  const end = `/${path.replace(/^\.\//, "")}`
  const [own, ...others] = files.has(path) ? [] : [...files.keys()].filter((one) => one.endsWith(end))
  return own === undefined || others.length > 0 ? path : own
}

/** Number of consecutive changes of a file that can be undone one by one. */
const maxUndone = 4

const withUndoDepth = ({ before, ...state }: FileState, depth: number): FileState =>
  before === undefined || depth <= 1 ? state : { ...state, before: withUndoDepth(before, depth - 1) }

/** State of a file after its latest change was undone, or all of its changes. */
function stateAfterUndo(
  known: FileState | undefined,
  deed: "undone" | "restored",
  { at, source }: MessagePosition,
): FileState {
  const sources = distinct([...(known?.sources ?? []), source])
  const before = deed === "undone" ? known?.before : undefined
  if (before?.deeds.some((one) => one !== "read") === true) return { ...before, at, sources }
  return { deeds: ["restored"], edits: 0, at, sources }
}

/** An edit that reverses the edit before it counts as an undo. */
function undoingEdit(
  { swaps }: Work,
  path: string,
  { deed, swap }: FileDeed,
): ReturnType<typeof changeByWriting> | undefined {
  const before = swaps.get(path)
  if (deed !== "read") swaps.delete(path)
  if (swap === undefined) return undefined
  const isBack = before !== undefined && before.old === swap.fresh && before.fresh === swap.old
  if (!isBack) swaps.set(path, swap)
  return isBack ? { deed: "undone" } : undefined
}

/** Tells a file that is overwritten whole by what differs from its known content. */
function changeByWriting(
  { contents, files }: Work,
  path: string,
  { deed, change, content }: FileDeed,
): Pick<FileDeed, "deed" | "change"> & { readonly gone?: readonly string[] } {
  const before = contents.get(path)
  if (deed !== "read") contents.delete(path)
  if (content !== undefined) contents.set(path, content)
  // Writing a file again that was created in this session is an edit, even if its earlier content is unknown.
  const isAgain =
    deed === "created" && files.get(path)?.deeds.at(-1) !== "deleted" && files.get(path)?.deeds[0] === "created"
  if (before === undefined || content === undefined) return { deed: isAgain ? "edited" : deed, ...present({ change }) }
  const { gone, ...rewritten } = rewriteOf(before, content)
  return { deed: "edited", change: rewritten, gone }
}
