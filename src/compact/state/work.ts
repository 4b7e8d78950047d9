import { present } from "../../message/present.ts"
import { code, type LineState, maxLineLength, oneLine } from "../summary/summary.ts"
import type { CallDeed } from "./call-deed.ts"
import { covers } from "./command-runs.ts"
import { changeText, type FileChange, type FileDeed, joinChanges, readChange, rewriteOf } from "./file-change.ts"
import { distinct, thenSign } from "./note-draft.ts"
import type { Outcome } from "./outcome-of.ts"

/** Where something was done. */
export type Doing = { readonly at: number; readonly source: string }

/** Something that was run or called, and how it went the last time. */
export type Run = {
  readonly text: string
  readonly kind: "command" | "act" | "lookup"
  /** So often it was done in the same words, with the same end. */
  readonly times: number
  /** A tool by its own name, not a command in a shell. */
  readonly calls: boolean
  readonly little: boolean
  readonly at: number
  readonly sources: readonly string[]
  /** What the agent said that it was for. */
  readonly purpose?: string
  /** Nothing while nobody knows. */
  readonly outcome?: Outcome
  /** Other ways that were tried before, and failed for the same reason. */
  readonly alike?: number
  /** Files that were changed between the last failure and the next run of the same thing that went well. */
  readonly fixed?: { readonly at: number; readonly files: readonly string[]; readonly by: string }
}

export type FileState = {
  readonly deeds: readonly FileDeed["deed"][]
  readonly change?: FileChange
  /** So often it was edited. */
  readonly edits: number
  readonly at: number
  readonly sources: readonly string[]
  /** How it stood before its latest changes, for whoever takes them back. */
  readonly before?: FileState
}

/** All that was done so far. Grows while the transcript is read. */
export type Work = {
  readonly runs: Map<string, Run>
  readonly files: Map<string, FileState>
  /** The failed run of each thing that was not run well since. */
  readonly failures: Map<string, string>
  readonly changes: { readonly path: string; readonly at: number }[]
  /** What stands in the files that were last written whole. */
  readonly contents: Map<string, string>
  tasks: { readonly items: readonly Task[]; readonly doing: Doing } | undefined
  /** Where each item of a list stood first. */
  readonly begun: Map<string, number>
  openFile: string
}

export const createWork = (): Work => ({
  runs: new Map(),
  files: new Map(),
  failures: new Map(),
  changes: [],
  contents: new Map(),
  tasks: undefined,
  begun: new Map(),
  openFile: "",
})

/** Changes that are looked through for a fix, and files that it may name. */
const maxLookedBack = 60
const maxFixFiles = 3

/** Write down a call whose result is `outcome`, or not known yet. */
export function recordCall(work: Work, deed: CallDeed, outcome: Outcome | undefined, doing: Doing): void {
  if (deed.type === "tasks") keepTasks(work, deed.tasks, doing)
  if (deed.type === "files" || deed.type === "command") {
    if (outcome?.failed !== true) for (const file of deed.files) recordFile(work, file, doing)
  }
  if (deed.type === "files" && outcome?.failed === true)
    recordRun(work, failedFileRun(work, deed.files, outcome.rejected), outcome, doing)
  if (deed.type === "command" && deed.command !== "") {
    const wrote = deed.files.some(({ deed: done }) => done !== "read")
    // What a command did to files is said of the files.
    const isAct = deed.changes === "yes" || (deed.changes === "maybe" && outcome?.did === true)
    const kind = isAct ? "act" : wrote || deed.changes === "no" ? "lookup" : "command"
    const text = code(deed.command)
    const { purpose } = deed
    const named = { text, kind, calls: false, little: false, same: deed.tried, ...present({ purpose }) } as const
    if (outcome?.failed === false) resolveAll(work, deed.runs, text, doing.at)
    recordRun(work, named, outcome, doing)
  }
  if (deed.type === "call") {
    // Whose name says nothing did something if its answer says so, or has an id for what it made.
    const says =
      outcome?.says === true ||
      outcome?.did === true ||
      (/[a-z][_A-Z]/.test(deed.tool) && /(?:^|_)id=|Id=/.test(outcome?.value ?? ""))
    const isAct = deed.changes === "yes" || (deed.changes === "maybe" && says) || outcome?.isDone === true
    const kind = isAct ? "act" : "lookup"
    const same = deed.text.split(",", 1)[0] ?? ""
    const text = code(deed.text)
    recordRun(work, { text, kind, calls: true, little: deed.changes === "little", same }, outcome, doing)
  }
}

/** The list as it stands now. One that is written anew words its items anew: what is new on it was begun with what is gone undone. */
export function keepTasks(work: Work, items: readonly Task[], doing: Doing): void {
  const before = work.tasks?.items ?? []
  const isSame = before.some((old) => items.some(({ text }) => isReworded(old.text, text)))
  const left = before.filter((old) => isToDo(old) && !items.some(({ text }) => text === old.text))
  const begun = Math.min(doing.at, ...(isSame ? left : []).flatMap(({ text }) => work.begun.get(text) ?? []))
  const kept = new Set(before.flatMap((old) => (isToDo(old) ? [old.text] : [])))
  work.tasks = { items, doing }
  for (const { text } of items) if (!kept.has(text) || !work.begun.has(text)) work.begun.set(text, begun)
}

/** Do two items say the same, or one of them most of the other in fewer words? */
function isReworded(one: string, other: string): boolean {
  if (one === other) return true
  const [few = [], many = []] = [one, other].map(wordsIn).toSorted((a, b) => a.length - b.length)
  return few.length >= leastWords && few.filter((word) => many.includes(word)).length >= mostWords * few.length
}
const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
const [leastWords, mostWords] = [3, 0.75]

export const isToDo = ({ state }: Task): boolean => state === "open" || state === "next"

/** Messages of the user, and messages of all, after which a list that nobody touched says nothing of how things stand. */
const [heardSince, messagesSince] = [3, 40]

/** Was the list left as it was, while the user and the work went on? `heard`: where the user spoke. */
export function isListLeft({ tasks }: Work, heard: readonly number[], end: number): boolean {
  if (tasks === undefined) return false
  const { at } = tasks.doing
  return end - at > messagesSince && heard.filter((place) => place > at).length > heardSince
}

/** Where the first item was put on the list that is still to be done; nothing where all are done or there is no list. */
export function openSince({ tasks, begun }: Work): number | undefined {
  const open = tasks?.items.filter(isToDo) ?? []
  const places = open.flatMap(({ text }) => begun.get(text) ?? [])
  return places.length === 0 ? undefined : Math.min(...places)
}

type Named = Pick<Run, "text" | "kind" | "calls" | "little" | "purpose"> & { readonly same: string }

function failedFileRun(work: Work, files: readonly FileDeed[], rejected = false): Named {
  const path = files[0]?.path || work.openFile
  const verb = files[0]?.deed === "read" ? "reading" : "changing"
  // What the user did not want is told; what did not fit is tried again in another form.
  const change = rejected ? files[0]?.change : undefined
  return {
    text: `${verb} ${code(path)}${change === undefined ? "" : ` (${changeText(change, 1)})`}`,
    kind: verb === "reading" ? "lookup" : "command",
    calls: false,
    little: true,
    same: `file ${path}`,
  }
}

function recordRun(work: Work, given: Named, outcome: Outcome | undefined, { at, source }: Doing): void {
  const { same: run, ...named } = given
  // What goes well later undoes no word of the user.
  const same = outcome?.rejected === true ? `rejected ${named.text}` : run
  const failedBefore = work.failures.get(same)
  const isWell = outcome?.failed === false && !isPut.test(outcome.value ?? "")
  if (isWell && failedBefore !== undefined) resolve(work, failedBefore, named.text, at)
  if (isWell && named.calls) resolveCorrected(work, named.text, at)
  const known = work.runs.get(named.text)
  if (isWell) work.failures.delete(same)
  // Ways that failed for one reason are one line; another reason is news.
  const before = outcome?.failed === true ? takeAlike(work, same, named.text, outcome.line) : undefined
  if (outcome?.failed === true) work.failures.set(same, named.text)
  const alike = (known?.alike ?? 0) + (before === undefined ? 0 : (before.alike ?? 0) + 1)
  const sources = distinct([...(before?.sources ?? []), ...(known?.sources ?? []), source])
  const isSame = known?.outcome !== undefined && known.outcome.failed === outcome?.failed
  const end = isSame && known.outcome?.failed === true ? joinFailures(known.outcome, outcome) : outcome
  work.runs.delete(named.text)
  work.runs.set(named.text, {
    ...named,
    times: isSame ? known.times + 1 : 1,
    at,
    sources,
    ...(end === undefined ? {} : { outcome: end }),
    ...(alike === 0 ? {} : { alike }),
  })
}

/** It was put forward and waits for something: nothing has gone well yet. */
const isPut = /(?:^|, )(?:state|status)=(?:challenge|(?:pending|awaiting)_\w|requires?_\w|needs_\w|otp|unconfirmed)/i

/** Another run of the same program that failed in the same words; it is told with the new one. */
function takeAlike({ failures, runs }: Work, same: string, text: string, line: string | undefined): Run | undefined {
  const program = same.split(" ", 2).join(" ")
  // A program is one word or two: with two, more may follow in a key.
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

/** The same thing failed again: the reasons that it gave, the newest last. */
function joinFailures(older: Outcome, newer: Outcome | undefined): Outcome | undefined {
  if (newer?.line === undefined || older.line === undefined || older.line.endsWith(newer.line)) return newer
  const last = older.line.split(thenSign).at(-1) ?? older.line
  return { ...newer, line: `${last}${thenSign}${newer.line}` }
}

/** Everything that failed before and that these runs cover went well with them. */
function resolveAll(work: Work, well: readonly string[], by: string, at: number): void {
  for (const [failed, text] of work.failures) {
    if (!well.some((run) => covers(run, failed))) continue
    resolve(work, text, by, at)
    work.failures.delete(failed)
  }
}

/** A call whose failure named the value that was wrong and the one that is right, and that was made with that one since. */
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

/** The name and the value of an argument as it is told. */
function argumentOf(told: string): readonly [string, string] {
  const sign = told.indexOf("=")
  return [told.slice(0, sign + 1), told.slice(sign + 1).replace(/\)?`$/, "")]
}

function resolve(work: Work, failed: string, by: string, at: number): void {
  const run = work.runs.get(failed)
  if (run === undefined) return
  // The failure stays in the record beside the run that went well, even if that was the very same command.
  work.runs.delete(failed)
  const files = new Set<string>()
  for (const change of work.changes.slice(-maxLookedBack).toReversed()) {
    if (change.at <= run.at || files.size >= maxFixFiles) break
    files.add(change.path)
  }
  work.runs.set(`failed ${failed}`, { ...run, fixed: { at, files: [...files], by } })
}

function recordFile(work: Work, file: FileDeed, { at, source }: Doing): void {
  const named = file.path === "" ? work.openFile : file.path
  const path = file.deed === "restored" ? knownPath(work, named) : named
  if (path === "") return
  const { deed, change, gone } = written(work, path, file)
  work.openFile = path
  if (deed !== "read") {
    work.changes.push({ path, at })
    work.runs.delete(work.failures.get(`file ${path}`) ?? "")
  }
  const known = work.files.get(path)
  work.files.delete(path)
  if (deed === "undone" || deed === "restored") {
    work.files.set(path, takenBack(known, deed, { at, source }))
    return
  }
  const joined = deed === "deleted" ? undefined : joinChanges(known?.change, change, gone)
  work.files.set(path, {
    deeds: joinDeeds(known?.deeds ?? [], deed),
    edits: (known?.edits ?? 0) + (deed === "edited" ? 1 : 0),
    ...(joined === undefined ? {} : { change: joined }),
    at: deed === "read" ? (known?.at ?? at) : at,
    sources: distinct([...(known?.sources ?? []), source]),
    ...(deed === "read" || known === undefined ? {} : { before: upTo(known, maxUndone) }),
  })
}

/** The file that a path from the working folder means, where one was changed under its whole path. */
function knownPath({ files }: Work, path: string): string {
  const end = `/${path.replace(/^\.\//, "")}`
  const [own, ...others] = files.has(path) ? [] : [...files.keys()].filter((one) => one.endsWith(end))
  return own === undefined || others.length > 0 ? path : own
}

/** Changes in a row that can be taken back one by one. */
const maxUndone = 4

const upTo = ({ before, ...state }: FileState, depth: number): FileState =>
  before === undefined || depth <= 1 ? state : { ...state, before: upTo(before, depth - 1) }

/** A file after its latest change was undone, or all of them. */
function takenBack(known: FileState | undefined, deed: "undone" | "restored", { at, source }: Doing): FileState {
  const sources = distinct([...(known?.sources ?? []), source])
  const before = deed === "undone" ? known?.before : undefined
  if (before?.deeds.some((one) => one !== "read") === true) return { ...before, at, sources }
  return { deeds: ["restored"], edits: 0, at, sources }
}

/** A file that is written whole a second time is changed by what is new in it. */
function written(
  { contents }: Work,
  path: string,
  { deed, change, content }: FileDeed,
): Pick<FileDeed, "deed" | "change"> & { readonly gone?: readonly string[] } {
  const before = contents.get(path)
  if (deed !== "read") contents.delete(path)
  if (content !== undefined) contents.set(path, content)
  if (before === undefined || content === undefined) return { deed, ...present({ change }) }
  const { gone, ...rewritten } = rewriteOf(before, content)
  return { deed: "edited", change: rewritten, gone }
}

/** The files, each once: a path from the working folder is the file whose whole path ends with it, where only one does. */
export function eachFile(files: Work["files"]): ReadonlyMap<string, FileState> {
  const whole = [...files.keys()].filter((path) => path.startsWith("/"))
  const states = new Map<string, FileState>()
  for (const [path, state] of files) {
    const end = `/${path.replace(/^\.\//, "")}`
    const [own, ...others] =
      path.startsWith("/") || path.startsWith("~") ? [] : whole.filter((one) => one.endsWith(end))
    const name = own === undefined || others.length > 0 ? path : own
    const known = states.get(name)
    states.delete(name)
    states.set(name, known === undefined ? state : joinStates(known, state))
  }
  return states
}

/** What was done to one file under two names; files stand in the order of their latest change. */
function joinStates(older: FileState, newer: FileState): FileState {
  const deeds = newer.deeds.reduce(joinDeeds, older.deeds)
  const isNew = deeds.includes("deleted") || newer.deeds.includes("restored")
  const change = isNew ? newer.change : joinChanges(older.change, newer.change)
  return {
    deeds,
    edits: isNew ? newer.edits : older.edits + newer.edits,
    ...(change === undefined ? {} : { change }),
    at: Math.max(older.at, newer.at),
    sources: distinct([...older.sources, ...newer.sources]),
  }
}

const order: readonly FileDeed["deed"][] = ["created", "restored", "edited", "deleted", "read"]

/** What was done to a file so far: a deletion wipes out all before it but that the file was made here, and making it again wipes out the deletion. */
function joinDeeds(known: readonly FileDeed["deed"][], deed: FileDeed["deed"]): readonly FileDeed["deed"][] {
  if (deed === "deleted") return known.includes("created") ? ["created", deed] : [deed]
  if (deed === "restored") return [deed]
  const kept: readonly FileDeed["deed"][] = known.filter((one) => one !== "deleted")
  const rewritten =
    deed === "created" && kept.some((one) => one === "read" || one === "edited") && !kept.includes("created")
  return order.filter((one) => kept.includes(one) || one === (rewritten ? "edited" : deed))
}

/** What became of a file, as a line says it: `` `a.ts`: edited 3× (+12 −4: parseDate) ``. */
export function fileText(
  path: string,
  { deeds, edits, change }: Pick<FileState, "deeds" | "edits" | "change">,
  mostNames?: number,
): string {
  const changed = deeds.filter((deed) => deed !== "read")
  const shown = changed.length > 0 ? changed : deeds
  const words = shown
    .map((deed) => (deed === "restored" ? restoredWords : deed === "edited" && edits > 1 ? `edited ${edits}×` : deed))
    .join(", ")
  return `${code(path)}: ${words}${change === undefined || changed.length === 0 ? "" : ` (${changeText(change, mostNames)})`}`
}

const restoredWords = "changes undone"
const deedWord = /^(created|edited|deleted|read|restored)(?: (\d{1,6})×)?$/

const isDeed = (word: string): word is FileDeed["deed"] => order.some((deed) => deed === word)

/** Read what `fileText` wrote. */
function readFileText(text: string): Pick<FileState, "deeds" | "edits" | "change"> | undefined {
  const [, words = "", change] = /^`[^`]+`: ([^()]+?)(?: \((.+)\))?$/.exec(text) ?? []
  const found = words
    .replace(restoredWords, "restored")
    .split(", ")
    .map((word) => deedWord.exec(word))
  const deeds = found.flatMap((match) => (match?.[1] !== undefined && isDeed(match[1]) ? [match[1]] : []))
  if (deeds.length === 0 || deeds.length !== found.length) return undefined
  const edits = found.reduce((sum, match) => sum + (match?.[1] === "edited" ? Number(match[2] ?? 1) : 0), 0)
  const read = change === undefined ? undefined : readChange(change)
  return { deeds, edits, ...(read === undefined ? {} : { change: read }) }
}

/** What was done to a file before and after, as if it had been read in one go. */
export function joinFileTexts(path: string, older: string, newer: string): string {
  const [before, after] = [readFileText(older), readFileText(newer)]
  if (before === undefined || after === undefined) return newer
  const deeds = after.deeds.reduce(joinDeeds, before.deeds)
  const isNew = deeds.includes("deleted") || after.deeds.includes("restored")
  const change = isNew ? after.change : joinChanges(before.change, after.change)
  return fileText(path, {
    deeds,
    edits: isNew ? after.edits : before.edits + after.edits,
    ...(change === undefined ? {} : { change }),
  })
}

/** An item of the assistant's own list. */
export type Task = {
  readonly text: string
  readonly state: LineState
  /** By which the agent names it, and where it was last heard of, in a list that is kept item by item. */
  readonly id?: string
  readonly doing?: Doing
}

/** What one call says of one item: a new one has no id before its result tells one. */
export type TaskChange = {
  readonly id?: string
  readonly text?: string
  readonly state?: LineState
  readonly isGone: boolean
}

/** Items of one list: longer ones are a backlog, and the first open ones matter. */
const maxTasks = 40

const textKeys = ["content", "step", "title", "task", "description", "text", "subject", "name"]
const stateKeys = ["status", "state", "done", "completed", "checked", "finished"]
const doneState = /^(?:done|completed?|finished|closed|true|x)$/i
const failedState = /^(?:failed|cancell?ed|blocked|abandoned|skipped)$/i
const openState = /^(?:in[_ -]?progress|active|doing|started|current|wip)$/i

const isRecord = (value: unknown): value is object => typeof value === "object" && value !== null

/** The tasks in the input of a tool that keeps a list: the first list of records with a text each, or a text with checkboxes. */
export function tasksIn(input: unknown): readonly Task[] {
  if (typeof input === "string") return checkboxesIn(input)
  if (!isRecord(input)) return []
  for (const key in input) {
    const value: unknown = Reflect.get(input, key)
    if (Array.isArray(value)) {
      const tasks = value.slice(0, maxTasks).flatMap(taskOf)
      if (tasks.length > 0) return tasks
    } else if (typeof value === "string") {
      const tasks = checkboxesIn(value)
      if (tasks.length > 0) return tasks
    }
  }
  return []
}

function taskOf(item: unknown): readonly Task[] {
  if (!isRecord(item)) return []
  const state = stateKeys.map((key): unknown => Reflect.get(item, key)).find((value) => value !== undefined)
  const known = textKeys.map((key): unknown => Reflect.get(item, key)).find((value) => typeof value === "string")
  // Whatever its key: what an item says beside its state is longer than that, and not an id.
  const found =
    known ?? Object.values(item).find((value) => typeof value === "string" && value !== state && /\s/.test(value))
  if (typeof found !== "string" || found.trim() === "" || state === undefined) return []
  return [{ text: oneLine(found, maxLineLength), state: stateOf(String(state)) }]
}

const idKeys = ["taskId", "task_id", "todoId", "todo_id", "id"]
const goneState = /^(?:deleted|removed)$/i

/** The item that a call makes or changes. */
export function taskChangeIn(input: unknown): TaskChange {
  const textUnder = (keys: readonly string[]): string | undefined => {
    const found = isRecord(input) ? keys.map((key): unknown => Reflect.get(input, key)) : []
    const value = found.find((one) => typeof one === "string" || typeof one === "number")
    return value === undefined || String(value).trim() === "" ? undefined : String(value)
  }
  const [id, state, text] = [textUnder(idKeys), textUnder(stateKeys), textUnder(["subject", ...textKeys])]
  return {
    isGone: goneState.test(state ?? ""),
    ...(id === undefined ? {} : { id }),
    ...(state === undefined ? {} : { state: stateOf(state) }),
    ...(text === undefined ? {} : { text: oneLine(text, maxLineLength) }),
  }
}

/** Write down what a call says of an item; `told` is the id that its result gives a new one. */
export function recordTask(
  work: Work,
  { id: named, text, state, isGone }: TaskChange,
  told: string | undefined,
  doing: Doing,
): void {
  const items = work.tasks?.items ?? []
  const id = named ?? told
  const known = items.find((item) => item.id !== undefined && item.id === id)
  if (known === undefined && (text === undefined || named !== undefined)) return
  const item: Task = {
    ...{ text: text ?? known?.text ?? "", state: state ?? known?.state ?? "next", doing },
    ...(id === undefined ? {} : { id }),
  }
  const others = items.filter((one) => one !== known && one.doing !== undefined)
  if (!work.begun.has(item.text)) work.begun.set(item.text, doing.at)
  work.tasks = { items: [...others, ...(isGone ? [] : [item])].slice(-maxTasks), doing }
}

const stateOf = (word: string): LineState =>
  doneState.test(word) ? "done" : failedState.test(word) ? "failed" : openState.test(word) ? "open" : "next"

const checkbox = /^[ \t]{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]{1,3}\[([ xX✓✔~-])\][ \t]{1,3}(\S.{0,600})$/

/** How much of a text is read for checkboxes. */
const maxRead = 40_000

/** Lines with a checkbox: `- [x] done`, `- [ ] to do`. */
export function checkboxesIn(text: string): readonly Task[] {
  if (!text.includes("[")) return []
  const tasks: Task[] = []
  for (const line of text.slice(0, maxRead).split("\n")) {
    const found = checkbox.exec(line.slice(0, 700))
    if (found === null || tasks.length >= maxTasks) continue
    tasks.push({ text: oneLine(found[2] ?? "", maxLineLength), state: /[xX✓✔]/.test(found[1] ?? "") ? "done" : "next" })
  }
  return tasks
}
