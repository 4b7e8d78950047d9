import { code } from "../summary/summary.ts"
import { changeText, type FileChange, type FileDeed, joinChanges, readChange } from "./file-change.ts"
import { distinct } from "./note-draft.ts"

/** What was done to a file so far; formatted and parsed by the functions below. */
export type FileState = {
  readonly deeds: readonly FileDeed["deed"][]
  readonly change?: FileChange
  /** Number of edits. */
  readonly edits: number
  readonly at: number
  readonly sources: readonly string[]
  /** The state before the latest changes, for undoing them. */
  readonly before?: FileState
}

/** Merges entries of the same file: a relative path means the absolute path that ends with it, if exactly one does. */
export function eachFile(files: ReadonlyMap<string, FileState>): ReadonlyMap<string, FileState> {
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

/** Merges what was done to one file under two names, ordered by the latest change. */
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

/**
 * Adds an operation to those done to a file: a deletion drops everything before it except that the file was created here, and creating it
 * again drops the deletion.
 */
export function joinDeeds(known: readonly FileDeed["deed"][], deed: FileDeed["deed"]): readonly FileDeed["deed"][] {
  if (deed === "deleted") return known.includes("created") ? ["created", deed] : [deed]
  if (deed === "restored") return [deed]
  const kept: readonly FileDeed["deed"][] = known.filter((one) => one !== "deleted")
  const rewritten =
    deed === "created" && kept.some((one) => one === "read" || one === "edited") && !kept.includes("created")
  return order.filter((one) => kept.includes(one) || one === (rewritten ? "edited" : deed))
}

/** Formats the state of a file: `` `a.ts`: edited 3× (+12 −4: parseDate) ``. */
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

/** Parses the output of `fileText`. */
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

/** Merges an earlier and a later line about a file, as if both had been read at once. */
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
