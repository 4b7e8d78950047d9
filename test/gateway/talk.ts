import { setTimeout as sleep } from "node:timers/promises"

/** A client that keeps its own history and sends one message after another in the chat format. */
export type Talk = {
  /** Sends a message; returns the answer, or why there is none. */
  readonly say: (text: string) => Promise<SayResult>
  readonly said: () => readonly string[]
}

export type SayResult = {
  readonly status: number
  readonly text: string
  readonly session: string
  /** The gateway's receipt: `durable=1` and the like. */
  readonly receipt: string
  /** Refusals before the answer. */
  readonly refusals: readonly Refusal[]
}

export type Refusal = { readonly status: number; readonly retryAfter: string | null }

export type TalkOptions = {
  readonly session?: string
  readonly key?: string
  readonly system?: string
  readonly model?: string
  /** How often a request that was cut off is sent again. */
  readonly tries?: number
  /** How often a request that was refused temporarily is sent again. */
  readonly retries?: number
  /** Number of its last messages that it sends, besides its instructions; all by default. */
  readonly keeps?: number
}

type Line = { readonly role: string; readonly content: string }

export function startTalk(url: () => string, options: TalkOptions = {}): Talk {
  const { session, key = "k", system, model = "gpt-5", tries = 1, retries = 0 } = options
  const keeps = options.keeps ?? Number.POSITIVE_INFINITY
  const instructions: readonly Line[] = system === undefined ? [] : [{ role: "system", content: system }]
  const history: Line[] = [...instructions]
  const trimmed = (messages: readonly Line[]): readonly Line[] =>
    messages.length - instructions.length > keeps ? [...instructions, ...messages.slice(-keeps)] : messages
  const send = async (messages: readonly Line[], refusals: readonly Refusal[]): Promise<SayResult> => {
    const response = await fetch(`${url()}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...(session === undefined ? {} : { "x-holdfast-session": session }),
      },
      body: JSON.stringify({ model, messages: trimmed(messages), stream: true }),
    })
    const text = wordsIn(await response.text())
    const { status } = response
    if (status === 503 && refusals.length < retries) {
      const retryAfter = response.headers.get("retry-after")
      await sleep(50)
      return send(messages, [...refusals, { status, retryAfter }])
    }
    const [own, receipt] = ["x-holdfast-session", "x-holdfast-receipt"].map((name) => response.headers.get(name) ?? "")
    return { status, text, session: own ?? "", receipt: receipt ?? "", refusals }
  }
  return {
    said: () => history.map(({ content }) => content),
    say: async (text) => {
      const messages = [...history, { role: "user", content: text }]
      for (let tried = 1; ; tried++) {
        try {
          const told = await send(messages, [])
          if (told.status === 200)
            history.splice(0, history.length, ...messages, { role: "assistant", content: told.text })
          return told
        } catch (error) {
          if (tried >= tries) throw error
          await sleep(20 * tried)
        }
      }
    },
  }
}

/** Returns the text of a streamed answer; throws if it broke off. */
function wordsIn(text: string): string {
  if (!text.startsWith("data:") && !text.startsWith(":")) return text
  if (!text.includes("data: [DONE]")) throw new Error("the stream ended before its end")
  return [...text.matchAll(/"content": ?("(?:[^"\\]|\\.)*")/g)]
    .map(([, word]) => String(JSON.parse(word ?? '""')))
    .join("")
}
