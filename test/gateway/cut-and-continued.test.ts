import { createServer } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, onTestFinished, test } from "vitest"
import { type Format, formats } from "../../src/message/message.ts"
import { lettersOf } from "../fixtures/gateway/world.ts"
import { listen, readBody } from "../model-server/loopback.ts"
import { startModelServer } from "../model-server/model-server.ts"
import type { ChatMessage } from "../support/conversations.ts"
import { startTestGateway } from "../support/gateway.ts"
import { turnsOf } from "../support/property.ts"
import { bodyOf, type Frame, pathOf } from "./compacting-clients.ts"

/** Where an upstream pauses an answer until it is told to continue. */
type Place = "before its first byte" | "in its middle" | "before its end"

type Hold = { readonly at: Place; readonly reached: () => void; readonly gate: Promise<void> }

const middle = "HALF"
const answerOf = (index: number): string =>
  `Answer number ${index}, ${middle} of which is here and the rest of it there.`
const partOf = (index: number): string => `Answer number ${index}, ${middle}`

/** Starts an upstream that relays a model's answers, and pauses those that a test selects. */
async function startHolding(target: string) {
  const holds: Hold[] = []
  const server = createServer(async (incoming, response) => {
    const body = await readBody(incoming)
    const hold = holds.shift()
    const answer = await fetch(`${target}${incoming.url}`, { method: "POST", body: Buffer.from(body) })
    const text = await answer.text()
    const half = hold?.at === "in its middle" ? text.indexOf("data:", text.indexOf(middle)) : text.length
    const held = async (): Promise<void> => {
      hold?.reached()
      await hold?.gate
    }
    if (hold?.at === "before its first byte") await held()
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
    response.write(text.slice(0, half))
    if (hold?.at !== "before its first byte") await held()
    response.end(text.slice(half))
  })
  const { url, close } = await listen(server)
  const hold = (at: Place) => {
    const reached = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    holds.push({ at, reached: reached.resolve, gate: gate.promise })
    onTestFinished(() => gate.resolve())
    return { reached: reached.promise, release: gate.resolve }
  }
  const end = async (): Promise<void> => {
    server.closeAllConnections()
    await close()
  }
  return { url, hold, close: end }
}

const agent: Frame = { system: "You write code in a project.\nSkills:\n- draw\n- write", tools: ["bash", "read"] }
const user = (content: string): ChatMessage => ({ role: "user", content })
const says = (content: string): ChatMessage => ({ role: "assistant", content })
const begun = [user("go"), says(answerOf(0)), user("on")]

const lastEvent: Readonly<Record<Format, RegExp>> = {
  "anthropic-messages": /message_stop/,
  "openai-chat": /\[DONE\]/,
  "openai-responses": /response\.completed/,
  gemini: /finishReason/,
}

/** A client that streams its answers and does not identify itself, in front of a gateway and an upstream that can be paused. */
async function openHouse(format: Format) {
  const model = await startModelServer({ script: ({ index }) => ({ text: answerOf(index) }) })
  const upstream = await startHolding(model.url)
  const gateway = await startTestGateway(upstream.url)
  onTestFinished(async () => {
    await gateway.close()
    await upstream.close()
    await model.close()
  })
  const path = pathOf[format].replace(":generateContent", ":streamGenerateContent?alt=sse")
  const send = (messages: readonly ChatMessage[], frame = agent, signal: AbortSignal | null = null) => {
    const body = {
      ...JSON.parse(bodyOf(format, { frame, messages })),
      ...(format === "gemini" ? {} : { stream: true }),
    }
    const headers = { "content-type": "application/json", authorization: "Bearer k" }
    return fetch(`${gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(body), signal })
  }
  const say = async (messages: readonly ChatMessage[], frame = agent): Promise<void> => {
    await (await send(messages, frame)).text()
  }
  return {
    gateway,
    hold: upstream.hold,
    send,
    say,
    /** Sends a request, and disconnects as soon as half of the answer has arrived. */
    leave: async (messages: readonly ChatMessage[]): Promise<void> => {
      const client = new AbortController()
      upstream.hold("in its middle")
      await readUntil(await send(messages, agent, client.signal), new RegExp(middle))
      client.abort()
    },
    stored: async (): Promise<number> => (await gateway.store.sessions()).length,
    /** Sessions of the requests that the upstream began to answer, in the order of arrival. */
    sessions: async (): Promise<string> => {
      await gateway.holdfast.idle()
      expect(gateway.faults).toEqual([])
      const inOrder = gateway.records.toSorted((one, other) => one.atMs - other.atMs)
      return lettersOf(inOrder.flatMap(({ session }) => session ?? []))
    },
  }
}

/** Reads until a pattern matches, and keeps the connection. */
async function readUntil(response: Response, end: RegExp): Promise<void> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  for (let text = ""; !end.test(text); ) {
    const read = await reader?.read()
    if (read === undefined || read.done) return
    text += decoder.decode(read.value, { stream: true })
  }
}

const leaves: readonly (readonly [what: string, before: readonly ChatMessage[], after: readonly ChatMessage[]])[] = [
  ["the same request, the first of all", [user("go")], [user("go")]],
  ["one more message behind the first", [user("go")], [user("go"), user("rather so")]],
  ["the half of the first answer and a message", [user("go")], [user("go"), says(partOf(0)), user("rather so")]],
  ["the same request, in its second turn", begun, begun],
  ["one more message behind the second", begun, [...begun, user("rather so")]],
  ["the half of the second answer and a message", begun, [...begun, says(partOf(1)), user("rather so")]],
]

describe.each(formats)("%s", (format) => {
  const isMine = turnsOf(formats.indexOf(format), formats.length, 1)

  test.each(leaves.filter(isMine))(
    "a client that left in the middle of an answer and sends %s is in its session",
    async (_, before, after) => {
      const house = await openHouse(format)
      if (before.length > 1) await house.say(before.slice(0, 1))
      await house.leave(before)
      await house.say(after)
      await house.say([...after, says(answerOf(before.length > 1 ? 2 : 1)), user("and now?")])
      expect(await house.sessions()).toMatch(/^A+$/)
    },
  )

  if (isMine())
    test("a client that left before the first byte and asks again once that is known is in its session", async () => {
      const house = await openHouse(format)
      const client = new AbortController()
      const held = house.hold("before its first byte")
      const left = house.send([user("go")], agent, client.signal).catch(() => "left")
      await held.reached
      client.abort()
      expect(await left).toBe("left")
      await expect.poll(() => house.gateway.records.length).toBe(1)
      await house.say([user("go")])
      await house.say([user("go"), says(answerOf(1)), user("on")])
      expect(await house.sessions()).toBe("AA")
      expect(await house.stored()).toBe(1)
    })

  test.each([1, 2].filter(isMine))(
    "a client continues from the last event of answer %i, before the upstream has ended it",
    async (turn) => {
      const house = await openHouse(format)
      const asked = turn === 1 ? begun.slice(0, 1) : begun
      if (turn === 2) await house.say(begun.slice(0, 1))
      const held = house.hold("before its end")
      await readUntil(await house.send(asked), lastEvent[format])
      const next = [...asked, says(answerOf(turn - 1)), user("and now?")]
      const answered = house.say(next)
      await sleep(50)
      held.release()
      await answered
      await house.say([...next, says(answerOf(turn)), user("and then?")])
      expect(await house.sessions()).toMatch(/^A+$/)
    },
  )

  if (isMine())
    test("a retry beside the request that it repeats is in its session, and so is what continues from either", async () => {
      const house = await openHouse(format)
      await house.say(begun.slice(0, 1))
      const held = house.hold("before its first byte")
      const first = house.say(begun)
      await held.reached
      await house.say(begun)
      held.release()
      await first
      await house.say([...begun, says(answerOf(2)), user("and now?")])
      expect(await house.sessions()).toBe("AAAA")
    })

  if (isMine())
    test("a request for a title beside a held first answer is a session of its own", async () => {
      const house = await openHouse(format)
      const held = house.hold("before its first byte")
      const main = house.say(begun.slice(0, 1))
      await held.reached
      await house.say([user("go")], { system: "Name this conversation.", tools: [] })
      held.release()
      await main
      await house.say([user("go"), says(answerOf(0)), user("on")])
      expect(await house.sessions()).toBe("ABA")
    })

  if (isMine())
    test("two that begin with the same words at the same time are two sessions, and stay two", async () => {
      const house = await openHouse(format)
      const helds = [house.hold("before its first byte"), house.hold("before its first byte")]
      const both = helds.map(() => house.say([user("go")]))
      await Promise.all(helds.map(({ reached }) => reached))
      for (const { release } of helds) release()
      await Promise.all(both)
      for (const n of [0, 1]) await house.say([user("go"), says(answerOf(n)), user("on")])
      const sessions = await house.sessions()
      expect(sessions.slice(0, 2)).toBe("AB")
      expect(["AB", "BA"]).toContain(sessions.slice(2))
    })

  if (isMine())
    test("a client that left and says something else in place of its last message gets a copy", async () => {
      const house = await openHouse(format)
      await house.say(begun.slice(0, 1))
      await house.leave(begun)
      const edited = [...begun.slice(0, 2), user("rather so")]
      await house.say(edited)
      // A request that is forwarded at once is recorded under the session that its bytes continue; the fork is made while the model works.
      await expect.poll(house.stored).toBe(2)
      await house.say([...edited, says(answerOf(2)), user("and now?")])
      expect(await house.sessions()).toMatch(/^AA[AB]B$/)
      expect(await house.stored()).toBe(2)
    })

  test.each([
    ["the same lines in another order", "You write code in a project.\nSkills:\n- write\n- draw"],
    ["a line more", `${agent.system}\n- sing`],
  ])("taken up again with a rewritten history and instructions that have %s", async (_, system) => {
    const house = await openHouse(format)
    const later = { ...agent, system }
    const calls = (n: number): readonly ChatMessage[] => [
      callOf(n),
      { role: "tool", tool_call_id: idOf(n), content: "fine" },
    ]
    const task = [user("go"), ...calls(1)]
    await house.say(task)
    const back = [user("go, as said before"), ...calls(1), says(answerOf(0)), user("Go on.")]
    await house.say(back, later)
    await house.say([...back, says(answerOf(1)), user("on")], later)
    await house.say([...back, says(answerOf(1)), user("on"), says(answerOf(2)), user("and now?")], later)
    expect(await house.sessions()).toBe("AAAA")
  })
})

const idOf = (n: number): string => `call_x9k2m${n}q7Bd4`
const callOf = (n: number): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id: idOf(n), type: "function", function: { name: "read", arguments: `{"n":${n}}` } }],
})
