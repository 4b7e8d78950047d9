type Present<Fields> = { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** Only the fields that have a value, so that an optional one is absent rather than `undefined`. */
export function present<Fields extends Readonly<Record<string, unknown>>>(fields: Fields): Present<Fields> {
  const kept: Record<string, unknown> = {}
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name]
  return kept as Present<Fields>
}

/** The entries of a table whose names are known. */
export const entriesOf = <Name extends string, Value>(
  table: Readonly<Record<Name, Value>>,
): readonly (readonly [Name, Value])[] => Object.entries(table) as [Name, Value][]

/** A table of what is made of each name. */
export const tableOf = <Name extends string, Value>(
  names: readonly Name[],
  make: (name: Name, place: number) => Value,
): Readonly<Record<Name, Value>> =>
  Object.fromEntries(names.map((name, place) => [name, make(name, place)])) as Record<Name, Value>

/** A figure of each item, added up. */
export function sumOf<Item>(items: Iterable<Item>, figureOf: (item: Item) => number): number {
  let sum = 0
  for (const item of items) sum += figureOf(item)
  return sum
}

/** A list cut into runs: an item that `belongs` to the one before it is in its run. */
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

/** The words of a text that has a blank between each two. */
export type Words<Text extends string, Found = never> = Text extends `${infer First} ${infer Rest}`
  ? Words<Rest, Found | First>
  : Found | Text

/** These words as a list, each of its own type. */
export const namesIn = <const Text extends string>(text: Text): readonly Words<Text>[] =>
  text.split(" ") as Words<Text>[]
