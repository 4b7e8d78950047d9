import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { parseTraceparent } from "./open-telemetry.ts"

const traceId = "0af7651916cd43dd8448eb211c80319c"
const spanId = "b7ad6b7169203331"
const kept = { traceId, spanId, traceFlags: 1 }

test.each([
  ["one of today", `00-${traceId}-${spanId}-01`, kept],
  ["one with blanks around it", ` 00-${traceId}-${spanId}-01 `, kept],
  ["one that the client does not keep", `00-${traceId}-${spanId}-00`, { ...kept, traceFlags: 0 }],
  ["flags that nobody knows", `00-${traceId}-${spanId}-ff`, kept],
  ["a later version with more in it", `01-${traceId}-${spanId}-01-more`, kept],
  ["today's version with more in it", `00-${traceId}-${spanId}-01-more`, undefined],
  ["a version that there cannot be", `ff-${traceId}-${spanId}-01`, undefined],
  ["nobody's trace", `00-${"0".repeat(32)}-${spanId}-01`, undefined],
  ["nobody's span", `00-${traceId}-${"0".repeat(16)}-01`, undefined],
  ["capital letters", `00-${traceId.toUpperCase()}-${spanId}-01`, undefined],
  ["a very long one", `01-${traceId}-${spanId}-01-${"x".repeat(5_000_000)}`, undefined],
  ["nothing", "", undefined],
  ["none", undefined, undefined],
])("%s", (_why, header, parent) => {
  expect(parseTraceparent(header)).toEqual(parent)
})

test("any text is parsed or rejected, and the parsed ids are part of it", () => {
  const piece = fc.oneof(fc.constantFrom("00", "-", traceId, spanId, "01", "ff", "0".repeat(32)), fc.string())
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      const header = pieces.join("")
      const parent = parseTraceparent(header)
      if (parent !== undefined) expect(header).toContain(`-${parent.traceId}-${parent.spanId}-`)
    }),
  )
})
