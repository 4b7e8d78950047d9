import { afterAll, beforeAll, expect, test } from "vitest"
import { clerk, row } from "../../test/contracts/store/example-rows.ts"
import { describePostgres } from "../../test/support/postgres-suite.ts"
import { createMemoryStore } from "./memory-store.ts"
import { openPostgresStore } from "./postgres-store.ts"
import type { MemoryQuery, Store } from "./store.ts"

/** More hits than are sorted after an index query. */
const common = 2_500

const rows = Array.from({ length: common }, (_, at) =>
  row((at * 7) % common, `order ${at} of the ${at % 2 === 0 ? "blue parcel" : "parcel blue"}`, {
    id: `m${at}`,
    trusted: at % 3 !== 0,
    kind: at < 2_200 ? "fact" : "decision",
    ...(at % 5 === 0 ? { supersededBy: "m1" } : {}),
  }),
)

const queries: [why: string, query: Partial<MemoryQuery>][] = [
  ["a word in every row", { text: "order" }],
  ["as many as may be asked for", { text: "order", limit: 1_000 }],
  ["two words in a row", { text: '"blue parcel"', limit: 1_000 }],
  ["a common word and a rare one", { text: "order 1234" }],
  ["a word in every row, of a rarer kind", { text: "order", kind: "decision", limit: 1_000 }],
  ["no words, and more of the kind than the index puts in order", { kind: "fact", withSuperseded: true, limit: 1_000 }],
  ["no words, a session", { session: "s", limit: 1_000 }],
  ["only what may be trusted", { trustedOnly: true, limit: 1_000 }],
]

await describePostgres("searching a large memory in PostgreSQL", (server) => {
  const measure = createMemoryStore()
  let store: Store | undefined
  beforeAll(async () => {
    store = await openPostgresStore({ url: await server.createDatabase() })
    for (const one of [store, measure]) await one.memory.write(rows)
  })
  afterAll(() => store?.close())

  test.each(queries)("finds the same rows in the same order as a full scan: %s", async (_why, query) => {
    const expected = await measure.memory.search({ ...clerk, ...query })
    expect(expected.length).toBeGreaterThan(0)
    expect(await store?.memory.search({ ...clerk, ...query })).toEqual(expected)
  })
})
