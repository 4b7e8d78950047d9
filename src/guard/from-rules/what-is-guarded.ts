import { lazy } from "../../language/lazy.ts"
import { amountsIn } from "../facts/amounts.ts"
import type { Rule } from "./binding.ts"
import { broad, type FamilyReading, likely, policyReading, someCalls, sure, twoThings } from "./family.ts"
import { grammar } from "./grammar.ts"
import { forbiddenParts, isExcepted } from "./parts.ts"
import { acts, anyForm, listedWords, namedIn, personKinds, secretActs, wholeWords } from "./vocabulary.ts"

/** Rules on what is guarded: money, secrets, personal data, and acts that need a person's approval. */

export function spend(rule: Rule): FamilyReading {
  const { plain, words, parts } = rule
  const sums = amountsIn(plain)
  if (parts.some((part) => grammar("buysNothing").test(part.plain)) && sums.every(({ minor }) => minor === 0))
    return { policy: { template: "spend-limit", amount: 0, currency: "USD" }, confidence: sure }
  const isBound = parts.some(({ polarity }) => polarity === "never" || polarity === "only") || rule.asks
  if (sums.length === 0)
    return isBound && wholeWords("spend|budget").test(plain) && listedWords("limiting").test(plain) && /\d/.test(plain)
      ? { why: "it names no currency" }
      : undefined
  if (
    parts.some((part) => part.plain === "once") ||
    !listedWords("limiting").test(words) ||
    listedWords("noLimit").test(words)
  )
    return undefined
  if (!isBound && !listedWords("limitStated").test(words)) return undefined
  if (parts.some(({ excepts }) => excepts)) return twoThings
  // "Below 20 euros no reminder is sent" is not a spending limit.
  const below = /(?<![\p{L}])(?:under|below|less than|unter|cheaper)(?![\p{L}])/u
  if (parts.some((part) => part.polarity === "never" && below.test(part.plain))) return undefined
  const isPeriod = listedWords("perPeriod").test(words)
  const isBudget =
    wholeWords("budget|have|got|kitty|allowance").test(words) &&
    !wholeWords("limit|ceiling|cap|capped|maximum|at most").test(words) &&
    !isBound &&
    !isPeriod
  const isMoney = anyForm("money").test(words) || isPeriod || parts.some(({ polarity }) => polarity === "never")
  const isAnything = /^(?:for )?(?:anything|everything|whatever|over|above|more than)(?![\p{L}])/u.test(words)
  if (isBudget || !(isMoney || isAnything)) return undefined
  if (new Set(sums.map(({ minor, currency }) => `${minor} ${currency}`)).size > 1)
    return { why: "it names more than one sum" }
  const [{ minor, currency } = { minor: 0 }] = sums
  if (currency === undefined) return { why: "it names no currency" }
  if (listedWords("perUnit").test(words)) return { why: "it is a limit for a unit, and a purchase may be of several" }
  // A limit per month is enforced per purchase: a purchase above it breaks the rule in any case, and the guard does not see other
  // sessions.
  const isEach = listedWords("eachPurchase").test(words) || isPeriod || rule.asks
  const isAll = listedWords("inTotal").test(words) || (!isEach && listedWords("spentInAll").test(words))
  return policyReading(
    rule,
    {
      template: "spend-limit",
      amount: minor / 100,
      currency,
      ...(isAll && !(isPeriod && isEach) ? {} : { per: "call" }),
    },
    listedWords("spending").test(plain) && !isPeriod ? sure : broad,
  )
}

/** True if "tokens" means secrets: no number and no limit stands beside it. */
const isToken = (plain: string): boolean =>
  /(?<![\p{L}])tokens(?![\p{L}])/u.test(plain) && !/\d/.test(plain) && !listedWords("limiting").test(plain)

export function secrets(rule: Rule): FamilyReading {
  const { parts, values } = rule
  // "Secrets" in the name of a file does not count, except in a `.env` file or a bare file name, which may hold secrets.
  const plainOf = (plain: string): string =>
    values.paths.reduce(
      (text, path) => (path.includes(".env") || !path.includes("/") ? text : text.replaceAll(path, "‹path›")),
      plain,
    )
  const isNamed = (plain: string): boolean =>
    listedWords("secretNouns").test(plain) || listedWords("moreSecrets").test(plain) || isToken(plain)
  if (!parts.some(({ plain }) => isNamed(plainOf(plain))) || values.tools.length > 0) return undefined
  const isLikely = !parts.some(({ plain }) => listedWords("secretNouns").test(plainOf(plain)))
  const others = [
    listedWords("noSecret"),
    listedWords("designWords"),
    ...(isLikely ? [listedWords("noLikelySecret")] : []),
  ]
  if (others.some((words) => words.test(rule.plain))) return undefined
  const bound = forbiddenParts(rule)
    .map(({ plain }) => plainOf(plain))
    .filter((plain) => isNamed(plain) || grammar("pointsBack").test(plain))
  if (bound.length === 0) return undefined
  if (isExcepted(rule)) return twoThings
  const text = bound.map((plain) => plain.replace(secretNoun(), " ")).join(" ; ")
  const { names, isSure } = namedIn(secretActs, text)
  // Copying both reads the secrets and sends them somewhere.
  const deny = names.length === 0 && copying.test(text) ? (["read", "send"] as const) : names
  if (!isSure && untouched.test(text)) return policyReading(rule, { template: "no-secrets" }, likely)
  if (deny.length === 0) return { why: "it does not say what must not be done with the secrets" }
  const isPlain = isSure && bound.some((plain) => listedWords("secretNouns").test(plain) || isToken(plain))
  return policyReading(rule, { template: "no-secrets", deny }, isPlain ? sure : broad)
}

const secretNoun = lazy(
  () => new RegExp(`${listedWords("secretNouns").source}|${listedWords("moreSecrets").source}`, "gu"),
)
const copying = wholeWords("cop(?:y|ies|ied|ying)|mov(?:e|ed|ing)|export\\p{L}*|extract\\p{L}*")
const untouched = wholeWords("touch(?:ed|ing)?|hands off|stay away|off-limits|go near")

export function personalData(rule: Rule): FamilyReading {
  const { parts, plain } = rule
  const isNamed = (text: string): boolean =>
    listedWords("allPersonal").test(text) ||
    listedWords("personNouns").test(text) ||
    namedIn(personKinds, text).names.length > 0
  if (!parts.some((part) => isNamed(part.plain))) return undefined
  const bound = [...forbiddenParts(rule), ...parts.filter((part) => grammar("keepsOut").test(part.plain))]
    .map((part) => part.plain)
    .filter((text) => isNamed(text) || grammar("pointsBack").test(text))
  if (bound.length === 0 || rule.values.regions.length + rule.values.languages.length > 0) return undefined
  if (wholeWords("advice|announced?|congratulat\\p{L}*|gets? our").test(plain)) return undefined
  if (isExcepted(rule)) return twoThings
  // The guard cannot recognize names of people, so half of the rule would be lost.
  if (listedWords("unseenPersonal").test(plain)) return unrecognized
  if (!anyForm("giveOut").test(plain)) return undefined
  const isSent = wholeWords(
    "send\\p{L}*|sent|shar\\p{L}+|mail\\p{L}*|e-?mails?|post|publish|paste|export|disclos\\p{L}+|forward\\p{L}*",
  )
  if (
    wholeWords("logs?|logging|logged|print|stored?|storing|database|test data|fixtures|examples?").test(plain) &&
    !isSent.test(plain)
  )
    return { why: "it is about what is kept or printed, and the guard judges what is sent" }
  const text = bound.some(isNamed) ? bound.join(" ; ") : plain
  const { names: kinds, isSure } = namedIn(personKinds, text)
  const isGeneral = listedWords("allPersonal").test(text)
  if (!isGeneral && kinds.length === 0) return unrecognized
  const isAll = isGeneral && !(isSure && kinds.length > 0 && !listedWords("personalData").test(text))
  return policyReading(
    rule,
    { template: "no-personal-data", ...(isAll ? {} : { kinds }) },
    (isAll ? listedWords("personalData").test(text) : isSure) ? sure : broad,
  )
}

const unrecognized = { why: "the guard does not recognize that kind of personal data in a text" } as const

export function askBefore(rule: Rule): FamilyReading {
  const { parts, values } = rule
  const plain = withoutNames(rule).replace(grammar("emphasis", "gu"), " ")
  const isAsked =
    rule.asks &&
    listedWords("asksPerson").test(plain) &&
    !grammar("asksOthers").test(plain.replace(namedPerson, "me")) &&
    listedWords("ordering").test(plain)
  if (!isAsked) return undefined
  const named = [values.commands, values.tools, values.paths, values.domains, values.recipients]
  if (named.some((some) => some.length > 0)) return someCalls
  if (listedWords("limiting").test(plain) && /\d/.test(plain)) return { why: "it names no currency" }
  if (/\d/u.test(plain) || parts.some(({ excepts }) => excepts) || listedWords("asksBack").test(plain)) return undefined
  const text = askedIn(plain.replace(grammar("asked", "gu"), " "))
  const { names, isSure } = namedIn(acts, text)
  const wanted = names.includes("email") ? names.filter((act) => act !== "send") : names
  if (wanted.length === 0) return { why: "what has to be asked about is nothing that the guard can see in a call" }
  if (wanted.some((act) => act === "change" || act === "run") && inPlace.test(text)) return someCalls
  const inProduction = listedWords("production").test(plain) ? ({ environments: ["production"] } as const) : {}
  return {
    policy: { template: "ask-before", acts: wanted, ...inProduction },
    confidence: isSure && !limitsActs.test(plain) ? likely : broad,
  }
}

/** Matches words that ask about some acts of a kind only, where the guard asks about all of them. */
const limitsActs = wholeWords("main|master|protected|specific|certain|some|another|twice")

/** Replaces the name of a person who has to agree by "me": "Cleared with Oskar". */
const withoutNames = ({ plain, text }: Rule): string =>
  [...text.matchAll(/(?<=(?<![\p{L}])(?:with|by|from|ask) )\p{Lu}\p{Ll}+(?! \p{Ll}+ (?:office|desk))/gu)].reduce(
    (read, [name]) =>
      read.replace(new RegExp(`(?<=(?:with|by|from|ask) )${name.toLowerCase()}(?![\\p{L}])`, "u"), "me"),
    plain,
  )

const namedPerson = /(?<=ask )(?:the )?(?:user|owner|operator|maintainers?|admins?|boss)(?![\p{L}])/gu

/** Matches a place that limits what is changed, run or deleted. */
const inPlace = /\b(?:in|from|on|of|below|under|inside) (?:the|our|my|a|an|your|this|these) [\p{L}\p{N}-]+/u

/** Returns the text that names what needs approval: the clauses with "before" or "without", or else the forbidden ones. */
function askedIn(plain: string): string {
  const parts = plain.split(/[;:.](?= |$)|, (?!(?:\p{L}+,? ){0,2}(?:or|and|nor|oder|und|ou|et|y|o|e) )| but /u)
  const ordered = parts.filter((part) =>
    wholeWords("before|without|until|unless|prior to|only after|only once").test(part),
  )
  const isNamed = (list: readonly string[]): boolean => list.some((part) => namedIn(acts, part).names.length > 0)
  // What needs approval follows "before", but may stand on either side of "without".
  const behind = ordered.map((part) => part.replace(/^.*?(?<!\p{L})(?:before|prior to)(?!\p{L})/u, " "))
  if (isNamed(behind)) return behind.join(" ; ")
  if (isNamed(ordered)) return ordered.join(" ; ")
  const forbidden = parts.filter(
    (part) => listedWords("forbidding").test(part) && !/^(?: not| never| no)?(?: not)? even /.test(part),
  )
  return forbidden.length > 0 ? forbidden.join(" ; ") : plain
}
