import { present } from "../../message/present.ts"
import type { Draft } from "./draft.ts"
import { code, oneLine } from "./line.ts"
import { maxLineLength } from "./note.ts"
import type { FileState, Run, Work } from "./work.ts"

/** What the lines of work are worth; see `worthOf` in notes.ts for how time changes it. */
const worths = {
  transaction: 10,
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
export function workDrafts(work: Work): readonly Draft[] {
  const runs = [...work.runs.values()].flatMap(runDraft)
  const files = [...work.files].map(([path, state]) => fileDraft(path, state))
  return [...runs, ...files, ...taskDrafts(work)]
}

/** A search without a hit ends like this; that is no error. */
const foundNothing = /^(?:\W{0,3}(?:command )?exit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}1\W{0,3})?$/i

function runDraft(run: Run): readonly Draft[] {
  const { text, kind, calls, little, at, sources, outcome, fixed } = run
  const base = { kind, text, sources, channel: "assistant", at } as const
  const scale = little || run.overtaken === true ? 0.3 : 1
  if (outcome === undefined)
    return [{ ...base, state: "pending", worth: worths.error * scale, after: ": no result yet" }]
  const quoted = outcome.line ?? outcome.value
  if (!outcome.failed) {
    if (kind === "lookup" && quoted === undefined && !calls) return []
    const worth = (kind === "lookup" && quoted === undefined ? worths.bareLookup : worths[kind]) * scale
    const state = kind === "transaction" && !little ? ("done" as const) : undefined
    return [{ ...base, worth, ...present({ state, quoted }), values: outcome.line === undefined, otherwise: ": ok" }]
  }
  if (kind === "lookup" && (fixed !== undefined || (!calls && foundNothing.test(quoted ?? "")))) return []
  const error = { ...base, kind: "error" as const, text: `${text} failed`, ...present({ quoted }) }
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

/** Each file that was looked at too often to be there by chance is worth more. */
const fileDraft = (path: string, { deeds, at, sources }: FileState): Draft => {
  const changed = deeds.some((deed) => deed !== "read")
  const shown = changed ? deeds.filter((deed) => deed !== "read") : deeds
  return {
    kind: "file",
    text: `${code(path)}: ${shown.join(", ")}`,
    sources,
    channel: "assistant",
    at,
    worth: changed ? worths.changedFile : worths.readFile + Math.min(2, sources.length / 4),
  }
}

function taskDrafts({ tasks }: Work): readonly Draft[] {
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
