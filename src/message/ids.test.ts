import { expect, test } from "vitest"
import { tokens } from "./message.ts"

test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("%s is not a token count", (count) => {
  expect(() => tokens(count)).toThrow("not a token count")
})
