import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { createByteList } from "./read-body.ts"

test("for chunks of any size, the output equals the input", () => {
  const size = fc.oneof(fc.nat(3), fc.nat(5000), fc.integer({ min: 4000, max: 100_000 }))
  fc.assert(
    fc.property(fc.array(size, { maxLength: 60 }), (sizes) => {
      const chunks = sizes.map((bytes, n) => Buffer.alloc(bytes, n))
      const list = createByteList()
      for (const chunk of chunks) list.add(chunk)
      expect(list.all().equals(Buffer.concat(chunks))).toBe(true)
    }),
  )
})

test("changing a small chunk after it was added has no effect", () => {
  const list = createByteList()
  const chunk = Buffer.from("one")
  list.add(chunk)
  chunk.fill(0)
  expect(list.all().toString()).toBe("one")
})
