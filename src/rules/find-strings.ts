import type { Span } from "../message/request.ts"
import { namesRuleField } from "./find-genre.ts"

/** Shorter strings of a JSON text hold no rule; ideographs say more in less. */
const minLength = 12
const minWide = 5

/** Longer strings are no names. */
const maxName = 60

/** Strings read of one text: a policy stands in a few, a table of records in thousands. */
const maxStrings = 4000

const opensJson = /^\s{0,64}[[{"]/

/** The strings of a JSON text, its keys and short strings aside, and whether a key or a short string names a page of rules. */
export type Strings = { readonly spans: readonly Span[]; readonly named: boolean }

/** The strings of a text that is JSON, or nothing if it is none: a tool hands over a policy as the value of a field. One pass. */
export function stringsIn(text: string): Strings | undefined {
  if (!opensJson.test(text) || !/["}\]]\s{0,64}$/.test(text.slice(-80))) return undefined
  const spans: Span[] = []
  let start = -1
  let named = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 92) at++
    else if (code === 34) {
      if (start < 0) start = at + 1
      else {
        if (at - start <= maxName) named ||= namesRuleField(text.slice(start, at))
        const enough = at - start >= (/[\u3040-\u9fff]/.test(text.charAt(start)) ? minWide : minLength)
        if (enough && !isKey(text, at + 1) && spans.length < maxStrings) spans.push({ start, end: at })
        start = -1
      }
    }
  }
  return start < 0 && spans.length > 0 ? { spans, named } : undefined
}

/** A string before a colon names a field. */
function isKey(text: string, after: number): boolean {
  const next = /\S/.exec(text.slice(after, after + 16))?.[0]
  return next === ":"
}
