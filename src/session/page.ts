/** Where a page starts: characters of its first line that an earlier page has shown already. */
export type PageStart = { readonly fromLine: number; readonly skipCharacters: number }

/** A piece of a text that is not longer than asked, and where the next one starts if there is more. */
export type Page = { readonly text: string; readonly toLine: number; readonly next?: PageStart }

/** How long the first line of a text is. */
export function firstLineLength(text: string): number {
  const end = text.indexOf("\n")
  return end < 0 ? text.length : end
}

/**
 * One page of a text that starts at line `fromLine`. It ends at the end of a line; only a line that is longer than a whole page is cut,
 * and no character is cut in two. Pages joined, by line ends where a new line starts, give the text back.
 */
export function pageOf(text: string, { fromLine, skipCharacters }: PageStart, maxCharacters: number): Page {
  const end = skipCharacters + maxCharacters
  if (text.length <= end) {
    const rest = text.slice(skipCharacters)
    return { text: rest, toLine: fromLine + breaksIn(rest) }
  }
  const lineEnd = text.lastIndexOf("\n", end)
  if (lineEnd >= skipCharacters) {
    const lines = text.slice(skipCharacters, lineEnd)
    const toLine = fromLine + breaksIn(lines)
    return { text: lines, toLine, next: { fromLine: toLine + 1, skipCharacters: 0 } }
  }
  const cut = Math.max(skipCharacters + 1, splitsPair(text, end) ? end - 1 : end)
  return {
    text: text.slice(skipCharacters, cut),
    toLine: fromLine,
    next: { fromLine, skipCharacters: cut },
  }
}

function breaksIn(text: string): number {
  let breaks = 0
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) breaks++
  return breaks
}

const splitsPair = (text: string, at: number): boolean =>
  /[\ud800-\udbff]/.test(text.charAt(at - 1)) && /[\udc00-\udfff]/.test(text.charAt(at))
