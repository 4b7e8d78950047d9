import type { HistoryEntry } from "../session/history.ts"
import type { Branch, Checkpoint, Overview, Shown } from "../session/overview.ts"
import type { SessionPin } from "../session/pins.ts"
import type { SessionRow } from "../store/store.ts"
import { countOfType, entryFrom, entryWords } from "./entry-words.ts"
import { count, indent, moment, number, type Paper, paragraph } from "./paper.ts"
import { clip, sentenceOf } from "./printable.ts"

export type SessionAccount = {
  readonly row: SessionRow
  readonly overview: Overview
  readonly pins: readonly SessionPin[]
  /** The last message, if there is one. */
  readonly latest?: HistoryEntry
  /** The store in words. */
  readonly place: string
  /** The log entry by entry, where that was asked for. */
  readonly log?: readonly HistoryEntry[]
}

/** So many of a kind are listed one by one; --json has all of them. */
const maxListed = 12

/** A session for a person to read. */
export function accountSession(account: SessionAccount, paper: Paper): readonly string[] {
  const { row, overview, pins, latest, place, log } = account
  const { id, agent, createdMs, updatedMs } = row
  const title = `Session ${id}${agent === "" ? "" : ` of agent ${agent}`}`
  const said = latest === undefined ? "nothing yet" : `${latest.id}, ${entryFrom(latest)}: ${entryWords(latest)}`
  const stored = `all ${count(overview.entries, "entry", "entries")} in ${place}; sessions verify checks every one.`
  return [
    paper.bold(sentenceOf(title)),
    `Begun ${moment(createdMs)}, last written ${moment(updatedMs)} (UTC).`,
    "",
    ...paragraph("Entries", entriesSentence(overview), paper),
    ...listed("Branches", overview.branches, branchLine, paper),
    ...listed("Compacted", overview.checkpoints, checkpointLine, paper),
    ...paragraph("Shown now", shownSentence(overview.shown), paper),
    ...listed("Pins", pins, ({ id: pin, text, channel }) => `${pin}, ${channel}: ${text}`, paper),
    ...paragraph("Latest", clip(said, (paper.width - indent) * 2), paper),
    ...paragraph("Durable", overview.durable ? stored : "not everything is in the store yet.", paper),
    ...(log === undefined ? [] : ["", ...log.map((entry) => logLine(entry, paper))]),
  ]
}

function entriesSentence({ entries, types }: Overview): string {
  const kinds = Object.entries(types).map(([type, value]) => countOfType(type, value))
  return `${number(entries)}: ${kinds.join(", ")}.`
}

function listed<Item>(
  label: string,
  items: readonly Item[],
  lineOf: (item: Item) => string,
  paper: Paper,
): readonly string[] {
  const rest = items.length > maxListed ? [`and ${number(items.length - maxListed)} more`] : []
  const lines = [...items.slice(0, maxListed).map(lineOf), ...rest]
  return lines.length === 0
    ? paragraph(label, "none", paper)
    : lines.flatMap((line, n) => paragraph(n === 0 ? label : "", clip(line, (paper.width - indent) * 3), paper))
}

const branchLine = ({ tip, messages, current }: Branch): string =>
  `${tip}: ${count(messages, "message")}${current ? ", the one that the session is on" : ""}`

function checkpointLine({ id, atMs, remedy, beforeTokens, afterTokens, undone, inForce, upTo }: Checkpoint): string {
  const state = inForce ? ", in force" : undone ? ", undone" : ""
  return `${id}, ${moment(atMs)}, ${remedy}: ${number(beforeTokens)} -> ${number(afterTokens)} tokens, up to ${upTo}${state}`
}

function shownSentence({ whole, shortened, leftOut, standing, made }: Shown): string {
  const ours = [
    [made.digest, "digest"],
    [made.pins, "message of pinned rules", "messages of pinned rules"],
    [made.memory, "message of retrieved memory", "messages of retrieved memory"],
    [made.other, "message carried over", "messages carried over"],
    [standing, "message of the prompt stack", "messages of the prompt stack"],
  ] as const
  const beside = ours.flatMap(([value, one, several]) => (value === 0 ? [] : [count(value, one, several)]))
  return [
    `${count(whole, "message")} whole`,
    ...(shortened === 0 ? [] : [`${number(shortened)} with less of their results`]),
    ...beside,
    `${number(leftOut)} left out.`,
  ].join(", ")
}

function logLine(entry: HistoryEntry, { width, dim }: Paper): string {
  const head = `${entry.id.padStart(6)}  ${moment(entry.atMs)}  ${(entry.message?.role ?? "").padEnd(9)}  `
  const words = clip(entryWords(entry), Math.max(20, width - head.length))
  return entry.onBranch === false ? dim(`${head}${words}`) : `${head}${words}`
}
