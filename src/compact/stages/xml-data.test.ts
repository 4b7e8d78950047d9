import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { xmlAsJson } from "./xml-data.ts"

test.each([
  ['<ok ref="A-1"/>', { ok: { ref: "A-1" } }],
  [
    '<?xml version="1.0"?>\n<fault><code>F-409</code><reason>TAKEN &amp; gone</reason></fault>',
    { fault: { code: "F-409", reason: "TAKEN & gone" } },
  ],
  ["<r><n id='1'/><n id='2'/><s>up</s></r>", { r: { n: [{ id: "1" }, { id: "2" }], s: "up" } }],
  ['<r><b from="x">said</b></r>', { r: { b: { from: "x", text: "said" } } }],
])("data in XML is read as the JSON that says the same: %s", (text, data) => {
  expect(JSON.parse(xmlAsJson(text) ?? "")).toEqual(data)
})

test.each([
  "<output>one line of what a program printed</output>",
  "<html><body><p>A page</p></body></html>",
  "<r><a></r></a>",
  "<r><a>",
  "<r/><r/>",
  "a < b and c > d",
  "<r a=1><b/></r>",
])("what is no data is left alone: %s", (text) => {
  expect(xmlAsJson(text)).toBeUndefined()
})

test("any text is read or left alone, and never throws", () => {
  const signs = fc.constantFrom("<a>", "</a>", "<b/>", '<c d="e">', "</c>", "x", "&lt;", "<", ">", "'", '"', " ", "</")
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 30 }), (pieces) => {
      const read = xmlAsJson(pieces.join(""))
      if (read !== undefined) expect(typeof JSON.parse(read)).toBe("object")
    }),
  )
})
