import { HoldfastError } from "../message/errors.ts"
import { ANY_SESSION } from "./sqlite-problem.ts"
import { fromStorable } from "./storable-text.ts"

/** A row as the database returns it. */
export type SqliteRow = Readonly<Record<string, unknown>>

/** A column that holds a text, as it was before it was made storable. */
export function textOf(row: SqliteRow, column: string): string {
  const value = row[column]
  return typeof value === "string" ? fromStorable(value) : damaged(column)
}

export function numberOf(row: SqliteRow, column: string): number {
  const value = row[column]
  return typeof value === "number" ? value : damaged(column)
}

/** A column that may hold nothing. */
export function maybe<Value>(
  row: SqliteRow,
  column: string,
  read: (row: SqliteRow, column: string) => Value,
): Value | undefined {
  return row[column] === null ? undefined : read(row, column)
}

/** A column that holds a text or its bytes. */
export function packedOf(row: SqliteRow, column: string): string | Uint8Array {
  const value = row[column]
  return typeof value === "string" || value instanceof Uint8Array ? value : damaged(column)
}

/** A column that holds a JSON list of texts. */
export function textsOf(row: SqliteRow, column: string): readonly string[] {
  const value = parsed(String(row[column]))
  return Array.isArray(value) ? value.map((text: unknown) => textOf({ [column]: text }, column)) : damaged(column)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function damaged(column: string): never {
  const reason = `the column ${column} holds something else`
  throw new HoldfastError({ code: "store-corrupt", store: "sqlite", session: ANY_SESSION, reason })
}
