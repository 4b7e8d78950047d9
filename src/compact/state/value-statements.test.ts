import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { type Message, messageId, type Transcript } from "../../message/message.ts"
import { createMeter } from "../../tokens/meter.ts"
import { composeDigest } from "../compose-digest.ts"
import { readConversation } from "../knowledge.ts"
import {
  correctedIn,
  excerptOf,
  markReplaced,
  markSlip,
  printedIn,
  printedInFile,
  readValueStatement,
  replaces,
  statementLine,
  tellsExcerpt,
  toldIn,
  valueStatementsIn,
} from "./value-statements.ts"

const only = (text: string) => {
  const [first] = valueStatementsIn(text)
  if (first === undefined) throw new Error(`no statement in: ${text}`)
  return first
}

test.each([
  ["The preview server listens on port 7078.", ["7078"]],
  ["Questions go to mira.204@ferngate.example.", ["mira.204@ferngate.example"]],
  ["The settings live in services/billing/anouk-669.toml.", ["services/billing/anouk-669.toml"]],
  ["We agreed on 2027-06-19 for the handover.", ["2027-06-19"]],
  ["The quote came to $89,948.69.", ["$89,948.69"]],
  ["The login page broke with commit 405acf9e4ff0.", ["405acf9e4ff0"]],
  ["Make the request timeout 9276 ms after all.", ["9276 ms"]],
  ["The binding energy is −14.12 ± 0.19 kcal/mol.", ["14.12 ± 0.19"]],
  ["支付网关的端口是 8443。", ["8443"]],
])("the exact values of a sentence: %s", (text, values) => {
  expect(only(text).values.map(({ value }) => value)).toEqual(values)
})

test.each([
  "Can you look at order 48213 for me?",
  "I read it in 2024 and it was the 3rd time.",
  "Use UTF-8 and/or plain text.",
  "Thank you very much.",
  "Tokens: 13,013 sent, 718 received.",
  "Cost: $0.05 message, $0.20 session.",
])("nothing is stated by: %s", (text) => expect(valueStatementsIn(text)).toEqual([]))

test.each([
  ["The budget cap for this project is $220.", "The budget cap for this project is now $577."],
  ["The preview server listens on port 7078.", "I moved the preview server to port 6400."],
  ["The reviewer is lund17.", "The reviewer is mira59 instead, the other one is on leave."],
  ["Deploy to cluster-eu-1.", "Deploy to cluster-eu-2."],
])("a later sentence takes an earlier one's place: %s %s", (earlier, later) => {
  expect(replaces(only(later), only(earlier))).toBe(true)
})

test.each([
  ["The ticket for the login page is NSH-596036.", "The ticket for the search ranker is now NBZ-248076."],
  ["The audit of the login page is on 2027-02-22.", "The audit of the mail queue is on 2027-04-28."],
  ["The budget cap for this project is $220.", "The budget cap for this project ends on 2027-04-28 now."],
])("and leaves what is about something else: %s %s", (earlier, later) => {
  expect(replaces(only(later), only(earlier))).toBe(false)
})

test("what is said now of another thing at the same place replaces no name", () => {
  const [earlier] = valueStatementsIn("now backfill 0417 on staging, 12th to 24th")
  const [later] = valueStatementsIn("0042 is on staging now.")
  expect(earlier !== undefined && later !== undefined && replaces(later, earlier)).toBe(false)
})

test("a replaced value is marked where it stands, once, and the rest of the words stays", () => {
  const text = "Thanks! The preview server listens on port 7078. Go on."
  const later = valueStatementsIn("I moved the preview server to port 6400.")
  const marked = markReplaced(text, later)
  expect(marked).toBe("Thanks! The preview server listens on port 7078 (superseded). Go on.")
  expect(markReplaced(marked, later)).toBe(marked)
  expect(excerptOf(marked, () => false)).toBeUndefined()
})

test("a line in words amid code or a log is quoted; a text for people is not", () => {
  const log = Array.from({ length: 20 }, (_, n) => `2026-11-28T17:25:3${n % 10} INFO [a] id=1d13b8a3 ms=${n}`)
  const output = [...log, "backup job ticket_id: ORM-789931", ...log].join("\n")
  expect(printedIn(output).map(({ text }) => text)).toEqual(["backup job ticket_id: ORM-789931"])
  expect(printedInFile(output)).toHaveLength(1)
  const wrapped = [
    ...log,
    "The line below runs only the tests of rule L012, which is quicker while",
    "you work.",
    ...log,
  ]
  expect(printedIn(wrapped.join("\n"))).toEqual([])
  expect(printedIn([...log, "solar_constant : float, default 1366.1", ...log].join("\n"))).toEqual([])
  const page = Array.from({ length: 5 }, (_, n) => `This chapter is about the tool and how people use it, part ${n}.`)
  expect(printedInFile([...page, "The newest release of it is pi-2.14.1 for now."].join("\n"))).toEqual([])
})

test("the assistant's list items state nothing by themselves", () => {
  expect(toldIn("- `~/.tool/skills/SKILL-2.md` (user skills, recursive)\n- port 8080")).toEqual([])
  expect(toldIn("I filed the mail queue as MLS-320937, for later.")).toHaveLength(1)
})

test("a printed statement reads back", () => {
  const line = statementLine("assistant", 'The "mail" queue is MLS-320937.')
  expect(readValueStatement(line)).toMatchObject({ speaker: "assistant", text: 'The "mail" queue is MLS-320937.' })
  expect(readValueStatement("order W1: status=open")).toBeUndefined()
})

const meter = createMeter()
const names = ["invoice importer", "login page", "search ranker", "backup job", "mail queue", "quota service"]
const filler = "and then they went on with what had been said about it all along by the others there "

const said = (text: string, at: number, round: number): Message => ({
  id: messageId(`m${round}-${at}`),
  role: "user",
  parts: [{ type: "text", text }],
})

/** One compaction in which every message goes: what it leaves is a digest. */
function compactAll(messages: Transcript, budgetTokens: number, round: number): Message {
  const knowledge = readConversation(messages, { schema: "handoff" })
  const composed = composeDigest(knowledge, {
    budgetTokens,
    covered: messages.length,
    shown: new Set(),
    stands: () => false,
    meter,
    arguments: new Set(),
  })
  if (composed === undefined) throw new Error("no digest")
  return { id: messageId(`digest${round}`), role: "user", parts: [{ type: "text", text: composed.text }] }
}

const textOfDigest = ({ parts }: Message): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("")

test("what the user stated is kept by every later compaction, and what he changed never stands unmarked", () => {
  const change = fc.record({ name: fc.nat({ max: names.length - 1 }), value: fc.integer({ min: 1000, max: 9999 }) })
  fc.assert(
    fc.property(fc.array(change, { minLength: 3, maxLength: 10 }), (changes) => {
      const current = new Map<number, number>()
      const stale = new Set<string>()
      let context: Transcript = []
      for (const [round, { name, value }] of changes.entries()) {
        const before = current.get(name)
        const sentence =
          before === undefined
            ? `The ${names[name]} listens on port ${value}1.`
            : `The ${names[name]} listens on port ${value}1 now.`
        if (before !== undefined && before !== value) stale.add(`${before}1`)
        current.set(name, value)
        stale.delete(`${value}1`)
        const messages = [
          said(`${filler.repeat(6)}. ${sentence} ${filler.repeat(6)}.`, 0, round),
          said(filler.repeat(20), 1, round),
        ]
        const digest = compactAll([...context, ...messages], 900, round)
        context = [digest]
        const text = textOfDigest(digest)
        for (const port of current.values()) expect(text).toContain(`${port}1`)
        const currentPorts = new Set([...current.values()].map((port) => `${port}1`))
        for (const port of stale)
          if (!currentPorts.has(port)) expect(text.replaceAll(`${port} (superseded)`, "")).not.toContain(`port ${port}`)
      }
    }),
    { numRuns: 40 },
  )
})

test.each([
  ["I need to cancel reservations XEHM4B and 59XX6W.", "Cancel 59XX6W now, please."],
  ["Upgrade XEHM4B to economy, then cancel it.", "Cancel 59XX6W now, please."],
  ["Please cancel W-1000 for customer 12.", "Please cancel W-1001 for customer 12."],
  ["Reports for A100 and B200 go out on Monday.", "The report for A100 now goes out on Tuesday."],
])("a name that is not said again still holds: %s", (earlier, later) => {
  expect(markReplaced(earlier, valueStatementsIn(later))).toBe(earlier)
})

test("a word with the number of the next list item behind it is no name", () => {
  expect(valueStatementsIn("Added a proper intro explaining what custom tools are2.")).toEqual([])
})

test("an excerpt is told by a text that has each of its sentences", () => {
  const message = "The server runs on db-14.\nIt is slow.\nThe port is 7078."
  const excerpt = excerptOf(message, () => false) ?? ""
  expect(tellsExcerpt(message, excerpt)).toBe(true)
  expect(tellsExcerpt(message.slice(0, 30), excerpt)).toBe(false)
})

test.each([
  ["Yes, please cancel the berth with booking QX7731.", "Yes, please cancel the berth with booking RW8842."],
  ["Could you cancel booking QX7731?", "Could you cancel booking RW8842?"],
])("the same request about another thing replaces nothing: %s", (first, then) => {
  const [earlier] = valueStatementsIn(first)
  const [later] = valueStatementsIn(then)
  expect(earlier !== undefined && later !== undefined && replaces(later, earlier)).toBe(false)
})

test.each([
  ["typo, SLU-398 not 389. otherwise fine", ["389"]],
  ["it's port 8443, not 8080", ["8080"]],
  ["under 1.14.1 (not 1.15, it's a patch)", ["1.15"]],
  ["Port 8443 statt 8080 bitte", ["8080"]],
  ["pas 4512, mais 4521", ["4512"]],
  ["I have 3 of them, not many", []],
  ["not before 9", []],
])("a slip is named by who corrects it: %s", (text, wrong) => expect(correctedIn(text)).toEqual(wrong))

test("a slip is marked where it stands, also behind its prefix, and nothing that only looks like it", () => {
  expect(markSlip("SLU-412 for modbus, SLU-389 for the rest", "389")).toBe(
    "SLU-412 for modbus, SLU-389 (superseded) for the rest",
  )
  expect(markSlip("port 80, 8080 and 80.5", "80")).toBe("port 80 (superseded), 8080 and 80.5")
})

test("from when to when is not moved by one time of day", () => {
  const range = "Odd runs the ETL on db01 from 12:00 to 13:00."
  expect(markReplaced(range, valueStatementsIn("Now it is 13:04, the ETL of Odd on db01 is over."))).toBe(range)
})

test("what the user was asked is no excerpt of the answer", () => {
  const asked = "b. (asked: That is a change on web-01 (files in /srv/staging and one command).)"
  expect(excerptOf(asked, () => false)).toBeUndefined()
})
