import { describe, HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { type RecallArguments, recallPage } from "../../session/recall.ts"
import type { Session } from "../../session/session.ts"
import { isObject } from "../../wire/json.ts"
import { recallName } from "./recall-tool.ts"

/** The result of a recall: a page of text in a fence, or a sentence that states the error. */
type RecallAnswer = { readonly text: string; readonly failed: boolean }

/** Characters of stored text in one result: about 5,000 tokens, so that recalling a text does not fill the context again. */
const maxPage = 20_000
/** Limit on the handle argument; a valid handle has at most 40 characters. */
const maxHandle = 300
/** Limit on the words to find: a question, not a page. */
const maxFind = 1_000
/** More lines or characters than any stored text has. */
const maxCount = 1_000_000_000

/** Answer a call of the recall tool from its session. Any input gets a result. */
export async function answerRecall(session: Pick<Session, "recall">, input: unknown): Promise<RecallAnswer> {
  const args = readArguments(input)
  if (typeof args === "string") return { text: args, failed: true }
  try {
    const { recall } = session
    return { text: await recallPage(args, { recall, maxCharacters: maxPage, tool: recallName }), failed: false }
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const { sentence, next } = describe(error.problem)
    return { text: `${sentence} ${next}`.toWellFormed(), failed: true }
  }
}

/** The arguments, or an error message. */
function readArguments(input: unknown): RecallArguments | string {
  if (!isObject(input)) return `The arguments of ${recallName} must be an object with a handle. Nothing was fetched.`
  const { handle } = input
  if (typeof handle !== "string" || handle.trim() === "" || handle.length > maxHandle) {
    return "The handle is missing or invalid. Copy all of it from the place where the text was left out. Nothing was fetched."
  }
  const counts: Record<string, number | undefined> = {}
  for (const [name, least] of [...lineNames, ["skipCharacters", 0] as const]) {
    const count = countOf(input[name])
    if (count === "none" || (count !== undefined && count < least)) {
      return `${name} must be an integer of at least ${least}. Nothing was fetched.`
    }
    counts[name] = count
  }
  const { fromLine, toLine, skipCharacters } = counts
  const find = typeof input.find === "string" && input.find.trim() !== "" ? input.find.slice(0, maxFind) : undefined
  return { handle, ...present({ fromLine, toLine, skipCharacters, find }) }
}

const lineNames = [
  ["fromLine", 1],
  ["toLine", 1],
] as const

/** Models sometimes write a number as a string, or null for an omitted argument. */
function countOf(value: unknown): number | undefined | "none" {
  if (value === undefined || value === null || value === "") return undefined
  const count = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof count === "number" && Number.isSafeInteger(count) && count <= maxCount ? count : "none"
}

export type Recall = (input: unknown) => Promise<RecallAnswer>

/** Limit on the characters that one exchange may recall: about 25,000 tokens, which is space that a compaction has just freed. */
const maxCharacters = 100_000
/** Limit on recalls in one exchange: five pages of text, and some that find nothing. */
const maxCalls = 20

/** Limit the recalls of one exchange: above the limit the model is told that no more can be fetched. */
export function boundRecall(recall: Recall): Recall {
  let calls = 0
  let characters = 0
  return async (input) => {
    if (++calls > maxCalls || characters >= maxCharacters) {
      return { text: "No more can be fetched in this turn. Go on with what you have.", failed: true }
    }
    const answer = await recall(input)
    characters += answer.text.length
    return answer
  }
}
