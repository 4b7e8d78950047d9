import { describe, expect, test } from "vitest"
import type { StoredEntry } from "../../../src/store/store.ts"
import { codePoints, fc } from "../../support/property.ts"
import type { OpenStore } from "./describe-store.ts"
import { entry, payloads } from "./example-rows.ts"

/** Each case writes to a real disk or server, so there are a tenth as many as elsewhere. */
const numRuns = Math.ceil((fc.readConfigureGlobal().numRuns ?? 100) / 10)

const text = fc.oneof(fc.string({ unit: codePoints }), fc.constantFrom("\ud800", "\udc00\ud800", "a\0b", "\u00100000"))

const step = fc.record({
  session: fc.constantFrom("a", "b"),
  /** Position at which the writer appends, relative to the current head. */
  offset: fc.constantFrom(0, 0, 0, -1, -2, 1),
  bodies: fc.array(text, { maxLength: 4 }),
  writer: fc.constantFrom("x", "y"),
})

/** Any batches, compared with an in-memory list that implements the contract. */
export function describeLogModel(open: OpenStore): void {
  describe("any batches", () => {
    test("leave what the contract says, and come back verbatim", async () => {
      const { store } = await open(() => 5000)
      let run = 0
      const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        run += 1
        const model = new Map<string, StoredEntry[]>()
        for (const { session, offset, bodies, writer } of steps) {
          const log = model.get(session) ?? []
          model.set(session, log)
          const after = Math.max(0, log.length + offset)
          const entries = bodies.map((body, at) => entry(after + 1 + at, writer, { body }))
          const same = entries.every(({ hash, seq }) => log[seq - 1]?.hash === hash)
          const fits = after === log.length || (after < log.length && same)
          const answer = await store.append(`${session}${run}`, { after, entries, payloads: payloads(...bodies) })
          expect(answer.type).toBe(fits ? "appended" : "conflict")
          if (after === log.length) log.push(...entries)
        }
        for (const [session, log] of model) {
          expect(await store.read(`${session}${run}`)).toEqual(log)
          const expected = payloads(...log.map(({ body }) => body))
          expect((await store.holdings(`${session}${run}`)).payloads.toSorted()).toEqual(
            [...expected.keys()].toSorted(),
          )
          expect(await store.payloads(`${session}${run}`, [...expected.keys()])).toEqual(expected)
        }
      })
      await fc.assert(property, { numRuns })
    })

    test("any names, keys and types come back verbatim and are told apart", async () => {
      const { store } = await open(() => 5000)
      let run = 0
      const property = fc.asyncProperty(
        fc.uniqueArray(text, { minLength: 2, maxLength: 4 }),
        text,
        async (names, key) => {
          run += 1
          const sessions = names.map((name) => `${run} ${name}`)
          for (const [at, session] of sessions.entries()) {
            const one = entry(1, `w${at}`, { key, type: key, parent: at, body: session })
            await store.append(session, { after: 0, entries: [one], agent: session })
            expect(await store.putSummary(session, key, session)).toBe(true)
          }
          for (const [at, session] of sessions.entries()) {
            expect(await store.read(session)).toEqual([
              entry(1, `w${at}`, { key, type: key, parent: at, body: session }),
            ])
            expect(await store.sessions({ agent: session })).toMatchObject([{ id: session, agent: session }])
            expect(await store.getSummary(session, key)).toBe(session)
            expect((await store.holdings(session)).summaries).toEqual([key])
          }
        },
      )
      await fc.assert(property, { numRuns })
    })
  })
}
