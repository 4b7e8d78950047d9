import table from "./grammar.json" with { type: "json" }

/**
 * The regular expressions that read sentences, from `grammar.json`. A phrase is a list of alternatives with no letter on either side; a
 * pattern is its lines concatenated; a `ways` entry is a plain wording and the pattern of the wordings replaced by it. Lines that start
 * with `# ` are comments.
 */

/** Abbreviations in the table: no letter before, no letter after, and start of a clause. */
const signs: Readonly<Record<string, string>> = {
  "«": "(?<!\\p{L})",
  "»": "(?!\\p{L})",
  "¶": "(?<=^(?:please |and |but |also |so |then )*|[,;:.] (?:please |and |but |so |also )*)",
}

/** Builds the source of a pattern from its lines in a table. */
export const sourceOf = (lines: readonly string[], between: string): string =>
  lines
    .filter((line) => !line.startsWith("# "))
    .join(between)
    .replace(/[«»¶]/gu, (sign) => signs[sign] ?? sign)

type Phrase = keyof typeof table.phrases
type Pattern = keyof typeof table.patterns

const isPhrase = (name: Phrase | Pattern): name is Phrase => Object.hasOwn(table.phrases, name)

const compiled = { u: new Map<string, RegExp>(), gu: new Map<string, RegExp>() } as const

/** Returns the pattern with a name, compiled on first use. */
export function grammar(name: Phrase | Pattern, flags: keyof typeof compiled = "u"): RegExp {
  const known = compiled[flags].get(name)
  if (known !== undefined) return known
  const source = isPhrase(name) ? [`«(?:${sourceOf(table.phrases[name], "|")})»`] : table.patterns[name]
  const pattern = new RegExp(sourceOf(source, ""), flags)
  compiled[flags].set(name, pattern)
  return pattern
}

type RewriteTable = keyof typeof table.ways
const rewritesCompiled = new Map<RewriteTable, readonly (readonly [said: RegExp, plain: string])[]>()

function rewritesOf(name: RewriteTable): readonly (readonly [said: RegExp, plain: string])[] {
  const known = rewritesCompiled.get(name)
  if (known !== undefined) return known
  const ways = table.ways[name].map(([plain = "", ...lines]) => [new RegExp(sourceOf(lines, ""), "gu"), plain] as const)
  rewritesCompiled.set(name, ways)
  return ways
}

/** Replaces every wording listed under the given names by its plain one. */
export function plainly(text: string, ...names: readonly RewriteTable[]): string {
  let read = text
  for (const name of names) for (const [said, plain] of rewritesOf(name)) read = read.replace(said, plain)
  return read
}
