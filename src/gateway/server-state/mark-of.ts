import { createHash } from "node:crypto"

/** What a provider holds, told by how many elements it is and a hash of them all. */
export type Mark = { readonly count: number; readonly hash: string }

/** The mark of elements, each to the letter; `frame` is what else the provider holds with them. */
export function markOf(elements: readonly string[], frame = ""): Mark {
  const sum = createHash("sha256")
  for (const text of [frame, ...elements]) sum.update(`${text.length} `).update(text)
  return { count: elements.length, hash: sum.digest("hex").slice(0, 32) }
}

export const isSameMark = (one: Mark, other: Mark): boolean => one.count === other.count && one.hash === other.hash

export const writeMark = ({ count, hash }: Mark): string => `${count}.${hash}`

export function readMark(text: string): Mark | undefined {
  const [, count, hash] = /^(\d{1,9})\.([0-9a-f]{32})$/.exec(text) ?? []
  return count === undefined || hash === undefined ? undefined : { count: Number(count), hash }
}
