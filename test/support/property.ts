import fc from "fast-check"

/**
 * Number of cases of a property: 30 in the everyday run, always the same ones, so that a failure is due to the change; 2,000 in `npm run
 * test:long`. HOLDFAST_PROPERTY_RUNS sets the number, HOLDFAST_PROPERTY_SEED selects others: a number that a failure printed, or `random`.
 */
export const runs: number = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 30)

/** True if everything is tested, where the everyday run takes a sample. */
export const isLongRun: boolean = runs > 1000

/** Returns all of a list in a long run, and every n-th item in the everyday run. */
export const sampleOf = <Item>(items: readonly Item[], every: number): readonly Item[] =>
  items.filter((_, n) => isLongRun || n % every === 0)

/**
 * Returns all combinations of a table in a long run. In the everyday run, every row once with alternating columns, so that each column is
 * tested as well. The table is given row by row.
 */
export const diagonalOf = <Item>(table: readonly Item[], columns: number): readonly Item[] =>
  table.filter((_, n) => isLongRun || n % columns === Math.floor(n / columns) % columns)

/**
 * For tests that are generated for each row of a table: returns a function that says for one test after another whether row `at` of `rows`
 * includes it. In the everyday run each test has `some` of the rows, rotating; in a long run all.
 */
export function turnsOf(at: number, rows: number, some: number): () => boolean {
  let test = 0
  return () => isLongRun || (at + rows - (test++ % rows)) % rows < some
}

/**
 * Every code point except surrogates: what `unit: "binary"` draws from, in the same order. That one builds a map of all of them in each
 * process, which takes a second and slows down every later garbage collection.
 */
export const codePoints: fc.Arbitrary<string> = fc.nat(0x10f7ff).map(
  (n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800),
  (text) => {
    const [first = "", ...more] = typeof text === "string" ? text : ""
    const codePoint = first.codePointAt(0)
    const isOne = codePoint !== undefined && more.length === 0 && (codePoint < 0xd800 || codePoint > 0xdfff)
    if (!isOne) throw new Error("no code point")
    return codePoint < 0xd800 ? codePoint : codePoint - 0x800
  },
)

const asked = process.env.HOLDFAST_PROPERTY_SEED ?? "20261115"

fc.configureGlobal({ numRuns: runs, ...(asked === "random" ? {} : { seed: Number(asked) }) })

export { fc }
