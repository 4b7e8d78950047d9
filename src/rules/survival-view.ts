import { foldCharacter } from "../language/fold.ts"
import { rewrite, type View, viewOf } from "../language/view.ts"

/** Hyphens of every kind are one; a dash that parts clauses stays a dash. */
function foldSign(sign: string): string {
  if (/[\u2010\u2011\u2012\u2212\ufe63\uff0d]/.test(sign)) return "-"
  if (/[\u2013\u2014\u2015]/.test(sign)) return "—"
  if (sign === "€" || sign === "£" || sign === "₹" || sign === "。") return sign
  return foldCharacter(sign)
}

/** Folds a character, and remembers: a text repeats its characters. */
function createFold(): (sign: string) => string {
  const folded = new Map<string, string>()
  return (sign) => {
    const known = folded.get(sign)
    if (known !== undefined) return known
    const made = foldSign(sign)
    folded.set(sign, made)
    return made
  }
}

/** A text as survival compares it: no accents, no case, nothing invisible, one kind of quotation mark. Figures and signs stay as they are. */
export function comparable(text: string): View {
  const plain = rewrite(viewOf(text), /[^\0-\x7f]/gu, createFold())
  const lowered = plain.text.toLowerCase()
  const same = lowered.length === plain.text.length
  return { ...plain, text: same ? lowered : plain.text.replace(/[A-Z]+/g, (run) => run.toLowerCase()) }
}
