import { expect, test } from "vitest"
import { isStopWord, stemOf } from "./word-forms.ts"

test.each([
  "refund refunds refunded refunding",
  "cancel cancels cancelled cancellation",
  "ship ships shipped shipping shipment",
  "configure configured configuration",
  "migrate migrated migrating migration migrations",
  "delete deleted deletion",
  "process processes processing",
  "policy policies",
  "lieferung lieferungen liefern",
  "reembolso reembolsos reembolsar",
  "annule annuler annulation",
  "доставка доставки доставку",
])("the forms of a word have one stem: %s", (forms) => {
  expect(new Set(forms.split(" ").map(stemOf)).size).toBe(1)
})

test("words of other meaning keep apart, and ids and short words have no forms", () => {
  const stems = "refund order ticket parser invoice status access process class anna berlin".split(" ").map(stemOf)
  expect(new Set(stems).size).toBe(stems.length)
  expect(["w100", "v2", "a", "it", "京", "xxx1"].map(stemOf)).toEqual(Array(6).fill(undefined))
})

test("words of grammar say nothing in any of the languages", () => {
  expect("what the and wie der und que les dans что это een".split(" ").every(isStopWord)).toBe(true)
  expect("refund order parser rechnung".split(" ").some(isStopWord)).toBe(false)
})
