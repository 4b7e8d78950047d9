import { startOfText } from "../../language/cut-text.ts"

/** Limits on the copy of a value. */
export type Bounds = {
  /** Characters of one text. */
  readonly text: number
  /** Elements of one list, and members of one object. */
  readonly items: number
  /** Characters of all texts and names together, with a few for each value. */
  readonly total: number
}

/** Deeper values are left out: real data does not nest further, and cycles end here. */
const maxDepth = 40
/** Characters counted for a number, a bracket or a comma. */
const valueLength = 8

/** A copy that can be written as JSON and stays within the bounds, however large, deep or unusual the value is. */
export function boundValue(value: unknown, bounds: Bounds): { readonly value: unknown; readonly cut: boolean } {
  const reader = { bounds, left: bounds.total, cut: false }
  return { value: copyOf(value, reader, 0), cut: reader.cut }
}

/** The same for an object that is not a list. A shortened copy has a member `cut`. */
export function boundObject(value: object, bounds: Bounds): BoundedObject {
  const reader = { bounds, left: bounds.total, cut: false }
  const copy = copyMembers(value, reader, 0)
  return reader.cut ? { ...copy, cut: true } : copy
}

type BoundedObject = Readonly<Record<string, unknown>>

type Reader = { readonly bounds: Bounds; left: number; cut: boolean }

function copyOf(value: unknown, reader: Reader, depth: number): unknown {
  reader.left -= valueLength
  if (reader.left < 0 || depth > maxDepth) {
    reader.cut = true
    return undefined
  }
  switch (typeof value) {
    case "string":
      return copyText(value, reader)
    case "bigint":
      return String(value)
    case "number":
    case "boolean":
      return value
    case "object":
      if (value === null) return null
      if (Array.isArray(value) || value instanceof Set) return copyList([...value], reader, depth)
      return copyMembers(value, reader, depth)
    default:
      return undefined
  }
}

function copyText(text: string, reader: Reader): string {
  const most = Math.min(reader.bounds.text, reader.left)
  reader.left -= Math.min(text.length, most)
  if (text.length <= most) return text
  reader.cut = true
  return `${startOfText(text, most)} … (${text.length - most} more characters)`
}

function copyMembers(value: object, reader: Reader, depth: number): BoundedObject {
  const members: [string, unknown][] = []
  for (const [name, member] of Object.entries(value)) {
    if (members.length >= reader.bounds.items || reader.left <= name.length || name.length > reader.bounds.text) {
      reader.cut = true
      break
    }
    if (member === undefined) continue
    reader.left -= name.length
    members.push([name, copyOf(member, reader, depth + 1)])
  }
  return Object.fromEntries(members)
}

function copyList(list: readonly unknown[], reader: Reader, depth: number): readonly unknown[] {
  const copies: unknown[] = []
  for (const element of list) {
    if (copies.length >= reader.bounds.items || reader.left <= 0) {
      reader.cut = true
      break
    }
    copies.push(copyOf(element, reader, depth + 1))
  }
  return copies
}
