import { oneLine } from "./line.ts"
import { maxLineLength } from "./note.ts"
import type { LineState } from "./summary.ts"

/** An item of the assistant's own list. No state: still to do, or under way. */
export type Task = { readonly text: string; readonly state: LineState }

/** Items of one list: longer ones are a backlog, and the first open ones matter. */
const maxTasks = 40

const textKeys = ["content", "step", "title", "task", "description", "text", "subject", "name"]
const stateKeys = ["status", "state", "done", "completed"]
const doneState = /^(?:done|completed?|finished|closed|true|x)$/i
const failedState = /^(?:failed|cancell?ed|blocked|abandoned|skipped)$/i

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
  const found = textKeys.map((key): unknown => Reflect.get(item, key)).find((value) => typeof value === "string")
  const state = stateKeys.map((key): unknown => Reflect.get(item, key)).find((value) => value !== undefined)
  if (typeof found !== "string" || found.trim() === "" || state === undefined) return []
  return [{ text: oneLine(found, maxLineLength), state: stateOf(String(state)) }]
}

const stateOf = (word: string): LineState =>
  doneState.test(word) ? "done" : failedState.test(word) ? "failed" : "next"

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
