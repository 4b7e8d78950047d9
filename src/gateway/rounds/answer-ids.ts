import type { Format } from "../../message/message.ts"
import { isObject, member, readJson, tryParse, wireOf } from "../../wire/json.ts"
import { overlay, write } from "../../wire/overlay.ts"

/** The answers of an OpenAI Responses exchange in rounds: the client knows the first one's id, and the provider goes on from the last. */
export type AnswerIds = {
  readonly note: (first: string, last: string) => void
  /** The body with the id of the last answer where it goes on from one that had rounds; otherwise the very text that came. */
  readonly resolve: (format: Format, body: string) => string
}

/** Answers that are remembered: a client goes on from its newest ones. */
const maxKept = 10_000

export function createAnswerIds(): AnswerIds {
  const lasts = new Map<string, string>()
  return {
    note: (first, last) => {
      if (first === last) return
      lasts.delete(first)
      lasts.set(first, last)
      for (const oldest of lasts.keys()) {
        if (lasts.size <= maxKept) break
        lasts.delete(oldest)
      }
    },
    resolve: (format, body) => {
      if (format !== "openai-responses" || lasts.size === 0 || !body.includes('"previous_response_id"')) return body
      if (!isObject(tryParse(body))) return body
      const json = readJson(body, "request")
      const named = member(json, "previous_response_id")?.value
      const last = typeof named === "string" ? lasts.get(named) : undefined
      return last === undefined ? body : overlay(wireOf(json), { previous_response_id: write(last) })
    },
  }
}
