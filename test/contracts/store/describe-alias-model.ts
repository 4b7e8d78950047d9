import { describe, expect, test } from "vitest"
import type { FoundAlias } from "../../../src/store/store.ts"
import { codePoints, fc } from "../../support/property.ts"
import type { OpenStore } from "./describe-store.ts"

/** Each case writes to a real disk or server, so there are a tenth as many as elsewhere. */
const numRuns = Math.ceil((fc.readConfigureGlobal().numRuns ?? 100) / 10)

const text = fc.oneof(
  fc.string({ unit: codePoints, minLength: 1 }),
  fc.constantFrom("a", "b", "A", "a ", "\ud800", "\udc00\ud800", "a\0b", "\u00100000", "e\u0301", "\u00e9"),
)

const session = fc.constantFrom("s", "t", "u")

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("put" as const),
      session,
      said: fc.array(fc.record({ name: fc.nat(5), entry: fc.option(text) }), { maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("remove" as const), session }) },
)

/** Any puts and removals, compared with a Map that implements the contract. */
export function describeAliasModel(open: OpenStore): void {
  describe("any aliases", () => {
    test("are found as the contract says, after every step", async () => {
      const { store } = await open(() => 5000)
      let run = 0
      const pool = fc.uniqueArray(text, { minLength: 6, maxLength: 6 })
      const property = fc.asyncProperty(pool, fc.array(step, { maxLength: 8 }), async (texts, steps) => {
        run += 1
        const names = texts.map((one) => `${run} ${one}`)
        const model = new Map<string, FoundAlias>()
        for (const one of steps) {
          const bearer = `${one.session}${run}`
          if (one.type === "remove") {
            const mine = names.filter((name) => model.get(name)?.session === bearer)
            for (const name of mine) model.delete(name)
            expect(await store.remove(bearer)).toBe(mine.length > 0)
          } else {
            const aliases = one.said.map(({ name, entry }) => ({
              name: names[name] ?? "",
              ...(entry === null ? {} : { entry }),
            }))
            for (const alias of aliases) model.set(alias.name, { ...alias, session: bearer })
            await store.putAliases(bearer, aliases)
          }
          expect(await store.findAliases(names)).toStrictEqual(names.flatMap((name) => model.get(name) ?? []))
        }
      })
      await fc.assert(property, { numRuns })
    })
  })
}
