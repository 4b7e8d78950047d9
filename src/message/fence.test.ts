import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { fence, unfence } from "./fence.ts"

const hostile = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom("</box>", "<box", "< /\tBOX >", "&lt;/box>", "&amp;lt;/box", "&amp;", "\n</box>\n", "</bo", "x>"),
    ),
  )
  .map((pieces) => pieces.join(""))

test("for any text, nothing inside closes or opens the fence, and the text comes back verbatim", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const fenced = fence("box", text, { from: '"><evil>' })
      expect(fenced.match(/<[\s/]*box/gi)).toEqual(["<box", "</box"])
      expect(unfence("box", fenced)).toBe(text)
    }),
  )
})

test("what is not one whole fence is none", () => {
  expect(unfence("box", "<box>\nhalf")).toBeUndefined()
  expect(unfence("box", "plain")).toBeUndefined()
})
