import { expect, test } from "vitest"
import {
  bodiesAt,
  call,
  cases,
  instructions,
  lookUp,
  modelAt,
  optionsFor,
  resultsIn,
  scripted,
} from "../../test/e2e/scripted-turn.ts"
import { byRound } from "../../test/model-server/script.ts"
import { diagonalOf } from "../../test/support/property.ts"
import type { Transcript } from "../message/message.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { decodeRequest } from "../wire/decode.ts"
import { encodeRequest } from "../wire/encode.ts"
import { turn } from "./turn.ts"
import type { TurnEvent } from "./turn-options.ts"
import type { TurnRequest, TurnSession } from "./turn-session.ts"
import { turnBody } from "./turn-work.ts"

/** The least that a session can be: it remembers all, and leaves out nothing. */
function plainSession(skeleton: ReturnType<typeof turnBody>, asObject: boolean) {
  let log: Transcript = []
  const asked: TurnRequest[] = []
  const session: TurnSession = {
    append: async (messages) => {
      log = [...log, ...messages]
    },
    prepare: async (request) => {
      asked.push(request)
      const body = encodeRequest(skeleton, { messages: [...skeleton.messages, ...log] })
      return { body: asObject ? JSON.parse(body) : body, trace: [] }
    },
    record: async ({ messages }) => {
      log = [...log, ...messages]
    },
  }
  return { session, asked, held: () => log }
}

test.each(cases)(
  "$format, stream $stream: with a session the context is the session's business",
  async ({ format, stream }) => {
    const server = await scripted(
      byRound([{ reasoning: "hm", calls: [call("alpha"), call("be")] }, { text: "5 and 2." }]),
    )
    const options = optionsFor(format, server, { stream })
    const { session, asked, held } = plainSession(turnBody(options.agent, options.tools ?? [], false), stream)
    const result = await turn({ ...options, session })
    expect(result).toMatchObject({ text: "5 and 2.", iterations: 2 })
    expect(asked).toHaveLength(2)
    expect(asked[0]).toMatchObject({ format, stream, system: instructions })
    expect(JSON.stringify(asked[0]?.tools)).toContain("look_up")
    expect(held()).toHaveLength(result.messages.length)
    expect(resultsIn(held())).toEqual(resultsIn(result.messages))
    // Nothing but the session remembers what came before.
    await turn({ ...options, session, inputs: "And again?" })
    expect(decodeRequest(format, bodiesAt(server).at(-1) ?? "").messages.length).toBeGreaterThan(result.messages.length)
  },
)

test.each(diagonalOf(cases, 2))(
  "$format, stream $stream: a session that lasts holds the turns, within its window",
  async ({ format, stream }) => {
    const filler = "the miller counts his sacks by the door; ".repeat(30)
    // The model refuses whatever is more than its window by its own count.
    const server = await scripted(
      ({ index }) => (index % 6 < 5 ? { calls: [call(`part-${index}`)] } : { text: `Done ${index}.` }),
      6_000,
    )
    const holdfast = createHoldfast({ store: "memory", windowTokens: 6_000, reserveTokens: 500, speculations: 0 })
    const tool = { ...lookUp, run: async ({ word }: { readonly word: string }) => `${word}: ${filler}` }
    const events: TurnEvent[] = []
    const onEvent = (event: TurnEvent) => events.push(event)
    const session = holdfast.session("mill")
    for (const inputs of ["Read on.", "And on.", "And on again.", "Go on.", "And on.", "The rest."]) {
      const result = await turn(optionsFor(format, server, { stream, session, inputs, tools: [tool], onEvent }))
      expect(result.text).toMatch(/^Done \d+\.$/)
      expect(resultsIn(result.messages)).toHaveLength(5)
    }
    expect(server.requests.every(({ response }) => response.status === 200)).toBe(true)
    expect(events.some(({ type }) => type === "context-compacted")).toBe(true)
    await holdfast.close()
  },
)

test.each(["messages", "contextBudget", "compaction"] as const)("%s beside a session is refused", async (option) => {
  const server = await scripted(() => ({ text: "yes" }))
  const { session } = plainSession(turnBody({ model: modelAt("openai-chat", server) }, [], false), false)
  const given = { messages: [], contextBudget: 1_000, compaction: "none" } as const
  const options = optionsFor("openai-chat", server, { session, [option]: given[option] })
  await expect(turn(options)).rejects.toMatchObject({ problem: { code: "option-invalid", option } })
})
