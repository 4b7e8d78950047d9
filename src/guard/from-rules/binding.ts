import { lazyPattern } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { grammar } from "./grammar.ts"
import { conditional, denies, partsOf, type RulePart } from "./parts.ts"
import { inPlainWords } from "./plain-words.ts"
import { type RuleValues, uniqueValues } from "./values.ts"
import { any, said } from "./vocabulary.ts"

/** Is a sentence a rule for the agent, and what does it say in general, before it is known what it is about? */
export type Rule = {
  /** As it was said. */
  readonly text: string
  /** In plain words. */
  readonly plain: string
  /** The same with marks in the places of values, part by part. */
  readonly words: string
  /** Those words without the names of the marks. */
  readonly bare: string
  readonly parts: readonly RulePart[]
  /** The values of all parts. */
  readonly values: RuleValues
  /** A person is to be asked. */
  readonly asks: boolean
}

/** Why a sentence is no rule for the agent, or none that could be told in a policy. */
type NoRule = { readonly why: string }

/** Longer rules say several things, or describe a system: what they bind cannot be told from a few words. */
const maxLength = 240
const maxWords = 28
/** Sentences of more parts tell a story, or say several things. */
const maxParts = 4

/** The rule that a sentence is, or why it is none. */
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
  const asks = said("asking").test(plain.replace(grammar("noAsking"), " "))
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

/** What keeps a text from being read as a rule, whatever part of it may bind. */
function whyNoRule(text: string, plain: string): string | undefined {
  if (quotesRule(text)) return "it quotes words, and whose rule they are cannot be told"
  if (/(?:^|\s)\(?1[.)] .*\s\(?2[.)] /.test(plain)) return "it says two things at once; state them one by one"
  if (/\([^)]*,[^)]*\)/.test(plain)) return "it lists cases, and what it says of each cannot be told"
  if (/\?\s*$/.test(plain)) return "it is a question"
  if (grammar("work").test(plain)) return "it asks for a piece of work"
  if (/["']\s*:\s*["'{[\d]/.test(text) || notSaid.test(text)) return "it is data"
  if (grammar("once").test(plain.replace(grammar("onMachine", "gu"), " "))) return "it is meant for once"
  return grammar("timed").test(plain.replace(grammar("emphasis", "gu"), " "))
    ? "it holds at some times only, which a call does not show"
    : undefined
}

/** Why none of the parts of a sentence binds the agent, or one binds it only sometimes. */
function whyUnbound(plain: string, parts: readonly RulePart[], asks: boolean): string | undefined {
  if (
    grammar("past").test(plain) ||
    grammar("isNoun").test(plain) ||
    parts.some(({ marked }) => grammar("valueActs").test(marked))
  )
    return "it reports something"
  // A part that says why may report what it likes; the others bind, and have to be a rule for the agent.
  for (const part of parts.filter(({ explains, permits }) => !explains && !(permits && parts.length > 1))) {
    const why = whyNotForAgent(part.plain.replace(grammar("asIs", "gu"), " ").trim(), part.others)
    if (why !== undefined) return why
    const condition = asks || isOtherwise(part, parts) ? undefined : conditionIn(part.plain)
    if (condition !== undefined && !/\d/.test(condition))
      return `it holds under a condition that a call does not show: "${condition}"`
  }
  return asks && sparesQuestion(plain) ? allowed : undefined
}

const allowed = "it allows something, and a rule found in words never loosens anything"

/** What keeps a part from binding the agent. */
function whyNotForAgent(plain: string, isOthers: boolean): string | undefined {
  if (grammar("allowing").test(plain) && !said("restricting").test(plain)) return allowed
  if (
    grammar("isThing").test(plain) ||
    (!isOthers && !grammar("isCommand").test(plain) && bindsThing(plain)) ||
    grammar("byOthers").test(plain)
  )
    return "it binds what is built or someone else, not the agent"
  return grammar("telling").test(plain.replace(grammar("askingClause"), " ")) ? "it reports something" : undefined
}

/** Something that is built, in a few words, and where it stands. */
const aProduct = [
  "(?:the|our|this|your|every|each|all|a|an|my)?\\s*",
  `(?:(?!to |for |with |from |of |by |in )[\\p{L}-]+ ){0,2}(?:${said("products").source})`,
  "(?: (?:at|on|in|of|for|from|behind|under) [\\p{L}\\p{N}./-]+)?",
].join("")
const doesOrMust = anyOf(
  "must|should|shall|may|can|cannot|can't|has to|have to|needs? to|is|are|will|won't|only|never|always",
  "does|do|doesn't|don't|accepts?|live|lives|was|were",
)
/** Somebody gets in touch with it. */
const beReached = [
  "(?:only |never |not |always |exclusively |(?:by|per|via|over) \\S+ )*(?:to )?(?:be )?",
  "(?:contacted|written|mailed|e-?mailed|messaged|called|notified|informed|answered|reached|texted)(?![\\p{L}])",
].join("")
/** It binds something that is built, and not whoever builds it. */
const product = lazyPattern(`^\\W*${aProduct} ${doesOrMust}(?! ${beReached})(?![\\p{L}])`, "u")

/** Those who act for the user. */
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

/** Lines of a page, a comment, a list or a chat, which somebody else wrote. */
const notSaid = /^(?:>|\||\/\/|\/\*|<!--|\[\d|\d+\. )|<\/?\p{L}+>|\[\d\d:\d\d/u

const whenYou = [
  "(?:when|whenever|if|cuando|quand|wenn) ",
  "(?:(?:you|we)(?:'re| are)? |(?=\\p{L}+ing(?![\\p{L}]))|(?=share|forward|reply))",
  "(?:ever |about to |need to |have to |want to |wish to |must )*",
].join("")
const whenYouWish =
  "(?:when|whenever|if) (?:you (?:want|need|have|wish) to|you're about to|you are about to)(?![\\p{L}])"
/** A condition that is the act itself: "when you send mail". */
const actMeant = lazyPattern(`(?<![\\p{L}])${whenYou}(?:${said("acting").source})|(?<![\\p{L}])${whenYouWish}`, "gu")

/** "Merge it without asking" spares a question. */
function sparesQuestion(plain: string): boolean {
  const rest = plain.replace(grammar("unasked"), " ")
  return (
    rest !== plain && !said("forbidding").test(rest) && !said("asking").test(rest.replace(grammar("noAsking"), " "))
  )
}

/** The clause that says when something holds, if that is not the act itself or a person's word. */
function conditionIn(plain: string): string | undefined {
  const found = grammar("conditional").exec(
    plain.replace(new RegExp(actMeant.source, "gu"), " ").replace(grammar("askingClause"), " "),
  )
  return found?.input.slice(found.index).split(/[,;:.](?= |$)/, 1)[0]
}

/** "If it isn't an address at …, don't write to it": the condition names what alone is allowed. */
const isOtherwise = ({ plain, marked }: RulePart, parts: readonly RulePart[]): boolean =>
  conditional.test(plain) &&
  marked.includes("‹") &&
  denies.test(plain) &&
  parts.some((part) => part.plain !== plain && (part.polarity === "never" || part.permits))

/** Do the words that bind stand in quotation marks, and others do not? */
const quotesRule = (text: string): boolean =>
  (
    text.replace(/^["“„«]([^"“”„«»]*)["”“»][.!]?$/su, "$1").match(/["“”„«][^"“”„«»]*\s[^"“”„«»]*(?:["”“»]|$)/gu) ?? []
  ).some((quoted) => {
    const plain = inPlainWords(quoted)
    return [said("forbidding"), said("restricting"), said("asking"), any("must|always")].some((words) =>
      words.test(plain),
    )
  })
