import { type LineState, maxLineLength, oneLine } from "../summary/summary.ts"
import type { MessagePosition } from "./work.ts"

/** The agent's own task list, written whole or kept item by item, with the message index at which each item was added. */
export type TaskList = {
  tasks: { readonly items: readonly Task[]; readonly doing: MessagePosition } | undefined
  /** Largest number of messages between two updates. */
  longestRest: number
  /** Message index at which each item was added. */
  readonly begun: Map<string, number>
}

export const createTaskList = (): TaskList => ({ tasks: undefined, longestRest: 0, begun: new Map() })

/** An item of the agent's task list. */
export type Task = {
  readonly text: string
  readonly state: LineState
  /** Only in a list kept item by item: the agent's id of the item, and where it was last updated. */
  readonly id?: string
  readonly doing?: MessagePosition
}

/** What one call changes about one item; a new item has no id before its result gives one. */
export type TaskChange = {
  readonly id?: string
  readonly text?: string
  readonly state?: LineState
  readonly isGone: boolean
}

/** Maximum number of items of a list: a longer one is a backlog, of which the first open items matter. */
const maxTasks = 40

const textKeys = ["content", "step", "title", "task", "description", "text", "subject", "name"]
const stateKeys = ["status", "state", "done", "completed", "checked", "finished"]
const doneState = /^(?:done|completed?|finished|closed|true|x)$/i
const failedState = /^(?:failed|cancell?ed|blocked|abandoned|skipped)$/i
const openState = /^(?:in[_ -]?progress|active|doing|started|current|wip)$/i

const isRecord = (value: unknown): value is object => typeof value === "object" && value !== null

/** Returns the tasks in the input of a list tool: the first list of records with a text and a state each, or a text with checkboxes. */
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
  // If no known key has the text, the first string with a space that is not the state is taken: ids have no spaces.
  const found =
    known ?? Object.values(item).find((value) => typeof value === "string" && value !== state && /\s/.test(value))
  if (typeof found !== "string" || found.trim() === "" || state === undefined) return []
  return [{ text: oneLine(found, maxLineLength), state: stateOf(String(state)) }]
}

const idKeys = ["taskId", "task_id", "todoId", "todo_id", "id"]
const goneState = /^(?:deleted|removed)$/i

/** Returns the item that a call creates or changes. */
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

/** Records a change of one item; `told` is the id that the result gives a new item. */
export function recordTask(
  list: TaskList,
  { id: named, text, state, isGone }: TaskChange,
  told: string | undefined,
  doing: MessagePosition,
): void {
  const items = list.tasks?.items ?? []
  const id = named ?? told
  const known = items.find((item) => item.id !== undefined && item.id === id)
  if (known === undefined && (text === undefined || named !== undefined)) return
  const item: Task = {
    ...{ text: text ?? known?.text ?? "", state: state ?? known?.state ?? "next", doing },
    ...(id === undefined ? {} : { id }),
  }
  const others = items.filter((one) => one !== known && one.doing !== undefined)
  noteRest(list, doing)
  if (!list.begun.has(item.text)) list.begun.set(item.text, doing.at)
  list.tasks = { items: [...others, ...(isGone ? [] : [item])].slice(-maxTasks), doing }
}

const stateOf = (word: string): LineState =>
  doneState.test(word) ? "done" : failedState.test(word) ? "failed" : openState.test(word) ? "open" : "next"

const checkbox = /^[ \t]{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]{1,3}\[([ xX✓✔~-])\][ \t]{1,3}(\S.{0,600})$/

/** Maximum number of characters read for checkboxes. */
const maxRead = 40_000

/** Returns the checkbox items of a text: `- [x] done`, `- [ ] to do`. */
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

/**
 * Replaces the list. If a rewritten list shares an item with the old one, new items inherit the start of items that disappeared undone,
 * because they may be rewordings.
 */
export function keepTasks(list: TaskList, items: readonly Task[], doing: MessagePosition): void {
  const before = list.tasks?.items ?? []
  const isSame = before.some((old) => items.some(({ text }) => isReworded(old.text, text)))
  const left = before.filter((old) => isToDo(old) && !items.some(({ text }) => text === old.text))
  const begun = Math.min(doing.at, ...(isSame ? left : []).flatMap(({ text }) => list.begun.get(text) ?? []))
  const kept = new Set(before.flatMap((old) => (isToDo(old) ? [old.text] : [])))
  noteRest(list, doing)
  list.tasks = { items, doing }
  for (const { text } of items) if (!kept.has(text) || !list.begun.has(text)) list.begun.set(text, begun)
}

function noteRest(list: TaskList, { at }: MessagePosition): void {
  if (list.tasks !== undefined) list.longestRest = Math.max(list.longestRest, at - list.tasks.doing.at)
}

/** True if two items say the same, or the longer one has most words of the shorter. */
function isReworded(one: string, other: string): boolean {
  if (one === other) return true
  const [few = [], many = []] = [one, other].map(wordsIn).toSorted((a, b) => a.length - b.length)
  return few.length >= leastWords && few.filter((word) => many.includes(word)).length >= mostWords * few.length
}
const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []
const [leastWords, mostWords] = [3, 0.75]

export const isToDo = ({ state }: Task): boolean => state === "open" || state === "next"

/** Minimum numbers of user messages and of all messages without an update after which a list no longer shows the state of the work. */
const [heardSince, messagesSince] = [3, 40]
/** Factor by which a pause may exceed the longest earlier one. */
const restsLonger = 2

/** True if the list was not updated while the user and the work went on. `heard`: indexes of the user's messages. */
export function isListLeft({ tasks, longestRest }: TaskList, heard: readonly number[], end: number): boolean {
  if (tasks === undefined) return false
  const { at } = tasks.doing
  return (
    end - at > Math.max(messagesSince, restsLonger * longestRest) &&
    heard.filter((place) => place > at).length > heardSince
  )
}

/** Returns the index at which the oldest open item was added; undefined if there is none. */
export function openSince({ tasks, begun }: TaskList): number | undefined {
  const open = tasks?.items.filter(isToDo) ?? []
  const places = open.flatMap(({ text }) => begun.get(text) ?? [])
  return places.length === 0 ? undefined : Math.min(...places)
}
