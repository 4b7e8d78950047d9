import { expect, test } from "vitest"
import { call, message, result, text } from "../../../test/support/transcripts.ts"
import { messageId, type Transcript, tokens } from "../../message/message.ts"
import type { Fact } from "./fact.ts"
import { fitLedger } from "./fit.ts"
import { buildLedger, extendLedger, type Ledger, mergeLedgers } from "./ledger.ts"
import { parseLedger } from "./parse.ts"

const at = { messageId: messageId("digest"), position: 0 }
const count = (written: string) => tokens(Math.ceil(written.length / 4))

const order = (id: string, status: string) =>
  result(id, JSON.stringify({ order_id: "W-1042", status, items: ["SKU-7"] }))
const messages: Transcript = [
  message(
    "m0",
    "user",
    text("My order is W-1042, my e-mail is ana@example.com. The cap is $500, and it is for Ines Moreau"),
  ),
  message("m1", "assistant", call("1")),
  message("m2", "user", order("1", "pending")),
  message("m3", "user", text("The cap is $800")),
  message("m4", "assistant", call("2")),
  message("m5", "user", order("2", "shipped")),
]

const printed = (ledger: Ledger): string => fitLedger(ledger, 1_000, { count }).text
const saidOf = ({ value, label, subject, state, givenByUser }: Fact): string =>
  JSON.stringify([value, label, subject ?? "", state, givenByUser])
const saidIn = (facts: Iterable<Fact>): readonly string[] => [...new Set([...facts].map(saidOf))].sort()

test("what is printed reads as lines of names and values, what the user gave apart", () => {
  expect(printed(buildLedger(messages))).toBe(
    [
      "of W-1042: items SKU-7; status shipped",
      "From the user",
      "cap: $500 (superseded), $800",
      "names: `Ines Moreau`",
      "order_id: W-1042",
      "e-mail: ana@example.com",
    ].join("\n"),
  )
})

test("a printed ledger reads back as it was", () => {
  const fitted = fitLedger(buildLedger(messages), 1_000, { count })
  expect(saidIn(parseLedger(fitted.text, at).facts.values())).toEqual(saidIn(fitted.facts))
})

test("what is said after the digest supersedes what the digest carried, of the same subject and channel", () => {
  const carried = parseLedger(printed(buildLedger(messages)), at)
  const later: Transcript = [
    message("n0", "user", text("The cap is $900")),
    message("n1", "assistant", call("3")),
    message("n2", "user", order("3", "returned")),
  ]
  for (const ledger of [mergeLedgers(carried, buildLedger(later)), extendLedger(carried, later)]) {
    const state = (value: string) =>
      [...ledger.facts.values()].filter((fact) => fact.value === value).map((fact) => fact.state)
    expect(["$500", "$800", "shipped"].map(state)).toEqual(Array(3).fill(["superseded"]))
    expect(["$900", "returned", "W-1042"].map(state)).toEqual(Array(3).fill(["current"]))
  }
})

test("what was superseded is the first to go, and stays superseded until it is said again", () => {
  const carried = parseLedger(printed(buildLedger(messages)), at)
  const whole = fitLedger(carried, 1_000, { count })
  expect(whole.text).toContain("$500 (superseded)")
  const tight = fitLedger(carried, whole.tokens - 8, { count })
  expect(tight.text).not.toContain("superseded")
  expect(tight.text).toContain("$800")
  const again = extendLedger(carried, [message("n0", "user", text("The cap is $500"))])
  const states = [...again.facts.values()]
    .filter(({ label }) => label === "cap")
    .map(({ value, state }) => [value, state])
  expect(states.sort()).toEqual([
    ["$500", "current"],
    ["$800", "superseded"],
  ])
})

test("a ledger carried through ten digests loses nothing", () => {
  let ledger = buildLedger(messages)
  const first = printed(ledger)
  for (let round = 0; round < 10; round++) ledger = parseLedger(printed(ledger), at)
  expect(printed(ledger).split("\n").sort()).toEqual(first.split("\n").sort())
})

test("what a digest carried stands as long as nothing later is said of it", () => {
  const carried = parseLedger(printed(buildLedger(messages)), at)
  const later = buildLedger([message("n0", "user", text("Thanks, and what about order W-2001?"))])
  const before = [...carried.facts].map(([key, { state }]) => [key, state])
  const merged = mergeLedgers(carried, later)
  expect(before.map(([key]) => [key, merged.facts.get(key ?? "")?.state])).toEqual(before)
})
