import { describe, expect, test } from "vitest"
import { agent, call, calls, chat, type Frame, result, says, user, words } from "../../../test/fixtures/gateway/chat.ts"
import { createWorld, lettersOf } from "../../../test/fixtures/gateway/world.ts"
import type { Identity } from "./identity.ts"

const id: Identity = { client: "ses_1a2b3c4d5e" }
const nobody: Identity = {}
const c1 = "call_8f3kd02mXz71"
const c2 = "call_9d1ma77bQw02"
const title: Frame = { system: "Name this conversation in five words." }
const plain: Frame = { system: "You are a friendly helper." }

describe("with the client's id", () => {
  test("a conversation, its rewinds and its retries are one session", async () => {
    const world = createWorld()
    const first = await world.exchange(id, chat(agent, user("go")), call(c1))
    const history = [user("go"), calls(c1), result(c1)]
    const second = await world.exchange(id, chat(agent, ...history), words("It is all done."))
    const again = await world.exchange(id, chat(agent, ...history), words("It is all done."))
    const edited = await world.exchange(id, chat(agent, user("stop")), words("As you wish, I stop here."))
    expect(lettersOf([first, second, again, edited].map(({ session }) => session))).toBe("AAAA")
    expect([first.isNew, second.isNew, first.why, second.role]).toEqual([true, false, "client-id", "main"])
  })

  test.each([
    ["before", [0, 1, 2]],
    ["behind", [1, 0, 2]],
    ["between", [1, 2, 0]],
  ] as const)("a title request %s the conversation is a session of its own", async (_when, order) => {
    const world = createWorld()
    const requests = [
      chat(title, user("go")),
      chat(agent, user("go")),
      chat(agent, user("go"), calls(c1), result(c1)),
    ] as const
    const answers = [words("Going places, for a while"), call(c1), words("It is all done.")] as const
    const sessions = new Map<number, string>()
    for (const n of order) sessions.set(n, (await world.exchange(id, requests[n], answers[n])).session)
    expect(lettersOf([0, 1, 2].map((n) => sessions.get(n) ?? ""))).toBe("ABB")
    expect(sessions.get(1)).toBe("t.ses_1a2b3c4d5e")
  })

  test("concurrent requests get the same sessions as sequential ones", async () => {
    const requests = [
      chat(title, user("go")),
      chat(agent, user("go")),
      chat(agent, user("go")),
      chat(title, user("go")),
    ]
    const world = createWorld()
    const given = await Promise.all(requests.map((request) => world.assign("t", id, request)))
    expect(lettersOf(given.map(({ session }) => session))).toBe("ABBA")
    expect(given.filter(({ isNew }) => isNew)).toHaveLength(2)
  })

  test("after a client's compaction the conversation stays in its session; the summary request does not join it", async () => {
    const world = createWorld()
    const given = [
      await world.exchange(id, chat(agent, user("go")), words("I have begun with the first part.")),
      await world.exchange(
        id,
        chat({ system: "You summarize what you are given to read." }, user("USER: go")),
        words("sum"),
      ),
      await world.exchange(
        id,
        chat(agent, user("Summary so far: sum"), says("Understood."), user("go on")),
        words("ok"),
      ),
    ]
    expect(lettersOf(given.map(({ session }) => session))).toBe("ABA")
    expect(given.map(({ role }) => role)).toEqual(["main", "side", "main"])
  })

  test("a request that contains the summary as a response belongs to the conversation", async () => {
    const told = "The first part is done, and the second one is what comes next."
    const summarizer: Frame = { system: "You summarize what you are given to read." }
    const on = [user("What was done?"), says(told), user("Go on.")]
    const world = createWorld()
    const given = [
      await world.exchange(id, chat(title, user("go")), words("Going places, for a while")),
      await world.exchange(id, chat(agent, user("go")), call(c1)),
      await world.exchange(id, chat(summarizer, user("USER: go")), words(told)),
      await world.exchange(id, chat(agent, ...on), words("I have gone on with the second part.")),
      await world.exchange(
        id,
        chat(agent, ...on, says("I have gone on with the second part."), user("so")),
        words("ok"),
      ),
      await world.exchange(id, chat(summarizer, user("USER: go"), says(told), user("Shorter.")), words("Done, next.")),
    ]
    expect(lettersOf(given.map(({ session }) => session))).toBe("ABCBBC")
  })

  test("the same holds in a chat without tools that began with a title request", async () => {
    const told = "They asked about an order that is late, and it comes tomorrow."
    const world = createWorld()
    const given = [
      await world.exchange(id, chat(title, user("My order is late.")), words("An order that is late")),
      await world.exchange(id, chat(plain, user("My order is late.")), words("I am sorry to hear that.")),
      await world.exchange(id, chat({ system: "You sum up." }, user("USER: My order is late.")), words(told)),
      await world.exchange(id, chat(plain, user("What was it?"), says(told), user("When?")), words("Tomorrow.")),
    ]
    expect(lettersOf(given.map(({ session }) => session))).toBe("ABCB")
  })

  test("a compaction request without tools but with the same history is in the conversation", async () => {
    const world = createWorld()
    const one = await world.exchange(id, chat(agent, user("go")), call(c1))
    const history = [user("go"), calls(c1), result(c1), user("Sum it up.")]
    const bare = { system: agent.system ?? "" }
    const two = await world.exchange(id, chat(bare, ...history), words("sum"))
    const said = await world.exchange({ ...id, kind: "compaction" }, chat(bare, user("Sum it up.")), words("sum"))
    expect(lettersOf([one, two, said].map(({ session }) => session))).toBe("AAA")
  })

  test("a subagent has a session of its own, and so has one with another prompt and no mark", async () => {
    const world = createWorld()
    const scout: Frame = { system: "You only look for files, and you report what you found.", tools: ["read", "find"] }
    const main = await world.exchange(id, chat(agent, user("go")), call(c1))
    const marked = await world.exchange({ ...id, agent: "a1" }, chat(agent, user("look")), call(c2))
    const unmarked = await world.exchange(id, chat(scout, user("look")), words("Nothing was found anywhere."))
    const more = await world.exchange(
      id,
      chat(scout, user("look"), says("Nothing was found anywhere."), user("look again")),
      words("Still nothing."),
    )
    expect(lettersOf([main, marked, unmarked, more].map(({ session }) => session))).toBe("ABCC")
  })

  test("a chat without tools keeps its session when it drops its oldest turns", async () => {
    const world = createWorld()
    const explicit: Identity = { explicit: "support-17" }
    const one = await world.exchange(
      explicit,
      chat(plain, user("My order is late.")),
      words("I am sorry to hear that."),
    )
    const two = await world.exchange(
      explicit,
      chat(plain, says("I am sorry to hear that."), user("When does it come?")),
      words("Tomorrow."),
    )
    expect([one.session, two.session]).toEqual(["t.support-17", "t.support-17"])
    const tools = await world.exchange(explicit, chat(agent, user("go")), words("ok"))
    expect([tools.session, tools.role, tools.why]).toEqual(["t.support-17~tools", "main", "explicit"])
  })

  test("an id of another tenant does not open its session", async () => {
    const world = createWorld()
    const mine = await world.exchange(id, chat(agent, user("go")), call(c1), { tenant: "mine" })
    const theirs = await world.exchange(id, chat(agent, user("go"), calls(c1), result(c1)), words("ok"), {
      tenant: "theirs",
    })
    expect(theirs.session).not.toBe(mine.session)
    expect(theirs.isNew).toBe(true)
  })
})

describe("without any id", () => {
  test("a continued history is found by its text, whatever the spacing of the responses", async () => {
    const world = createWorld()
    const one = await world.exchange(
      nobody,
      chat(plain, user("hi")),
      words("<think>A greeting.</think>\n\nHello!  How\ncan I help? "),
    )
    const two = await world.exchange(
      nobody,
      chat(plain, user("hi"), says("Hello! How can I help?"), user("Sing.")),
      words("La."),
    )
    expect([two.session, two.why, two.isNew]).toEqual([one.session, "history", false])
  })

  test("two identical conversations become two sessions where their messages differ", async () => {
    const world = createWorld()
    const hi = chat(plain, user("hi"))
    const hello = words("Hello! How can I help?")
    const one = await world.exchange(nobody, hi, hello, { entry: "e2" })
    const two = await world.exchange(nobody, hi, hello, { entry: "e2" })
    expect(two.session).not.toBe(one.session)
    const greeted = [user("hi"), says("Hello! How can I help?")]
    const first = await world.exchange(nobody, chat(plain, ...greeted, user("Always rhyme.")), words("In time."))
    const second = await world.exchange(nobody, chat(plain, ...greeted, user("Never rhyme.")), words("Fine."))
    expect(second.session).not.toBe(first.session)
    expect(second.fork).toEqual({ from: first.session, at: "e2", messages: 3 })
    const rest = [user("Never rhyme."), says("Fine."), user("Sing.")]
    expect(await world.exchange(nobody, chat(plain, ...greeted, ...rest), words("La."))).toEqual({
      session: second.session,
      isNew: false,
      why: "history",
      role: "main",
    })
  })

  test("a repeated request does not copy the session again", async () => {
    const world = createWorld()
    await world.exchange(nobody, chat(plain, user("hi")), words("Hello!"))
    const greeted = [user("hi"), says("Hello!")]
    await world.exchange(nobody, chat(plain, ...greeted, user("one")), words("1"))
    const parted = await world.exchange(nobody, chat(plain, ...greeted, user("two")), [], { isCut: true })
    const again = await world.exchange(nobody, chat(plain, ...greeted, user("two")), words("2"))
    expect([parted.isNew, again.isNew, again.session]).toEqual([true, false, parted.session])
  })

  test("instructions that differ in a number separate conversations; the time of day does not", async () => {
    const world = createWorld()
    const shop = (percent: number, day: string): Frame => ({ system: `Today is ${day}. Discounts up to ${percent} %.` })
    const next = [user("hi"), says("Hello!"), user("Can you do better?")]
    const one = await world.exchange(nobody, chat(shop(5, "2026-03-01 09:15"), user("hi")), words("Hello!"))
    const later = await world.assign("t", nobody, chat(shop(5, "2026-03-02 10:20"), ...next))
    const other = await world.assign("t", nobody, chat(shop(9, "2026-03-01 09:15"), ...next))
    expect(lettersOf([one, later, other].map(({ session }) => session))).toBe("AAB")
  })

  test("a rewritten history is found by a random call id, not by a numbered one", async () => {
    const world = createWorld()
    for (const [call1, letters] of [
      [c1, "AA"],
      ["call_1", "AB"],
    ] as const) {
      const one = await world.exchange(nobody, chat(agent, user(`go ${call1}`)), call(call1))
      const two = await world.exchange(
        nobody,
        chat(agent, user("In short: go."), calls(call1), result(call1)),
        words("ok"),
      )
      expect(lettersOf([one.session, two.session])).toBe(letters)
    }
  })

  test("a call id in two sessions identifies neither", async () => {
    const world = createWorld()
    const one = await world.exchange(nobody, chat(agent, user("red")), call(c1))
    const two = await world.exchange(nobody, chat(agent, user("blue")), call(c1))
    const third = await world.exchange(nobody, chat(agent, user("In short: go."), calls(c1), result(c1)), words("ok"))
    const fourth = await world.exchange(nobody, chat(agent, user("blue"), calls(c1), result(c1)), words("ok"))
    expect(lettersOf([one, two, third, fourth].map(({ session }) => session))).toBe("ABCB")
  })

  test("a summary with other instructions is a side call, and the conversation continues where it was", async () => {
    const world = createWorld()
    const history = [user("go"), calls(c1), result(c1)]
    const one = await world.exchange(nobody, chat(agent, user("go")), call(c1))
    const two = await world.exchange(nobody, chat(agent, ...history), words("I am at it, give me a moment."))
    const aside = await world.exchange(
      nobody,
      chat({ system: "You summarize." }, ...history, user("Now.")),
      words("They want it to go, and it goes as it should."),
    )
    expect([aside.session, aside.role, aside.why]).toEqual([one.session, "side", "calls"])
    const rest = [says("I am at it, give me a moment."), user("well?")]
    const on = await world.exchange(nobody, chat(agent, ...history, ...rest), words("Done."))
    expect([two.session, on.session, on.fork]).toEqual([one.session, one.session, undefined])
  })

  test("a check of the newest messages with other instructions and tools is not a turn of the conversation", async () => {
    const world = createWorld()
    const history = [user("go"), calls(c1), result(c1), calls(c2), result(c2)]
    const one = await world.exchange(nobody, chat(agent, user("go")), call(c1))
    await world.exchange(nobody, chat(agent, ...history.slice(0, 3)), call(c2))
    const check = chat({ system: "Does the agent repeat itself?" }, ...history.slice(1), user("Answer in JSON."))
    const aside = await world.exchange(nobody, check, words('{"repeats":0.1}'))
    const on = await world.exchange(nobody, chat(agent, ...history), words("It is all done."))
    expect(lettersOf([one, aside, on].map(({ session }) => session))).toBe("ABA")
    expect([aside.role, on.role, on.fork]).toEqual(["side", "main", undefined])
  })

  test("a client that trims its history and rewrites its instructions each time stays in its session", async () => {
    const world = createWorld()
    const about = (topic: string): Frame => ({ ...agent, system: `You help. Of use now: ${topic}` })
    const one = await world.exchange(nobody, chat(about("tides"), user("go")), call(c1))
    const two = await world.exchange(nobody, chat(about("boats"), calls(c1), result(c1)), call(c2))
    const three = await world.exchange(nobody, chat(about("ropes"), calls(c2), result(c2)), words("Done."))
    expect(lettersOf([one, two, three].map(({ session }) => session))).toBe("AAA")
  })

  test("instructions with the same lines in another order are the same", async () => {
    const world = createWorld()
    const skills = (...names: readonly string[]): Frame => ({ ...agent, system: ["Skills:", ...names].join("\n") })
    const one = await world.exchange(nobody, chat(skills("- draw", "- write"), user("hi")), words("Hello!"))
    const next = [user("hi"), says("Hello!"), user("Sing.")]
    const two = await world.assign("t", nobody, chat(skills("- write", "- draw"), ...next))
    const other = await world.assign("t", nobody, chat(skills("- write", "- sing"), ...next))
    expect(lettersOf([one, two, other].map(({ session }) => session))).toBe("AAB")
    expect([two.why, two.role]).toEqual(["history", "main"])
  })

  describe("a conversation that comes back with other instructions and a rewritten history", () => {
    const later: Frame = { ...agent, system: `${agent.system}\nNever push.` }
    const history = [user("go"), calls(c1), result(c1)]
    const back = [user("In short: go."), calls(c1), result(c1), says("It is all done."), user("well?")]
    const begin = async () => {
      const world = createWorld()
      const first = await world.exchange(nobody, chat(agent, user("go")), call(c1))
      await world.exchange(nobody, chat(agent, ...history), words("It is all done."), { entry: "e4" })
      return { world, first }
    }

    test("stays in its session, and so do its next turns", async () => {
      const { world, first } = await begin()
      const given = [await world.exchange(nobody, chat(later, ...back), call(c2))]
      const more = [...back, calls(c2), result(c2)]
      given.push(await world.exchange(nobody, chat(later, ...more), words("Yes.")))
      given.push(await world.exchange(nobody, chat(later, ...more, says("Yes."), user("and?")), words("No.")))
      expect(lettersOf([first, ...given].map(({ session }) => session))).toBe("AAAA")
      expect(given.map(({ role, isNew }) => [role, isNew])).toEqual([
        ["side", false],
        ["main", false],
        ["main", false],
      ])
    })

    test("also if its first request is cut off, sent again and edited, and the gateway restarted", async () => {
      const { world, first } = await begin()
      const requests = [chat(later, ...back), chat(later, ...back), chat(later, ...back.slice(0, -1), user("so?"))]
      const given = []
      for (const request of requests) {
        given.push(await world.exchange(nobody, request, [], { isCut: true }))
        world.restart()
      }
      const answered = [...back.slice(0, -1), user("so?"), says("Nothing is left to do."), user("and?")]
      given.push(await world.exchange(nobody, chat(later, ...answered), words("No.")))
      expect(lettersOf([first, ...given].map(({ session }) => session))).toBe("AAAAA")
    })

    test("but a conversation that has continued meanwhile keeps its session, and the other gets a copy", async () => {
      const { world, first } = await begin()
      await world.exchange(nobody, chat(later, ...back), call(c2))
      const on = chat(agent, ...history, says("It is all done."), user("thanks"))
      const kept = await world.exchange(nobody, on, words("You are welcome."))
      const copy = await world.exchange(nobody, chat(later, ...back, calls(c2), result(c2)), words("Yes."))
      expect(lettersOf([first, kept, copy].map(({ session }) => session))).toBe("AAB")
      expect(copy.fork?.from).toBe(first.session)
    })
  })

  test("a history built from the session's own summary belongs to the session; a pasted response does not", async () => {
    const summary =
      "They want the tests to run green before anything is merged.\nThe parser is done, and the printer is still to do."
    const told = user(`<summary>${summary}</summary>\nGo on from here.`)
    const world = createWorld()
    const one = await world.exchange(
      nobody,
      chat(agent, user("go"), user("Sum it up.")),
      words(`<summary>${summary}</summary>`),
    )
    const pasted = await world.exchange(nobody, chat(agent, told), words("Well."))
    const on = await world.exchange(nobody, chat(agent, told, says("Got it.")), words("So."))
    const other = await world.exchange(nobody, chat(plain, told, says("Got it.")), words("So."))
    expect(lettersOf([one, pasted, on, other].map(({ session }) => session))).toBe("ABAC")
    expect(on.why).toBe("retelling")
  })

  describe("a request with other instructions that contains the conversation as text", () => {
    const summarizer: Frame = { system: "You summarize what you are given to read." }
    const asks = "Please look after the invoices of the northern branch."
    const answers = "I went through the invoices of the northern branch and found two that are open."
    const asText = (...more: readonly string[]) =>
      user(`# Conversation\n[User]: ${asks}\n\n[Assistant]: ${answers}\n\n${more.join("\n")}\n# Task\nSum it up.`)

    test.each([
      ["several lines", "They look after invoices of a branch.\nTwo of the invoices are open, and the rest are paid."],
      ["one line", "Two invoices are open."],
    ])("is a session of its own, and the conversation continues from its response of %s", async (_how, told) => {
      const world = createWorld()
      const one = await world.exchange(nobody, chat(plain, user(asks)), words(answers))
      const aside = await world.exchange(nobody, chat(summarizer, asText()), words(told))
      const on = await world.exchange(
        nobody,
        chat(plain, user(`In short:\n${told}`), user("Pay them.")),
        words("Done."),
      )
      expect(lettersOf([one, aside, on].map(({ session }) => session))).toBe("ABA")
      expect(on.why).toBe("retelling")
    })

    test("a response kept after the summary identifies the session too, together with the message before it", async () => {
      const world = createWorld()
      const one = await world.exchange(nobody, chat(plain, user(asks)), words(answers))
      const kept = [user(asks), says(answers)]
      const on = await world.exchange(
        nobody,
        chat(plain, user("In short: hello."), ...kept, user("Pay.")),
        words("Done."),
      )
      expect([on.session, on.why]).toEqual([one.session, "history"])
      const bare = await world.exchange(
        nobody,
        chat(plain, user("In short: hello."), says(answers), user("Pay.")),
        words("No."),
      )
      expect(bare.session).not.toBe(one.session)
    })

    test("conversations with the same words and the same summary share nothing", async () => {
      const world = createWorld()
      const told = "Two invoices are open."
      const begin = () => world.exchange(nobody, chat(plain, user(asks)), words(answers))
      const both = [await begin(), await begin()]
      for (let n = 0; n < 2; n++) await world.exchange(nobody, chat(summarizer, asText()), words(told))
      const on = await Promise.all(
        ["Pay them.", "Send them back."].map((next) =>
          world.exchange(nobody, chat(plain, user(`In short:\n${told}`), user(next)), words("Done.")),
        ),
      )
      expect(lettersOf([...both, ...on].map(({ session }) => session))).toBe("ABCD")
    })

    test("two conversations with identical summaries are not confused", async () => {
      const world = createWorld()
      const told = "Work goes on as planned."
      const topics = ["the invoices of the northern branch", "the wages of the southern branch"]
      const begun: string[] = []
      for (const topic of topics) {
        const asked = `Please look after ${topic} from today on.`
        const one = await world.exchange(
          nobody,
          chat(plain, user(asked)),
          words(`I look after ${topic} from today on.`),
        )
        begun.push(one.session)
        await world.exchange(
          nobody,
          chat(summarizer, user(`[User]: ${asked}\n[Assistant]: I look after ${topic} from today on.`)),
          words(told),
        )
      }
      for (const [n] of topics.entries()) {
        const on = await world.exchange(
          nobody,
          chat(plain, user(`In short:\n${told}`), user(`Go on, ${n}.`)),
          words("Yes."),
        )
        expect(begun.toSpliced(n, 1)).not.toContain(on.session)
      }
    })
  })

  test("a repeated first request is a retry if nothing was answered, and another conversation while the first is pending", async () => {
    const world = createWorld()
    const hi = chat(plain, user("hi"))
    const first = await world.assign("t", nobody, hi)
    const meanwhile = await world.assign("t", nobody, hi)
    await world.answered(first, hi, words("Hello!"))
    await world.answered(meanwhile, hi, words("Hel"), { isCut: true })
    const again = await world.assign("t", nobody, hi)
    await world.answered(again, hi, words("Hello!"))
    const later = await world.assign("t", nobody, hi)
    const all = [first, meanwhile, again, later]
    expect(lettersOf(all.map(({ session }) => session))).toBe("ABBC")
    expect(again.why).toBe("opening")
  })

  test("a lost response is accepted as the client sends it", async () => {
    const world = createWorld()
    const one = await world.exchange(nobody, chat(plain, user("hi")), [], { isCut: true })
    world.restart()
    const two = await world.exchange(nobody, chat(plain, user("hi"), says("Hello!"), user("Sing.")), words("La."))
    expect([two.session, two.why]).toEqual([one.session, "history"])
  })

  test("a continued turn reads nothing from the store before it is sent", async () => {
    const world = createWorld()
    await world.exchange(nobody, chat(agent, user("go")), call(c1))
    const before = world.reads()
    await world.assign("t", nobody, chat(agent, user("go"), calls(c1), result(c1)))
    expect(world.reads()).toBe(before)
  })
})

test("with the store unavailable, no session begins for a request that may be known, and known ones continue", async () => {
  const faults: unknown[] = []
  let isAway = false
  const world = createWorld({ onFault: (error) => faults.push(error) }, () => isAway)
  const begun = [chat(agent, user("go")), chat(agent, user("go"), calls(c1), result(c1))] as const
  const one = await world.exchange(nobody, begun[0], call(c1))
  const named = await world.exchange(id, chat(agent, user("come")), call(c2))
  isAway = true
  expect((await world.assign("t", nobody, begun[1])).session).toBe(one.session)
  expect((await world.assign("t", id, chat(agent, user("come"), calls(c2), result(c2)))).session).toBe(named.session)
  world.restart()
  for (const [who, request] of [[nobody, begun[1]] as const, [id, begun[0]] as const, [nobody, begun[0]] as const])
    await expect(world.assign("t", who, request)).rejects.toThrow("away")
  expect(faults.length).toBeGreaterThan(0)
  isAway = false
  expect((await world.assign("t", nobody, begun[1])).session).toBe(one.session)
})

test("with the store unavailable, no request fails if sessions may begin without it", async () => {
  const faults: unknown[] = []
  const away = () => Promise.reject(new Error("away"))
  const world = createWorld({ find: away, put: away, guesses: true, onFault: (error) => faults.push(error) })
  const one = await world.exchange(nobody, chat(agent, user("go")), call(c1))
  const two = await world.exchange(nobody, chat(agent, user("go"), calls(c1), result(c1)), words("ok"))
  const named = await world.exchange(id, chat(agent, user("go")), call(c2))
  expect([two.session, named.session]).toEqual([one.session, "t.ses_1a2b3c4d5e"])
  expect(faults.length).toBeGreaterThan(0)
})

describe("responses lost with their process, and a client that drops the beginning", () => {
  const told = (n: number): string => `The report on order number ${n} is finished and sent.`
  const turns = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => [user(`please do order ${from + at}`), says(told(from + at))]).flat()

  test.each([1, 2, 3])("%i lost: the session is found again", async (lost) => {
    const world = createWorld({ isShared: true })
    const other = world.another()
    const first = await world.exchange(nobody, chat(plain, user("please do order 0")), words(told(0)))
    for (let n = 1; n < 4; n++)
      await world.exchange(
        nobody,
        chat(plain, ...turns(Math.max(0, n - 4), n), user(`please do order ${n}`)),
        words(told(n)),
      )
    // Requested, and answered by a process that recorded no response; if there are several, not even the requests are recorded.
    await world.assign("t", nobody, chat(plain, ...turns(0, 4), user("please do order 4")))
    const next = 4 + lost
    const found = await other.assign(
      "t",
      nobody,
      chat(plain, ...turns(next - 4, next), user(`please do order ${next}`)),
    )
    expect([found.session, found.isNew]).toEqual([first.session, false])
  })

  test("responses continued by two conversations with the same words belong to neither", async () => {
    const world = createWorld({ isShared: true })
    const other = world.another()
    const begin = async (name: string) => {
      const opening = [user(`I am ${name}`), says(`Hello ${name}, what can I do for you today?`)]
      const { session } = await world.exchange(
        nobody,
        chat(plain, user(`I am ${name}`)),
        words(`Hello ${name}, what can I do for you today?`),
      )
      await world.exchange(nobody, chat(plain, ...opening, user("please do order 0")), words(told(0)))
      await world.assign("t", nobody, chat(plain, ...opening, ...turns(0, 1), user("please do order 1")))
      return session
    }
    const sessions = [await begin("Ann"), await begin("Bob")]
    const found = await other.assign("t", nobody, chat(plain, ...turns(0, 2), user("please do order 2")))
    expect(sessions).not.toContain(found.session)
  })
})

test("another process on the same store sees the current state of a session", async () => {
  const world = createWorld({ isShared: true })
  const other = world.another()
  await world.exchange(nobody, chat(plain, user("hi")), words("Hello!"))
  const greeted = [user("hi"), says("Hello!")]
  const there = await other.assign("t", nobody, chat(plain, ...greeted, user("one")))
  const here = await world.assign("t", nobody, chat(plain, ...greeted, user("two")))
  expect(here.session).not.toBe(there.session)
  expect(here.fork?.from).toBe(there.session)
})

describe("turns that were not recorded", () => {
  const whole = [user("go"), says("First."), user("on"), says("Second."), user("on"), says("Third."), user("end")]

  test.each([
    ["without an id", nobody],
    ["with the client's id", id],
  ] as const)(
    "a conversation %s whose bytes continued stays in its session, also afterwards",
    async (_who, identity) => {
      const world = createWorld()
      const first = await world.exchange(identity, chat(plain, user("go")), words("First."))
      const leapt = await world.assign("t", identity, chat(plain, ...whole), first.session)
      await world.answered(leapt, chat(plain, ...whole), words("At last."))
      const after = await world.exchange(
        identity,
        chat(plain, ...whole, says("At last."), user("thanks")),
        words("Bye."),
      )
      expect(lettersOf([first, leapt, after].map(({ session }) => session))).toBe("AAA")
    },
  )

  test("a request without the session's last request is not in the session, whatever its bytes", async () => {
    const world = createWorld()
    const first = await world.exchange(nobody, chat(plain, user("go")), words("First."))
    const other = await world.assign("t", nobody, chat(plain, user("stop"), ...whole.slice(1)), first.session)
    expect(other.session).not.toBe(first.session)
  })
})
