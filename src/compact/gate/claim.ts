import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { normalize } from "../../language/normalize.ts"
import { anyOf } from "../../language/word-lists.ts"
import words from "./gate-words.json" with { type: "json" }

/** What a line claims that an authority did: allowed something, changed a rule, or requested something. */
export type Claim = "approval" | "rule-change" | "request"

const people = anyOf(words.people)
const rules = anyOf(words.rules)
const lapsed = anyOf(words.lapsed)

const word = (pattern: string): LazyPattern => lazyPattern(`(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`, "u")

const person = word(people)
const rule = word(rules)

const granted = new RegExp(`(?<!\\p{L})${anyOf(words.granted)}`, "u")
const grantedByItself = new RegExp(
  anyOf(
    `(?<!\\p{L})${anyOf(words.consents)}s?\\b.{0,40}\\b(?:given|granted|received|on file|obtained|in place|covers?)\\b`,
    "(?<!\\p{L})pre-?approved\\b",
  ),
  "u",
)
const grantedIdeographic =
  /(?:用户|使用者|管理员|操作员|客户|经理|ユーザー|管理者).{0,20}(?:批准|同意|授权|允许|确认|决定|承認|許可)/u

const withoutAsking = anyOf(
  `without (?:further |any |prior |more |the need for )?${anyOf(words.consenting)}`,
  `(?:no (?:further |more |longer any )?(?:need|reason)|(?:do not|don't|not|needn't|never)(?: need| have)?) to ${anyOf(words.toAsk)}`,
  `(?:no|skip(?: the)?) (?:further )?${anyOf(words.consent)}`,
  words.unasked,
)
const unasked = new RegExp(`(?<!\\p{L})${withoutAsking}`, "u")
const ended = new RegExp(`(?<!\\p{L})${anyOf(words.ended)}(?!\\p{L})`, "u")
const irrelevancePhrases = anyOf(
  "nothing to do with",
  `(?:not|n't|never|hardly|isn't|aren't) (?:be )?${anyOf(words.relevant)}`,
  words.irrelevant,
  `(?:can|may|should|must|need) (?:safely |simply |now )?(?:not |be )*${anyOf(words.leftOut)}`,
  words.besideElsewhere,
)
/** Matches a rule called irrelevant, which has the effect of lifting it. */
const irrelevant = new RegExp(`(?<!\\p{L})${irrelevancePhrases}`, "u")
const irrelevantIdeographic =
  /(?:规则|限制|上限|政策|规定|要求|指示|指令|ルール|制限).{0,14}(?:无关|不相关|不重要|不适用|可以忽略|可以省略|関係ありません|関係ない)/u
const lapsedRule = lazyPattern(`(?<!\\p{L})${rules}(?!\\p{L}).{0,60}(?<!\\p{L})${lapsed}(?!\\p{L})`, "u")
const dropRule = lazyPattern(`(?<!\\p{L})${anyOf(words.dropping)}(?!\\p{L}).{0,40}(?<!\\p{L})${rules}(?!\\p{L})`, "u")
const ruleIdeographic = new RegExp(
  anyOf(
    `${anyOf(words.rulesIdeographic)}.{0,14}${anyOf(words.lapsedIdeographic)}`,
    `${anyOf(words.withoutIdeographic)}.{0,8}(?:确认|审批|批准|询问|同意|许可)`,
    "确认なしで|確認なしで|承認なしで",
  ),
  "u",
)
const says = new RegExp(`(?<!\\p{L})${anyOf(words.authorities)}(?!\\p{L}) ${anyOf(words.saying)}`, "u")
const wish = new RegExp(
  anyOf(
    `(?<!\\p{L})${anyOf(words.askers)}(?!\\p{L}) (?:also |now |has |have |had |explicitly |a |hat )?${anyOf(words.wishing)}(?!\\p{L})`,
    "(?:用户|客户|使用者|ユーザー)(?:要求|希望|想|请求|说|需要|は.{0,20}(?:希望|要求|求め))",
  ),
  "u",
)

/** Maximum number of characters that are examined: a claim is a sentence. */
const maxClaim = 1000

/** The words of an access error ("User x is not authorized to perform …"), which grants nothing. Nothing may stand in between. */
const accessError = /(?<!\p{L})(?:is|are|was|were) not (?:authori[sz]ed|allowed|permitted) to (?=\p{L})/gu

/** Returns what the text claims that an authority did. Eight languages; patterns of bounded length. */
export function claimIn(text: string): Claim | undefined {
  const normalized = normalize(text.slice(0, maxClaim)).text
  if (unasked.test(normalized) || ruleIdeographic.test(normalized) || irrelevantIdeographic.test(normalized))
    return "rule-change"
  if (
    rule.test(normalized) &&
    (ended.test(normalized) || irrelevant.test(normalized) || lapsedRule.test(normalized) || dropRule.test(normalized))
  )
    return "rule-change"
  if (grantedByItself.test(normalized) || grantedIdeographic.test(normalized)) return "approval"
  if (granted.test(normalized.replace(accessError, " ")) && person.test(normalized)) return "approval"
  if (says.test(normalized)) return "approval"
  return wish.test(normalized) ? "request" : undefined
}

/** Removes the summarizer's phrases about who said something from a normalized text. */
export const unframed = (text: string): string => text.replace(wish, " ")

/** True if the text allows, decides or requests something. */
export const grants = (text: string): boolean =>
  asks.test(text) || granted.test(text) || /批准|同意|授权|允许|确认|决定|承認|許可|请|想/.test(text)

const asks = new RegExp(`(?<!\\p{L})${anyOf(words.requests)}(?!\\p{L})`, "u")

/** Maximum length in characters of an answer in which a "yes" approves the question. */
const maxAnswer = 240

const yes = new RegExp(`(?<!\\p{L})${anyOf(words.yes)}(?!\\p{L})|${anyOf(words.yesElsewhere)}`, "u")

/** True if this is a short answer that agrees to the question. */
export const affirms = (text: string): boolean => text.length <= maxAnswer && yes.test(normalize(text).text)

const refusal = new RegExp(
  anyOf(
    `(?<!\\p{L})${anyOf(words.withholding)}(?!\\p{L})[^.;!?]{0,24}${anyOf(words.approving)}`,
    "(?:不|未|没有|拒绝)(?:批准|同意|授权|允许)",
  ),
  "u",
)

/** True if the text refuses an approval. */
export const withholdsApproval = (text: string): boolean => refusal.test(normalize(text).text)

/** Matches words that address the reader. A summary reports; only a text that wants something addresses its reader. */
const spokenTo = new RegExp(`(?<!\\p{L})${anyOf(words.you)}(?!\\p{L})|${anyOf(words.youElsewhere)}`, "u")

const obliged = new RegExp(`(?<!\\p{L})${anyOf(words.duties)}(?!\\p{L})|${anyOf(words.dutiesIdeographic)}`, "u")

const concerned = new RegExp(`(?<!\\p{L})${anyOf(words.concerned)}(?!\\p{L})|${anyOf(words.concernedIdeographic)}`, "u")

const belittled = new RegExp(`(?<!\\p{L})${anyOf(words.belittled)}(?!\\p{L})`, "u")

const ruled = new RegExp(`(?<!\\p{L})${anyOf(words.ruled)}(?!\\p{L})`, "u")

/** Maximum number of characters of a clause that are examined. */
const maxClause = 1000

/**
 * True if a summary line wants something of its reader, command or not. Stricter than `scan`: a summary addresses nobody, so it is enough
 * to address the reader, to oblige the model or its memory, or to play down a rule.
 */
export function steers(clause: string): boolean {
  const normalized = normalize(clause.slice(0, maxClause)).text
  if (spokenTo.test(normalized)) return true
  return (
    (obliged.test(normalized) && concerned.test(normalized)) || (belittled.test(normalized) && ruled.test(normalized))
  )
}
