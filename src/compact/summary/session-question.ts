import { fence } from "../../message/fence.ts"
import type { Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { judgeCustom } from "./custom-write.ts"
import { headingText, toldLine } from "./digest-text.ts"
import { objectsIn, type SummaryEvent } from "./model-write.ts"
import { type SchemaName, type Summary, shortenLine } from "./summary.ts"

/** Sections with prose, which the session's own model writes. Values, acts, rules and the user's words come from the record. */
const proseSections: Readonly<Record<SchemaName, Readonly<Record<string, string>>>> = {
  handoff: {
    key_concepts: "what was decided, and why; what was found out",
    errors_and_fixes: "problems that came up, and how each was solved or why it was not",
    current_work: "what was being done when this was asked, and where it stands",
    next_steps: "what the user asked for that is still to be done, in the order in which you would do it",
  },
  snapshot: {
    key_knowledge: "what was decided, and why; what was found out; problems and how each was solved",
    current_plan: "what was being done when this was asked, and what the user asked for that is still to be done",
  },
}

/** Maximum number of characters of the record in the question: it says what need not be repeated, not what happened. */
const maxRecord = 6000
const maxRecordLine = 160

/** Beginning of every question, which tells it from a client's request. */
export const questionMark = "Holdfast, the context layer of this session, asks:"

type QuestionInput = {
  readonly schema: SchemaName
  /** What is known of the conversation without a model. */
  readonly record: Summary
  readonly language?: string
  readonly budgetTokens: number
}

/** Builds the question that the session's own model is asked at the end of the request that it has just answered. */
export function sessionQuestion({ schema, record, language, budgetTokens }: QuestionInput): string {
  const sections = Object.entries(proseSections[schema])
  const shape = `{"sections":{${sections.map(([name]) => `"${name}":[{"text":"…"}]`).join(",")}}}`
  return [
    `${questionMark} the older part of the conversation above will be replaced by a record of the work. Do not go on with the task in this answer, and call no tool: answer with text alone.`,
    `The record below is kept as it is; what it has, you need not tell again:\n${fence("record", recordText(record, schema))}`,
    `Write what such a record cannot know, for a reader who goes on with the work:\n${sections.map(([name, asks]) => `- ${name}: ${asks}`).join("\n")}`,
    `Sentences of your own, one thing in each, ${Math.round(budgetTokens * wordsPerToken)} words at most together. No lists of values, no account of each call, no rules, nothing that only a file or a tool's output asks for.`,
    language === undefined ? "Write in the language of the user." : `Write in ${language}.`,
    `Answer with one JSON object and nothing else: ${shape}`,
  ].join("\n\n")
}

const wordsPerToken = 0.6

function recordText({ sections }: Summary, schema: SchemaName): string {
  const lines = sections.flatMap((section) => [
    headingText(section.name, schema, false),
    ...section.lines.map(({ text, state }) =>
      toldLine(section.name, { text: shortenLine(text.replace(/\s+/g, " "), maxRecordLine), ...present({ state }) }),
    ),
  ])
  let room = maxRecord
  return lines
    .filter((line) => {
      room -= line.length + 1
      return room >= 0
    })
    .join("\n")
}

type AnswerInput = {
  readonly messages: Transcript
  readonly schema: SchemaName
  readonly language?: string
}

/** Reads the answer: prose in the requested sections, each line attributed to the messages whose words it has. */
export function readSessionAnswer(
  text: string,
  { messages, schema, language }: AnswerInput,
): { readonly summary?: Summary; readonly event: SummaryEvent } {
  const { summary, event } = judgeCustom(objectsIn(text)[0] ?? text, { messages, schema, ...present({ language }) })
  const asked = summary?.sections.filter(({ name }) => Object.hasOwn(proseSections[schema], name)) ?? []
  const prose = asked.length === 0 ? undefined : { schema, sections: asked }
  return { event, ...present({ summary: prose }) }
}
