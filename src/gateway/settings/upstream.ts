import type { Format } from "../../message/message.ts"

/** A model's API behind the gateway. It comes from the configuration alone: nothing in a request can name another. */
export type Upstream = {
  readonly name: string
  readonly families: readonly ApiFamily[]
  /** Which models it serves, `*` for any piece of a name; all of them unless given. The first upstream that fits is taken. */
  readonly models?: readonly string[]
  readonly baseUrl: string
  /** The window of its models, whatever the table of models says. */
  readonly windowTokens?: number
  /** Its own key, in place of whatever the client sends; the client's is passed on unless given. */
  readonly apiKey?: string
  /** Sent beside the client's, and over those of the same name. */
  readonly headers?: Readonly<Record<string, string>>
  readonly connectMs: number
  /** Until the first byte of the answer. */
  readonly answerMs: number
  /** Between two bytes of the answer. */
  readonly idleMs: number
  /** How often a request is sent again that came to nothing before the first byte of an answer. */
  readonly retries: number
}

/** Whose API a request speaks: OpenAI's has two formats, the others one each. */
export type ApiFamily = "anthropic" | "openai" | "gemini"

export const families: readonly ApiFamily[] = ["anthropic", "openai", "gemini"]

export const familyOf: Readonly<Record<Format, ApiFamily>> = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai",
  gemini: "gemini",
}

/** A name longer than this is no model's, and is held against no pattern. */
const maxNameLength = 512

/** The first upstream that speaks the API and serves the model. Without a model only one without patterns does, or the only one. */
export function chooseUpstream(
  upstreams: readonly Upstream[],
  family: ApiFamily,
  model: string | undefined,
): Upstream | undefined {
  const speaking = upstreams.filter(({ families }) => families.includes(family))
  if (model === undefined || model === "") {
    return speaking.length === 1 ? speaking[0] : speaking.find(({ models }) => models === undefined)
  }
  const name = model.replace(/^models\//, "").toLowerCase()
  return speaking.find(({ models }) => models === undefined || models.some((pattern) => fitsPattern(name, pattern)))
}

/** Is the name the pattern, with any text in the place of each `*`? Each piece is sought once, behind the one before it. */
export function fitsPattern(name: string, pattern: string): boolean {
  if (name.length > maxNameLength) return pattern === "*"
  const pieces = pattern.toLowerCase().split("*")
  const first = pieces[0] ?? ""
  const last = pieces.at(-1) ?? ""
  if (pieces.length === 1) return name === first
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= name.length - last.length
}
