import { readTree, type Tree } from "../facts/json-tree.ts"

/** A longer text is not read as JSON: no model could have read it either. */
const maxJsonLength = 1_000_000

/** Does a text open like a list or a record? Told by its first signs, and the same of what is left when it was shortened as JSON. */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]\s*(?:["[{\]}\d-]|true\b|false\b|null\b)/.test(text)

/** The list or record that a text is, with its numbers to the letter. */
export function readJson(text: string): Tree | undefined {
  if (text.length > maxJsonLength || !looksLikeJson(text)) return undefined
  const tree = readTree(text)
  if (tree !== undefined || !/^\s*\[\s*[tfn]/.test(text)) return tree
  // A list that starts with a bare word is read as the only item of another one.
  const outer = readTree(`[${text}]`)
  return outer?.type === "list" && outer.items.length === 1 && outer.items[0]?.type === "list"
    ? outer.items[0]
    : undefined
}
