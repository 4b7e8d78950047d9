import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { callId, messageId } from "../../message/message.ts"
import type { SummaryLine } from "../summary/summary.ts"
import { argumentNames, fitRecords, rankRecords } from "./fit-records.ts"
import { readRecord } from "./records.ts"

const line = (text: string, worth = 4): SummaryLine => ({ text, sources: ["m1"], channel: "tool", worth })

/** A word for a token. */
const count = (text: string): number => text.split(/[^\p{L}\p{N}]+/u).length

type Keeping = Partial<Parameters<typeof rankRecords>[1]> & { readonly stands?: (value: string) => boolean }

const keep = (lines: readonly SummaryLine[], budget: number, { stands = () => false, ...more }: Keeping = {}) =>
  fitRecords(
    rankRecords(lines, { count, admits: () => true, arguments: new Set(), ...more }),
    budget,
    stands,
  ).lines.map(({ text }) => text)

const booking = line(
  "booking B7: flights=XY1 (origin AAA, date 2030-01-02, price 152), XY2 (origin BBB, date 2030-01-03, price 99); paid=card_77",
  9,
)

describe("where room is short", () => {
  test("a name goes before its price, and each stays with its owner", () => {
    const [text = ""] = keep([booking], 16)
    expect(text).toContain("XY1")
    expect(text).toContain("XY2")
    expect(text).toContain("card_77")
    expect(text).not.toContain("price")
  })

  test("of a long list the first few and the named ones stand, however much room there is", () => {
    const ids = Array.from({ length: 20 }, (_, n) => `TX-${7000 + n}`)
    const [text = ""] = keep([line(`account A1: transactions=${ids.join(", ")}`)], 500, {
      isNamed: (value) => value === "TX-7015",
    })
    expect(text).toContain("TX-7000")
    expect(text).toContain("TX-7015")
    expect(text).not.toContain("TX-7012")
  })

  test("numbers in a group do not make an id of it", () => {
    const hits = Array.from({ length: 6 }, (_, n) =>
      line(`flight QQ${n}: seats=(first ${n}, second 1${n}, third 2${n})`, 1),
    )
    const text = keep([...hits, booking], 24).join("\n")
    expect(text).toContain("card_77")
    expect(text).toContain("XY2")
  })

  test("a value under the name of an argument goes first", () => {
    const order = line("order W1: colour=blue; lining=grey; thread=white; button=black")
    expect(keep([order], 8, { arguments: new Set(["thread"]) })).toEqual(["order W1: thread=white"])
  })

  test("of a list the member goes first that somebody named by one of its parts", () => {
    const person = line("user U1: cards=card_41 (ends 1200), card_52 (ends 7334), card_63 (ends 9001)")
    expect(keep([person], 11, { isNamed: (value) => value === "7334" })).toEqual(["user U1: cards=card_52, …"])
  })

  test("what records of a kind share under a key names none of them and waits for what does", () => {
    const boats = [
      ["B1", "Delta-9", "row_77120"],
      ["B2", "Delta-9", "row_88231"],
      ["B3", "Delta-9", "row_99342"],
    ].map(([name, make, berth]) => line(`boat ${name}: make=${make}; berth=${berth}`))
    const text = keep(boats, 16).join("\n")
    expect(text).toContain("row_")
    expect(text).not.toContain("Delta-9")
  })

  test("an id goes before an address with a number in it", () => {
    const person = line("user U1: street=9 Pine; city=Austin; card=card_7")
    expect(keep([person], 9)).toEqual(["user U1: card=card_7"])
  })

  test("a record with many ids goes before several with one date each", () => {
    const person = line("user of the long standing name U1: cards=card_1, card_2, card_3, card_4")
    const hits = Array.from({ length: 6 }, (_, n) => line(`flight QQ${n}: date=2030-01-0${n}`, 5))
    expect(keep([...hits, person], 16).join("\n")).toContain("card_1")
  })

  test("what all records share is told once, and what each has of its own before that", () => {
    const orders = Array.from({ length: 5 }, (_, n) => line(`order W${n}: user_id=ann_lee_77; item=item_${n}1${n}`))
    const texts = Array.from({ length: 80 }, (_, budget) =>
      keep(orders, budget, { arguments: new Set(["userid"]) }).join("\n"),
    )
    const text = texts.find((one) => orders.every((_, n) => one.includes(`item_${n}1${n}`)))
    expect(text?.match(/ann_lee_77/g)).toHaveLength(1)
  })

  test("of a log of what happened the entries come last", () => {
    const events = Array.from({ length: 20 }, (_, n) => `(ref EV${n}00${n})`).join(", ")
    const person = line(`customer C-7: recent_events=${events}; address=street_12b; mail=a.lee@example.com`)
    const [text = ""] = keep([person], 18)
    expect(text).toContain("street_12b")
    expect(text).toContain("a.lee@example.com")
    expect(text).not.toContain("EV0")
  })

  test("a list that is not whole says so", () => {
    const list = line("user U1: orders=W11, W22, W33, W44, W55")
    const [text = ""] = keep([list], 10)
    expect(text).toMatch(/^user U1: orders=W11.*, …$/)
    expect(keep([list], 50)).toEqual([list.text])
  })

  test("a list keeps what stands elsewhere too, if there is room; a single value does not", () => {
    const list = line("user U1: orders=W11, W22; mail=a@b.example")
    expect(keep([list], 50, { stands: (value) => value !== "W22" })).toEqual(["user U1: orders=W11, W22"])
  })
})

test("an argument that only ever took sentences takes no id", () => {
  const input = { documents: ["photo of the hose", "estimate of the floor"], claim_id: "CLM-1" }
  const part = { type: "tool-call", callId: callId("c1"), tool: "ask", kind: "function", input } as const
  const call = { id: messageId("m1"), role: "assistant", parts: [part] } as const
  expect([...argumentNames([], [call])]).toEqual(["claimid"])
})

test("names of arguments come from the tools and from the calls there were", () => {
  const call = {
    id: messageId("m1"),
    role: "assistant",
    parts: [
      {
        type: "tool-call",
        callId: callId("c1"),
        tool: "book",
        kind: "function",
        input: { legs: [{ flightNumber: "X1" }] },
      },
    ],
  } as const
  expect([...argumentNames([], [call])]).toEqual(["legs", "flightnumber"])
})

const word = fc.string({ unit: fc.constantFrom(..."abcXYZ019_-"), minLength: 1, maxLength: 8 })
const group = fc
  .tuple(word, fc.array(fc.tuple(word, word), { maxLength: 4 }))
  .map(([head, parts]) => (parts.length === 0 ? head : `${head} (${parts.map((part) => part.join(" ")).join(", ")})`))
const fields = fc.uniqueArray(fc.tuple(word, fc.array(group, { minLength: 1, maxLength: 4 })), {
  minLength: 1,
  maxLength: 4,
  selector: ([key]) => key,
})

test("for any records and budget, what is kept is under its own record and field, in order, and takes no more than there is", () => {
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 5 }), fc.integer({ min: 0, max: 80 }), (all, budget) => {
      const lines = all.map((own, n) =>
        line(`record R${n}: ${own.map(([key, pieces]) => `${key}=${pieces.join(", ")}`).join("; ")}`),
      )
      for (const text of keep(lines, budget)) {
        const kept = readRecord(text)
        const own = all[Number(/^record R(\d)/.exec(text)?.[1])] ?? []
        for (const { key, pieces } of kept?.fields ?? []) {
          const whole = own.find(([name]) => name === key)?.[1] ?? []
          let from = 0
          for (const piece of pieces.filter((one) => one !== "…")) {
            const [head = ""] = piece.split(" (")
            const at = whole.findIndex((one, n) => n >= from && one.split(" (")[0] === head && hasParts(one, piece))
            expect(at).toBeGreaterThanOrEqual(from)
            from = at + 1
          }
          expect(pieces.includes("…")).toBe(pieces.length - (pieces.includes("…") ? 1 : 0) < whole.length)
        }
      }
    }),
  )
})

const partsIn = (piece: string): readonly string[] => / \((.*)\)$/.exec(piece)?.[1]?.split(", ") ?? []
const hasParts = (whole: string, kept: string): boolean => partsIn(kept).every((part) => partsIn(whole).includes(part))

test("for any records and two budgets, what the smaller one keeps the larger one keeps, whatever stands elsewhere", () => {
  fc.assert(
    fc.property(
      fc.array(fields, { maxLength: 5 }),
      fc.integer({ min: 0, max: 80 }),
      fc.integer({ min: 0, max: 40 }),
      fc.array(word, { maxLength: 6 }),
      (all, budget, further, elsewhere) => {
        const lines = all.map((own, n) =>
          line(`record R${n}: ${own.map(([key, pieces]) => `${key}=${pieces.join(", ")}`).join("; ")}`, 3 + n),
        )
        const some = (text: string): readonly string[] => text.split(/[^\p{L}\p{N}_-]+/u).filter((part) => part !== "")
        const larger = keep(lines, budget + further, { stands: (value) => elsewhere.includes(value) }).flatMap(some)
        for (const value of keep(lines, budget).flatMap(some))
          expect([
            ...larger,
            ...elsewhere,
            ...lines.flatMap(({ text }) => /^record R\d/.exec(text)?.[0].split(" ") ?? []),
          ]).toContain(value)
      },
    ),
  )
})

describe("a list whose members have no name of their own", () => {
  const lines = line("order O1: lines=(line 1, coffee Huila, price 31.5), (line 2, coffee Sidama, price 34.25)")

  test("shows no price without what it is of, though that stands elsewhere", () => {
    expect(keep([lines], 60, { stands: (value) => /Huila|Sidama/.test(value) })).toEqual([
      "order O1: lines=(line 1, coffee Huila, price 31.5), (line 2, coffee Sidama, price 34.25)",
    ])
    for (let budget = 1; budget < 40; budget++)
      for (const text of keep([lines], budget, { arguments: new Set(["price"]) }))
        for (const [piece] of text.matchAll(/\([^)]*price[^)]*\)/g)) expect(piece).toContain("coffee")
  })

  test("keeps a figure that stands elsewhere by chance", () => {
    expect(keep([lines], 60, { stands: (value) => value === "34.25" }).join()).toContain("price 34.25")
  })
})
