import { any, type FamilyReading, type PolicyFamily } from "./family.ts"
import { partsOf, type RulePart } from "./parts.ts"
import { moreWordsOfRule } from "./rule-words.ts"
import { askFirst, controlsKept, personalKept, productionKept, secretsKept } from "./second-things.ts"
import {
  channelsNamed,
  hostsNamed,
  languageNamed,
  pathsNamed,
  recipientsNamed,
  regionsNamed,
  sumNamed,
  toolsNamed,
} from "./second-values.ts"
import {
  asking,
  concession,
  conditionIn,
  isTooLong,
  noAsking,
  sparesQuestion,
  whyFact,
  whyNot,
  whyNotClause,
} from "./statement.ts"

/**
 * A second reading of rules that the families do not read by their own words. Values are found by their form anywhere in the sentence, what
 * is said of them by its parts, and the family by the kind of the values and the words around them. It may bind more than the rule says, so
 * its policies ask where others refuse.
 */
export type Said = {
  /** As it was said. */
  readonly text: string
  readonly plain: string
  /** The same with marks in the places of values, part by part. */
  readonly words: string
  /** Those words without the marks. */
  readonly bare: string
  readonly parts: readonly RulePart[]
  readonly asks: boolean
}

/** Families in the order in which they are tried: those with values of their own last, since their words are the widest. */
const readers: readonly (readonly [PolicyFamily, (said: Said) => FamilyReading])[] = [
  ["spend", sumNamed],
  ["security-controls", controlsKept],
  ["secrets", secretsKept],
  ["personal-data", personalKept],
  ["language", languageNamed],
  ["recipients", recipientsNamed],
  ["production-data", productionKept],
  ["regions", regionsNamed],
  ["hosts", hostsNamed],
  ["paths", pathsNamed],
  ["tools", toolsNamed],
  ["channels", channelsNamed],
  ["ask-before", askFirst],
]

/** The family and the policy of a rule by its second reading, or why it has none. */
export function readAgain(
  rule: string,
):
  | { readonly family: PolicyFamily; readonly reading: NonNullable<FamilyReading> }
  | { readonly why: string }
  | undefined {
  const said = saidIn(rule)
  if ("why" in said) return said
  let near: { readonly family: PolicyFamily; readonly reading: NonNullable<FamilyReading> } | undefined
  for (const [family, read] of readers) {
    const reading = read(said)
    if (reading === undefined) continue
    if ("policy" in reading) return { family, reading }
    near ??= { family, reading }
  }
  return near
}

function saidIn(rule: string): Said | { readonly why: string } {
  const text = rule.trim()
  if (isTooLong(text)) return { why: "it is too long to be read as one rule" }
  const plain = moreWordsOfRule(
    text.replace(/\(([^()\s]+)\)/g, " $1 ").replace(/(?<![\p{L}])(?:drive|laufwerk) ([a-z]):(?=[\s,.]|$)/giu, "$1:/"),
  ).replace(concession, "")
  const why = whyNot(text, plain)
  if (why !== undefined) return { why }
  if (notSaid.test(text)) return { why: "it is data" }
  if (timed.test(plain)) return { why: "it holds at some times only, which a call does not show" }
  const parts = partsOf(plain, text)
  if (parts.length > maxParts) return { why: "it says several things at once; state them one by one" }
  const fact = parts.map(({ marked }) => whyFact(plain, marked)).find((one) => one !== undefined)
  if (fact !== undefined) return { why: fact }
  const asks = asking.test(plain.replace(noAsking, " ")) || moreAsking.test(plain)
  // A part that says why may report what it likes; the others bind, and have to be a rule for the agent.
  for (const part of parts.filter(({ explains, permits }) => !explains && !(permits && parts.length > 1))) {
    const reason =
      (isThing.test(part.plain) ? "it binds what is built or someone else, not the agent" : undefined) ??
      whyNotClause(part.plain.replace(asIs, " ").trim(), isCommand.test(part.plain))
    if (reason !== undefined) return { why: reason }
    const condition = asks || isOtherwise(part, parts) ? undefined : conditionIn(part.plain.replace(actMeant, " "))
    if (condition !== undefined && !/\d/.test(condition))
      return { why: `it holds under a condition that a call does not show: "${condition}"` }
  }
  if (asks && sparesQuestion(plain))
    return { why: "it allows something, and a rule found in words never loosens anything" }
  const words = parts.map(({ marked }) => marked).join(" ; ")
  return { text, plain, words, bare: words.replace(/‹\p{L}+›/gu, "‹›"), parts, asks }
}

/** Code and its parts, of whatever name. */
const isThing =
  /^[\p{L}\p{N}/ _-]{1,50} (?:(?<!(?:door|access|pin|alarm|gate|entry|safe|security|recovery) )code|layers?|modules?|crates?|components?|services?|adapters?) (?:must|should|may|can|cannot|shall|never)(?![\p{L}])/u

/** A command, or something that is said to be forbidden: neither binds what is built. */
const isCommand =
  /^(?:please |and |but |so |then |always )*(?:never|don't|do not|no|only|leave|keep|stay|avoid|hands off|refrain)(?![\p{L}])(?!.*(?<![\p{L}])(?:they|he|she|was|were|would|could|might|said|says)(?![\p{L}]))|(?<![\p{L}])(?:is|are) (?:\p{L}+ly )?(?:taboo|off[- ]limits|out of bounds|banned|forbidden|prohibited|never \p{L}+(?:ed|en|wn|nt))(?![\p{L}])|(?<![\p{L}])(?:must|has to|have to|should|stays?|remains?)(?: always)? (?:keep running|stay (?:on|enabled|active|in place)|remain (?:on|enabled|active|in place)|on|enabled|active)(?![\p{L}])/u
const asIs =
  /(?<![\p{L}])(?:where|as|what) (?:they|it) (?:are|is)(?![\p{L}])|^(?:as long as|provided(?: that)?) (?:they|it)(?![\p{L}])|^(?:they're|they are|they)(?= (?:not|never|must))/gu

/** A condition that is the act itself. */
const actMeant =
  /(?<![\p{L}])(?:(?:when|whenever|if) (?:you (?:want|need|have|wish) to|you're about to|you are about to)|(?:when|whenever) (?:you )?(?:share|sharing|forward|forwarding|reply|answer|send|sending|write|writing|post|posting|launch|launching|provisioning|get in touch|getting in touch|correspond|email|e-mail|mail|contact|deploy|start|set up|setting up|spin up))(?![\p{L}])/gu

/** Longer sentences tell a story, or say several things. */
const maxParts = 4

/** Lines of a page, a comment, a list or a chat, which somebody else wrote. */
const notSaid = /^(?:>|\||\/\/|\/\*|<!--|\[\d|\d+\. )|<\/?\p{L}+>|\[\d\d:\d\d/u

const timed =
  /(?<![\p{L}])(?:after|before|between|until|till|later than|earlier than|from|by) (?:\d|noon|midnight|lunch|work|dinner|(?:six|seven|eight|nine|ten|eleven|twelve)(?![\p{L}]))(?!\d*\.\d+\.|[\d.,]*\s?(?:€|\$|£|euros?|dollars?|pounds?|eur|usd|gbp|chf|kronor|%|percent))|\d ?(?:am|pm|uhr|o'clock)(?![\p{L}])|(?<![\p{L}])(?:in the (?:morning|evening|afternoon)|evenings?|at (?:night|work|dinner|lunch|home)|hours?|late|later|early|anniversar\p{L}+)(?![\p{L}])/u

/** "If it isn't an address at …, don't write to it": the condition names what alone is allowed. */
const isOtherwise = ({ plain, marked }: RulePart, parts: readonly RulePart[]): boolean =>
  /^(?:if|when|unless|as long as|provided) /u.test(plain) &&
  marked.includes("‹") &&
  /(?<![\p{L}])(?:isn't|aren't|not|doesn't|don't)(?![\p{L}])/u.test(plain) &&
  parts.some((part) => part.plain !== plain && (part.polarity === "never" || part.permits))

const moreAsking = any(
  "(?:a|an|the|your|explicit) (?:yes|thumbs[- ]up|nod|okay|ok|green light|go-ahead|word|blessing) from \\p{L}+|show (?:it|them|this|that) to me|show me (?:\\p{L}+ ){1,4}and wait|sign off on|needs? my (?:ok|okay|word|yes|nod|approval|signature|explicit yes)|(?:goes?|run|pass|passes|comes?) (?:\\p{L}+ ){0,4}(?:past|by|through) me|double[- ]check (?:\\p{L}+ ){0,3}with me|cleared? (?:\\p{L}+ ){0,3}with \\p{L}+|(?:okayed|approved|confirmed|cleared|signed off) by me|given (?:the|my|you the) (?:nod|ok|okay|green light|go-ahead)|get my (?:okay|ok|nod|yes)|stop and ask",
)
