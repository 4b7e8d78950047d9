import { any } from "./family.ts"
import { type marks, markValues } from "./values.ts"

export const forbidding = any(
  "never|neither|don't|do not|isn't|aren't|does not|doesn't|must not|mustn't|may not|should not|shouldn't|shall not|cannot|can't|can not|won't|not allowed|not permitted|not to|forbidden|prohibited|banned|off[- ]limits|taboo|off the table|out of bounds|i (?:don't|do not) want (?:you )?to|unused|untouched|avoid|refrain|stay away|stay out|stay off|keep away|keep out|keep off|keep (?:your )?hands off|hands off|leave (?:\\S+ ){1,4}(?:alone|out|off|untouched|as (?:it|they|is))|keep (?:\\S+ ){1,4}(?:off|out of|away from)|frozen|zero|no|none|nothing|nobody|no one|not|under no circumstances|nie|niemals|nichts|nicht|niemand|nirgends|nirgendwo|kein|keine|keinen|keinem|keiner|verboten|untersagt|tabu|ne|n'\\p{L}+|jamais|pas|aucun|aucune|interdit|interdite|interdits|interdiction|rien|personne|nunca|jamás|prohibido|prohibida|ningún|ninguna|nada|nadie|mai|não|nenhum|nenhuma|proibido|vietato|non|niente|nooit|niet|geen",
)
/** Only what is named: in so many words. */
export const restricting = any(
  "(?:all |any |every )?other (?:regions?|hosts?|domains?|channels?|languages?|folders?|sites?|recipients?|places?) (?:is|are) (?:forbidden|off-limits)|only|solely|exclusively|nothing but|nobody but|no one but|nowhere else|nothing else|nirgendwo sonst|nirgends sonst|niemand sonst|sonst niemand|rien d'autre|nada más|nadie más|no one else|nobody else|no other|none other|restrict(?:ed)?|confine[ds]?|limit(?:ed)? (?:\\S+ ){0,3}to|stick to|nur|ausschließlich|ausschliesslich|lediglich|uniquement|seulement|exclusivement|solo|sólo|solamente|únicamente|exclusivamente|apenas|somente|alleen|uitsluitend",
)
/** Within what is named, where nothing is forbidden by it. */
const keeping = any(
  "stays? (?:with)?in(?:side)?|stays? (?=‹)|bleib\\p{L}* in|rester? en|restent? en|keep (?:\\S+ ){1,4}(?:inside|within|in)|remains? (?:with)?in(?:side)?",
)
/** Forbidden is what is not named. */
const excluding = any(
  "(?:who|whoever|wer) (?:isn't|is not|not|doesn't|does not|aren't)|outside|other than|any other|anything else|anywhere else|anyone else|elsewhere|another (?:language|region|host|domain|channel|folder|way|medium|place|address)|except|apart from|besides|beyond|(?:any|no) \\p{L}+ but|(?:anything|anyone|anybody|anywhere|nothing|nobody|nowhere|none) but|not (?:at|in|under|on|from|within)|(?:aren't|isn't|are not|is not) (?:at|in|under|on|from)|(?:aren't|isn't|are not|is not)(?: an?| one of)? (?=‹)|leaves?(?: (?:the|never|not|la))* (?=‹region›)|‹region›(?: \\p{L}+){0,2} leave|leaves? the|außerhalb|ausserhalb|außer|anders als|andere[nrs]? als|jenseits|hors|en dehors|autres? que|ailleurs|fuera|fora|fuori|distint[oa]s?|diferentes?|que no sean?|otr[oa]s?|outr[oa]s?|altr[oaie]|excepto|exceto|eccetto|salvo|sauf|buiten",
)

/** A statement as it was said and as it is read. */
type Said = { readonly text: string; readonly plain: string }

/** How a statement stands to the values in it: only these, never these, or neither in so many words. */
export type Polarity = "only" | "never" | "plain" | "mixed"

const clauseEnd =
  /[;.:](?= |$)| [-–—→] | and (?=not )|, (?=(?:my|our|the|i|we|they|people|callers) \p{L})|, (?=(?:you )?(?:write|use|put|read|store|save|copy|take|go|add|edit|change|post|send)(?![\p{L}]))|, (?=(?:and |but |so )?(?:never|not|no|don't|only|nie|nicht|keine?|jamais|nunca)\b)|(?<!(?:any|no) \p{L}+|anything|nothing|nobody|anyone|anybody|anywhere|nowhere|none|everything) but | and (?=never )/u

/** The clauses of a marked statement, each with what it says about itself. */
export const clausesIn = (marked: string): readonly { readonly text: string; readonly forbids: boolean }[] =>
  marked
    .split(clauseEnd)
    .map((text) => ({ text: text.trim(), forbids: forbidding.test(text) || pointsBack.test(text.trim()) }))

/**
 * How a statement stands to its values, which `marked` has as marks. Its clauses with values have to agree: "only Slack, never Teams" says
 * two things at once.
 */
export function polarityOf(marked: string, mark: string): Polarity {
  const clauses = marked.split(clauseEnd)
  const named = clauses.filter((clause) => clause.includes(mark))
  const found = new Set(named.map(clausePolarity))
  if (found.has("mixed") || found.size > 1 || (found.has("plain") && named.length > 1)) return "mixed"
  // Values in two places of one clause stand to it in two ways: "always in Spanish, even if I write in English".
  if (named.some((clause) => clause.split(mark).length > 2 && !(found.has("never") && isList(clause, mark))))
    return "mixed"
  if (found.has("only")) return "only"
  if (found.has("never")) return "never"
  const whole = clausePolarity(marked)
  if (whole !== "never") return whole === "only" ? "only" : "plain"
  // What another clause forbids is only about the values if it says nothing else, or points back to them.
  const isBack = (clause: string): boolean =>
    !clause.includes(mark) && pointsBack.test(clause.trim()) && !elsewhere.test(clause)
  return clauses.some(isBack) && !staysThere.test(marked) ? "never" : "plain"
}

/**
 * The values of a kind that alone are allowed, where the rest of the statement names others that are not: "only Slack, not e-mail". Nothing
 * where the statement says nothing of the sort.
 */
export const onlyValues = (said: Said, kind: keyof typeof marks): readonly string[] | undefined =>
  valuesBeside(said, kind, ["only"])

/** The same where it need not say that these are all: "reports are posted to Slack, and never sent by e-mail". */
export const ratherValues = (said: Said, kind: keyof typeof marks): readonly string[] | undefined =>
  valuesBeside(said, kind, ["only", "plain"])

function valuesBeside(
  { plain, text }: Said,
  kind: keyof typeof marks,
  allowing: readonly Polarity[],
): readonly string[] | undefined {
  const read = plain.split(clauseEnd).map((clause) => {
    const marked = markValues(clause, text)
    return { values: marked.values[kind], polarity: clausePolarity(marked.text) }
  })
  const named = read.filter(({ values }) => values.length > 0)
  const [only, never] = [
    named.filter(({ polarity }) => allowing.includes(polarity)),
    named.filter(({ polarity }) => polarity === "never"),
  ]
  if (only.length !== 1 || never.length === 0 || only.length + never.length !== named.length) return undefined
  const allowed = only.flatMap(({ values }) => values)
  return never.some(({ values }) => values.some((value) => allowed.includes(value))) ? undefined : allowed
}

/** "Don't tweet or post on X": what is forbidden is told of each. */
const isList = (clause: string, mark: string): boolean =>
  clause
    .split(mark)
    .slice(1, -1)
    .every(
      (text) => /^(?:\p{L}|[ ,]){1,30}$/u.test(text) && /(?<!\p{L})(?:or|nor|and|oder|ou|o|ni)(?!\p{L})/u.test(text),
    )

const elsewhere = any("elsewhere|anywhere else|woanders|other|else|sonst")
const staysThere = /(?<![\p{L}])(?:stays?|remains?|bleib\p{L}*) (?:there|dort|put)(?![\p{L}])/u

const pointsBack =
  /^(?:never|no|no way|not allowed|forbidden|off limits|verboten|tabu|taboo|jamais|nunca|nie|niemals)(?:,? ever)?[.! ]*$|(?<![\p{L}])(?:never|not|don't|nothing|no)(?![\p{L}]).*(?<![\p{L}])(?:that (?:domain|host|folder|region|channel|address)|there|to them|dort|dorthin)(?![\p{L}])/u

export function clausePolarity(whole: string): Polarity {
  const clause = whole.replace(/read[- ]only/g, "read").replace(/› (?:that|which|who|where) (?![^,;.]*‹)[^,;.]*/u, "›")
  const forbids = forbidding.test(clause)
  if (excluding.test(clause)) return forbids || restricting.test(clause) ? "only" : "mixed"
  if (restricting.test(clause)) return "only"
  if (forbids) return "never"
  return keeping.test(clause) ? "only" : "plain"
}
