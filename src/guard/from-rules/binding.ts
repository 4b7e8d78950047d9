import { lazyPattern } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { grammar } from "./grammar.ts"
import { conditional, denies, partsOf, type RulePart } from "./parts.ts"
import { inPlainWords } from "./plain-words.ts"
import { type RuleValues, uniqueValues } from "./values.ts"
import { listedWords, wholeWords } from "./vocabulary.ts"

/** A sentence that is a rule for the agent, with what it says in general, before its subject is known. */
export type Rule = {
  /** As written, trimmed. */
  readonly text: string
  /** Normalized by `inPlainWords`. */
  readonly plain: string
  /** The parts in plain words with marks in place of values, joined by " ; ". */
  readonly words: string
  /** The same with every mark as `‹›`. */
  readonly bare: string
  readonly parts: readonly RulePart[]
  /** The values of all parts. */
  readonly values: RuleValues
  /** True if the agent has to ask a person. */
  readonly asks: boolean
}

/** Why a sentence is not a rule for the agent, or cannot be expressed as a policy. */
type NoRule = { readonly why: string }

/** Maximum length of a rule in characters and words: longer ones say several things or describe a system, so what they bind is unclear. */
const maxLength = 240
const maxWords = 28
/** Maximum number of parts: sentences with more tell a story, or say several things. */
const maxParts = 4

/** Reads a sentence as a rule, or says why it is none. */
export function readRule(sentence: string): Rule | NoRule {
  const text = sentence.trim()
  if (text.length > maxLength || text.split(/\s+/).length > maxWords)
    return { why: "it is too long to be read as one rule" }
  const plain = inPlainWords(
    text.replace(/\(([^()\s]+)\)/g, " $1 ").replace(/(?<![\p{L}])(?:drive|laufwerk) ([a-z]):(?=[\s,.]|$)/giu, "$1:/"),
  ).replace(grammar("concession"), "")
  const why = whyNoRule(text, plain)
  if (why !== undefined) return { why }
  const parts = partsOf(plain, text)
  if (parts.length > maxParts) return { why: "it says several things at once; state them one by one" }
  const asks = listedWords("asking").test(plain.replace(grammar("noAsking"), " "))
  const unbound = whyUnbound(plain, parts, asks)
  if (unbound !== undefined) return { why: unbound }
  const words = parts.map(({ marked }) => marked).join(" ; ")
  return {
    text,
    plain,
    words,
    bare: words.replace(/‹\p{L}+›/gu, "‹›"),
    parts,
    values: uniqueValues((kind) => parts.flatMap(({ values }) => values[kind])),
    asks,
  }
}

/** Returns why a text as a whole is not a rule, whatever its parts say. */
function whyNoRule(text: string, plain: string): string | undefined {
  if (quotesRule(text)) return "it quotes words, and whose rule they are cannot be told"
  if (/(?:^|\s)\(?1[.)] .*\s\(?2[.)] /.test(plain)) return "it says two things at once; state them one by one"
  if (/\([^)]*,[^)]*\)/.test(plain)) return "it lists cases, and what it says of each cannot be told"
  if (/\?\s*$/.test(plain)) return "it is a question"
  if (grammar("work").test(plain)) return "it asks for a piece of work"
  if (/["']\s*:\s*["'{[\d]/.test(text) || writtenByOthers.test(text)) return "it is data"
  if (grammar("once").test(plain.replace(grammar("onMachine", "gu"), " "))) return "it is meant for once"
  return grammar("timed").test(plain.replace(grammar("emphasis", "gu"), " "))
    ? "it holds at some times only, which a call does not show"
    : undefined
}

/** Returns why no part of a sentence binds the agent, or why one binds it only sometimes. */
function whyUnbound(plain: string, parts: readonly RulePart[], asks: boolean): string | undefined {
  if (
    grammar("past").test(plain) ||
    grammar("isNoun").test(plain) ||
    parts.some(({ marked }) => grammar("valueActs").test(marked))
  )
    return "it reports something"
  // A part that gives a reason may report anything; every other part has to be a rule for the agent.
  for (const part of parts.filter(({ explains, permits }) => !explains && !(permits && parts.length > 1))) {
    const why = whyNotForAgent(part.plain.replace(grammar("asIs", "gu"), " ").trim(), part.others)
    if (why !== undefined) return why
    const condition = asks || isOtherwise(part, parts) ? undefined : conditionIn(part.plain)
    if (condition !== undefined && !/\d/.test(condition))
      return `it holds under a condition that a call does not show: "${condition}"`
  }
  return asks && allowsWithoutAsking(plain) ? allowed : undefined
}

const allowed = "it allows something, and a rule found in words never loosens anything"

/** Returns why a part does not bind the agent. */
function whyNotForAgent(plain: string, isOthers: boolean): string | undefined {
  if (grammar("allowing").test(plain) && !listedWords("restricting").test(plain)) return allowed
  if (
    grammar("isThing").test(plain) ||
    (!isOthers && !grammar("isCommand").test(plain) && bindsThing(plain)) ||
    grammar("byOthers").test(plain)
  )
    return "it binds what is built or someone else, not the agent"
  return grammar("telling").test(plain.replace(grammar("askingClause"), " ")) ? "it reports something" : undefined
}

/** Source of a pattern for a product in a few words, optionally with its place. */
const aProduct = [
  "(?:the|our|this|your|every|each|all|a|an|my)?\\s*",
  `(?:(?!to |for |with |from |of |by |in )[\\p{L}-]+ ){0,2}(?:${listedWords("products").source})`,
  "(?: (?:at|on|in|of|for|from|behind|under) [\\p{L}\\p{N}./-]+)?",
].join("")
const doesOrMust = anyOf(
  "must|should|shall|may|can|cannot|can't|has to|have to|needs? to|is|are|will|won't|only|never|always",
  "does|do|doesn't|don't|accepts?|live|lives|was|were",
)
/** Source of a pattern for contacting it: "be contacted", "only be mailed". */
const beContacted = [
  "(?:only |never |not |always |exclusively |(?:by|per|via|over) \\S+ )*(?:to )?(?:be )?",
  "(?:contacted|written|mailed|e-?mailed|messaged|called|notified|informed|answered|reached|texted)(?![\\p{L}])",
].join("")
/** Matches a statement about how a product behaves, which does not bind the agent that builds it. */
const product = lazyPattern(`^\\W*${aProduct} ${doesOrMust}(?! ${beContacted})(?![\\p{L}])`, "u")

/** Matches a subject that acts for the user. */
const agents = /(?<![\p{L}])(?:agents?|assistants?|subagents?|bots?|you|models?|ai|claude|gpt|codex|gemini)$/u

const bindsThing = (plain: string): boolean =>
  product.test(plain) ||
  /^(?:it|this) (?:should|must|has to|needs to)(?! (?:only |always )*be (?:to|at|sent|from) )(?![\p{L}])/u.test(
    plain,
  ) ||
  isAboutPart(plain)

function isAboutPart(plain: string): boolean {
  const [whole, subject = "", verb = ""] = grammar("partSubject").exec(plain) ?? []
  if (whole === undefined) return false
  return (
    !grammar("ownVerbs").test(verb) &&
    !grammar("handled").test(subject) &&
    !agents.test(subject) &&
    !/ (?:to|of|for|from|with|in|on|at|you|your) /.test(`${subject} `)
  )
}

/** Matches text that somebody else wrote: lines of a page, a code comment, a list or a chat log. */
const writtenByOthers = /^(?:>|\||\/\/|\/\*|<!--|\[\d|\d+\. )|<\/?\p{L}+>|\[\d\d:\d\d/u

const whenYou = [
  "(?:when|whenever|if|cuando|quand|wenn) ",
  "(?:(?:you|we)(?:'re| are)? |(?=\\p{L}+ing(?![\\p{L}]))|(?=share|forward|reply))",
  "(?:ever |about to |need to |have to |want to |wish to |must )*",
].join("")
const whenYouWish =
  "(?:when|whenever|if) (?:you (?:want|need|have|wish) to|you're about to|you are about to)(?![\\p{L}])"
/** Matches a condition that is only the act itself: "when you send mail". */
const actAsCondition = lazyPattern(
  `(?<![\\p{L}])${whenYou}(?:${listedWords("acting").source})|(?<![\\p{L}])${whenYouWish}`,
  "gu",
)

/** True if it only allows acting without a question: "Merge it without asking". */
function allowsWithoutAsking(plain: string): boolean {
  const rest = plain.replace(grammar("unasked"), " ")
  return (
    rest !== plain &&
    !listedWords("forbidding").test(rest) &&
    !listedWords("asking").test(rest.replace(grammar("noAsking"), " "))
  )
}

/** Returns the clause that says when the rule holds, unless it is the act itself or an approval. */
function conditionIn(plain: string): string | undefined {
  const found = grammar("conditional").exec(
    plain.replace(new RegExp(actAsCondition.source, "gu"), " ").replace(grammar("askingClause"), " "),
  )
  return found?.input.slice(found.index).split(/[,;:.](?= |$)/, 1)[0]
}

/** True for a negated condition that names what alone is allowed: "If it isn't an address at …, don't write to it". */
const isOtherwise = ({ plain, marked }: RulePart, parts: readonly RulePart[]): boolean =>
  conditional.test(plain) &&
  marked.includes("‹") &&
  denies.test(plain) &&
  parts.some((part) => part.plain !== plain && (part.polarity === "never" || part.permits))

/** True if a quotation inside the text states a rule. A text that is quoted as a whole does not count. */
const quotesRule = (text: string): boolean =>
  (
    text.replace(/^["“„«]([^"“”„«»]*)["”“»][.!]?$/su, "$1").match(/["“”„«][^"“”„«»]*\s[^"“”„«»]*(?:["”“»]|$)/gu) ?? []
  ).some((quoted) => {
    const plain = inPlainWords(quoted)
    return [
      listedWords("forbidding"),
      listedWords("restricting"),
      listedWords("asking"),
      wholeWords("must|always"),
    ].some((words) => words.test(plain))
  })
