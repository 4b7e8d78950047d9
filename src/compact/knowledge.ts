import { type Message, type Transcript, textOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { emptyLedger, extendLedger, extendSteps, type Ledger, mergeLedgers } from "./facts/ledger.ts"
import { parseLedger } from "./facts/parse.ts"
import { isSpoken, isSpokenPart } from "./stages/spoken.ts"
import { ownMessage } from "./standing.ts"
import { parseDigest } from "./summary/digest-text.ts"
import { writeExtractive } from "./summary/extractive.ts"
import { noteSteps } from "./summary/notes.ts"
import { type Digest, type Goal, type Note, rulesSection, type Summary } from "./summary/summary.ts"
import type { CompactChoices } from "./task.ts"

/** What is worth keeping of a conversation, however much of it will still be shown. Made without a model, in one pass. */
export type Knowledge = {
  readonly ledger: Ledger
  readonly notes: readonly Note[]
  readonly summary: Summary
  /** What earlier digests in it say, as they say it. */
  readonly carried?: Summary
  readonly goal?: Goal
  /** How many messages the digests that are in it stand for. */
  readonly covered: number
}

type LearnChoices = Pick<CompactChoices, "schema" | "focus" | "earlier">

/** Read a conversation. What an earlier digest in it says goes on as it is: never read as words, never summarized again. */
export const readConversation = (conversation: Transcript, choices: LearnChoices): Knowledge =>
  runSteps(readingSteps(conversation, choices))

/** The same, some messages at a time. */
export function* readingSteps(
  conversation: Transcript,
  { schema, focus, earlier: before = emptyLedger }: LearnChoices,
): Steps<Knowledge> {
  const carried = conversation.flatMap(digestOf)
  const spoken = conversation.filter((message) => ownMessage(message) === undefined)
  const earlier = carried.reduce((ledger, { digest, message }) => {
    // What the digest's own ledger says of a value counts for more than the lines above it: it knows what was replaced.
    const lines = extendLedger(ledger, saidIn(digest, message))
    const parsed = parseLedger(digest.ledger.text, { messageId: message.id, position: lines.length + 1 })
    return mergeLedgers(lines, parsed)
  }, before)
  const said =
    carried.length === 0
      ? undefined
      : joined(
          carried.map(({ digest }) => digest.summary),
          schema,
        )
  const goal = carried.find(({ digest }) => digest.goal !== undefined)?.digest.goal ?? firstGoal(spoken)
  const notes = yield* noteSteps(spoken)
  const ledger = yield* extendSteps(earlier, spoken)
  return {
    notes,
    ledger,
    summary: writeExtractive(spoken, {
      schema,
      notes,
      ...present({ focus, carried: said }),
    }),
    ...present({ carried: said }),
    covered: carried.reduce((sum, { digest }) => sum + digest.covered, 0),
    ...(goal === undefined ? {} : { goal }),
  }
}

/** What is left where nobody wants a digest: what it was all for. */
export const withoutContent = (knowledge: Knowledge): Knowledge => ({
  ...knowledge,
  ledger: emptyLedger,
  summary: { ...knowledge.summary, sections: [] },
})

function digestOf(message: Message): readonly { readonly digest: Digest; readonly message: Message }[] {
  if (ownMessage(message) !== "digest") return []
  const digest = parseDigest(message.parts.map(textOf).join(""))
  return digest === undefined ? [] : [{ digest, message }]
}

/** Sections in the user's own words. */
const usersOwn: ReadonlySet<string> = new Set([rulesSection, "primary_requests", "overall_goal", "user_messages"])

/** The lines of a digest as messages: a value that stands in one of them stands nowhere else, and may outlive its line. */
function saidIn({ goal, summary }: Digest, { id, format }: Message): Transcript {
  const linesOf = (isUsers: boolean): readonly string[] =>
    summary.sections
      .filter(({ name }) => usersOwn.has(name) === isUsers)
      .flatMap(({ lines }) => lines.map(({ text }) => text))
  const say = (role: "user" | "assistant", lines: readonly string[]): Transcript =>
    lines.length === 0
      ? []
      : [{ id, role, parts: lines.map((text) => ({ type: "text", text })), ...present({ format }) }]
  return [
    ...say("user", [...(goal === undefined ? [] : [goal.text]), ...linesOf(true)]),
    ...say("assistant", linesOf(false)),
  ]
}

function joined(summaries: readonly Summary[], schema: Summary["schema"]): Summary {
  const names = [...new Set(summaries.flatMap(({ sections }) => sections.map(({ name }) => name)))]
  const linesOf = (name: string) =>
    summaries.flatMap(({ sections }) =>
      sections.filter((section) => section.name === name).flatMap(({ lines }) => lines),
    )
  return { schema, sections: names.map((name) => ({ name, lines: linesOf(name) })) }
}

function firstGoal(messages: Transcript): Goal | undefined {
  const first = messages.find(isSpoken)
  if (first === undefined) return undefined
  const text = first.parts
    .filter((part) => isSpokenPart(first, part))
    .map(textOf)
    .join("\n")
  return text.trim() === "" ? undefined : { text, source: first.id, whole: true }
}
