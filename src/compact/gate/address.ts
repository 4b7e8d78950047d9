import { directs } from "../../language/imperative.ts"
import type { FindingKind } from "./finding.ts"

const model =
  "(?:ai|llm|gpt(?:-?\\d\\w{0,4})?|chatgpt|claude|gemini|copilot|chatbot|assistants?|ai agents?|llm agents?|language models?|ai models?|summari[sz]er|compactor|ki|ia|asistente|assistent|ассистент|ии|助手)"

/** Someone speaks to the model by name: a salutation and the model, or the model and a comma. */
const salutation = new RegExp(
  `^(?:(?:note|message|notice|important|attention|instructions?|memo|reminder|hint)[ ,:!-]{1,3}(?:to|for)? ?|(?:dear|hey|hi|hello|attention|ok|okay) )(?:the |any |all |every |you,? |my )?(?:ai |llm )?${model}(?: (?:assistants?|agents?|models?|readers?|systems?))?\\b(?:[^.:,!]{0,40}[:,!-]|$)`,
)
const vocative = new RegExp(`^(?:ai |llm )?${model}(?: (?:assistant|agent|model))?\\s?, `)
const condition =
  /^(?:if you(?: are|'re) (?:an? |the )?(?:ai|llm|large language model|language model|chatbot|bot)\b|(?:when|once|as soon as|after) you (?:read|see|process|receive|parse|summari[sz]e) this\b)[^,:]{0,60}[,:] /
const readers =
  /^(?:all |any )?(?:ai|llm)s? (?:agents?|assistants?|models?|systems?|reviewers?|tools?)? ?(?:that |who )?(?:are )?(?:reading|read|processing|process|parsing|handling|reviewing|seeing|see) (?:this|these)\b[^.]{0,60}\b(?:must|should|shall|need to|have to|are required to)\b|^(?:ai|llm|gpt) instructions?\s?:/

/** A line that poses as a turn of the system or the developer. */
const label =
  /^(?:system|developer|operator|admin(?:istrator)?)(?: (?:message|note|notice|update|alert|instructions?|prompt|override|command|directive))?\s?[\])>]{0,2}\s?[:>-] ?/

const yourDuty = /^your (?:task|job|objective|goal|duty|instructions?)\b/
const toModel = /\b(?:you|your|assistant|the ai|the model|the agent|the user)\b/

/** How much of a sentence is looked at: an address stands at its start. */
const maxAddress = 400

/** Does this sentence speak to the model itself, as one who may command it? */
export function addressIn(sentence: string): FindingKind | undefined {
  const start = sentence.slice(0, maxAddress)
  for (const address of [salutation, vocative, condition]) {
    const [said] = start.match(address) ?? []
    if (said !== undefined && (directs(start.slice(said.length)) || yourDuty.test(start.slice(said.length))))
      return "tool-steering"
  }
  if (readers.test(start)) return "tool-steering"
  const [said] = start.match(label) ?? []
  if (said === undefined) return undefined
  const rest = start.slice(said.length)
  return toModel.test(rest) && directs(rest) ? "role-impersonation" : undefined
}

const ownAnswer =
  /\b(?:in|to|into|of|with|at the (?:end|start|beginning|top) of|modify|change|enhance|augment|begin|start|end|finish|conclude|translate|rewrite|encode|format|provide|render|write) (?:all (?:of )?)?your (?:next |final |entire |whole )?(?:response|answer|output|summary)s?\b/
const firstPerson = /\b(?:me|us|my|our|we|i|i'm|we'll|by (?:monday|tuesday|wednesday|thursday|friday|tomorrow))\b/

/** Does this sentence tell its reader what to put into the answer? People who write to people say whom the answer is for. */
export function steersAnswer(sentence: string): boolean {
  const start = sentence.slice(0, maxAddress)
  if (!ownAnswer.test(start) || firstPerson.test(start)) return false
  return (
    directs(start) ||
    /^(?:in|at the (?:end|start|beginning) of) your /.test(start) ||
    /^(?:modify|enhance|augment|translate|encode|format|finish|conclude)/.test(start)
  )
}
