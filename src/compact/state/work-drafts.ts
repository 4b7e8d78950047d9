import { present } from "../../message/present.ts"
import { code, maxLineLength, oneLine } from "../summary/summary.ts"
import { isAddress } from "./line-series.ts"
import type { NoteDraft } from "./note-draft.ts"
import { type FileState, fileText, type Run, type Work } from "./work.ts"

/** What the lines of work are worth; `worthOf` in notes.ts says how time changes it. */
const worths = {
  act: 10,
  error: 7,
  fixed: 4.5,
  command: 4,
  lookup: 2.5,
  bareLookup: 1,
  changedFile: 6,
  readFile: 2,
  task: 8,
  doneTask: 4,
}

/** The lines of all that was done: runs, errors with their fixes, files, and the items of the latest list. */
export function workDrafts(work: Work): readonly NoteDraft[] {
  const runs = [...work.runs.values()].flatMap(runDraft)
  const files = [...work.files].map(([path, state]) => fileDraft(path, state))
  return [...runs, ...files, ...taskDrafts(work)]
}

/** A search without a hit ends like this; that is no error. */
const foundNothing = /^(?:\W{0,3}(?:command )?exit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}1\W{0,3})?$/i

function runDraft(run: Run): readonly NoteDraft[] {
  const { text, kind, calls, little, at, sources, outcome, fixed, times } = run
  const base = { kind, text: times > 1 ? `${text} ×${times}` : text, sources, channel: "assistant", at } as const
  const scale = little ? 0.3 : 1
  if (outcome === undefined)
    return [{ ...base, state: "pending", worth: worths.error * scale, after: ": no result yet" }]
  const quoted = outcome.line ?? outcome.value ?? (kind === "act" && outcome.sure !== true ? outcome.begins : undefined)
  const values = outcome.line === undefined && outcome.begins === undefined
  if (!outcome.failed) {
    // That something ran is no news, nor that a tool was called without arguments; what it found or changed is.
    if (kind !== "act" && quoted === undefined && (!calls || text.endsWith("()`"))) return []
    const worth = (kind === "lookup" && quoted === undefined ? worths.bareLookup : worths[kind]) * scale
    if (kind !== "act") return [{ ...base, worth, ...present({ quoted }), values }]
    const state = outcome.sure === true ? ("done" as const) : undefined
    const otherwise = state === undefined ? ": result unknown" : ""
    return [{ ...base, worth, ...present({ state, quoted }), values, otherwise }]
  }
  if (kind === "lookup" && (fixed !== undefined || (!calls && foundNothing.test(quoted ?? "")))) return []
  const ways = run.alike === 1 ? "another way" : `${run.alike} other ways`
  const others = run.alike === undefined ? "" : `, like ${ways} before it`
  const again = times > 1 ? ` ×${times}` : ""
  const error = { ...base, kind: "error" as const, text: `${text} failed${again}${others}`, ...present({ quoted }) }
  if (fixed === undefined) {
    return [{ ...error, state: "failed", worth: (kind === "lookup" ? worths.lookup : worths.error) * scale }]
  }
  return [{ ...error, at: fixed.at, state: "done", worth: worths.fixed * scale, after: `; ${fixText(run, fixed)}` }]
}

function fixText({ text, calls }: Run, { files, by }: NonNullable<Run["fixed"]>): string {
  if (files.length > 0) return oneLine(`went well after changing ${files.map(code).join(", ")}`, maxLineLength)
  if (calls && by !== text) return "went well with other arguments"
  return by === text ? "went well when run again" : oneLine(`went well as ${by}`, maxLineLength)
}

/** Where there is little room, a file is told with so many names of what changed in it. */
const fewNames = 2

/** Each file that was looked at too often to be there by chance is worth more. */
const fileDraft = (path: string, state: FileState): NoteDraft => {
  const { deeds, at, sources } = state
  const changed = deeds.some((deed) => deed !== "read")
  return {
    kind: isAddress(path) && !changed ? "lookup" : "file",
    text: fileText(path, state),
    ...(state.change === undefined ? {} : { short: fileText(path, state, fewNames) }),
    sources,
    channel: "assistant",
    at,
    worth: changed ? worths.changedFile : worths.readFile + Math.min(2, sources.length / 4),
  }
}

function taskDrafts({ tasks }: Work): readonly NoteDraft[] {
  if (tasks === undefined) return []
  const { items, doing } = tasks
  return items.map(({ text, state }) => ({
    kind: "task",
    text,
    sources: [doing.source],
    state,
    channel: "assistant",
    at: doing.at,
    worth: state === "done" ? worths.doneTask : worths.task,
  }))
}
