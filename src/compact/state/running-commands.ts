import { nameWords } from "../../language/word-forms.ts"
import type { ToolCallPart, ToolResultPart } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { code, oneLine } from "../summary/summary.ts"
import type { NoteDraft } from "./note-draft.ts"
import { maxQuoted } from "./outcome-of.ts"
import { isRunning, resultText, runningIn } from "./result-text.ts"
import type { OpenCall } from "./value-notes.ts"

/** Background commands by the id under which their output is fetched, with the last line of output seen. */
export type RunningCommands = Map<string, { readonly open: OpenCall; readonly seen?: string }>

/** Returns the background command whose output a call fetches; undefined for a call that sends input or ends the command. */
export function fetchedBy(running: RunningCommands, { tool, input }: ToolCallPart): OpenCall | undefined {
  if (running.size === 0 || typeof input !== "object" || input === null || stops.test(nameWords(tool).join(" ")))
    return undefined
  const entries: readonly (readonly [string, unknown])[] = Object.entries(input)
  if (entries.some(([key, value]) => /^(?:chars|input|text|data)$/.test(key) && String(value).trim() !== ""))
    return undefined
  const id = entries.find(([key, value]) => /(?:^|_)id$|Id$/.test(key) && running.has(String(value)))?.[1]
  return id === undefined ? undefined : running.get(String(id))?.open
}

/** True if a command still runs after this result, so that it has no outcome yet. */
export function goesOn(running: RunningCommands, open: OpenCall, result: ToolResultPart): boolean {
  const [known] = [...running].find(([, one]) => one.open === open) ?? []
  const text = resultText(result)
  const id = runningIn(text)
  if (open.deed.type !== "command" || (id === undefined && !(known !== undefined && isRunning(text)))) {
    if (known !== undefined) running.delete(known)
    return false
  }
  const key = known ?? id
  const seen = lastLineOf(result)
  if (key !== undefined && (known === undefined || seen !== undefined)) running.set(key, { open, ...present({ seen }) })
  return true
}

/** Returns the last telling line of an output, without what the harness prints about the process. */
function lastLineOf(result: ToolResultPart): string | undefined {
  const line = resultText(result)
    .tail.split("\n")
    .findLast((one) => /[\p{L}\p{N}]/u.test(one) && !ofProcess.test(one) && !/^\s*\{/.test(one) && !inTags.test(one))
  return line === undefined ? undefined : oneLine(line.replace(/<\/?(?:stdout|stderr|output)>/gi, ""), maxQuoted)
}
/** A line of the harness about the process: `<timestamp>…</timestamp>`, `<status>running</status>`, or a tag alone. */
const inTags =
  /^\s*(?:<\/?[a-z_-]{2,20}>\s*)+$|^\s*<(timestamp|status|state|exit_?code|(?:task|shell|bash)_?id|duration)>[^<]*<\/\1>\s*$/i
const ofProcess =
  /^\W*(?:Chunk ID|Wall time|Process running|Original token count|Output|Command running in (?:the )?background)\b/i

/** Returns the background commands that a harness's notice says have ended, and whether they failed. */
export function endedBy(running: RunningCommands, notice: string): readonly EndedCommand[] {
  if (running.size === 0 || !ends.test(notice)) return []
  return [...running].flatMap(([id, { open, seen }]): readonly EndedCommand[] => {
    if (!new RegExp(`(?<![\\w-])${id}(?![\\w-])`).test(notice)) return []
    running.delete(id)
    const exit = /exit(?:ed with)?(?: code| status)?:? (\d{1,3})/i.exec(notice)?.[1]
    const isFailed = exit === undefined ? /\bfailed\b|\bkilled\b/i.test(notice) : exit !== "0"
    return [{ id, open, failed: isFailed, line: seen ?? (isFailed ? "failed" : undefined) }]
  })
}
const ends = /\b(?:completed|finished|exited|failed|killed|ended|terminated)\b/i
type StoppedCommand = { readonly id: string; readonly open: OpenCall }
type EndedCommand = StoppedCommand & { readonly failed: boolean; readonly line: string | undefined }

/**
 * Handles a call that names a background command: reads its latest output, or returns it if the call ended it. Task lists and written
 * files may name a command without touching it.
 */
export function lookInto(
  running: RunningCommands,
  { call, deed }: OpenCall,
  result: ToolResultPart,
): readonly StoppedCommand[] {
  if (
    running.size === 0 ||
    result.failed === true ||
    deed.type === "tasks" ||
    (deed.type === "files" && deed.files.some((file) => file.deed !== "read"))
  )
    return []
  const given = JSON.stringify(call.input) ?? ""
  const ended: StoppedCommand[] = []
  for (const [id, { open }] of running) {
    if (!new RegExp(`(?<![\\w-])${id}(?![\\w-])`).test(given)) continue
    if (stops.test(`${nameWords(call.tool).join(" ")} ${given}`)) {
      running.delete(id)
      ended.push({ id, open })
    } else {
      const seen = lastLineOf(result)
      if (seen !== undefined) running.set(id, { open, seen })
    }
  }
  return ended
}
/** Matches a call that ends a process, by name or by the control character that a terminal sends. */
const stops = /\\u000[34]|(?:^|[^\p{L}])(?:p?kill(?:all)?|stop|terminate|cancel|abort)(?![\p{L}])/iu

/** Drafts of commands that still run and have to be checked later. Of a server started again only the latest run is told. */
export const runningDrafts = (running: RunningCommands): readonly NoteDraft[] =>
  [...running].flatMap(([id, { open, seen }], n, all): readonly NoteDraft[] => {
    const { deed, doing } = open
    if (deed.type !== "command") return []
    const isSame = ({ open: later }: { readonly open: OpenCall }): boolean =>
      later.deed.type === "command" && later.deed.command === deed.command
    if (all.slice(n + 1).some(([, later]) => isSame(later))) return []
    const end =
      seen === undefined ? { otherwise: ": no result yet" } : { quoted: seen, after: " (when last looked at)" }
    return [
      {
        kind: "commitment",
        text: `${code(deed.command)} runs in the background as ${id}`,
        ...{ sources: [doing.source], channel: "assistant", at: doing.at, worth: runningWorth, state: "open" },
        ...end,
      },
    ]
  })
const runningWorth = 10
