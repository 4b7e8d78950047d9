import { messageId } from "../../message/ids.ts"
import { present } from "../../message/present.ts"
import type { ShownPiece, Summarize, SummarizeInput } from "./custom.ts"
import { readCustom } from "./custom-read.ts"
import { createSourcing } from "./custom-sources.ts"
import { expectedLanguage } from "./model-language.ts"
import { failureOf, type SummaryEvent, settle, userText, type Written } from "./model-write.ts"
import { fitPieces } from "./prompt-fit.ts"
import { type PromptInput, previousShare } from "./prompt-for.ts"
import { piecesOf } from "./prompt-pieces.ts"
import { previousPlain } from "./prompt-previous.ts"
import { renderPlain } from "./prompt-render.ts"

export type CustomInput = PromptInput & { readonly signal: AbortSignal }

/** Have the user's own function write the summary, once. It never rejects: what went wrong is in the event, and then there is no summary. The caller sets the time limit. */
export async function writeWithCustom(summarize: Summarize, input: CustomInput): Promise<Written> {
  const { messages, schema, previous, focus, language, budgetTokens, signal } = input
  const head = { type: "summary-attempted", writer: "custom", attempt: 1 } as const
  const { text, pieces } = show(input)
  let answer: unknown
  try {
    answer = await summarize({ messages, text, pieces, schema, budgetTokens, signal, ...present({ focus, language }) })
  } catch (error) {
    const failure = failureOf(error)
    return { events: [{ ...head, outcome: failure.type, failure }] }
  }
  const earlier = previous?.sections.flatMap(({ lines }) => lines) ?? []
  const known = new Set([...messages.map(({ id }) => String(id)), ...earlier.flatMap(({ sources }) => sources)])
  const read = readCustom(answer, { schema, known, sourcesOf: createSourcing(messages, earlier) })
  const judged = read.ok ? settle(read, known, expectedLanguage(language, userText(messages))) : read
  if (!judged.ok) {
    const event: SummaryEvent = {
      ...head,
      outcome: "rejected",
      failure: { type: "rejected", reason: judged.reason },
    }
    return { events: [event] }
  }
  const { summary, leftOut, unsourced } = judged
  return { summary, events: [{ ...head, outcome: "written", leftOut, unsourced }] }
}

/** The name under which the earlier summary stands among the messages. */
const previousId = messageId("previous")

/** The conversation for a reader of somebody else's making, the earlier summary first. */
function show({ messages, previous, inputTokens, count }: PromptInput): Pick<SummarizeInput, "text" | "pieces"> {
  const before: readonly ShownPiece[] =
    previous === undefined || previous.sections.length === 0
      ? []
      : [
          {
            id: previousId,
            from: "memory",
            text: previousPlain(previous, { limitTokens: inputTokens * previousShare, count }),
          },
        ]
  const taken = before.reduce((sum, piece) => sum + count(piece.text), 0)
  const room = Math.max(0, inputTokens - taken)
  const { text, shown } = fitPieces(piecesOf(messages), room, { render: renderPlain, count })
  return {
    text: [...before.map((piece) => piece.text), text].join("\n\n").trim(),
    pieces: [...before, ...shown.map(({ piece, text: own }) => ({ id: piece.id, from: piece.channel, text: own }))],
  }
}
