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
import { budgetOf, type Preparing } from "./history/prepared.ts"
import { assemble } from "./history/view.ts"
import { entryId } from "./log/entry.ts"
import { knownPins } from "./rules/pins.ts"

/** Token limits of what is put beside a client's summary: it repeats nothing that the client kept, and leaves the room to the work. */
const mostTokens = 1500
const leastTokens = 120
/** The share that it takes of the room before the next compaction. */
const roomShare = 0.25

/**
 * After a client compacted its own history: put what its summary lost of acts, the user's words and open ends before the newest message,
 * within the room. It stays there, so that later calls and the provider's cache find it in the same place.
 */
export async function withHandoff(preparing: Preparing): Promise<Preparing> {
  const { live, call, meter } = preparing
  if (call.compacted === undefined) return preparing
  const newest = newestSpoken(preparing)
  const { plan, compactAtTokens, contextTokens } = budgetOf(preparing, assemble(call))
  const room = Math.min(mostTokens, Math.floor((compactAtTokens - contextTokens) * roomShare))
  if (newest === undefined || plan.type === "compact" || room < leastTokens) return preparing
  const inherited = await readInherited(live)
  if (inherited === undefined) return preparing
  const rules = (await knownPins(live)).map((pin) => pin.text)
  const told = withoutRules(call.compacted.asked ? asSaid(inherited) : inherited, rules)
  const text = call.frame.messages.map(textOfMessage).join("\n")
  const { summary, ...knowledge } = readConversation([], { schema: told.schema, earlier: told })
  const composed = composeDigest(
    { ...knowledge, summary: lostLines(summary, text) },
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

/** The user asked for something else since: what was open before is what was said before. */
const asSaid = ({ schema, sections }: Summary): Summary => ({
  schema,
  sections: sections.map(({ name, lines }) => ({
    name: name === "primary_requests" ? "user_messages" : name,
    lines: isUsersSection(name) ? lines.map((line) => ({ ...line, state: "said" as const })) : lines,
  })),
})

/** Rules are pinned, or were withdrawn: in neither case do they stand among the words. */
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

/** The entry of the newest message that somebody says: nothing stands between a call and its result. */
function newestSpoken({ call }: Preparing): number | undefined {
  const byId = new Map<string, Message>(call.frame.messages.map((message) => [message.id, message]))
  const last = call.view.items.findLast((item) => {
    const message = item.type === "shown" ? byId.get(entryId(item.entry)) : undefined
    return message !== undefined && isSpoken(message) && !message.parts.some(({ type }) => type === "tool-result")
  })
  return last?.type === "shown" ? last.entry : undefined
}

const fold = (text: string): string => text.replace(/\s+/g, " ").toLowerCase()

/** Sections of what was done, and of what is open at the end. */
const workSections: ReadonlySet<string> = new Set([
  ...["acts", sinceSection, "recent_actions", "errors_and_fixes", "files_and_code", "file_system_state"],
  ...["pending_tasks", "current_plan", "current_work", "next_steps"],
])

/** The lines that a context does not tell: the user's words verbatim, acts and open ends by the names and figures in them. */
export function lostLines({ schema, sections }: Summary, context: string): Summary {
  const text = fold(context)
  const lost = sections.map(({ name, lines }) => ({ name, lines: lines.filter((line) => isLost(name, line, text)) }))
  return { schema, sections: lost.filter(({ lines }) => lines.length > 0) }
}

function isLost(section: string, line: SummaryLine, text: string): boolean {
  if (isUsersSection(section))
    return section !== rulesSection && line.channel === "user" && !text.includes(saidIn(line.text))
  if (!workSections.has(section)) return false
  // That a file was read, or an item of a list done, changes nothing.
  if (/: read$/.test(line.text) || (line.state === "done" && /^(?:pending_tasks|current_plan)$/.test(section)))
    return false
  return !tells(text, line.text)
}

/** The user's words without the question that they answer, and as far as an earlier digest has them. */
const saidIn = (line: string): string =>
  fold(
    line
      .replace(/ \(asked: .*\)$/s, "")
      .replace(/^… /, "")
      .split(/ \[… \d+ characters/)[0] ?? "",
  ).trim()

/** Names, paths and figures; of a line without any, its longer words. */
const exactWord = /[\p{L}\p{N}_@#./-]*[\d_@/][\p{L}\p{N}_@#./-]*/gu
const longWord = /\p{L}{5,}/gu
/** So many of the words have to stand there for a line to be told. */
const toldShare = 0.7

function tells(text: string, line: string): boolean {
  // A summary says in words of its own what was called, and with which names for the values.
  const call = /^`[\w.:-]{1,80}\((.+)\)`/.exec(line)?.[1]
  const folded = fold((call ?? line).replace(/(?:^|(?<=[\s,{[(]))[\w-]{1,60}=/g, " "))
  const values = (folded.match(exactWord) ?? []).map((word) => word.replace(/^[./-]+|[./-]+$/g, ""))
  const words = [...new Set(values.filter((word) => word.length > 2))]
  const wanted = words.length > 0 ? words : (folded.match(longWord) ?? [])
  return wanted.length > 0 && wanted.filter((word) => text.includes(word)).length >= toldShare * wanted.length
}
