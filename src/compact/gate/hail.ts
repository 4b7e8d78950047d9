import { directs } from "../../language/imperative.ts"
import { conceals, givesAway, isGrave, isWeighty, laysDown, sendsOut, unasked, widens } from "./demand.ts"

/** Names that only a model bears, and names that others bear as well. */
const surely =
  "(?<![@\\w.-])(?:ais?|a\\.i\\.|llms?|(?:large )?language models?|chatbots?|chatgpt|gpt(?:-?\\d\\w{0,3})?|claude|gemini|copilot|codex|(?:ai|llm|coding|automated|autonomous|virtual|artificial)[ -](?:agents?|assistants?|models?|reviewers?|readers?|tools?|systems?|bots?|crawlers?|intelligences?)|sub-?agents?|summari[sz]ers?)"
const maybe = "(?<![@\\w.-])(?:agents?|assistants?|models?|bots?|robots?)"
export const anyModel = `(?:${surely}|${maybe})`

/** Before the name: the start of a sentence, a value, a tag or a comment; then what hails the reader. */
const start = "(?:^|(?<!\\w ?)\\(|[\\n\"'>\\]}#*;%|]\\s?|//\\s?|[.!?:] |-> ?)"
const herald =
  "(?:(?:[\\w-]+ ){0,2}?(?:note|notice|message|memo|instructions?|hint|reminder|warning|favou?r|request|task|objective|goal|information|comment|todo|directive|order|assignment|word)s?\\b[^.:\\n]{0,16}?(?:\\b(?:to|for) |\\()|(?:dear|hey|hi|hello|attention|ok|okay|listen|to|if|when|should)[ ,:]{1,2})"
const determiner = "(?:(?:the|any|all|every|my|our|you|an?|other)[, ]{1,2}){0,2}"
const reading =
  "(?:(?:[ /]\\w+){0,2} (?:reading|that|who|which|handling|processing|working|summari[sz]ing|parsing|reviewing|visiting|seeing|in charge|runs?|reads?|sees?)\\b[^:,.\\n]{0,60})"
const hailed = new RegExp(
  `${start}(${herald})?${determiner}(?:(${surely})|${maybe})(?:/${maybe})?(${reading})?\\)?\\s?([:,!]|- )`,
)

const greets = /^(?:dear|hey|hi|hello|attention|ok|okay|listen|to|if|when|should)[ ,:]/
const opensWithDuty =
  /^\W{0,4}(?:please\b|you\b|your (?:task|job|instructions|assignment|goal)|could you|would you|the \w+ (?:must|should|wants))/

/** Someone speaks to a model by name, and wants something. */
export function hails(sentence: string): boolean {
  const found = hailed.exec(sentence)
  if (found === null) return false
  const rest = sentence.slice(found.index + found[0].length)
  const wants = directs(rest) || opensWithDuty.test(rest)
  const [, heralded = "", sure, reads, sign] = found
  if (sure !== undefined || reads !== undefined || (heralded !== "" && !greets.test(heralded)))
    return wants || isGrave(rest) || /\b(?:must|should|shall)\b/.test(rest)
  if (!wants) return false
  // A person may be an agent too, and be greeted as one.
  const plain = sign === "," && heralded === "" && found.index === 0
  return plain || isGrave(rest) || (heralded === "" && (isWeighty(rest) || / omit\b/.test(rest)))
}

const duty = new RegExp(
  `(?<!if (?:the |an? )?)\\b${anyModel}${reading}?(?:'s (?:report|answer|reply|summary)(?: to the user)?)? (?:(should|must|shall|would|will now|has to|have to|needs? to|(?:is|are) (?:expected|required|asked|instructed|supposed) to|cop(?:y|ies)|sends?|forwards?)|may|can|(?:is|are) (?:now )?(?:free|cleared|allowed|authori[sz]ed|permitted) to|does not have to(?= ask again))\\b(?! not\\b| never\\b|n't| (?:now )?be\\b| also\\b| have\\b| only\\b)`,
)
const asked = new RegExp(
  `\\b(?:requires?|asks?|wants?|invites?|expects?|instructs?|could|would|letting|by) (?:the |any |all )?${anyModel}\\b`,
)
const asModel = new RegExp(`\\bas an? ${surely}\\b.{0,40}\\byou (?:must|have to|should|need to)\\b`)
const standIn = /\bact on (?:their|the user's|your user's|his|her) behalf\b/
/** What is wanted by the way of one who is busy with something else. */
const aside = /\bwhile you(?:'re| are) at it\b|\bbefore you (?:go on|continue|proceed|carry on)\b/
const flattered =
  /\b(?:helpful|good|smart|real|true|truly \w+|capable|loyal|clever) (?:assistant|agent|ai|model|bot)s?\b.{0,12}\b(?:would|will|does|should|you|skips?|takes?)\b/

/** A duty or a licence that a text lays on models, of a sort that only an attacker would. */
export function obliges(sentence: string): boolean {
  const found = duty.exec(sentence)
  if (found !== null) {
    const [rest = ""] = sentence.slice(found.index).split(/[.!?] /)
    if (
      givesAway.test(rest) ||
      unasked.test(rest) ||
      laysDown.test(rest) ||
      (found[1] !== undefined && conceals.test(rest))
    )
      return true
    if (found[1] !== undefined && (sendsOut.test(rest) || widens.test(rest))) return true
  }
  if (asModel.test(sentence)) return true
  if (flattered.test(sentence) || standIn.test(sentence) || aside.test(sentence))
    return isGrave(sentence) || isWeighty(sentence)
  return asked.test(sentence) && (isGrave(sentence) || sendsOut.test(sentence) || widens.test(sentence))
}
