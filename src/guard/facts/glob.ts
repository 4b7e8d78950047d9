/** Does a pattern of `*`, `**`, `?` and `[…]` match a path? `*` stays within one name, `**` does not. Linear but for backing up to the last star. */
export function globMatches(pattern: string, path: string): boolean {
  return globExpression(pattern).test(path)
}

const compiled = new Map<string, RegExp>()
const maxCompiled = 500
/** Stars in one pattern; each can back up over the path once, and paths are short. */
const maxStars = 6

function globExpression(pattern: string): RegExp {
  const met = compiled.get(pattern)
  if (met !== undefined) return met
  const made = new RegExp(`^${translate(pattern)}$`, "s")
  if (compiled.size >= maxCompiled) compiled.clear()
  compiled.set(pattern, made)
  return made
}

function translate(pattern: string): string {
  let stars = 0
  return pattern.slice(0, 1_000).replace(/\*\*\/|\*+|\?|\[[!^]?[\w-]{1,40}\]|[^*?[]+|\[/g, (piece) => {
    if (piece === "?") return "[^/]"
    if (piece.startsWith("*")) {
      stars++
      if (stars > maxStars) return ".*"
      return piece === "**/" ? "(?:.*/)?" : piece.length > 1 ? ".*" : "[^/]*"
    }
    if (/^\[.+\]$/.test(piece)) return piece.replace(/^\[!/, "[^")
    return piece.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&")
  })
}

/** The words that braces stand for: `{a,b}c` is `ac` and `bc`. At most sixty-four. */
export function expandBraces(word: string): readonly string[] {
  let words: readonly string[] = [word]
  for (let round = 0; round < 6; round++) {
    const next = words.flatMap((each) => {
      const match = /\{([^{}]*,[^{}]*)\}/.exec(each)
      if (match === null) return [each]
      const [whole, list = ""] = match
      const before = each.slice(0, match.index)
      const after = each.slice(match.index + whole.length)
      return list.split(",").map((item) => `${before}${item}${after}`)
    })
    if (next.length > 64) return words
    if (next.length === words.length) return next
    words = next
  }
  return words
}
