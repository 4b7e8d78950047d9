import type { Span } from "../message/request.ts"

/** Shorter strings of a JSON text hold no rule. */
const minLength = 12

/** Strings read of one text: a policy stands in a few, a table of records in thousands. */
const maxStrings = 4000

const opensJson = /^\s{0,64}[[{"]/

/** The strings of a text that is JSON, or nothing if it is none: a tool hands over a policy as the value of a field. One pass. */
export function stringsIn(text: string): readonly Span[] | undefined {
  if (!opensJson.test(text) || !/["}\]]\s{0,64}$/.test(text.slice(-80))) return undefined
  const spans: Span[] = []
  let start = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 92) at++
    else if (code === 34) {
      if (start < 0) start = at + 1
      else {
        if (at - start >= minLength && !isKey(text, at + 1) && spans.length < maxStrings) spans.push({ start, end: at })
        start = -1
      }
    }
  }
  return start < 0 && spans.length > 0 ? spans : undefined
}

/** A string before a colon names a field. */
function isKey(text: string, after: number): boolean {
  const next = /\S/.exec(text.slice(after, after + 16))?.[0]
  return next === ":"
}
