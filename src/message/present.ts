type Present<Fields> = { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** Returns only the fields that have a value, so that an optional one is absent rather than `undefined`. */
export function present<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): Present<Fields> {
  const kept: Record<string, unknown> = {}
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name]
  return kept as Present<Fields>
}

/** Returns the entries of a table, typed by its names. */
export const entriesOf = <Name extends string, Value>(
  table: Readonly<Record<Name, Value>>,
): readonly (readonly [Name, Value])[] => Object.entries(table) as [Name, Value][]

/** Builds a table from a list of names. */
export const tableOf = <Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name, index: number) => Value,
): Readonly<Record<Name, Value>> =>
  Object.fromEntries(names.map((name, index) => [name, make(name, index)])) as Record<Name, Value>

/** Adds up a number of each item. */
export function sumOf<Item>(items: Iterable<Item>, figureOf: (item: Item) => number): number {
  let sum = 0
  for (const item of items) sum += figureOf(item)
  return sum
}

/** Splits a list into runs: an item that `belongs` to the one before it is in the same run. */
export function cutIntoRuns<Item>(
  items: readonly Item[],
  belongs: (before: Item, item: Item) => boolean,
): readonly (readonly [Item, ...Item[]])[] {
  const runs: [Item, ...Item[]][] = []
  for (const item of items) {
    const run = runs.at(-1)
    const before = run?.at(-1)
    if (run !== undefined && before !== undefined && belongs(before, item)) run.push(item)
    else runs.push([item])
  }
  return runs
}

/** The union of the words of a text with single blanks. */
export type Words<Text extends string, Found = never> = Text extends `${infer First} ${infer Rest}`
  ? Words<Rest, Found | First>
  : Found | Text

/** Returns these words as a list, each of its own type. */
export const namesIn = <const Text extends string>(text: Text): readonly Words<Text>[] =>
  text.split(" ") as Words<Text>[]
