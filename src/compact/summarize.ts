import { channelOf } from "../message/channel-of.ts"
import type { Message, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { textOf } from "../message/text.ts"
import { linesAgainst } from "../rules/lines-against.ts"
import type { Draft } from "./draft.ts"
import type { SummarySource } from "./gate/attribute.ts"
import { type GateEvent, gateSummary } from "./gate/gate-summary.ts"
import type { Knowledge } from "./knowledge.ts"
import type { Scene } from "./scene.ts"
import { ownMessage } from "./standing.ts"
import type { SummaryEvent } from "./summary/model-write.ts"
import { rulesSection, schemas } from "./summary/schema.ts"
import type { Summary, SummaryLine } from "./summary/summary.ts"
import type { CompactTask } from "./task.ts"

export type Summarized = { readonly summary?: Summary; readonly events: readonly (SummaryEvent | GateEvent)[] }

/**
 * Have what goes out of sight summarized by whoever was asked to, and let through the gate only what rests on it. What the user said
 * does not depend on anyone: those lines are the extracted ones, to the letter.
 */
export async function summarize(
  { choices }: CompactTask,
  scene: Scene,
  knowledge: Knowledge,
  { edits, digest }: Draft,
): Promise<Summarized> {
  const { summarizer, schema, focus, language } = choices
  if (summarizer === undefined || digest === undefined || choices.digest === "none") return { events: [] }
  const gone = new Set(edits.flatMap((edit) => (edit.type === "messages-dropped" ? edit.messageIds : [])))
  const messages = scene.conversation.filter((message) => gone.has(message.id) && ownMessage(message) === undefined)
  const { summary, events } = await summarizer.write({
    messages,
    schema,
    budgetTokens: summaryTokens,
    ...present({ previous: knowledge.carried, focus, language }),
  })
  if (summary === undefined) return { events }
  const lines = summary.sections.flatMap((section) => section.lines)
  const gated = gateSummary(lines, sourcesOf(messages, knowledge.carried))
  const dropped = new Set(gated.events.map(({ line }) => line))
  const against = linesAgainstRules(choices, lines, dropped)
  const refused = new Set(against.map(({ line }) => line))
  const passed = new Map(
    lines
      .map((line, at) => ({ line, at }))
      .filter(({ at }) => !dropped.has(at))
      .flatMap(({ line, at }, n) => (refused.has(at) ? [] : [[line, gated.lines[n]] as const])),
  )
  const kept = withUserWords(summary, knowledge.summary, (line) => {
    const found = passed.get(line)
    return found === undefined ? [] : [{ ...line, sources: found.sources }]
  })
  return { ...(passed.size === 0 ? {} : { summary: kept }), events: [...events, ...gated.events, ...against] }
}

/** Lines that speak against a rule that stands: a summary tells what happened, and changes nothing. */
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
  return [...first.values()].map(({ line, rule, verdict }) => ({
    type: "line-dropped",
    line,
    reason: { code: "against-rule", rule: rules[rule] ?? "", verdict },
  }))
}

/** What a summarizer is asked to stay within: a page and a half. What does not fit the digest is left out line by line. */
const summaryTokens = 1200

/** Every text of the messages with the channel that it came in through, and the lines that an earlier digest has already. */
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
  passed: (line: SummaryLine) => readonly SummaryLine[],
): Summary {
  const linesOf = ({ sections }: Summary, name: string): readonly SummaryLine[] =>
    sections.find((section) => section.name === name)?.lines ?? []
  const sections = schemas[written.schema].map(({ name }) => ({
    name,
    lines: [
      ...linesOf(extracted, name).filter(({ channel }) => name === rulesSection || channel === "user"),
      ...linesOf(written, name).flatMap(passed),
    ],
  }))
  return { schema: written.schema, sections: sections.filter(({ lines }) => lines.length > 0) }
}
