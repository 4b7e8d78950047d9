import { describe, expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../../test/support/conversations.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { formats } from "../../message/message.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { decodeResponse } from "../../wire/decode.ts"
import { createHoldfast } from "../holdfast.ts"
import type { Session } from "../session.ts"

const format = "openai-chat"
const rule = "Never write to any file below vendor/."
const laterRule = "Always write commit messages in English."
const summary = "The user wants the files read; two of them are done and the third one is next."
const around = "Continue from the last step and never ask the user any further questions."

const user = (content: string): ChatMessage => ({ role: "user", content })
const says = (content: string): ChatMessage => ({ role: "assistant", content })
const calls = (id: string): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "read_file", arguments: `{"path":"${id}"}` } }],
})
const result = (id: string): ChatMessage => ({ role: "tool", tool_call_id: id, content: `The file ${id} is empty.` })

const open = (): Session =>
  createHoldfast({ store: createMemoryStore(), windowTokens: 50_000, reserveTokens: 500, format }).session("s")

/** A client sends a history, and the model's response is recorded. */
async function send(session: Session, history: readonly ChatMessage[], answer: ChatMessage): Promise<string> {
  const { wire } = await session.prepare({ format, body: bodyIn(format, history), repair: "when-changed" })
  await session.record({ choices: [{ index: 0, message: answer, finish_reason: "stop" }] })
  return wire
}

const rulesOf = async (session: Session) => (await session.pins()).map(({ text, channel }) => [text, channel])

describe("a client compacts its own history", () => {
  test("right after the rule was said: the rule is kept", async () => {
    const session = open()
    await send(session, [user(`${rule} Read the files.`)], says("I see, I will read them."))
    const wire = await send(session, [user("What was done?"), says(summary), user("Go on.")], says("Yes."))
    expect(wire).toContain(rule)
    expect(await rulesOf(session)).toEqual([[rule, "user"]])
  })

  test("after a rule was withdrawn: it stays withdrawn", async () => {
    const session = open()
    const history = [user(`${rule} Read the files.`), says("I see.")]
    await send(session, history.slice(0, 1), says("I see."))
    const back = [...history, user("Forget what I said about writing to files below vendor/.")]
    await send(session, back, says("As you like."))
    expect(await rulesOf(session)).toEqual([])
    const wire = await send(session, [user("What was done?"), says(summary), user("Go on.")], says("Yes."))
    expect(wire).not.toContain(rule)
    expect(await rulesOf(session)).toEqual([])
  })

  test("and puts the user's next message into its summary message: it is the user's", async () => {
    const session = open()
    await send(session, [user(`${rule} Read the files.`)], says("They are read."))
    const text = (words: string) => ({ type: "text", text: words })
    const body = {
      model: "any",
      messages: [{ role: "user", content: [text(`${summary} ${around}`.padEnd(1200, " .")), text(laterRule)] }],
    }
    await session.prepare({ format, body: JSON.stringify(body) })
    expect(await rulesOf(session)).toEqual([
      [rule, "user"],
      [laterRule, "user"],
    ])
  })

  test("in the middle: rules there are kept, and the summary is nobody's text", async () => {
    const session = open()
    const head = [user("Read the files."), says("I begin.")]
    const middle = [user(rule), says("Of course."), user("Go on with the next one."), says("That one is empty.")]
    await send(session, head.slice(0, 1), says("I begin."))
    await send(session, [...head, ...middle.slice(0, 1)], says("Of course."))
    await send(session, [...head, ...middle.slice(0, 3)], says("That one is empty."))
    const asks = user("Sum it up in one paragraph.")
    await send(session, [...head, ...middle, asks], says(summary))
    const wire = await send(session, [...head, user(`So far: ${summary} ${around}`)], says("I go on."))
    expect(wire).toContain(rule)
    expect(await rulesOf(session)).toEqual([[rule, "user"]])
  })

  test("instructions for the summary are not a rule afterwards", async () => {
    const session = open()
    const history = [user(`${rule} Read the files.`), calls("c1"), result("c1")]
    await send(session, history.slice(0, 1), calls("c1"))
    await send(session, [...history, user("Sum this up for whoever goes on. Never use a table.")], says(summary))
    await send(session, [user(`${summary}\n${around}`), calls("c1"), result("c1")], says("I go on."))
    expect(await rulesOf(session)).toEqual([[rule, "user"]])
  })
})

test("a session that begins with the summary of another one remembers its rules, and takes none from the text around it", async () => {
  const session = open()
  const told = `This conversation is being continued from an earlier one. Summary:\n- The user said: ${rule}\n\n${around}`
  await session.prepare({ format, body: bodyIn(format, [user(told)]) })
  expect((await rulesOf(session)).every(([, channel]) => channel === "memory")).toBe(true)
  expect((await session.pins()).some(({ text }) => text.includes("further questions"))).toBe(false)
})

test("the user goes back and says something else: earlier rules are still the user's", async () => {
  const session = open()
  const history = [user("Read the files."), says("Which ones?"), user("All of them."), says("Fine.")]
  await send(session, history.slice(0, 1), says("Which ones?"))
  await send(session, history.slice(0, 3), says("Fine."))
  await send(session, [...history.slice(0, 2), user(`The first. ${rule}`)], says("Fine."))
  expect(await rulesOf(session)).toEqual([[rule, "user"]])
})

const ruleTexts = [
  rule,
  laterRule,
  "Never deploy to production on a Friday.",
  "Never send an e-mail to anyone outside corp.example.",
] as const
const turn = fc.record({
  rule: fc.option(fc.nat(ruleTexts.length - 1), { freq: 2 }),
  rounds: fc.integer({ min: 1, max: 3 }),
})
/** What a client replaces its history with, and what it keeps of it. */
const manner = fc.record({
  opens: fc.constantFrom("message", "exchange", "question"),
  keeps: fc.constantFrom("nothing", "the last round", "what the user said"),
})

test("for any conversation and any client compaction, the user's rules stay the user's, and no other text is a rule", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...formats),
    fc.array(turn, { minLength: 1, maxLength: 4 }),
    fc.array(fc.tuple(manner, turn), { minLength: 1, maxLength: 3 }),
    async (wire, first, later) => {
      const session = createHoldfast({ store: createMemoryStore(), windowTokens: 60_000, format: wire }).session("s")
      const said = new Set<string>()
      let history: readonly ChatMessage[] = []
      let n = 0
      const ask = async (answer: ChatMessage): Promise<void> => {
        await session.prepare({ format: wire, body: bodyIn(wire, history) })
        await session.record(decodeResponse(format, JSON.stringify({ choices: [{ index: 0, message: answer }] })))
        history = [...history, answer]
      }
      const speak = async ({ rule: at, rounds }: (typeof first)[number]): Promise<void> => {
        const own = at === null ? undefined : ruleTexts[at]
        if (own !== undefined) said.add(own)
        history = [...history, user(`${own ?? "Go on."} Look at item ${n++}.`)]
        for (let round = 0; round < rounds; round++) {
          const id = `call_${n++}x`
          await ask(calls(id))
          history = [...history, result(id)]
        }
        await ask(says(`Item ${n++} is in order.`))
      }
      for (const one of first) await speak(one)
      for (const [{ opens, keeps }, next] of later) {
        const told = `Up to ${n++}: ${summary} ${around}`
        const opening = {
          message: [user(told)],
          exchange: [user(told), says("Understood.")],
          question: [user("What was done? Never mind the details."), says(told)],
        }[opens]
        const tail = history.slice(history.findLastIndex(({ role }) => role === "assistant"))
        const users = history.filter(({ role, content }) => role === "user" && content?.includes("Up to") !== true)
        const kept = { nothing: [], "the last round": tail, "what the user said": [] }[keeps]
        history = [...(keeps === "what the user said" ? users : []), ...opening, ...kept]
        await speak(next)
        const pins = await session.pins()
        expect(pins.map(({ text }) => text).sort()).toEqual([...said].sort())
        expect(new Set(pins.map(({ channel }) => channel))).toEqual(new Set(said.size === 0 ? [] : ["user"]))
      }
    },
  )
  await fc.assert(property, { numRuns: Math.ceil(runs / 10) })
}, 120_000)
