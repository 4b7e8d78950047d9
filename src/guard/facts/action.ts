import { wordSet, wordSetsOf } from "../../language/word-forms.ts"
import { namesIn } from "../../message/present.ts"
import type { Leaf } from "./leaf.ts"
import lists from "./words.json" with { type: "json" }
import { anyWord, fold, isAscii, spelledApart, wordsOf } from "./words.ts"

/** Actions of a call, as policies name them. A call may have several. */
export const actions = namesIn("send read write delete execute purchase disclose deploy query other")
export type Action = (typeof actions)[number]

const verbs: readonly (readonly [Action, ReadonlySet<string>])[] = wordSetsOf(lists.actions.verbs)

/** Words that are nouns in some names and verbs in others: `get_order` reads, and `order_details` too. */
const nouns = wordSet(...lists.actions.nouns)

/** Words of a tool's name, normalized to plain letters, in whatever language. */
const nameWords = (tool: string): readonly string[] => wordsOf(tool.slice(0, 200)).map(fold)

/** Matches fields whose value names an action. */
const verbFields = /^(?:action|operation|op|verb|method|mode|type|command|task|intent|request|http_method)$/

/** Words that show that a transfer is not of money. */
const notMoney =
  /^(?:human|humans|agent|agents|call|chat|file|files|ownership|owner|data|control|session|repo|repository|conversation|operator|representative|support|domain)$/

/** Words that name an action or a thing, and words that end the name of a tool that reports on one: `refund_status`, `transfer_history`. */
const deedsAsThings = wordSet(...lists.actions.deedsAsThings)
const reports = wordSet(...lists.actions.reports)

export function actionsOfWords(given: readonly string[]): readonly Action[] {
  // `deletecollection` is a delete.
  const words = given.map((word) => /^(?:delete|destroy|truncate|terminate)(?=[a-z]{3})/.exec(word)?.[0] ?? word)
  if (
    words.length > 1 &&
    reports.has(words.at(-1) ?? "") &&
    words.slice(0, -1).every((word) => deedsAsThings.has(word) || nouns.has(word))
  )
    return ["read"]
  const sure = verbs
    .filter(([, known]) => words.some((word) => known.has(word) && !nouns.has(word)))
    .map(([action]) => action)
  if (sure.length > 0) return sure
  return verbs.filter(([, known]) => words.some((word) => known.has(word))).map(([action]) => action)
}

/** Actions that the name of a tool and the fields for an action say. A name that begins with a word for looking is no purchase. */
export function namedActions(tool: string, leaves: readonly Leaf[]): ReadonlySet<Action> {
  const own = actionsOfWords(nameWords(tool))
  const told = leaves.flatMap(({ field, folded, value }) =>
    typeof value === "string" && /^\s*\/?[\w-]{1,40}\s*$/.test(folded) && verbFields.test(field)
      ? actionsOfWords(wordsOf(folded))
      : [],
  )
  const found = new Set([...own, ...told])
  if (anyWord(nameWords(tool), notMoney) && !leaves.some(({ role }) => role === "amount")) found.delete("purchase")
  const [first = ""] = nameWords(tool).filter((word) => !/^(?:mcp|api|tool)$/.test(word))
  if (/^(?:get|list|search|find|lookup|check|view|show|describe|read|fetch|calculate)$/.test(first))
    found.delete("purchase")
  // `post_query_result` does not query.
  if (/^(?:post|share)$/.test(first) && !found.has("read")) found.add("send")
  const noun = anyWord(nameWords(tool), /^(?:email|mail|message|sms|notify)$/)
  if (noun && found.size === 0) found.add("send")
  // A pipeline of a document database that ends in `$out` or `$merge` writes a collection.
  if (leaves.some(({ keys }) => keys.includes("pipeline") && keys.some((key) => key === "out" || key === "merge")))
    found.add("write")
  if (found.size === 0) found.add("other")
  return found
}

const paying = wordSet(...lists.actions.paying)
const reads = /^(?:read|query)$/
const currencyCode =
  /^(?:USD|EUR|GBP|JPY|CHF|CNY|INR|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|MXN|ZAR|KRW|SGD|HKD|THB|ILS|AED|SAR|BTC|ETH|USDC|USDT)$/
const converts = /convert|exchange_rate|format|rate/i

/** Actions that a call may have beyond those its name says: with a word for paying it may pay, with a recipient it may send. */
export function possibleActions(
  tool: string,
  named: ReadonlySet<Action>,
  leaves: readonly Leaf[],
  isRead: boolean,
): ReadonlySet<Action> {
  const words = nameWords(tool)
  const isReading = [...named].every((action) => reads.test(action))
  const may = new Set(named)
  const addressed = leaves.some(({ role, text }) => role === "recipient" && text.trim() !== "")
  // If the tool runs statements or commands, these say what it does.
  const runs = isRead && (named.has("execute") || named.has("query"))
  if ((!isReading && !runs) || addressed)
    for (const action of ["send", "disclose", "write", "other"] as const) may.add(action)
  const telling = leaves.some(
    ({ role, keys, field, text }) =>
      role === "amount" && keys.length <= 2 && !isReading && field !== "value" && /\d/.test(text),
  )
  // An amount with its currency, in a call that is not known to only read.
  const isPriced =
    !isReading &&
    !runs &&
    leaves.some(
      ({ text, role, value }) =>
        typeof value === "string" &&
        text.length <= 40 &&
        !/^(?:body|subject|path|url|sql|code|command)$/.test(role) &&
        wholeSum.test(text),
    )
  const told = leaves.flatMap(({ field, folded }) =>
    folded.length <= 60 && verbFields.test(field) ? wordsOf(folded) : [],
  )
  const pays =
    [...words, ...told].some((word) => paying.has(word)) &&
    !words.some((word) => notMoney.test(word) || /^(?:cancel|draft|track)$/.test(word))
  // A click at coordinates: the call does not say what is pressed.
  const clicks =
    [...words, ...told].some((word) => pressing.has(word)) ||
    leaves.some(({ field, value }) => value === true && /^(?:submit|press_?enter|confirm)$/.test(field))
  const isBlind =
    clicks &&
    leaves.some(
      ({ field, value }) => typeof value === "number" && /^(?:x|y|coordinates?|position|point)$/.test(field),
    ) &&
    !leaves.some(
      ({ field, text }) =>
        /^(?:element|label|text|selector|name|description|target|ref)$/.test(field) && /\p{L}{2}/u.test(text),
    )
  const presses = (clicks && leaves.some(isPaymentButton)) || isBlind
  const first = words.find((word) => !/^(?:mcp|api|tool|v\d)$/.test(word)) ?? ""
  const asks = isReading || verbs.some(([action, known]) => action === "read" && known.has(first))
  // A number beside a currency code, in whatever fields and language.
  const isSum =
    !isReading &&
    !runs &&
    leaves.some(({ text }) => currencyCode.test(text)) &&
    leaves.some(({ value, text }) => typeof value === "number" || /^\s*\d+(?:[.,]\d+)?(?:e\d+)?\s*$/i.test(text))
  if ((pays && !asks) || presses || telling || ((isSum || isPriced) && !converts.test(tool))) may.add("purchase")
  return may
}

/** Matches a value that is an amount of money and nothing else. */
const wholeSum =
  /^\s*(?:[$€£¥]|(?:usd|eur|gbp|chf|cad|aud)\s)\s*\d[\d.,' ]*$|^\s*\d[\d.,' ]*\s?(?:[$€£¥]|usd|eur|euros?|gbp|chf|dollars?|cad|aud)\s*$/i

/** Words of tools that operate a screen; the label of what they press says what it does. */
const pressing = wordSet(...lists.actions.pressing)
/** True for a label with a price or a word for paying. */
const isPaymentButton = ({ text, folded, value }: Leaf): boolean =>
  typeof value === "string" &&
  text.length <= 300 &&
  (/\d\s?[$€£¥]|[$€£¥]\s?\d/.test(text) || wordsOf(folded).some((word) => paying.has(word)))

const mailing =
  /^(?:email|emails|mail|mails|gmail|outlook|smtp|mailgun|sendgrid|postmark|ses|newsletter|forward|reply|invite|invitation|share|notify|contact|contacts|message|messages|send|draft|letter)$/
const surfing =
  /^(?:http|https|fetch|url|urls|web|browse|browser|download|upload|webhook|crawl|scrape|navigate|request|api|curl|internet|rest|graphql|rpc)$/

/** True if a tool of this name may send mail, or contact a host. */
export const mayMail = (tool: string): boolean => anyWord(nameWords(tool), mailing)
export const maySurf = (tool: string): boolean => anyWord(nameWords(tool), surfing)

/** Environment that a call acts on. */
export type Environment = "production" | "staging" | "development"

const names: readonly (readonly [Environment, RegExp])[] = [
  [
    "production",
    /^(?:prod|production|prd|produktion|produccion|producao)(?:\d+|db|env|data|database|cluster|server|sql|us|eu|primary|main)?$|^(?:live|mainnet|prodlike)$/,
  ],
  ["staging", /^(?:staging|stage|stg|preprod|uat|qa|preview|canary|sandbox|demo)(?:\d+|db|env)?$/],
  ["development", /^(?:dev|devel|development|test|tests|testing|local|localhost|scratch|tmp|temp|ci)(?:\d+|db|env)?$/],
]

/** Cache of words, which repeat from call to call; limited in size, because unusual ones do not. */
const known = new Map<string, Environment | undefined>()
const maxKnown = 5_000

/** Matches a compound that ends in `prod`, such as `coreprod`, unless it says `nonprod` or `preprod`. */
const compoundProduction = /^(?!(?:non|pre|not|re|co|by)-?pr)[a-z\d]{2,20}pro?d$/

/** Match how names of environments begin (with `0` for `o` too), and how a compound ends: this rules out most words of a text. */
const maybeName = /\b(?:pr[o0de]|live|main|sta?g|uat|qa|prev|cana|sand|dem[o0]|dev|test|l[o0]ca|scra|te?mp|ci)[a-z\d]*/g
const maybeCompound = /pro?d(?![a-z\d])/g
/** Minimum length in characters of a text that is searched by pattern; in a shorter one every word is examined. */
const minSearched = 200

/** A word of a text with its neighbours, which are computed on demand because they are seldom needed. */
type PlacedWord = { readonly word: string; readonly before: () => string; readonly after: () => string }

/** Words of a text that may name an environment, each with its neighbours. */
function maybeNames(folded: string): readonly PlacedWord[] {
  if (folded.length < minSearched || !isAscii(folded)) {
    const words = wordsOf(folded)
    return words.map((word, at) => ({ word, before: () => words[at - 1] ?? "", after: () => words[at + 1] ?? "" }))
  }
  const text = spelledApart(folded).replaceAll("_", " ")
  const wordEnding = (end: number): string => /[a-z\d]+$/.exec(text.slice(Math.max(0, end - 60), end))?.[0] ?? ""
  const at = (word: string, start: number): PlacedWord => ({
    word,
    before: () => {
      let gap = start
      while (gap > 0 && !isWordSign(text.charCodeAt(gap - 1))) gap--
      return wordEnding(gap)
    },
    after: () => {
      let next = start + word.length
      while (next < text.length && !isWordSign(text.charCodeAt(next))) next++
      return /^[a-z\d]*/.exec(text.slice(next, next + 60))?.[0] ?? ""
    },
  })
  return [
    ...[...text.matchAll(maybeName)].map(({ 0: word, index }) => at(word, index)),
    ...[...text.matchAll(maybeCompound)].map(({ 0: { length }, index }) => {
      const word = wordEnding(index + length)
      return at(word, index + length - word.length)
    }),
  ]
}

const isWordSign = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39)

/** The environment that a word names. */
function environmentOf(word: string): Environment | undefined {
  if (compoundProduction.test(word)) return "production"
  const met = known.get(word)
  if (met !== undefined || known.has(word)) return met
  const spelled = word.replaceAll("0", "o")
  const found = names.find(([, name]) => name.test(word) || name.test(spelled))?.[0]
  if (known.size < maxKnown && word.length <= 32) known.set(word, found)
  return found
}

/** Environments that a text names. `field`: the text is in a field for an environment, where the everyday word `live` counts too. */
export function environmentsIn(folded: string, field: boolean): readonly Environment[] {
  const found = new Set<Environment>()
  for (const { word, before, after } of maybeNames(folded)) {
    const environment = environmentOf(word)
    if (environment === undefined || found.has(environment)) continue
    if (word === "live" && !field && !/^(?:db|database)$/.test(after())) continue
    // `non-prod` and `pre-prod` are not production.
    if (/^pro?d/.test(word) && /^(?:non|pre|not|no)$/.test(before())) continue
    found.add(environment)
  }
  return [...found]
}

/** Environments of the named hosts, databases, clusters and the like. */
export function targetEnvironments(targets: readonly string[]): readonly Environment[] {
  const found = new Set<Environment>()
  for (const target of targets) {
    const text = target.slice(0, 2_000)
    for (const environment of environmentsIn(text.toLowerCase(), true)) found.add(environment)
    if (/(?:^|@|\/\/)(?:localhost|127(?:\.\d+){3}|\[::1\]|::1|0\.0\.0\.0)(?:[:/]|$)/i.test(text))
      found.add("development")
  }
  return [...found]
}
