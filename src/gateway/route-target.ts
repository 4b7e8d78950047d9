/** A target that means the same to every server, taken apart. */
export type ReadTarget = {
  readonly path: string
  /** With its question mark; empty if there is none. */
  readonly query: string
  /** The path as the most lenient server could read it: decoded, in lower case, without accents and path parameters. */
  readonly loose: string
}

export type RefusedTarget = {
  readonly type: "refused"
  readonly status: 400 | 404 | 405 | 414
  readonly reason: string
}

/** What most servers take; the longest that a client of a model's API sends are some hundreds. */
export const maxTargetLength = 8192

/** Read a request's target, or refuse it: what two servers could read as two paths is never sent on. */
export function readTarget(target: string): ReadTarget | RefusedTarget {
  if (target.length > maxTargetLength) return refused(414, `The target is longer than ${maxTargetLength} characters.`)
  if (!/^\/[!-~]*$/.test(target)) return refused(400, "The target is no path in plain ASCII that begins with a slash.")
  if (/[\\#]/.test(target)) return refused(400, "The target has a backslash or a fragment in it.")
  const at = target.indexOf("?")
  const path = at < 0 ? target : target.slice(0, at)
  const decoded = decode(path)
  if (decoded === undefined)
    return refused(400, "The path has an escape in it that is not UTF-8, or one within another.")
  if (/[\p{Cc}\\?#]/u.test(decoded)) return refused(400, "The path has an escaped character in it that no path has.")
  const folded = fold(decoded)
  if (slashesIn(fold(decode(headOf(path)) ?? "/")) > slashesIn(headOf(path))) {
    return refused(400, "The path has an escaped slash in it.")
  }
  const segments = folded.split("/").map((segment) => segment.replace(/;.*$/s, "").trim())
  if (segments.slice(1, -1).includes("") || folded.includes("\\")) return refused(400, "The path has an empty segment.")
  if (segments.some((segment) => /^\.{1,2}$/.test(segment))) return refused(400, "The path has a dot segment.")
  return { path, query: at < 0 ? "" : target.slice(at), loose: segments.join("/") }
}

export const refused = (status: RefusedTarget["status"], reason: string): RefusedTarget => ({
  type: "refused",
  status,
  reason,
})

/** Everything up to the name of a model, which may have escaped slashes in it. */
function headOf(path: string): string {
  const found = /\/(?:models|tunedModels)\//.exec(path)
  return found === null ? path : path.slice(0, found.index + found[0].length)
}

function decode(path: string): string | undefined {
  try {
    const decoded = decodeURIComponent(path)
    return /%[\da-f]{2}/i.test(decoded) ? undefined : decoded
  } catch {
    return undefined
  }
}

/** Wide, accented and invisible forms of a letter become the letter. Upper case first: `ı` has no other way to `i`. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]+/gu, "")
    .toUpperCase()
    .toLowerCase()

const slashesIn = (text: string): number => text.split("/").length
