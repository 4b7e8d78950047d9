import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { readToolInput } from "./run-calls.ts"

const schema = {
  type: "object",
  properties: {
    path: { type: "string" },
    lines: { type: ["integer", "null"] },
    deep: { type: "object" },
    any: {},
    odd: { type: "uuid" },
  },
  required: ["path"],
}

test.each<[input: unknown, fault: string | undefined]>([
  [{ path: "a" }, undefined],
  [{ path: "a", lines: 3, deep: {}, any: [1], odd: "x", more: true }, undefined],
  [{ path: "a", lines: null }, undefined],
  [{ path: "a", lines: 1.5 }, '"lines" is not of type integer or null'],
  [{ path: 1, deep: [] }, '"path" is not of type string; "deep" is not of type object'],
  [{}, '"path" is missing'],
  [undefined, '"path" is missing'],
  ["", '"path" is missing'],
  ['{"path": "a', "not valid JSON"],
  [["a"], "not a JSON object"],
  [7, "not a JSON object"],
])("%j: %s", (input, fault) => {
  const read = readToolInput(input, schema)
  expect(read.ok).toBe(fault === undefined)
  if (!read.ok) expect(read.reason).toContain(fault)
})

test("a tool that asks for nothing takes nothing", () => {
  expect(readToolInput(undefined, {})).toEqual({ ok: true, input: {} })
  expect(readToolInput({ __proto__: null, toString: 1 }, { properties: {}, required: ["constructor"] }).ok).toBe(false)
})

test("for any input and any schema there is an answer, short enough to be read", () => {
  const property = fc.property(fc.anything(), fc.dictionary(fc.string(), fc.anything()), (input, any) => {
    const read = readToolInput(input, any)
    if (!read.ok) expect(read.reason.length).toBeLessThan(3_000)
  })
  fc.assert(property)
})
