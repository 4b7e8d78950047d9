import { describe, expect, test } from "vitest"
import { goodHistories, histories, unseen } from "../../test/support/histories.ts"
import { fc } from "../../test/support/property.ts"
import { brokenTranscript, call, goodTranscript, message, result, text } from "../../test/support/transcripts.ts"
import { type CheckOptions, checkTranscript, type Group, groupTurns } from "./group.ts"
import type { Message, Transcript } from "./message.ts"
import { createPerObject, createRecall, createRecent, setNewest } from "./recall.ts"

const any = fc.oneof(histories(fc.oneof(goodTranscript, brokenTranscript)), goodHistories(goodTranscript))

test("for any histories that go on from one another, the groups are those of a history that nobody has seen", () => {
  fc.assert(
    fc.property(any, (made) => {
      for (const messages of made) expect(groupTurns(messages)).toEqual(groupTurns(unseen(messages), []))
    }),
  )
})

test("for any histories that go on from one another, the faults are those of a history that nobody has seen", () => {
  const options = fc.record(
    { adjacent: fc.constantFrom("own" as const, "turn" as const), ended: fc.boolean() },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(any, fc.oneof(fc.constant([{}]), fc.array(options, { minLength: 1, maxLength: 6 })), (made, asked) => {
      for (const [n, messages] of made.entries()) {
        const now = asked[n % asked.length]
        expect(checkTranscript(messages, now)).toEqual(checkTranscript(unseen(messages), now))
      }
    }),
  )
})

const [one, two, three] = ["a", "b", "c"].map((id) => message(id, "user", text(id)))
const list = [one, two, three].flatMap((item) => item ?? [])

test("an id of the settled beginning that comes again is told of", () => {
  const long = Array.from({ length: 8 }, (_, n) => message(`m${n}`, n % 2 === 0 ? "user" : "assistant", text("said")))
  expect(checkTranscript(long)).toEqual([])
  const again = [...long, message("m0", "user", text("again"))]
  expect(checkTranscript(again)).toEqual([{ code: "message-id-repeated", messageId: "m0" }])
  expect(checkTranscript([...long, message("m8", "user", text("new"))])).toEqual([])
})

describe("of a history that goes on", () => {
  const said = (from: number, to: number, name = "m"): Transcript =>
    Array.from({ length: to - from }, (_, n) =>
      message(`${name}${from + n}`, (from + n) % 2 === 0 ? "user" : "assistant", text("said")),
    )

  test("groups that cannot change any more are the same objects", () => {
    const long = [...said(0, 6), message("c", "user", call("1"))]
    const groups = groupTurns(long)
    expect(groupTurns([...long])).toBe(groups)
    const reused = (messages: Transcript, earlier?: readonly Group[]): number =>
      groupTurns(messages, earlier).filter((group, n) => group === (earlier ?? groups)[n]).length
    // The last group before the change may grow, and so may all from the first waiting call on.
    expect(reused([...long.slice(0, 4), ...said(4, 6, "n")])).toBe(3)
    expect(reused([...long, ...said(6, 8)])).toBe(6)
    const others = groupTurns(unseen(long))
    expect([reused(long, others), reused([...long, ...said(6, 7)], others), reused(long, [])]).toEqual([6, 6, 0])
  })

  test("one of the same length, or the beginning of one, has its own groups", () => {
    const long = said(0, 8)
    const round = [message("c", "assistant", call("1")), message("r", "user", result("1"))]
    groupTurns(long)
    expect(groupTurns(long.slice(0, 5))).toEqual(groupTurns(unseen(long.slice(0, 5)), []))
    expect(groupTurns([...long.slice(0, 6), ...round]).at(-1)).toMatchObject({ type: "tool-round", start: 5 })
  })

  /** The transcript with a note of the first message whose parts were read. */
  const watched = (messages: Transcript): { readonly messages: Transcript; readonly firstRead: () => number } => {
    let first = messages.length
    const item = ({ id, role, parts }: Message, n: number): Message => ({
      id,
      role,
      get parts() {
        first = Math.min(first, n)
        return parts
      },
    })
    const firstRead = (): number => {
      const was = first
      first = messages.length
      return was
    }
    return { messages: messages.map(item), firstRead }
  }

  const long = said(0, 9)
  const round = (id: string): Transcript => [
    message(`call ${id}`, "assistant", call(id)),
    message(`result ${id}`, "user", result(id)),
  ]
  const waiting = [...said(0, 1), message("p", "assistant", call("p", "provider")), ...round("1"), ...round("2")]
  const answer = message("answer", "user", result("p", "found", "provider"))
  type Row = readonly [
    situation: string,
    whole: Transcript,
    options: CheckOptions,
    lengths: readonly (readonly [number, number])[],
  ]
  test.each<Row>([
    [
      "it only grows",
      long,
      {},
      [
        [6, 0],
        [7, 5],
        [9, 6],
        [9, 8],
      ],
    ],
    [
      "it is looked at in the same way",
      long,
      { adjacent: "own", ended: true },
      [
        [6, 0],
        [9, 5],
      ],
    ],
    [
      "it was cut and grows again",
      long,
      {},
      [
        [9, 0],
        [4, 3],
        [9, 3],
      ],
    ],
    [
      "it is too short to have two groups",
      long,
      {},
      [
        [1, 0],
        [2, 0],
        [3, 1],
      ],
    ],
    [
      "its last call waits",
      [...said(0, 2), ...round("1"), ...said(4, 6)],
      {},
      [
        [3, 0],
        [4, 1],
        [6, 1],
      ],
    ],
    [
      "a call of the provider waits on while others go on",
      [...waiting, answer],
      { ended: true },
      [
        [6, 0],
        [7, 1],
      ],
    ],
  ])("only what is new is looked at: %s", (_situation, whole, options, lengths) => {
    const { messages, firstRead } = watched(whole)
    for (const [length, first] of lengths) {
      expect(checkTranscript(messages.slice(0, length), options)).toEqual([])
      expect([length, firstRead()]).toEqual([length, first])
    }
  })

  test("what was cut off is forgotten: its ids may come again", () => {
    const start = [...said(0, 2), ...round("1"), ...round("2"), ...said(6, 9)]
    const { messages, firstRead } = watched([...start, ...unseen(start.slice(4, 8)), ...said(8, 10, "n")])
    expect(checkTranscript(messages.slice(0, 9))).toEqual([])
    firstRead()
    expect(checkTranscript([...messages.slice(0, 4), ...messages.slice(9)])).toEqual([])
    expect(firstRead()).toBe(1)
  })

  test("of two that part, each knows its own ids", () => {
    const base = said(0, 6)
    const one = [...base, ...said(6, 8, "one")]
    expect([checkTranscript(one), checkTranscript([...base, ...said(6, 8, "other")])]).toEqual([[], []])
    expect(checkTranscript([...one, message("one6", "user", text("again"))])).toMatchObject([{ messageId: "one6" }])
    expect(checkTranscript([...one, message("other6", "user", text("new"))])).toEqual([])
  })

  test("a fault stays a fault", () => {
    const broken = [...said(0, 2), message("r", "user", result("1")), ...said(3, 6)]
    for (const messages of [broken, broken, [...broken, ...said(6, 8)]])
      expect(checkTranscript(messages)).toMatchObject([{ code: "result-without-call", messageId: "r" }])
  })
})

test("what was kept is found for a list that begins alike, with how much they share", () => {
  const recall = createRecall<string>()
  recall.keep(list, "kept")
  expect(recall.find([...list.slice(0, 2), ...unseen(list.slice(2))])).toMatchObject({ made: "kept", common: 2 })
  expect(recall.find([...list, ...unseen(list)])).toMatchObject({ made: "kept", common: 3 })
  expect(recall.find(unseen(list))).toBeUndefined()
  expect(recall.find(list, () => false)).toBeUndefined()
  expect(recall.find([])).toBeUndefined()
})

test("a list that its owner goes on with is kept as it was", () => {
  const recall = createRecall<string>()
  const growing = list.slice(0, 2)
  recall.keep(growing, "two")
  growing.push(...list.slice(2))
  expect(recall.find(growing)).toMatchObject({ made: "two", common: 2 })
})

test("of lists that begin alike the one with most in common is found, and no more than the newest three are kept", () => {
  const recall = createRecall<string>()
  const [first] = list
  if (first === undefined) throw new Error("a list of three")
  const others = ["v", "w", "x", "y"].map((id) => [first, message(id, "user", text(id))])
  for (const [n, other] of others.slice(0, 2).entries()) recall.keep(other, `other ${n}`)
  expect(recall.find([first])).toMatchObject({ made: "other 1", common: 1 })
  recall.keep(list, "three")
  expect(recall.find(list)).toMatchObject({ made: "three", common: 3 })
  // One that goes on takes the place of its beginning, and of nothing else.
  recall.keep([...list, ...unseen(list)], "six")
  expect(recall.find(list)).toMatchObject({ made: "six", common: 3 })
  expect(recall.find(others[0] ?? [])).toMatchObject({ made: "other 0", common: 2 })
  for (const other of others.slice(2)) recall.keep(other, "newer")
  expect([list, others[0] ?? [], others[1] ?? []].map((one) => recall.find(one)?.common)).toEqual([3, 1, 1])
})

test("what is made of a text is made once, unless the text is long; a quarter goes when there are too many", () => {
  const made: string[] = []
  const noted = createRecent((value) => {
    made.push(value)
    return value.length
  }, 8)
  const long = "x".repeat(8_001)
  const just = long.slice(1)
  for (const value of ["a", "a", long, long, just, just]) expect(noted(value)).toBe(value.length)
  expect(made).toEqual(["a", long, long, just])
  for (const value of "bcdefg") noted(value)
  made.length = 0
  expect(noted("a")).toBe(1)
  noted("h")
  for (const value of "cdefgh") noted(value)
  expect(made).toEqual(["h"])
  noted("a")
  noted(just)
  expect(made).toEqual(["h", "a", just])
})

test("the newest entries of a map stay, the one that is set again among them", () => {
  const map = new Map<string, number>()
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
    ["c", 4],
  ] as const)
    setNewest(map, key, value, 2)
  expect([...map]).toEqual([
    ["a", 3],
    ["c", 4],
  ])
  setNewest(map, "d", 5, 0)
  expect([...map]).toEqual([])
})

test("what is made of an object is made once, and again where what is given beside it is another", () => {
  let made = 0
  const lengthOf = createPerObject((item: readonly string[], beside: string): string | undefined => {
    made++
    return item.length === 0 ? undefined : `${item.length} ${beside}`
  })
  const [some, none]: readonly (readonly string[])[] = [["a"], []]
  if (some === undefined || none === undefined) throw new Error("two lists")
  expect([lengthOf(some, "x"), lengthOf(some, "x"), lengthOf(none, "x"), lengthOf(none, "x")]).toEqual([
    "1 x",
    "1 x",
    undefined,
    undefined,
  ])
  expect(made).toBe(2)
  expect(lengthOf(some, "y")).toBe("1 y")
  expect(made).toBe(3)
})
