import { HoldfastError, type Problem } from "../../message/errors.ts"
import type { Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { Usage } from "../../message/request.ts"
import { looksLikeFailure } from "./custom-failure.ts"
import { type ReadAnswer, type RejectReason, readAnswer, reasonText } from "./model-answer.ts"
import type { LeftOut } from "./model-draft.ts"
import { type Expected, expectedLanguage, speaksAnother } from "./model-language.ts"
import { type PromptInput, promptFor, type SummaryPrompt } from "./prompt-for.ts"
import { piecesOf } from "./prompt-pieces.ts"
import type { Summary } from "./summary.ts"

/** Asks a model one question; rejects when there is no answer. */
export type Ask = (question: {
  readonly system: string
  readonly user: string
}) => Promise<{ readonly text: string; readonly usage?: Usage }>

/** Why an attempt gave no summary: the answer did not do, the call failed, or the function that makes it threw. */
export type AttemptFailure =
  | { readonly type: "rejected"; readonly reason: RejectReason }
  | { readonly type: "problem"; readonly problem: Problem }
  | { readonly type: "threw"; readonly name: string }

/** One attempt at a summary, and how it went. No word of the answer, and none of a foreign error's: either may hold a secret. */
export type SummaryEvent = {
  readonly type: "summary-attempted"
  readonly writer: "model" | "custom"
  readonly attempt: number
  readonly outcome: "written" | AttemptFailure["type"]
  readonly failure?: AttemptFailure
  readonly usage?: Usage
  readonly leftOut?: LeftOut
  /** Lines that named no message that was there. */
  readonly unsourced?: number
}

export type Written = { readonly summary?: Summary; readonly events: readonly SummaryEvent[] }

/** A model that failed twice will fail again; the summary without a model is waiting. */
const maxAttempts = 2

/**
 * Have a model write the summary. An answer that does not do is asked for once more, with the reason told; a call that failed is not
 * repeated. It never rejects: what went wrong is in the events, and then there is no summary.
 */
export async function writeWithModel(ask: Ask, input: PromptInput): Promise<Written> {
  const prompt = promptFor(input)
  const judge = createJudge(input, prompt)
  const events: SummaryEvent[] = []
  let question: SummaryPrompt = prompt
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const head = { type: "summary-attempted", writer: "model", attempt } as const
    let answer: Awaited<ReturnType<Ask>>
    try {
      answer = await ask({ system: question.system, user: question.user })
    } catch (error) {
      const failure = failureOf(error)
      return { events: [...events, { ...head, outcome: failure.type, failure }] }
    }
    const usage = present({ usage: answer.usage })
    const read = judge(answer.text)
    if (read.ok) {
      const { summary, leftOut, unsourced } = read
      return { summary, events: [...events, { ...head, outcome: "written", leftOut, unsourced, ...usage }] }
    }
    events.push({ ...head, outcome: "rejected", failure: { type: "rejected", reason: read.reason }, ...usage })
    question = { ...prompt, user: `${prompt.user}\n\n${again(read.reason)}` }
  }
  return { events }
}

const again = (reason: RejectReason): string =>
  `Your last answer could not be used: ${reasonText(reason)}. Write it again, and give nothing but the JSON object.`

export function failureOf(error: unknown): AttemptFailure {
  if (error instanceof HoldfastError) return { type: "problem", problem: error.problem }
  return { type: "threw", name: error instanceof Error ? error.name.slice(0, 100) : typeof error }
}

type Judged = (Extract<ReadAnswer, { ok: true }> & { readonly unsourced: number }) | Extract<ReadAnswer, { ok: false }>

function createJudge({ messages, schema, previous, language }: PromptInput, { shown }: SummaryPrompt) {
  const earlier = previous?.sections.flatMap(({ lines }) => lines.flatMap(({ sources }) => sources)) ?? []
  const known: ReadonlySet<string> = new Set([...shown, ...earlier])
  const expected = expectedLanguage(language, userText(messages))
  return (text: string): Judged => {
    const read = readAnswer(text, schema)
    return read.ok ? settle(read, known, expected) : read
  }
}

/** What the user said, for telling the language. */
export const userText = (messages: Transcript): string =>
  piecesOf(messages)
    .filter(({ channel, kind }) => channel === "user" && kind === "words")
    .map(({ text }) => text)
    .join("\n")

/** A read answer with only the sources that exist, if what is left is a summary in the right language. */
export function settle(
  read: Extract<ReadAnswer, { ok: true }>,
  known: ReadonlySet<string>,
  expected: Expected | undefined,
): Judged {
  const { summary, unsourced } = keepSourced(read.summary, known)
  const text = textOfSummary(summary)
  if (text === "") return { ok: false, reason: { code: "no-known-source" } }
  const kind = looksLikeFailure(text)
  if (kind !== undefined) return { ok: false, reason: { code: "failure-text", kind } }
  if (expected !== undefined && speaksAnother(text, expected))
    return { ok: false, reason: { code: "wrong-language", expected: expected.name } }
  return { ...read, summary, unsourced }
}

const textOfSummary = ({ sections }: Summary): string =>
  sections.flatMap(({ lines }) => lines.map(({ text }) => text)).join("\n")

/** Only sources that exist, and only lines that have one. */
function keepSourced(summary: Summary, known: ReadonlySet<string>) {
  let unsourced = 0
  const sections = summary.sections.flatMap(({ name, lines }) => {
    const kept = lines.flatMap((line) => {
      const sources = [...new Set(line.sources.flatMap((id) => knownId(id, known) ?? []))]
      if (sources.length === 0) unsourced++
      return sources.length === 0 ? [] : [{ ...line, sources }]
    })
    return kept.length === 0 ? [] : [{ name, lines: kept }]
  })
  return { summary: { ...summary, sections }, unsourced }
}

/** The id that is meant: as it stands, or as it stands at the beginning of a source, or in brackets. */
const knownId = (id: string, known: ReadonlySet<string>): string | undefined =>
  [id, id.split(":")[0] ?? "", id.replace(/[\s()[\]#<>]/g, "")].find((meant) => known.has(meant))
