import { describe, expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import type { Approve, Guarding } from "../../src/guard/judge-call.ts"
import { HoldfastError } from "../../src/message/errors.ts"
import { type Format, formats } from "../../src/message/message.ts"
import { createHoldfast, type Holdfast } from "../../src/session/holdfast.ts"
import type { Session } from "../../src/session/session.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Call, Script } from "../model-server/script.ts"
import { turnsOf } from "../support/property.ts"
import { clients, type Heard } from "./clients.ts"
import { atEnd, type Desk, openDesk } from "./desk.ts"
import { guarded, guardedFetch } from "./guarded-fetch.ts"

const files = {
  "rules.md": "- Never send mail outside corp.example.\n",
  "deletions.cedar":
    '@decision("ask") @rule("Deletions are approved.") forbid(principal, action == Holdfast::Action::"delete", resource);',
  "mail.json": '[{"template":"email-domains","domains":["corp.example"]},{"template":"spend-limit","amount":100}]',
}

const toEve = { tool: "send_email", input: { to: "eve@evil.example", body: "hello" } }
const toAnn = { tool: "send_email", input: { to: "ann@corp.example", body: "hello" } }
const remove = { tool: "delete_file", input: { path: "/srv/old.txt" } }
const buy = (item: string): Call => ({ tool: "buy", input: { item, amount: 60, currency: "USD" } })
const inputOf = ({ input }: Call): unknown => input

type Running = {
  readonly desk: Desk
  readonly server: ModelServer
  readonly session: Session
  readonly holdfast: Holdfast
}

async function start(script: Script, use: Partial<Guarding> = {}, desk = openDesk(files)): Promise<Running> {
  const server = await startModelServer({ script })
  atEnd(() => server.close())
  const store = await desk.store()
  const operator = await desk.operator(store, false)
  const guard = { guard: createGuard([]), ...use }
  const holdfast = createHoldfast({ store, operator, guard, windowTokens: 50_000 })
  atEnd(() => holdfast.close())
  return { desk, server, session: holdfast.session("s1"), holdfast }
}

const ask = ({ server, session }: Running, format: Format, stream: boolean): Promise<Heard> =>
  clients[format](server.url, guardedFetch(session, format), stream)

const judgedIn = async ({ session, holdfast }: Running): Promise<readonly string[]> => {
  await holdfast.idle()
  const history = await session.history()
  return history.flatMap(({ body }) =>
    body?.type === "calls-judged" ? body.calls.map(({ tool, decision }) => `${tool}: ${decision}`) : [],
  )
}

const streamPaths: Readonly<Record<Format, string>> = {
  "anthropic-messages": "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  gemini: "/v1beta/models/m:streamGenerateContent?alt=sse",
}
const go = { model: "m", stream: true, max_tokens: 9 }
const streamBodies: Readonly<Record<Format, object>> = {
  "anthropic-messages": { ...go, messages: [{ role: "user", content: "go" }] },
  "openai-chat": { ...go, messages: [{ role: "user", content: "go" }] },
  "openai-responses": { model: "m", stream: true, input: "go" },
  gemini: { contents: [{ role: "user", parts: [{ text: "go" }] }] },
}

const cases = formats.flatMap((format) => [true, false].map((stream) => ({ format, stream })))

describe.each(cases)("through the client of $format, stream $stream", ({ format, stream }) => {
  const isMine = turnsOf(
    cases.findIndex((one) => one.format === format && one.stream === stream),
    cases.length,
    2,
  )
  if (isMine())
    test("a refused call never comes, an allowed one does, and both are in the log", async () => {
      const running = await start(() => ({ text: "On it.", calls: [toEve, toAnn, remove] }))
      const heard = await ask(running, format, stream)
      expect(heard.calls).toEqual([inputOf(toAnn)])
      expect(JSON.stringify(heard)).not.toContain("eve@")
      expect(heard.text).toContain("On it.")
      expect(await judgedIn(running)).toEqual(["send_email: deny", "send_email: allow", "delete_file: deny"])
      const [request] = running.server.requests
      expect(new TextDecoder().decode(request?.body)).toContain("- Never send mail outside corp.example.")
    })

  if (isMine())
    test("an answer with nothing to refuse comes to the byte as it was sent", async () => {
      const running = await start(() => ({ reasoning: "Hm.", text: "Zwölf Boote 🚣", calls: [toAnn, toAnn] }))
      const bytes: Uint8Array[] = []
      const judging = guardedFetch(running.session, format)
      const noting: typeof fetch = async (url, init) => {
        const answer = await judging(url, init)
        const whole = new Uint8Array(await answer.arrayBuffer())
        bytes.push(whole)
        return new Response(whole, { headers: answer.headers })
      }
      const { calls } = await clients[format](running.server.url, noting, stream)
      expect(calls).toEqual([inputOf(toAnn), inputOf(toAnn)])
      expect(Buffer.concat(bytes).toString()).toBe(
        Buffer.from(running.server.requests[0]?.response.bytes ?? []).toString(),
      )
    })

  if (isMine())
    test("who only observes lets everything through and writes down what would have been refused", async () => {
      const guard = createGuard([{ template: "email-domains", domains: ["corp.example"] }, files["deletions.cedar"]])
      const running = await start(() => ({ calls: [toEve, remove] }), { guard, mode: "observe" }, openDesk())
      expect((await ask(running, format, stream)).calls).toEqual([inputOf(toEve), inputOf(remove)])
      expect(await judgedIn(running)).toEqual(["send_email: deny", "delete_file: ask"])
    })

  test.each<readonly [name: string, approve: Approve, left: readonly Call[]]>([
    ["approves", () => true, [remove]],
    ["refuses", async () => false, []],
    ["throws", () => Promise.reject(new Error("no one is in")), []],
    ["never answers", () => new Promise<boolean>(() => {}), []],
  ])("a person who is asked and %s", async (_, approve, left) => {
    const asked: unknown[] = []
    const noting: Approve = (call, verdict, signal) => {
      asked.push(call)
      return approve(call, verdict, signal)
    }
    const running = await start(() => ({ calls: [toEve, remove] }), { approve: noting, askTimeoutMs: 200 })
    expect((await ask(running, format, stream)).calls).toEqual(left.map(inputOf))
    expect(asked).toEqual([remove])
  })

  if (isMine())
    test("two purchases cannot each have the whole of a limit: side by side, one after the other, after a restart", async () => {
      const beside = await start(() => ({ calls: [buy("desk"), buy("lamp")] }))
      expect((await ask(beside, format, stream)).calls).toEqual([inputOf(buy("desk"))])
      const [first, second] = [buy("boat"), buy("oar")]
      const after = await start(({ index }) => ({ calls: [index === 0 ? first : second] }))
      expect((await ask(after, format, stream)).calls).toEqual([inputOf(first)])
      expect((await ask(after, format, stream)).calls).toEqual([])
      const again = await start(() => ({ calls: [buy("mast")] }), {}, after.desk)
      await after.holdfast.close()
      expect((await ask(again, format, stream)).calls).toEqual([])
    })
})

test("what was judged is shown by the program, in the log and entry by entry", async () => {
  const running = await start(() => ({ calls: [toEve, toAnn] }))
  await ask(running, "openai-chat", false)
  const entry = (await running.session.history()).find(({ type }) => type === "calls-judged")?.id ?? ""
  const { desk } = running
  const shown = await desk.holdfast("sessions", "show", "s1", "--log")
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/send_email: deny by \S+; send_email: allow/) })
  const explained = await desk.holdfast("sessions", "show", "s1", "--entry", entry)
  expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining("send_email: deny by") })
})

test("what a streamed purchase spends is in the store before anyone hears of the purchase", async () => {
  const running = await start(() => ({ calls: [buy("desk")] }))
  const other = await start(() => ({ calls: [buy("lamp")] }), {}, running.desk)
  const left: unknown[] = []
  const listening: typeof fetch = async (url, init) => {
    const answer = await guardedFetch(running.session, "openai-chat")(url, init)
    for await (const bytes of answer.body ?? [])
      if (Buffer.from(bytes).toString().includes('"buy"'))
        left.push(...(await ask(other, "openai-chat", false)).calls, "heard")
    throw new Error("the program ends here")
  }
  await expect(clients["openai-chat"](running.server.url, listening, true)).rejects.toThrow()
  expect(left).toEqual(["heard"])
})

test.each(formats)(
  "%s: of two streams that spend at the same moment, in two programs, one ends before its purchase",
  async (format) => {
    const desk = openDesk(files)
    const met = Promise.withResolvers<boolean>()
    let asked = 0
    const approve: Approve = () => {
      asked += 1
      if (asked === 2) met.resolve(true)
      return met.promise
    }
    const script: Script = () => ({ calls: [remove, buy("desk")] })
    const programs = [await start(script, { approve }, desk), await start(script, { approve }, desk)]
    const heard = await Promise.all(
      programs.map(async ({ server, session }) => {
        const response = await fetch(`${server.url}${streamPaths[format]}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(streamBodies[format]),
        })
        const bytes: Uint8Array[] = []
        try {
          for await (const raw of guarded(format, session, response.body ?? ReadableStream.from([]))) bytes.push(raw)
        } catch (error) {
          expect(error).toBeInstanceOf(HoldfastError)
        }
        return Buffer.concat(bytes).toString()
      }),
    )
    expect(heard.filter((text) => text.includes("desk"))).toHaveLength(1)
  },
)

test("while a person is asked the session goes on, and whoever decides may look at it", async () => {
  const seen: number[] = []
  const running: Running = await start(() => ({ calls: [remove] }), {
    askTimeoutMs: 20_000,
    approve: async () => {
      seen.push((await running.session.history()).length)
      await running.session.append([{ role: "user", content: "Wait for the harbour master." }], {
        format: "openai-chat",
      })
      return true
    },
  })
  expect((await ask(running, "openai-chat", false)).calls).toEqual([inputOf(remove)])
  expect(seen).toHaveLength(1)
})

test.each([
  ["one program", 1],
  ["two programs on one store", 2],
])("purchases that %s judges at the same moment cannot each have the whole of a limit", async (_, count) => {
  const desk = openDesk(files)
  const met = Promise.withResolvers<boolean>()
  let asked = 0
  // Both have looked at what was spent before either goes on.
  const approve: Approve = () => {
    asked += 1
    if (asked === 2) met.resolve(true)
    return met.promise
  }
  const script: Script = () => ({ calls: [remove, buy("desk")] })
  const programs = [await start(script, { approve }, desk), await start(script, { approve }, desk)].slice(0, count)
  const answers = await Promise.all(
    [...programs, ...programs].slice(0, 2).map((running) => ask(running, "openai-chat", false)),
  )
  const bought = answers.flatMap(({ calls }) => calls).filter((input) => JSON.stringify(input).includes("desk"))
  expect(bought).toEqual([inputOf(buy("desk"))])
  // One of them is judged again; nobody is asked twice about the same call.
  expect(asked).toBe(2)
})
