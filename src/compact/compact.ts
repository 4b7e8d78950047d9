import { channelOf } from "../message/fence.ts"
import { type Message, type Transcript, textOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import { runInSteps } from "../message/steps.ts"
import { linesAgainst } from "../rules/lines-against.ts"
import { type Attempt, type Compacted, install } from "./attempt.ts"
import { addedTokens, type CompactionDraft, draftDigest, pinEdits } from "./draft.ts"
import {
  barestDigestTokens,
  freeTokens,
  impossible,
  installFallback,
  installRecord,
  unreadFitting,
} from "./fallback.ts"
import type { SummarySource } from "./gate/attribute.ts"
import { type GateEvent, gateSummary } from "./gate/gate-summary.ts"
import { type Knowledge, readingSteps, withoutContent } from "./knowledge.ts"
import { bareDigestShare, leastDigestTokens } from "./plan/share.ts"
import {
  fitMandatory,
  isEasy,
  microEditSteps,
  microEdits,
  microMayDo,
  relaxEdits,
  savedBy,
  smallResult,
  usualPressure,
} from "./pressure.ts"
import { type Scene, setScene } from "./scene.ts"
import { applyEdits, type Edit } from "./stages/edit.ts"
import { ownMessage } from "./standing.ts"
import { standingInMessages } from "./standing-in.ts"
import { memoryOf } from "./state/flush.ts"
import { readRecord } from "./state/records.ts"
import { readValueStatement } from "./state/value-statements.ts"
import type { SummaryEvent } from "./summary/model-write.ts"
import {
  isOfTheLog,
  isPromise,
  quoteSeen,
  type Summary,
  type SummaryLine,
  schemas,
  seenSection,
} from "./summary/summary.ts"
import type { CompactTask } from "./task.ts"

/**
 * Makes a request's conversation small enough: tries the remedies from the cheapest on, and runs the acceptance test on the exact text that
 * would be sent. If no remedy works, throws a Problem that says what takes up the space.
 */
export async function compact(task: CompactTask): Promise<Compacted> {
  const attempt: Attempt = { ...setScene(task), events: [] }
  await task.pause?.()
  const light = await installPins(attempt)
  if (light !== undefined) return light
  const knowledge = await runInSteps(readingSteps(attempt.conversation, task.choices), task.pause)
  await task.pause?.()
  const installed = (await installMicro(attempt, knowledge)) ?? (await installHeavier(attempt, knowledge))
  if (installed === undefined) throw await impossible(attempt)
  return installed.remedy === "micro" ? installed : { ...installed, memory: memoryOf(knowledge.notes) }
}

async function installHeavier(attempt: Attempt, knowledge: Knowledge): Promise<Compacted | undefined> {
  await attempt.pause?.()
  const recorded = await installRecord(attempt, knowledge)
  await attempt.pause?.()
  const summarized = recorded ?? (await installSummary(attempt, knowledge))
  if (summarized !== undefined) return summarized
  await attempt.pause?.()
  return installFallback(attempt, knowledge)
}

/** Remedy "pins": the conversation already fits, and at most the pinned rules have to be added. */
async function installPins(attempt: Attempt): Promise<Compacted | undefined> {
  const { targetTokens } = attempt.limits
  if (attempt.outsideTokens > targetTokens) return undefined
  return install(attempt, "pins", { edits: pinEdits(attempt) }, targetTokens)
}

/**
 * Remedy "micro": shortens older tool results just as far as needed. Only used if no value worth knowing disappears; otherwise a digest has
 * to state what the results no longer show.
 */
async function installMicro(attempt: Attempt, knowledge: Knowledge): Promise<Compacted | undefined> {
  const { meter, choices, outsideTokens } = attempt
  const { targetTokens } = attempt.limits
  if (!isEasy(attempt, targetTokens) || !microMayDo(attempt, targetTokens)) return undefined
  const all = await microEditsFor(attempt, targetTokens, "all")
  const pins = pinEdits(attempt)
  const unused = targetTokens - outsideTokens - addedTokens(pins, meter) + savedBy(all)
  if (all.length === 0 || unused < 0) return undefined
  const micro = relaxEdits(attempt, all, unused)
  if (choices.digest !== "none" && losesFacts(attempt, knowledge, micro)) return undefined
  return install(attempt, "micro", { edits: [...pins, ...micro] }, targetTokens)
}

/** True if a value worth knowing was shown before these edits and is not shown anywhere after them. */
function losesFacts({ conversation }: Scene, { notes }: Knowledge, micro: readonly Edit[]): boolean {
  const touched = new Set(micro.flatMap((edit) => ("messageId" in edit ? edit.messageId : [])))
  const wasShown = standingInMessages(conversation.filter(({ id }) => touched.has(id)))
  const isShown = standingInMessages(applyEdits(conversation, micro))
  return notes
    .flatMap(({ kind, text }) => (kind === "record" ? (readRecord(text)?.fields ?? []) : []))
    .some(({ pieces }) => pieces.flatMap(valuesOf).some((value) => wasShown(value) && !isShown(value)))
}

/** Returns a piece of a record and each value in it: `HAT136 (date 2024-05-20, price 152)` may lose only one of them. */
const valuesOf = (piece: string): readonly string[] => [piece, ...piece.split(/[\s(),]+/).filter((word) => word !== "")]

/** Returns the edits that shorten older results as far as the limit requires. */
function microEditsFor(scene: Scene, limitTokens: number, shows: "all" | "newest"): Promise<readonly Edit[]> {
  const pressure = usualPressure(scene, scene.choices.strategyOptions.keepRounds)
  return runInSteps(microEditSteps(scene, pressure, limitTokens, shows), scene.pause)
}

/**
 * Remedy "summary": tries the target size first, then the hard limit. Unread results stay whole as long as a few lines are left for a
 * digest; otherwise they are shortened and the digest is limited to those few lines, so that a larger budget never has a shorter digest.
 */
async function installSummary(attempt: Attempt, knowledge: Knowledge): Promise<Compacted | undefined> {
  const { targetTokens, hardTokens } = attempt.limits
  const unread = unreadFitting(attempt, hardTokens, leastTokens(attempt, hardTokens), smallResult)
  for (const limitTokens of unread.length > 0 ? [] : new Set([targetTokens, hardTokens])) {
    const digested = await installDigest(attempt, knowledge, limitTokens, [])
    if (digested !== undefined) return digested
    await attempt.pause?.()
  }
  return unread.length === 0 ? undefined : installDigest(attempt, knowledge, hardTokens, unread)
}

/** Tokens guaranteed to a digest before messages that have to stay get any. */
const leastTokens = ({ choices }: CompactTask, limitTokens: number): number =>
  choices.digest === "none" ? barestDigestTokens : leastDigestTokens(limitTokens)

/** Installs the draft made without a model or, if there is a summarizer and its lines pass the gate, the draft with those lines. */
async function installDigest(
  attempt: Attempt,
  knowledge: Knowledge,
  limitTokens: number,
  unread: readonly Edit[],
): Promise<Compacted | undefined> {
  const { choices } = attempt
  const known = choices.digest === "none" ? withoutContent(knowledge) : knowledge
  const usual = await microEditsFor(attempt, limitTokens, "newest")
  const least = leastTokens(attempt, limitTokens)
  const micro = fitMandatory(attempt, usual, least - freeTokens(attempt, limitTokens, [...usual, ...unread]))
  const plan = {
    limitTokens,
    select: choices.entry.select,
    strategyOptions: choices.strategyOptions,
    ...(choices.digest === "none" ? { digestShare: bareDigestShare } : {}),
    ...(micro === usual && unread.length === 0 ? {} : { mostTokens: least }),
    reason: choices.strategy,
    micro,
    ...(unread.length > 0 ? { unread } : {}),
    mayKeepAll: choices.entry.micro === "none" || choices.digest === "none",
  }
  const draft = await draftDigest(attempt, known, plan)
  await attempt.pause?.()
  if (draft === undefined) return undefined
  if (draft.digest === undefined) return install(attempt, "micro", draft, limitTokens)
  const written = await summarize(attempt, knowledge, draft)
  attempt.events.push(...written.events)
  const { summary } = written
  const summaryDraft = summary === undefined ? undefined : await draftDigest(attempt, { ...knowledge, summary }, plan)
  const withWriter =
    summaryDraft === undefined ? undefined : { ...summaryDraft, ...present({ writer: choices.summarizer?.writer }) }
  const installed = withWriter === undefined ? undefined : await install(attempt, "summary", withWriter, limitTokens)
  return installed ?? install(attempt, "summary", draft, limitTokens)
}

type SummarizeResult = { readonly summary?: Summary; readonly events: readonly (SummaryEvent | GateEvent)[] }

/**
 * Has the summarizer summarize the dropped messages, and lets only lines through the gate that are supported by their sources. Lines that
 * quote the user never come from the summarizer: they are the extracted ones, verbatim.
 */
async function summarize(
  { choices, conversation }: Scene,
  knowledge: Knowledge,
  { edits, digest }: CompactionDraft,
): Promise<SummarizeResult> {
  const { summarizer, schema, focus, language } = choices
  if (summarizer === undefined || digest === undefined || choices.digest === "none") return { events: [] }
  const gone = new Set(edits.flatMap((edit) => (edit.type === "messages-dropped" ? edit.messageIds : [])))
  if (gone.size === 0) return { events: [] }
  const messages = conversation.filter((message) => gone.has(message.id) && ownMessage(message) === undefined)
  const { summary, events } = await summarizer.write({
    messages,
    schema,
    budgetTokens: summaryTokens,
    ...present({ previous: knowledge.carried, focus, language }),
  })
  if (summary === undefined) return { events }
  const drafted = summary.sections.flatMap(({ name, lines }) => lines.map((line) => ({ line, name })))
  const gated = gateSummary(
    drafted.map(({ line, name }) => ({ ...line, promises: isPromise(name, line) })),
    // Messages that stay count as sources too: a line may be supported by data that the summarizer was not given.
    sourcesOf(
      conversation.filter((message) => ownMessage(message) === undefined),
      knowledge.carried,
    ),
  )
  const stopped = new Set(gated.events.map(({ line }) => line))
  const lines = drafted.map(({ line }) => line)
  const against = linesAgainstRules(choices, lines, stopped)
  const refused = new Set(against.map(({ line }) => line))
  const passed = new Map(
    lines
      .map((line, at) => ({ line, at }))
      .filter(({ at }) => !stopped.has(at))
      .flatMap(({ line, at }, n) => (refused.has(at) ? [] : [[line, gated.lines[n]] as const])),
  )
  const seen = gated.seen.slice(0, maxSeen).map(seenLine)
  // If only quotations are left, they are no summary: they are then added to what was extracted from the log.
  const adds = summarizer.adds === true || !drafted.some(({ line, name }) => passed.has(line) && !isOfTheLog(name))
  const kept = withUserWords(summary, knowledge.summary, { seen, adds }, (line) => {
    const found = passed.get(line)
    return found === undefined ? [] : [{ ...line, sources: found.sources }]
  })
  const isEmpty = passed.size === 0 && gated.seen.length === 0
  return { ...(isEmpty ? {} : { summary: kept }), events: [...events, ...gated.events, ...against] }
}

/** Maximum number of tool output quotations in one summary: they come last and matter least to a reader. */
const maxSeen = 20

const seenLine = ({ text, sources }: Pick<SummaryLine, "text" | "sources">): SummaryLine => ({
  text: quoteSeen(text),
  sources,
  channel: "tool",
  worth: 3,
})

/** Returns a `line-dropped` event for each line that contradicts a rule in force: a summary tells what happened and changes nothing. */
function linesAgainstRules(
  { pins, rules = pins.map(({ text }) => text) }: CompactTask["choices"],
  lines: readonly SummaryLine[],
  dropped: ReadonlySet<number>,
): readonly GateEvent[] {
  if (rules.length === 0) return []
  const found = linesAgainst(
    rules,
    lines.map(({ text }, at) => (dropped.has(at) ? "" : text)),
  )
  const first = new Map(found.map((finding) => [finding.line, finding]))
  return [...first.values()].map(({ line, rule }) => ({
    type: "line-dropped",
    line,
    reason: { code: "against-rule", rule: rules[rule] ?? "" },
  }))
}

/** Size that a summarizer is asked to stay within: a page and a half. Lines that do not fit the digest are left out one by one. */
const summaryTokens = 1200

/** Returns every text of the messages with its channel, and the lines of an earlier digest. */
function sourcesOf(messages: Transcript, carried: Summary | undefined): readonly SummarySource[] {
  const earlier = carried?.sections.flatMap(({ lines }) => lines) ?? []
  return [
    ...messages.flatMap(messageSources),
    ...earlier.flatMap(({ text, sources, channel }) => sources.map((id) => ({ id, text, channel }))),
  ]
}

function messageSources({ id, role, parts }: Message): readonly SummarySource[] {
  const byChannel = Map.groupBy(parts, (part) => channelOf(role, part))
  return [...byChannel].flatMap(([channel, own]) => {
    const text = own.map(textOf).join("\n")
    return text.trim() === "" ? [] : [{ id, text, channel }]
  })
}

function withUserWords(
  written: Summary,
  extracted: Summary,
  { seen, adds }: { readonly seen: readonly SummaryLine[]; readonly adds: boolean },
  passed: (line: SummaryLine) => readonly SummaryLine[],
): Summary {
  const linesOf = ({ sections }: Summary, name: string): readonly SummaryLine[] =>
    sections.find((section) => section.name === name)?.lines ?? []
  const isKept = (name: string, { channel, text }: SummaryLine): boolean =>
    adds || isOfTheLog(name) || name === seenSection || channel === "user" || readValueStatement(text) !== undefined
  const sections = schemas[written.schema].map(({ name }) => ({
    name,
    lines: [
      ...linesOf(extracted, name).filter((line) => isKept(name, line)),
      ...(isOfTheLog(name) ? [] : linesOf(written, name).filter(({ channel }) => channel !== "user")).flatMap(passed),
      ...(name === seenSection ? seen : []),
    ],
  }))
  return { schema: written.schema, sections: sections.filter(({ lines }) => lines.length > 0) }
}

/** Limits for tool results: maximum size wherever they are, and the number of newest tool rounds that are kept. */
type ResultLimits = { readonly largestTokens: number; readonly keepRounds: number }

/** Shortens results that are too large or too old, and changes nothing else. Undefined if there is nothing to shorten. */
export async function shortenResults(
  task: CompactTask,
  { largestTokens, keepRounds }: ResultLimits,
): Promise<Compacted | undefined> {
  const scene = setScene(task)
  const limitTokens = Math.max(task.limits.hardTokens, scene.outsideTokens)
  const micro = microEdits(scene, { scale: 1, keepRounds, largest: largestTokens }, limitTokens)
  if (micro.length === 0) return undefined
  return install({ ...scene, events: [] }, "micro", { edits: [...pinEdits(scene), ...micro] }, limitTokens)
}
