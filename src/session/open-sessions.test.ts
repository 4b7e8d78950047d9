import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { tokens } from "../message/message.ts"
import { createOpenSessions } from "./holdfast.ts"

type One = Parameters<ReturnType<typeof createOpenSessions>["take"]>[1] extends () => infer Held ? Held : never

const holding = (units: number, isDurable = true): One => ({
  judged: [],
  journal: { isDurable: () => isDurable },
  sent: { at: 0, model: "m", tokens: tokens(units / 4), system: [], messages: [], held: false },
})

test("for any sessions, the most recently used are kept, within the limits", () => {
  const use = fc.record({ id: fc.integer({ min: 0, max: 12 }), units: fc.constantFrom(0, 40, 100, 400) })
  fc.assert(
    fc.property(fc.array(use, { maxLength: 80 }), (uses) => {
      const open = createOpenSessions<One>(6, 400)
      const order: { id: string; live: One; units: number }[] = []
      for (const { id, units } of uses) {
        const name = `s${id}`
        const at = order.findIndex((known) => known.id === name)
        const [known] = at < 0 ? [] : order.splice(at, 1)
        const live = open.take(name, () => holding(units))
        if (known !== undefined) expect(live).toBe(known.live)
        order.push(known ?? { id: name, live, units })
        const full = () => order.length > 6 || order.reduce((sum, one) => sum + one.units, 0) > 400
        while (order.length > 1 && full()) order.shift()
        expect(open.all()).toEqual(order.map((one) => one.live))
      }
    }),
  )
})

test("a session with unsaved entries stays open, however large it is", () => {
  const open = createOpenSessions<One>(2, 100)
  const waiting = open.take("waiting", () => holding(4000, false))
  for (const id of ["a", "b", "c"]) open.take(id, () => holding(40))
  expect(open.all()).toContain(waiting)
  expect(open.all().length).toBe(2)
})
