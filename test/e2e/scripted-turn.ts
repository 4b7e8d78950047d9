import { expect, onTestFinished } from "vitest"
import { turn } from "../../src/adapter/turn.ts"
import {
  type TurnModel,
  type TurnOptions,
  type TurnSoFar,
  type TurnTool,
  turnSoFar,
} from "../../src/adapter/turn-options.ts"
import { HoldfastError, type Problem } from "../../src/message/errors.ts"
import { checkTranscript } from "../../src/message/group.ts"
import { type Format, formats, type Transcript, textOf } from "../../src/message/message.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"

/** Every format, streamed and not. */
export const cases = formats.flatMap((format) => [false, true].map((stream) => ({ format, stream })))

/** A strict server: it refuses unpaired calls and reasoning that was tampered with, as the providers do. */
export async function scripted(script: Script, windowTokens?: number): Promise<ModelServer> {
  const server = await startModelServer({
    script,
    strict: true,
    ...(windowTokens === undefined ? {} : { windowTokens }),
  })
  onTestFinished(() => server.close())
  return server
}

export const apiKey = "sk-secret-of-the-turn"

const modelNames: Readonly<Record<Format, string>> = {
  "anthropic-messages": "claude-sonnet-4-5",
  "openai-chat": "gpt-5",
  "openai-responses": "gpt-5",
  gemini: "gemini-3-pro",
}

/** Waits between attempts take no time. */
export const modelAt = (format: Format, { url }: ModelServer, changed: Partial<TurnModel> = {}): TurnModel => ({
  format,
  baseUrl: url,
  apiKey,
  model: modelNames[format],
  wait: async () => {},
  ...changed,
})

export const instructions = "You look things up.\nNever guess. 調べてから答える。"

export const lookUp: TurnTool = {
  name: "look_up",
  description: "Look a word up.",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  run: async ({ word }: { readonly word: string }) => `${word} means ${word.length}`,
}

export const call = (word: string) => ({ tool: "look_up", input: { word } })

export const optionsFor = (format: Format, server: ModelServer, changed: Partial<TurnOptions> = {}): TurnOptions => ({
  agent: { model: modelAt(format, server), instructions },
  inputs: "What do the words mean?",
  tools: [lookUp],
  ...changed,
})

/** The problem that a turn ends with, and what it had come to: whole, and with no secret in it. */
export async function failing(options: TurnOptions): Promise<{ readonly problem: Problem; readonly soFar: TurnSoFar }> {
  try {
    await turn(options)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    expect(`${error.message} ${error.stack} ${JSON.stringify(error.problem)}`).not.toContain(apiKey)
    const soFar = turnSoFar(error)
    if (soFar === undefined) throw new Error("nothing was kept", { cause: error })
    expect(checkTranscript(soFar.messages, { ended: true })).toEqual([])
    return { problem: error.problem, soFar }
  }
  throw new Error("the turn came to its end")
}

/** The results of a transcript in order: what each says, and whether it failed. */
export const resultsIn = (messages: Transcript): readonly (readonly [text: string, failed: boolean])[] =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool-result" ? [[textOf(part), part.failed === true] as const] : [])),
  )

/** What was sent, as text. */
export const bodiesAt = ({ requests }: ModelServer): readonly string[] =>
  requests.map(({ body }) => new TextDecoder().decode(body))
