import { expect, test } from "vitest"
import { createSteering, takeSteering } from "./turn-options.ts"

test("what was pushed is taken once, in its order", () => {
  const steering = createSteering()
  steering.push("one")
  steering.push("two")
  expect(takeSteering(steering)).toEqual(["one", "two"])
  expect(takeSteering(steering)).toEqual([])
  expect(takeSteering(() => ["three"])).toEqual(["three"])
  expect(takeSteering(undefined)).toEqual([])
})

test("of a flood the newest thousand are held", () => {
  const steering = createSteering()
  for (let n = 0; n < 1_500; n++) steering.push(`${n}`)
  const taken = takeSteering(steering)
  expect([taken.length, taken[0], taken.at(-1)]).toEqual([1_000, "500", "1499"])
})
