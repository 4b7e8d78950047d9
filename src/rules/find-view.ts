import { normalize } from "../language/normalize.ts"
import { survey } from "../language/survey.ts"
import { withoutOpening } from "./find-chat.ts"
import { announcedBy, saysHowLong } from "./find-lead.ts"

/** A sentence as the cues read it: folded, in lower case, with code, quotations and addresses put aside. */
export type Seen = {
  readonly text: string
  /** What it is about before a colon or dash: "Comments", "Never". */
  readonly label: string
  /** The sentence without its label. */
  readonly body: string
  /** The label is code: the line describes what is named. */
  readonly named: boolean
  /** It calls itself a rule: "Policy: …". */
  readonly declared: boolean
  /** It asks to be heeded: "Please remember: …". */
  readonly announced: boolean
}

const code = /`{1,3}[^`\n]{1,200}`{1,3}/g
const quoted =
  /(^|[\s(:,])(?:"[^"\n]{1,300}"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|„[^“”\n]{1,300}[“”]|「[^」\n]{1,200}」|『[^』\n]{1,200}』)/g
const apart = /(^|[\s(])'[^'\n]{2,200}'(?=$|[\s.,;:!?)])/g
const link = /\[([^\]\n]{1,120})\]\([^)\s]{1,300}\)/g
const address = /\b(?:https?|ftp|s3):\/\/[^\s)>\]]{1,300}/g

/** Lead words that say only that something is said. */
const hails =
  /^(?!(?:\w+ )?(?:retry|cache|caching|restart|eviction|backoff|scaling|pull|rotation|lint|routing|firewall|proxy|scheduling|referrer|cors|iam|bucket) (?:rule|polic))(?:(?:very )?important|(?:long-term |agent |project |saved )?memory|memoria|记忆|記憶|recuerda|记住|請記住|请记住|note to self|note|nb|please note|critical|warning|caution|attention|reminder|remember|(?:[a-z]+ ){0,3}(?:rule|policy|requirement|constraint|instruction|preference)s?(?: (?:#\d+|\d+|update|reminder|change))?(?: from \w+| for \w+| \(\w+\))?|(?:[a-z]+ ){0,2}(?:politica|norma|regla|preferencia)s?(?: de (?:la |el )?\w+| interna| del? \w+)?|(?:公司|组织|团队|用户|部门)?(?:政策|规定|制度|偏好|要求)|ps|p\.s\.|update|fyi|todo|also|nota|importante|hinweis|wichtig|remarque|regel|regla|regle|注意|重要|规则|規則|提示|备注)\s?[:：!,–—-]{1,2}\s?/

/** Hails that ask to be heeded. */
const heeds =
  /^(?:(?:very |most )?important|critical|warning|caution|attention|reminder|remember|(?:please )?note|nb|wichtig|importante|recuerda|nota|remarque|注意|重要|记住|请记住)\s?[:：!,–—-]/

const declares = /rule|poli[ct]|requirement|constraint|instruction|preferen|reg[lr]|norma|规|規|政策|制度|偏好/

const labelled =
  /^((?:qcode(?:[ /,&]{1,3}qcode){0,4}(?:\([^)]{0,60}\))?|[^:：.!?—]{1,48}))(?:[:：](?=\s|$)\s*|：|\s[-–—]{1,2}\s|—)/

/** Words that a label must not start with: it is then the sentence itself. */
const clausal =
  /^(?:if|when|whenever|before|after|for|to|in|on|once|while|unless|until|do|don't|use|never|always|you|please|ensure|make|run|prefer|avoid|keep|only|all|every|each|any|no)\b(?=.)/

/** What the cues see of a sentence. */
export function seenOf(sentence: string): Seen {
  const whole = folded(masked(sentence))
    .replace(/[\s_]+/g, " ")
    .trim()
    .replace(/^["'(]+ ?/, "")
  const hailed = withoutOpening(stripHails(whole))
  const lead = leadOf(hailed)
  const text = lead.length === 0 ? hailed : withoutOpening(stripHails(hailed.slice(lead.length)))
  const announced = lead.length > 0 || heeds.test(whole)
  const declared = lead.declares || (text !== whole && declares.test(whole.slice(0, whole.length - text.length)))
  const [before = "", label = ""] = parts.test(text) ? (labelled.exec(text) ?? []) : []
  const body = text.slice(before.length)
  if (before === "" || (clausal.test(label) && label.includes(" ")) || label.split(" ").length > 6 || body === "")
    return { text, label: "", body: text, named: /^(?:the )?qcode\b/.test(text), declared, announced }
  return { text, label: label.trim(), body, named: /qcode|[a-z]\.[a-z]|\//.test(label), declared, announced }
}

/** Code, links, addresses and quotations put aside; each is looked for only where its signs are. */
function masked(sentence: string): string {
  const bare = sentence.includes("`") ? sentence.replace(code, " qcode ") : sentence
  const linked = bare.includes("](") ? bare.replace(link, " $1 ") : bare
  const addressed = linked.includes("://") ? linked.replace(address, " qlink ") : linked
  const said = quotes.test(addressed) ? addressed.replace(quoted, "$1 qquote ") : addressed
  return said.includes("'") ? said.replace(apart, "$1 qquote ") : said
}
const quotes = /["“«„「『]/

/** As `normalize` has it, which changes only the case of a text without a sign of anything else. */
function folded(text: string): string {
  const found = survey(text)
  const { foreign, escaped, dressed, spaced } = found
  const isPlain = !foreign && !escaped && !dressed && !spaced && !lookAlikes.test(text)
  return isPlain ? text.toLowerCase() : normalize(text, found).text
}
/** Digits and signs that may stand for letters. */
const lookAlikes = /[013457$@]/

/** How long the lead is that only says for how long the rest holds or that it is a rule, and whether the rest is one by that. */
function leadOf(text: string): { readonly length: number; readonly declares: boolean } {
  const [whole = "", lead = ""] = parts.test(text) ? (leading.exec(text) ?? []) : []
  if (whole.length === 0 || whole.length >= text.length) return { length: 0, declares: false }
  const found = saysHowLong(lead) ? "rule" : announcedBy(lead)
  return { length: found === undefined ? 0 : whole.length, declares: found === "rule" }
}

/** A lead or a label ends in one of these. */
const parts = /[:：–—-]/

const leading = /^([^:：]{6,140}?)(?:\s?[:：]\s?|\s[-–—]{1,2}\s)/

const maxHails = 3

function stripHails(text: string): string {
  let bare = text
  for (let n = 0; n < maxHails; n++) {
    const hail = hails.exec(bare)?.[0].length ?? 0
    if (hail === 0 || hail >= bare.length) return bare
    bare = bare.slice(hail)
  }
  return bare
}
