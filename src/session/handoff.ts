import { composeDigest } from "../compact/compose-digest.ts"
import { readConversation } from "../compact/knowledge.ts"
import {
  isUsersSection,
  rulesSection,
  type Summary,
  type SummaryLine,
  sinceSection,
} from "../compact/summary/summary.ts"
import { isSpoken } from "../message/fence.ts"
import { type Message, messageId, textOfMessage } from "../message/message.ts"
import { sumOf } from "../message/present.ts"
import { withNewView } from "./history/open-call.ts"
import { readInherited } from "./history/own-compaction.ts"
import { budgetOf, type PrepareState } from "./history/prepared.ts"
import { assemble } from "./history/view.ts"
import { entryId } from "./log/entry.ts"
import { knownPins } from "./rules/pins.ts"

/** Token limits of the handoff added to a client's summary. It has only lines that the client lost, and leaves the room for the work. */
const maxTokens = 1500
const minTokens = 120
/** Maximum share of the room below the compaction threshold that the handoff takes. */
const roomShare = 0.25

/**
 * After a client compacted its own history: inserts the actions, user's words and open tasks that its summary lost before the newest
 * message, within a budget. The message stays there, so that later calls and the provider's cache find it in the same place.
 */
export async function withHandoff(preparing: PrepareState): Promise<PrepareState> {
  const { live, call, meter } = preparing
  if (call.compacted === undefined) return preparing
  const newest = newestUserEntry(preparing)
  const { plan, compactAtTokens, contextTokens } = budgetOf(preparing, assemble(call))
  const room = Math.min(maxTokens, Math.floor((compactAtTokens - contextTokens) * roomShare))
  if (newest === undefined || plan.type === "compact" || room < minTokens) return preparing
  const inherited = await readInherited(live)
  if (inherited === undefined) return preparing
  const rules = (await knownPins(live)).map((pin) => pin.text)
  const told = withoutRules(call.compacted.asked ? withoutOpenRequests(inherited) : inherited, rules)
  const text = call.frame.messages.map(textOfMessage).join("\n")
  const { summary, ...knowledge } = readConversation([], { schema: told.schema, earlier: told })
  const composed = composeDigest(
    { ...knowledge, summary: missingLines(summary, text) },
    {
      budgetTokens: room,
      covered: sumOf(call.events, (event) => (event.type === "branch-opened" ? event.left : 0)),
      shown: new Set(),
      stands: (value) => text.includes(value),
      meter,
      arguments: new Set(),
    },
  )
  if (composed === undefined || composed.digest.summary.sections.length === 0) return preparing
  const message: Message = {
    id: messageId(`h${newest}`),
    role: "user",
    parts: [{ type: "text", text: composed.text }],
  }
  await live.journal.commit(() => [{ type: "handoff-restored", before: newest, message }])
  const lines = sumOf(composed.digest.summary.sections, (section) => section.lines.length)
  preparing.notes.push({ type: "handoff-restored", lines, tokens: composed.tokens })
  return { ...preparing, call: await withNewView(live, call) }
}

/** Turns open requests of a summary into plain statements of the user, because the user has asked for something else since. */
const withoutOpenRequests = ({ schema, sections }: Summary): Summary => ({
  schema,
  sections: sections.map(({ name, lines }) => ({
    name: name === "primary_requests" ? "user_messages" : name,
    lines: isUsersSection(name) ? lines.map((line) => ({ ...line, state: "said" as const })) : lines,
  })),
})

/** Removes rules from the lines: those in force are pinned, the others were withdrawn. */
const withoutRules = ({ schema, sections }: Summary, rules: readonly string[]): Summary => ({
  schema,
  sections: sections.map(({ name, lines }) => ({
    name,
    lines: lines.flatMap((line) => {
      const text = rules.reduce((words, rule) => words.replaceAll(rule, "").trim(), line.text)
      if (text === line.text) return [line]
      return /\p{L}{3}/u.test(text) ? [{ ...withoutShort(line), text }] : []
    }),
  })),
})

const withoutShort = ({ short: _, ...line }: SummaryLine): SummaryLine => line

/** The entry of the newest user message without tool results, because nothing may be inserted between a call and its result. */
function newestUserEntry({ call }: PrepareState): number | undefined {
  const byId = new Map<string, Message>(call.frame.messages.map((message) => [message.id, message]))
  const last = call.view.items.findLast((item) => {
    const message = item.type === "shown" ? byId.get(entryId(item.entry)) : undefined
    return message !== undefined && isSpoken(message) && !message.parts.some(({ type }) => type === "tool-result")
  })
  return last?.type === "shown" ? last.entry : undefined
}

const fold = (text: string): string => text.replace(/\s+/g, " ").toLowerCase()

/** Names of the sections about finished and open work. */
const workSections: ReadonlySet<string> = new Set([
  ...["acts", sinceSection, "recent_actions", "errors_and_fixes", "files_and_code", "file_system_state"],
  ...["pending_tasks", "current_plan", "current_work", "next_steps"],
])

/** The lines that a context does not contain: the user's words are compared verbatim, the lines about work by their names and figures. */
export function missingLines({ schema, sections }: Summary, context: string): Summary {
  const text = fold(context)
  const lost = sections.map(({ name, lines }) => ({ name, lines: lines.filter((line) => isMissing(name, line, text)) }))
  return { schema, sections: lost.filter(({ lines }) => lines.length > 0) }
}

function isMissing(section: string, line: SummaryLine, text: string): boolean {
  if (isUsersSection(section))
    return section !== rulesSection && line.channel === "user" && !text.includes(userWordsIn(line.text))
  if (!workSections.has(section)) return false
  // That a file was read or a list item is done has no effect on the work.
  if (/: read$/.test(line.text) || (line.state === "done" && /^(?:pending_tasks|current_plan)$/.test(section)))
    return false
  return !containsLine(text, line.text)
}

/** The user's words in a line: without the question that they answer, up to where an earlier digest truncated them. */
const userWordsIn = (line: string): string =>
  fold(
    line
      .replace(/ \(asked: .*\)$/s, "")
      .replace(/^… /, "")
      .split(/ \[… \d+ characters/)[0] ?? "",
  ).trim()

/** Matches names, paths and figures; longer words are compared only if a line has none. */
const exactWord = /[\p{L}\p{N}_@#./-]*[\d_@/][\p{L}\p{N}_@#./-]*/gu
const longWord = /\p{L}{5,}/gu
/** Share of the words of a line that a context must contain to count as containing the line. */
const containedShare = 0.7

function containsLine(text: string, line: string): boolean {
  // A summary rewords tool and argument names, so compare only the argument values.
  const call = /^`[\w.:-]{1,80}\((.+)\)`/.exec(line)?.[1]
  const folded = fold((call ?? line).replace(/(?:^|(?<=[\s,{[(]))[\w-]{1,60}=/g, " "))
  const values = (folded.match(exactWord) ?? []).map((word) => word.replace(/^[./-]+|[./-]+$/g, ""))
  const words = [...new Set(values.filter((word) => word.length > 2))]
  const wanted = words.length > 0 ? words : (folded.match(longWord) ?? [])
  return wanted.length > 0 && wanted.filter((word) => text.includes(word)).length >= containedShare * wanted.length
}
