const space = /[ \t\r\n]*/y
const scalar =
  /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null/iy
const name = /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iy

/** Where a text stops being JSON, as an offset. `JSON.parse` quotes what stands there instead, and that may be a secret. */
export function jsonFault(text: string): number {
  const open: string[] = []
  let at = 0
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found !== null
  }
  const takeSign = (sign: string): boolean => {
    take(space)
    if (text[at] !== sign) return false
    at += 1
    return true
  }
  /** The name of a member and its colon. */
  const takeName = (): boolean => {
    take(space)
    return take(name) && takeSign(":")
  }
  for (;;) {
    take(space)
    const opening = text[at]
    if (opening === "{" || opening === "[") {
      at += 1
      const closing = opening === "{" ? "}" : "]"
      open.push(closing)
      if (!takeSign(closing)) {
        if (opening === "{" && !takeName()) return at
        continue
      }
      open.pop()
    } else if (!take(scalar)) return at
    while (open.length > 0 && takeSign(open.at(-1) ?? "")) open.pop()
    if (open.length === 0) return at
    if (!takeSign(",")) return at
    if (open.at(-1) === "}" && !takeName()) return at
  }
}
