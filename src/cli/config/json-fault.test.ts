import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { jsonFault } from "./check-config.ts"

test("a text that is JSON has no fault before its end", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(jsonFault(text)).toBe(text.length)
    }),
  )
})

test("a sign that stands nowhere in JSON is found where it stands", () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.array(fc.boolean()), (numbers, flags) => {
      const before = `[${[...numbers, "1"].join(", ")}`
      expect(jsonFault(`${before} ; ${flags.join(",")}]`)).toBe(before.length + 1)
    }),
  )
})

test("any text has an end, and the fault is in it", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", "1", "e", "-", "t", " ", "\n", "\ud800"),
      }),
      (text) => {
        const at = jsonFault(text)
        expect(at >= 0 && at <= text.length).toBe(true)
      },
    ),
  )
})
