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

test.each([
  ["a list of fields", "list:\n", "- a: 1\n", ""],
  ["marks of comments", "c: ", ",  # a", "'"],
  ["marks of comments in a value", "c:", " #", "'"],
  ["open braces", "c: ", "{a: ", "}"],
  ["open brackets", "c: ", "[", "]"],
  ["brackets with text between", "c: ", "[x,", "]"],
])("%s, over and over, are read in linear time", (_, before, part, behind) => {
  const costMs = (length: number): number => {
    const text = `ok: true\nb: 1\n${before}${part.repeat(length / part.length)}${behind}`
    const costs = Array.from({ length: 5 }, () => {
      const used = process.threadCpuUsage()
      yamlAsJson(text)
      return process.threadCpuUsage(used).user / 1000
    })
    return Math.min(...costs)
  }
  costMs(2_400)
  // Eight times the text: quadratic work would take sixty-four times as long.
  expect(costMs(19_200)).toBeLessThan(24 * costMs(2_400) + 15)
})

test("brackets within brackets are read to a depth, and what is deeper is text", () => {
  const nested = (depth: number): string => `ok: true\nb: 1\nc: ${"[".repeat(depth)}x${"]".repeat(depth)}`
  expect(JSON.parse(yamlAsJson(nested(5)) ?? "null").c).toEqual([[[[["x"]]]]])
  const [deep] = JSON.parse(yamlAsJson(nested(9_000)) ?? "null").c.flat(Number.POSITIVE_INFINITY)
  expect(deep).toMatch(/^\[+x\]+$/)
})

test("a comment behind a value is left out, and a mark inside quotes is none", () => {
  const text = 'ok: true # yes\nbefore: "a # b" # c\nlist: ["x # y", z] # two\nname: it\'s #1'
  expect(JSON.parse(yamlAsJson(text) ?? "null")).toEqual({
    ok: true,
    before: "a # b",
    list: ["x # y", "z"],
    name: "it's",
  })
})
