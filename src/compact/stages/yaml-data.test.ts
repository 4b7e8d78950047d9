import { expect, test } from "vitest"
import { parse } from "yaml"
import { fc } from "../../../test/support/property.ts"
import { yamlAsJson } from "./yaml-data.ts"

const answer = `ok: true
booking:
  id: A-8911
  guest: "LARSEN, M."
  before: {day: 2030-05-14, hour: "10:40", room: 1}
  now: {day: 2030-05-15, hour: "11:30", room: 1}
  state: confirmed
  notes:
    - "call three days before"
    - {by: web, act: create}
    - by: desk
      act: move
  remark: |
    two lines
    of words
tags:   # of the day
  - red
  - blue
none:`

test("an answer in YAML says the same as JSON", () => {
  expect(JSON.parse(yamlAsJson(answer) ?? "null")).toEqual({
    ok: true,
    booking: {
      id: "A-8911",
      guest: "LARSEN, M.",
      before: { day: "2030-05-14", hour: "10:40", room: 1 },
      now: { day: "2030-05-15", hour: "11:30", room: 1 },
      state: "confirmed",
      notes: ["call three days before", { by: "web", act: "create" }, { by: "desk", act: "move" }],
      remark: "two lines\nof words",
    },
    tags: ["red", "blue"],
    none: null,
  })
})

test.each([
  ["prose", "Note: the pump is off.\nIt was switched off at noon.\nPlease look."],
  ["a log", "boot: 1\n2030-01-01 INFO started\nready: yes"],
  ["a few words", "status: ok"],
  ["a print-out without fields inside fields", "real: 0m1.2s\nuser: 0m0.4s\nsys: 0m0.1s"],
  ["tabs", "ok: true\nboat:\n\tid: 4\n\tname: x"],
  ["JSON", '{"ok": true, "id": 4}'],
])("%s is no answer in YAML", (_, text) => {
  expect(yamlAsJson(text)).toBeUndefined()
})

test("whatever is read is what a reader of all YAML reads", () => {
  const word = fc.stringMatching(/^[a-z][a-z ]{0,8}[a-z]$/)
  const scalar = fc.oneof(word, fc.integer({ min: -999, max: 999 }), fc.boolean())
  const fields = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), scalar, { minKeys: 2, maxKeys: 4 })
  const tree = fc.record({
    ok: fc.boolean(),
    id: word,
    inner: fields,
    list: fc.array(scalar, { minLength: 1, maxLength: 4 }),
  })
  fc.assert(
    fc.property(tree, ({ ok, id, inner, list }) => {
      const text = [
        `ok: ${ok}`,
        `id: ${id}`,
        "inner:",
        ...Object.entries(inner).map(([key, value]) => `  ${key}: ${value}`),
        "list:",
        ...list.map((value) => `  - ${value}`),
      ].join("\n")
      expect(JSON.parse(yamlAsJson(text) ?? "null")).toEqual(parse(text))
    }),
  )
})

test("any text is read without a crash", () => {
  const line = fc.oneof(
    fc.constantFrom("ok: true", "a:", "  b: 1", "- x", "  - y: 2", "    z: {", "c: [1, {d: 2}", ""),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const read = yamlAsJson(lines.join("\n"))
      if (read !== undefined) expect(() => JSON.parse(read)).not.toThrow()
    }),
  )
})
