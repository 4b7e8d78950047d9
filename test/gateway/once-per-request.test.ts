import { expect, test, vi } from "vitest"
import { formats, textOf } from "../../src/message/message.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { bodyIn, type ChatMessage, conversation } from "../support/conversations.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { fc, runs } from "../support/property.ts"
import { wires } from "./wires.ts"

/** Calls since the last request began. The functions work as usual. */
const calls = vi.hoisted(() => {
  const decoded: string[] = []
  const separated: string[] = []
  return { decoded, separated, rulesRead: 0 }
})

vi.mock("../../src/wire/decode.ts", async (original) => {
  const module = await original<typeof import("../../src/wire/decode.ts")>()
  const decodeRequest: typeof module.decodeRequest = (format, text) => {
    calls.decoded.push(text)
    return module.decodeRequest(format, text)
  }
  const decodeRequestSteps: typeof module.decodeRequestSteps = (format, text) => {
    calls.decoded.push(text)
    return module.decodeRequestSteps(format, text)
  }
  const decodeNext: typeof module.decodeNext = (previous, text) => {
    calls.decoded.push(text)
    return module.decodeNext(previous, text)
  }
  return { ...module, decodeRequest, decodeRequestSteps, decodeNext }
})

vi.mock("../../src/compact/stack/separate.ts", async (original) => {
  const module = await original<typeof import("../../src/compact/stack/separate.ts")>()
  const separate: typeof module.separate = (request, options) => {
    calls.separated.push("wire" in request && typeof request.wire === "string" ? request.wire : "")
    return module.separate(request, options)
  }
  return { ...module, separate }
})

vi.mock("../../src/session/state/shared-rules.ts", async (original) => {
  const module = await original<typeof import("../../src/session/state/shared-rules.ts")>()
  const createSharedRules: typeof module.createSharedRules = (options) => {
    const rules = module.createSharedRules(options)
    const read: typeof rules.read = (owner) => {
      calls.rulesRead++
      return rules.read(owner)
    }
    return { ...rules, read }
  }
  return { ...module, createSharedRules }
})

type Counts = { readonly decodes: number; readonly separations: number; readonly pins: number }

/** Counts the calls of one request. A body that was written here is decoded and separated once more, to verify it before it is sent. */
function countsOf(body: string): Counts {
  const decodes = calls.decoded.filter((text) => text === body).length
  const written = new Set(calls.decoded.filter((text) => text !== body))
  return { decodes, separations: calls.separated.filter((text) => !written.has(text)).length, pins: calls.rulesRead }
}

/** Returns a history as a client sends it: one more turn each time. */
function growing(messages: readonly ChatMessage[]): readonly (readonly ChatMessage[])[] {
  const opening: ChatMessage = { role: "user", content: "Never push to main. Begin with the invoice of order A-1." }
  const ends = messages.flatMap(({ role }, n) => (role === "user" || role === "tool" ? [n + 1] : []))
  return [0, ...ends].slice(-4).map((end) => [opening, ...messages.slice(0, end)])
}

async function answersIn({ holdfast }: TestGateway, session: string): Promise<number> {
  const history = await holdfast.session(session).history()
  return history.filter(({ message }) => message?.parts.some((part) => textOf(part) === "It is done.")).length
}

const seen: Record<string, readonly Counts[]> = {}

test("for any request, its body is decoded once, it is separated once, and the rules are read once", async () => {
  const model = await startModelServer({ script: () => ({ text: "It is done." }) })
  const property = fc.asyncProperty(
    fc.constantFrom(...formats),
    conversation,
    fc.constantFrom(2500, 6000, 200_000),
    fc.boolean(),
    async (format, messages, windowTokens, hasOperator) => {
      const path = wires.find(([one]) => one === format)?.[1] ?? ""
      const gateway = await startTestGateway(model.url, {
        windowTokens,
        sessions: { memory: { flush: false }, ...(hasOperator ? { pins: ["Never delete a table."] } : {}) },
      })
      let answered = 0
      for (const history of growing(messages)) {
        const body = bodyIn(format, history)
        calls.rulesRead = 0
        calls.decoded.length = 0
        calls.separated.length = 0
        const headers = { authorization: "Bearer k", "x-api-key": "k", "x-holdfast-session": "mine" }
        const answer = await fetch(`${gateway.url}${path}`, { method: "POST", headers, body })
        await answer.text()
        const session = answer.headers.get("x-holdfast-session")
        if (answer.status !== 200 || session === null) continue
        // Waits until the background work and the answer itself are in the log.
        answered++
        await vi.waitFor(async () => expect(await answersIn(gateway, session)).toBe(answered))
        const record = gateway.records.at(-1)
        const isCompacting = record?.trace.some(({ type }) => type === "checkpoint-installed") === true
        // Whether a new session may be forwarded at once depends on rules that hold in all sessions; they are looked up before it is
        // opened.
        const begins = answered === 1 && record?.how === "at-once"
        const { pins, ...rest } = countsOf(body)
        const counts = { ...rest, pins: begins ? pins - 1 : pins }
        const kind = isCompacting ? "compacting" : `${record?.how}`
        seen[kind] = [...(seen[kind] ?? []), counts]
      }
      await gateway.close()
      expect(gateway.faults).toEqual([])
    },
  )
  await fc.assert(property, { numRuns: Math.max(5, Math.ceil(runs / 10)) })
  await model.close()
  expect(Object.keys(seen).toSorted()).toEqual(["at-once", "compacting", "prepared"])
  for (const counts of Object.values(seen).flat()) {
    expect(counts).toMatchObject({ decodes: 1, separations: 1, pins: 1 })
  }
})
