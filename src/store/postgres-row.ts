import { assert } from "../message/assert.ts"
import type { Row } from "./postgres-persist.ts"
import { fromStorable } from "./storable-text.ts"

/** A column that our own tables promise to be a text. */
export function textIn(row: Row, column: string): string {
  const value = row[column]
  assert(typeof value === "string", `column ${column} is no text`)
  return fromStorable(value)
}

export function numberIn(row: Row, column: string): number {
  const value = row[column]
  assert(typeof value === "number", `column ${column} is no number`)
  return value
}

/** `undefined` where the column is null. */
export function textOrNoneIn(row: Row, column: string): string | undefined {
  return row[column] === null ? undefined : textIn(row, column)
}

export function numberOrNoneIn(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : numberIn(row, column)
}

export function textsIn(row: Row, column: string): readonly string[] {
  const value = row[column]
  assert(Array.isArray(value), `column ${column} is no list`)
  return value.map((text: unknown) => {
    assert(typeof text === "string", `column ${column} holds something that is no text`)
    return fromStorable(text)
  })
}
