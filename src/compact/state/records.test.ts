import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { joinRecords, readRecord, recordsIn, recordText } from "./records.ts"

const linesOf = (tool: string, input: unknown, answer: unknown): readonly string[] =>
  recordsIn(
    { tool, input, text: `${tool}(…)` },
    typeof answer === "string" ? answer : JSON.stringify(answer),
    false,
  ).map(recordText)

describe("a record is named", () => {
  const cases: readonly (readonly [
    why: string,
    tool: string,
    input: unknown,
    answer: unknown,
    lines: readonly string[],
  ])[] = [
    [
      "by its own id",
      "get_order_details",
      { order_id: "W12" },
      { order_id: "W12", user_id: "mia_3", status: "pending" },
      ["order W12: user_id=mia_3; status=pending"],
    ],
    [
      "by what was asked for, where it has no id",
      "get_user_details",
      { user_id: "mia_3" },
      { name: { first: "Mia", last: "Li" }, dob: "1990-04-05" },
      ["user mia_3: name=(first Mia, last Li); dob=1990-04-05"],
    ],
    [
      "each of a list in a list by its own",
      "search_connections",
      {},
      [
        [
          { leg_id: "L1", price: 40 },
          { leg_id: "L2", price: 50 },
        ],
        [{ leg_id: "L3", price: 60 }],
      ],
      ["leg L1: price=40", "leg L2: price=50", "leg L3: price=60"],
    ],
    [
      "and people in it by both of their names",
      "get_trip",
      { trip_id: "T1" },
      { trip_id: "T1", travellers: [{ first_name: "Mia", last_name: "Li", born: "1990-04-05" }] },
      ["trip T1: travellers=Mia Li (born 1990-04-05)"],
    ],
    [
      "each of a list by its own",
      "list_services",
      {},
      {
        services: [
          { id: "api-1", state: "up" },
          { id: "api-2", state: "down" },
        ],
      },
      ["service api-1: state=up", "service api-2: state=down"],
    ],
    [
      "each of a search by its own, whatever is said of the search beside it",
      "search_rooms",
      { city: "Porto", from: "P-7" },
      { options: [{ room_code: "DV2", price: 80 }], currency: "EUR" },
      ["room DV2: price=80"],
    ],
    [
      "each of a search by its own, and by the day that was asked for",
      "search_flights",
      { date: "2024-05-20" },
      [{ flight_number: "HAT1", price: 12 }],
      ["flight HAT1 on 2024-05-20: price=12"],
    ],
    [
      "in a table by its first name",
      "query",
      {},
      "id | status\n---|---\nA7 | open\nA8 | shut",
      ["A7: status=open", "A8: status=shut"],
    ],
  ]
  test.each(cases)("%s", (_why, tool, input, answer, lines) => {
    expect(linesOf(tool, input, answer)).toEqual(lines)
  })
})

test("what is set in below a record stays with its owner", () => {
  const answer = {
    order_id: "W1",
    items: [
      { item_id: "I1", options: { color: "red", size: "M" } },
      { item_id: "I2", options: { color: "blue", size: "L" } },
    ],
  }
  expect(linesOf("get_order", { order_id: "W1" }, answer)).toEqual([
    "order W1: items=I1 (options (color red, size M)), I2 (options (color blue, size L))",
  ])
})

test("what says how the answer came about is no fact", () => {
  expect(
    linesOf(
      "get_order",
      { order_id: "W1" },
      { id: "W1", took: "104ms", request_id: "r1", usage: { total_tokens: 3 }, status: "open" },
    ),
  ).toEqual(["order W1: status=open"])
})

test("a field that was read again takes the place of the old one", () => {
  const [before, after] = [readRecord("order W1: status=open; total=12"), readRecord("order W1: status=shut")]
  expect(before && after && recordText(joinRecords(before, after))).toBe("order W1: status=shut; total=12")
})

const word = fc.string({ unit: fc.constantFrom(..."abcXYZ019_-@. ;,=:()`"), minLength: 1, maxLength: 12 })
const flat = fc.dictionary(fc.string({ unit: fc.constantFrom(..."abc_"), minLength: 1, maxLength: 6 }), word, {
  minKeys: 1,
  maxKeys: 5,
})

test("for any records, no value stands under another record than its own, and what is printed reads back as it is", () => {
  fc.assert(
    fc.property(fc.uniqueArray(flat, { minLength: 1, maxLength: 6 }), (items) => {
      const named = items.map((item, n) => ({ id: `R-${n}77`, ...item, mark: `value${n}of` }))
      for (const record of recordsIn({ tool: "search", input: {}, text: "search()" }, JSON.stringify(named), false)) {
        const n = Number(/^R-(\d+)77$/.exec(record.name.split(" ").at(-1) ?? "")?.[1] ?? -1)
        const text = recordText(record)
        for (const [other] of items.entries()) if (other !== n) expect(text).not.toContain(`value${other}of`)
        const back = readRecord(text)
        expect(back === undefined ? "" : recordText(back)).toBe(text)
      }
    }),
  )
})

test("rows of a listing are no fields of a record", () => {
  const rows = Array.from({ length: 8 }, (_, n) => `disk ${n}: ${n} entries`)
  const answer = { service_id: "orders-1", ...Object.fromEntries(rows.map((row) => row.split(": "))), state: "up" }
  expect(linesOf("get_service", { service_id: "orders-1" }, answer)).toEqual(["service orders-1: state=up"])
  const two = { service_id: "orders-1", "disk 0": "4 TB", "disk 1": "8 TB" }
  expect(linesOf("get_service", { service_id: "orders-1" }, two)).toEqual([
    "service orders-1: disk 0=4 TB; disk 1=8 TB",
  ])
})

test("what a service says of itself and of its encoding is no value of a record", () => {
  const answer = JSON.stringify({ path: "a.yaml", sha: "ab12", encoding: "utf-8", bot_id: "B05", size: 1204 })
  const [record] = recordsIn({ tool: "get_file", input: { path: "a.yaml" }, text: "a.yaml" }, answer, false)
  expect(record?.fields.map(({ key }) => key)).not.toContain("encoding")
  expect(record?.fields.map(({ key }) => key)).not.toContain("bot_id")
  expect(record?.fields.map(({ key }) => key)).toContain("size")
})

test("a member of a list goes by the id of its own kind", () => {
  const items = [{ name: "Boots", product_id: "7363354090", item_id: "8277474082", price: 236 }]
  const answer = JSON.stringify({ order_id: "#W1", items })
  const [record] = recordsIn({ tool: "get_order", input: { order_id: "#W1" }, text: "order #W1" }, answer, false)
  expect(record === undefined ? "" : recordText(record)).toContain("items=8277474082 (")
})

test("lines that a program logs are no records, and a list of things with their times is", () => {
  const rows = [
    { ts: "2026-10-15T08:02:41Z", task: "reindex", id: "cf02347c", rows: 500 },
    { ts: "2026-10-15T08:02:58Z", task: "reindex", id: "1f59ff47", rows: 498 },
  ]
  const log = rows.map((row) => JSON.stringify(row)).join("\n")
  expect(linesOf("bash", { command: "docker logs worker" }, log)).toEqual([])
  expect(linesOf("list_runs", {}, rows)).toHaveLength(2)
})

test("an answer that only says that there is nothing is no record", () => {
  expect(linesOf("curl", { url: "http://a/b" }, { message: "Not found", traceID: "" })).toEqual([])
  expect(linesOf("get_user", { user_id: "mia_3" }, { message: "Mia is on leave", plan: "gold" })).not.toEqual([])
})

test("the ends of a time range and other limits of a search name no record", () => {
  for (const input of [{ earliest: "-30d", latest: "now" }, { since: "now-15m" }, { max_results: "n38" }]) {
    const question = { tool: "search_logs", input, text: "search_logs(…)" }
    const [record] = recordsIn(question, '{"rows_read": 4, "bytes": 1882340}', false)
    expect(record?.name).toBe("search_logs(…)")
  }
})

test("a record that is named by its call does not repeat the call's arguments", () => {
  const question = {
    tool: "get_build",
    input: { job: "fonts-sync", build: 1044 },
    text: "get_build(job=fonts-sync, …)",
  }
  const [record] = recordsIn(question, '{"build": 1044, "result": "FAILURE", "duration": 52114}', false)
  expect(record?.fields.map(({ key }) => key)).toContain("result")
  expect(record?.fields.map(({ key }) => key)).not.toContain("build")
})

test.each([
  [{ page_id: "pg-71a" }, "page pg-71a"],
  [{ pageId: "pg-71a" }, "page pg-71a"],
  [{ counter: "c-12" }, "counter c-12"],
])("what was asked for by a name is named by it: %j", (input, name) => {
  const [record] = recordsIn({ tool: "get_thing", input, text: "get_thing(…)" }, '{"views": 12, "open": true}', false)
  expect(record?.name).toBe(name)
})
