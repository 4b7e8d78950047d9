import { expect, test } from "vitest"
import { message, result, text } from "../../../test/support/transcripts.ts"
import { createFocus } from "./fit.ts"
import { buildLedger } from "./ledger.ts"

const rooms = [
  { room_id: "R-101", rate_code: "QX7", name: "Garden View" },
  { room_id: "R-202", rate_code: "ZB4", name: "Harbor View" },
]

test("of the records that a search lists, the one that is spoken of is in focus with all that belongs to it", () => {
  const { facts } = buildLedger([
    message("m0", "user", text("find me a room")),
    message("m1", "user", result("1", JSON.stringify(rooms))),
    message("m2", "assistant", text("I like Harbor View best.")),
  ])
  const all = [...facts.values()]
  const { isInFocus, isPassedOver } = createFocus(all)
  const values = (holds: (fact: (typeof all)[number]) => boolean) =>
    all
      .filter(holds)
      .map(({ value }) => value)
      .sort()
  expect(values(isInFocus)).toEqual(["Harbor View", "R-202", "ZB4"])
  expect(values(isPassedOver)).toEqual(["Garden View", "QX7", "R-101"])
})

test("a value that outputs repeat is not in focus for that", () => {
  const seen = JSON.stringify(rooms)
  const { facts } = buildLedger([
    message("m0", "user", text("find me a room")),
    message("m1", "user", result("1", seen)),
    message("m2", "user", result("2", seen)),
  ])
  const all = [...facts.values()]
  expect(all.filter(createFocus(all).isInFocus)).toEqual([])
})
