import type { Tool } from "../../message/request.ts"
import { readTree, type Tree } from "./json-tree.ts"

/** An argument that a tool takes, and the values that it is limited to, if it is. */
export type Argument = { readonly name: string; readonly values: readonly string[] }

/** Arguments read from the declarations; the largest sets of tools have a few hundred. */
const maxArguments = 1_000

/** The arguments that tools declare, whatever the format: the members of each `properties` of their JSON Schema. */
export function argumentsOf(tools: readonly Tool[]): readonly Argument[] {
  const found: Argument[] = []
  const look = (tree: Tree, isProperties: boolean): void => {
    if (tree.type === "list") for (const item of tree.items) look(item, false)
    if (tree.type !== "record") return
    for (const [key, value] of tree.entries) {
      if (isProperties && found.length < maxArguments) found.push({ name: key, values: valuesIn(value) })
      look(value, !isProperties && key === "properties")
    }
  }
  for (const { wire } of tools) {
    const tree = readTree(wire)
    if (tree !== undefined) look(tree, false)
  }
  return found
}

function valuesIn(schema: Tree): readonly string[] {
  const allowed = schema.type === "record" ? schema.entries.find(([key]) => key === "enum")?.[1] : undefined
  return allowed?.type === "list" ? allowed.items.flatMap((item) => (item.type === "scalar" ? [item.text] : [])) : []
}

/** Words that say what form a name has rather than what it names. */
const formal = new Set("id ids number no code key name value list the of to new all current".split(" "))

/** Is a label the name of something that calls take: `reservations` of `reservation_id`, `user ID` of `user_id`? */
export function createAsked(names: Iterable<string>): (label: string) => boolean {
  const byWord = new Map<string, (readonly string[])[]>()
  for (const name of new Set(names)) {
    const words = wordsOf(name)
    for (const word of words) byWord.set(word, [...(byWord.get(word) ?? []), words])
  }
  const known = new Map<string, boolean>()
  return (label) => {
    const answer = known.get(label)
    if (answer !== undefined) return answer
    const words = wordsOf(label)
    const fits = words.some((word) => byWord.get(word)?.some((name) => isWithin(name, words) || isWithin(words, name)))
    known.set(label, fits)
    return fits
  }
}

const isWithin = (some: readonly string[], all: readonly string[]): boolean => some.every((word) => all.includes(word))

/** The words of a name in snake, kebab or camel case, in the singular, without those of form if others are left. */
function wordsOf(name: string): readonly string[] {
  const words = name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
  const telling = words.filter((word) => !formal.has(word))
  return (telling.length > 0 ? telling : words).map((word) => word.replace(/(?<=\p{L}{2})s$/u, ""))
}
