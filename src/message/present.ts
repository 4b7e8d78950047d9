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
