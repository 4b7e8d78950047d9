import type { Family } from "./family.ts"
import type { Upstream } from "./upstream.ts"

/** A name longer than this is no model's, and is held against no pattern. */
const maxNameLength = 512

/** The first upstream that speaks the API and serves the model. Without a model only one without patterns does, or the only one. */
export function chooseUpstream(
  upstreams: readonly Upstream[],
  family: Family,
  model: string | undefined,
): Upstream | undefined {
  const speaking = upstreams.filter(({ families }) => families.includes(family))
  if (model === undefined || model === "") {
    return speaking.length === 1 ? speaking[0] : speaking.find(({ models }) => models === undefined)
  }
  const name = model.replace(/^models\//, "").toLowerCase()
  return speaking.find(({ models }) => models === undefined || models.some((pattern) => fits(name, pattern)))
}

/** Is the name the pattern, with any text in the place of each `*`? Each piece is sought once, behind the one before it. */
function fits(name: string, pattern: string): boolean {
  if (name.length > maxNameLength) return pattern === "*"
  const pieces = pattern.toLowerCase().split("*")
  const first = pieces[0] ?? ""
  const last = pieces.at(-1) ?? ""
  if (pieces.length === 1) return name === first
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= name.length - last.length
}
