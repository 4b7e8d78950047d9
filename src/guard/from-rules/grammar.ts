import table from "./grammar.json" with { type: "json" }

/**
 * The patterns by which sentences are read. A phrase is any of its wordings with no letter on either side, a pattern is what its lines make
 * together, and a way of saying something is its plain wording and the pattern of the others. A line behind `#` says what it is for.
 */

/** Signs of the table: no letter before, no letter behind, and where a clause starts. */
const signs: Readonly<Record<string, string>> = {
  "«": "(?<!\\p{L})",
  "»": "(?!\\p{L})",
  "¶": "(?<=^(?:please |and |but |also |so |then )*|[,;:.] (?:please |and |but |so |also )*)",
}

/** The source of a pattern that a table has in lines. */
export const sourceOf = (lines: readonly string[], between: string): string =>
  lines
    .filter((line) => !line.startsWith("# "))
    .join(between)
    .replace(/[«»¶]/gu, (sign) => signs[sign] ?? sign)

type Phrase = keyof typeof table.phrases
type Pattern = keyof typeof table.patterns

const isPhrase = (name: Phrase | Pattern): name is Phrase => Object.hasOwn(table.phrases, name)

const made = { u: new Map<string, RegExp>(), gu: new Map<string, RegExp>() } as const

/** The pattern of a name, made when it is first asked for. */
export function grammar(name: Phrase | Pattern, flags: keyof typeof made = "u"): RegExp {
  const known = made[flags].get(name)
  if (known !== undefined) return known
  const source = isPhrase(name) ? [`«(?:${sourceOf(table.phrases[name], "|")})»`] : table.patterns[name]
  const pattern = new RegExp(sourceOf(source, ""), flags)
  made[flags].set(name, pattern)
  return pattern
}

type Ways = keyof typeof table.ways
const waysMade = new Map<Ways, readonly (readonly [said: RegExp, plain: string])[]>()

function waysOf(name: Ways): readonly (readonly [said: RegExp, plain: string])[] {
  const known = waysMade.get(name)
  if (known !== undefined) return known
  const ways = table.ways[name].map(([plain = "", ...lines]) => [new RegExp(sourceOf(lines, ""), "gu"), plain] as const)
  waysMade.set(name, ways)
  return ways
}

/** A text in which the many ways to say something, as the table has them under these names, are the one that is plain. */
export function plainly(text: string, ...names: readonly Ways[]): string {
  let read = text
  for (const name of names) for (const [said, plain] of waysOf(name)) read = read.replace(said, plain)
  return read
}
