import fc from "fast-check"

/**
 * Thirty cases in the everyday run, and the same ones every time, so that a red run is the change's fault; `npm run test:long` tries two
 * thousand. HOLDFAST_PROPERTY_RUNS asks for more cases, HOLDFAST_PROPERTY_SEED for others: a number that a failure printed, or `random`.
 */
export const runs: number = Number(process.env.HOLDFAST_PROPERTY_RUNS ?? 30)

/** Is everything tried, where the everyday run takes a sample? */
export const isLongRun: boolean = runs > 1000

/** All of a list in a long run, every so manieth of it in the everyday run. */
export const sampleOf = <Item>(items: readonly Item[], every: number): readonly Item[] =>
  items.filter((_, n) => isLongRun || n % every === 0)

/**
 * All combinations of a table in a long run. In the everyday run every row once, with the columns in turn, so that each column is tried as
 * well. The table is given row by row.
 */
export const diagonalOf = <Item>(table: readonly Item[], columns: number): readonly Item[] =>
  table.filter((_, n) => isLongRun || n % columns === Math.floor(n / columns) % columns)

/**
 * For tests that are made for each row of a table: says of one after the other whether row `at` of `rows` has it. In the everyday run each
 * test has `some` of the rows, in turn; in a long run all.
 */
export function turnsOf(at: number, rows: number, some: number): () => boolean {
  let test = 0
  return () => isLongRun || (at + rows - (test++ % rows)) % rows < some
}

/**
 * Every code point but halves of pairs: what `unit: "binary"` draws from, in the same order. That one makes a map of all of them in each
 * process that asks for it, which takes a second and is in the way of every collection of garbage from then on.
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
