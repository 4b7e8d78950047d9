import { anyWord, wordsOf } from "./words.ts"

/** Returns the top-level fields of the mutations in a GraphQL text, which are what it does. Empty for a query, and for anything else. */
export function mutationsIn(text: string): readonly string[] {
  const names: string[] = []
  const plain = text
    .slice(0, maxLength)
    .replace(/#[^\n]*/g, "")
    .replace(/"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"/g, '""')
  for (const { 0: head, index } of plain.matchAll(/\bmutation\b[^{}]*\{/g))
    names.push(...topFields(plain.slice(index + head.length)))
  return names
}

/** Maximum length of a text in characters that is read. */
const maxLength = 100_000

/** Top-level names of a selection, up to its closing brace; an alias before a name is skipped. */
function topFields(selection: string): readonly string[] {
  const names: string[] = []
  let depth = 0
  for (const [sign, name] of selection.matchAll(/[{}()]|(?:\w+\s*:\s*)?(\w+)/g)) {
    if (sign === "{" || sign === "(") depth++
    else if (sign === ")" || sign === "}") depth--
    else if (depth === 0 && name !== undefined) names.push(name)
    if (depth < 0) break
  }
  return names
}

/** What a mutation destroys, as its name says. */
export function destroyedBy(mutation: string): "repository" | "infrastructure" | undefined {
  const words = wordsOf(mutation)
  if (!anyWord(words, /^(?:delete|remove|destroy|purge|drop|archive|wipe|terminate|erase)$/)) return undefined
  return anyWord(words, /^(?:refs?|branch|repository|repo|tag|project|fork|commit)$/) ? "repository" : "infrastructure"
}
