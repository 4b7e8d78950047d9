import { expect, test } from "vitest"
import { call, message, result, text } from "../../../test/support/transcripts.ts"
import { callId, type Part, type Transcript } from "../../message/message.ts"
import { type Fact, maxFacts } from "./fact.ts"
import { buildLedger, extendLedger, mergeLedgers } from "./ledger.ts"

const run = (id: string, command: string): Part => ({
  type: "tool-call",
  callId: callId(id),
  tool: "shell",
  kind: "function",
  input: { command },
})

const talk = (...turns: readonly Part[]): Transcript =>
  turns.map((part, n) => message(`m${n}`, part.type === "tool-call" ? "assistant" : "user", part))

const factsOf = (messages: Transcript, value: string): readonly Fact[] =>
  [...buildLedger(messages).facts.values()].filter((fact) => fact.value === value)

test("a fact knows where it came from, who gave it and how it was used", () => {
  const [fact] = factsOf(
    talk(text("my order is W-1042"), call("W-1042"), result("W-1042", '{"order_id": "W-1042", "status": "pending"}')),
    "W-1042",
  )
  expect(fact).toEqual({
    kind: "id",
    value: "W-1042",
    label: "path",
    labelFrom: "key",
    source: { messageId: "m0" },
    channel: "user",
    first: 0,
    last: 2,
    uses: 3,
    usedInCalls: 1,
    givenByUser: true,
    said: true,
    state: "current",
  })
})

const status = (id: string, order: string, value: string): Part =>
  result(id, JSON.stringify({ order_id: order, status: value, total: "$40" }))

test("a later value of the same attribute supersedes the earlier; both stay, and other subjects keep theirs", () => {
  const messages = talk(
    call("1"),
    status("1", "W-1", "pending"),
    call("2"),
    status("2", "W-2", "pending"),
    call("3"),
    status("3", "W-1", "shipped"),
  )
  const said = (value: string) => factsOf(messages, value).map(({ subject, state }) => [subject, state])
  expect(said("pending")).toEqual([
    ["W-1", "superseded"],
    ["W-2", "current"],
  ])
  expect(said("shipped")).toEqual([["W-1", "current"]])
})

test("what the user says anew supersedes what they said; near-duplicates stay apart; what a tool says changes nothing", () => {
  const messages = talk(
    text("The cap is $500"),
    text("The cap is $800"),
    text("The daily cap is $900"),
    call("1"),
    result("1", "The cap is $999"),
  )
  const state = (value: string) => factsOf(messages, value).map((fact) => fact.state)
  expect(state("$500")).toEqual(["superseded"])
  expect([state("$800"), state("$900"), state("$999")]).toEqual([["current"], ["current"], ["current"]])
})

test("names never supersede one another: a second order is a second order", () => {
  const messages = talk(text("my order is W-1042"), text("my order is W-1043"))
  expect(["W-1042", "W-1043"].flatMap((value) => factsOf(messages, value)).map(({ state }) => state)).toEqual([
    "current",
    "current",
  ])
})

test("a command carries its outcome", () => {
  const ok = "2 passed"
  const bad = "Traceback (most recent call last):\n  boom"
  const rounds = (...outputs: readonly string[]): Transcript =>
    talk(...outputs.flatMap((output, n) => [run(`c${n}`, "pytest -q"), result(`c${n}`, output)]))
  const state = (messages: Transcript) => factsOf(messages, "pytest -q")[0]?.state
  expect(state(rounds(ok))).toBe("current")
  expect(state(rounds(bad))).toBe("failed")
  expect(state(rounds(bad, ok))).toBe("resolved")
  expect(state(rounds(ok, "exit code: 2"))).toBe("failed")
})

test("standing instructions and reasoning are no facts", () => {
  const messages = [
    message("m0", "system", text("Use queue Q-77")),
    message("m1", "assistant", { type: "reasoning", text: "maybe Q-78" }),
  ]
  expect(buildLedger(messages).facts.size).toBe(0)
})

test("a flood of output pushes out neither what the user gave nor what calls used", () => {
  const flood = (n: number): Part => result(`f${n}`, Array.from({ length: 2_000 }, (_, at) => `ID${n}X${at}`).join(" "))
  const floods = Array.from({ length: 12 }, (_, n) => [call(`f${n}`), flood(n)]).flat()
  const ledger = buildLedger(talk(text("my order is W-1042"), call("src/kept.py"), result("src/kept.py"), ...floods))
  expect(ledger.facts.size).toBeLessThanOrEqual(maxFacts)
  expect([ledger.facts.has("W-1042"), ledger.facts.has("src/kept.py")]).toEqual([true, true])
})

test("a full ledger read on is the ledger of the whole", () => {
  const messages = talk(
    ...Array.from({ length: 8 }, (_, n) => [
      call(`c${n}`),
      result(`c${n}`, Array.from({ length: 900 }, (_, at) => `A${n}B${at}`).join(" ")),
    ]).flat(),
  )
  const stepwise = messages.reduce((ledger, one) => extendLedger(ledger, [one]), buildLedger([]))
  expect([...stepwise.facts.keys()].sort()).toEqual([...buildLedger(messages).facts.keys()].sort())
})

test("merging marks what the newer ledger supersedes", () => {
  const messages = talk(text("The cap is $500"), text("The cap is $800"))
  const whole = buildLedger(messages)
  const newest = new Map([...whole.facts].filter(([, { value }]) => value === "$800"))
  const merged = mergeLedgers(buildLedger(messages.slice(0, 1)), { ...whole, facts: newest })
  expect(merged).toEqual(whole)
})
