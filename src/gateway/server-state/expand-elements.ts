import { isObject, tryParse } from "../../wire/json.ts"
import { compactionContent, unpackElements } from "./own-item.ts"

/**
 * An element of a client's list, and all that it stands for: itself, the item that it names, such an item that the provider has lost,
 * or what a compaction of ours holds.
 */
export type Expanded = {
  readonly own: string
  readonly texts: readonly string[]
  readonly type: "itself" | "reference" | "lost" | "compaction"
}

/** Where items are found by their ids. */
export type Items = {
  readonly find: (id: string) => string | undefined
  readonly isLost: (id: string) => boolean
}

/** Write out references to items that are known, and compactions of ours. What is another's stays to the letter. */
export function expandElements(elements: readonly string[], { find, isLost }: Items): readonly Expanded[] {
  return elements.map((own): Expanded => {
    const id = referenceId(own)
    const item = id === undefined ? undefined : find(id)
    if (id !== undefined && item !== undefined) return { own, texts: [item], type: isLost(id) ? "lost" : "reference" }
    const content = compactionContent(own)
    const texts = content === undefined ? undefined : unpackElements(content)
    return texts === undefined ? { own, texts: [own], type: "itself" } : { own, texts, type: "compaction" }
  })
}

/** The item that a reference names; nothing for any other element. */
export function referenceId(element: string): string | undefined {
  if (element.length > maxReference || !element.includes("item_reference")) return undefined
  const read = tryParse(element)
  return isObject(read) && read.type === "item_reference" && typeof read.id === "string" ? read.id : undefined
}

/** A reference has a type and an id. */
const maxReference = 2000
