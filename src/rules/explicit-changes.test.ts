import { expect, test } from "vitest"
import { statedChange } from "./explicit-changes.ts"
import { kindOfRule } from "./find-rules.ts"
import type { Pin } from "./pin.ts"
import { pinLedger } from "./pin-ledger.ts"
import { readReplacements } from "./read-replacements.ts"

const pinOf = (text: string, id = text): Pin => ({
  id,
  text,
  hash: "",
  channel: "user",
  by: "found",
  kind: kindOfRule(text),
  scope: "session",
})

const spend = "Never spend more than 500 EUR per order."
const report = "Always send the weekly report to Anna."

test.each([
  [spend, "The cap is 800 EUR now."],
  [spend, "The limit was raised to €800."],
  [spend, "From now on the budget is 350 euros."],
  [spend, "The budget went up to 900 EUR."],
  [spend, "The order limit has been lowered to 300 EUR."],
  ["Never spend more than $200 per order.", "The limit changed to $150."],
  ["Anything over 1,000 euros needs my approval.", "Raise my approval limit to 2,500."],
  ["Never write more than 200 words.", "The maximum is 300 words now."],
  ["Gib nie mehr als 500 Euro pro Bestellung aus.", "Das Limit liegt jetzt bei 800 Euro."],
  ["Ne dépense jamais plus de 500 euros par commande.", "Le plafond est de 800 euros maintenant."],
  ["Nunca gastes más de 500 euros por pedido.", "El tope es ahora de 800 euros."],
  [report, "Anna left, send it to Tom."],
  [report, "Anna no longer works here. Send it to Tom."],
  [report, "Anna is on leave, Tom gets the report instead."],
  [report, "Anna was replaced by Tom."],
  [report, "Anna has left the company. Tom takes over."],
  ["Get approval from Maria before a release.", "Maria left, ask Jörg Meyer instead."],
  ["Always ship with DHL.", "DHL is gone, use UPS."],
  ["Schicke den Bericht immer an Anna.", "Anna ist weg, schick ihn an Tom."],
  ["Envía siempre el informe a Anna.", "Anna ya no trabaja aquí, envíalo a Tom."],
])("%j is replaced by %j", (rule, said) => {
  expect(statedChange(rule, said)).toBe("explicit")
  expect(readReplacements(said, [pinOf(rule)])).toMatchObject([{ text: said }])
})

test.each([
  [spend, "I think the cap is 800 EUR now."],
  [spend, "My boss said the cap is 800 EUR now."],
  [spend, "Is the cap 800 EUR now?"],
  [spend, "The minimum is 800 EUR now."],
  [spend, "The cap is 800 USD now."],
  [spend, "The cap is 800 words now."],
  [spend, "The cap is 25 MB now."],
  [spend, "The cap for hotels is 800 EUR now."],
  [spend, "The cap is 800 EUR just for today."],
  [spend, '"The cap is 800 EUR now."'],
  [spend, "This order costs 800 EUR now."],
  [spend, "Orders cost more than 800 EUR now."],
  [spend, "Maybe the cap should be 800 EUR from now on."],
  [spend, "Change the limit to 25 MB."],
  [spend, "Budget 900 EUR."],
  [spend, "Set max to 800 instead."],
  [spend, "The cap is still 500 EUR."],
  [report, "Anna left."],
  [report, "Anna left her keys, send them to Tom."],
  [report, "Anna left the room, give the file to Tom."],
  [report, "Anna left a comment, send it to Tom."],
  [report, "If Anna left, would you send it to Tom?"],
  [report, "Anna left. I talked to Tom."],
  [report, "Anna left, so the room is empty. Tom gets the desk."],
  [report, "Anna quit smoking, tell Tom."],
  [report, "Anna left, send the flowers to Tom."],
  [report, "Anna is on leave this week, send it to Tom."],
  [report, "Bob said Anna left, send it to Tom."],
  [report, "Bob left, send it to Anna."],
  [report, "Bob left, send it to Tom."],
])("%j is left by %j", (rule, said) => {
  expect(readReplacements(said, [pinOf(rule)])).toEqual([])
})

const names = ["Anna", "Odile", "Bram", "Yusuf"]
const amounts = ["40", "300", "1,200"]
const units = ["EUR", "dollars", "words", "%"]

test("a bound moves within its own unit only, whatever the numbers are", () => {
  for (const before of amounts)
    for (const after of amounts)
      for (const unit of units)
        for (const other of units) {
          const changed = statedChange(`Never use more than ${before} ${unit}.`, `The limit is ${after} ${other} now.`)
          expect(changed === "explicit", `${before} ${unit} ${after} ${other}`).toBe(before !== after && unit === other)
        }
})

test("somebody is replaced only in a rule that has the name, by somebody else", () => {
  for (const named of names)
    for (const gone of names)
      for (const next of names) {
        const changed = statedChange(`Always send the report to ${named}.`, `${gone} left, send it to ${next}.`)
        expect(changed === "explicit", `${named} ${gone} ${next}`).toBe(named === gone && gone !== next)
      }
})

test("where two rules could be meant, neither is ended", () => {
  const flights = "Never spend more than 900 EUR per flight."
  expect(readReplacements("The cap is 700 EUR now.", [pinOf(spend), pinOf(flights)])).toEqual([])
  const invoices = "Always copy Anna on invoices."
  expect(readReplacements("Anna left, send it to Tom.", [pinOf(report), pinOf(invoices)])).toEqual([])
})

test("another bound without a word that it is so now stays beside the rule, and the conflict is marked", () => {
  for (const said of ["The cap is 800 EUR.", "Keep orders below 800 EUR."]) {
    expect(readReplacements(said, [pinOf(spend)])).toEqual([])
    expect(pinLedger([pinOf(spend, "a"), pinOf(said, "b")])).toMatchObject([
      { state: "in-force", conflicts: ["b"] },
      { state: "in-force", conflicts: ["a"] },
    ])
  }
})
