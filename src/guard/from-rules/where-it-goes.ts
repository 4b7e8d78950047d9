import type { LazyPattern } from "../../language/lazy.ts"
import type { Rule } from "./binding.ts"
import {
  broad,
  type FamilyReading,
  guessed,
  likely,
  narrowed,
  policyReading,
  someOnly,
  sure,
  twoThings,
} from "./family.ts"
import { grammar } from "./grammar.ts"
import { isDemand, markedIn, type RulePart, statementOn, unexplainedWords, type ValueStance } from "./parts.ts"
import { anyForm, listedWords, wholeWords } from "./vocabulary.ts"

/** Rules on where something goes: recipients, hosts, channels, languages, regions. */

/**
 * Confidence that a rule binds nothing but its values: every other word of the binding parts should be grammar or belong to the family.
 * With an unexplained word the policy may be broader than the rule; with more than `most` there is no reading.
 */
export function confidenceIn(
  { parts, pointing = [], isDirect }: ValueStance,
  most: number,
  ...families: readonly LazyPattern[]
): number | undefined {
  const count = (some: readonly RulePart[]): number =>
    Math.max(0, ...some.map((part) => unexplainedWords(part, ...families).length))
  const strange = count(parts) + count(pointing)
  if (strange > most) return undefined
  return strange === 0 && isDirect ? sure : strange < 2 ? broad : guessed
}

/**
 * Maximum number of unexplained words: higher if the values are explicitly forbidden or the only ones allowed, because then they are what
 * the rule is about.
 */
const mostStrange = ({ direction, isDirect }: ValueStance): number => (isDirect && direction !== "plain" ? 6 : 1)

/** Returns the kind of text that a rule is limited to: "reports", "press releases". */
function topicIn(words: string): { readonly about?: readonly string[] } {
  const topic = listedWords("someTexts").exec(words)?.[0]
  return topic === undefined ? {} : { about: [topic.replace(/ies$/, "y").replace(/(?<!s)s$/, "")] }
}

const isOnePerson = ({ plain, text, words }: Rule): boolean =>
  grammar("onePerson").test(plain) ||
  [...text.matchAll(grammar("namedOnePerson", "gu"))].some(([name]) => words.includes(name.toLowerCase()))
const onOnePerson = { why: "it is about one person, whom a call may not name" } as const

export function recipients(rule: Rule): FamilyReading {
  const { words, values } = rule
  const stand = statementOn(rule.parts, ["recipients", "domains"])
  if (stand === undefined) return noneNamed(rule)
  const isMail = values.recipients.length > 0
  const isPeople = listedWords("anyone").test(words)
  const isMailing = listedWords("mailing").test(words) && (isPeople || !listedWords("webbing").test(words))
  if (!isMail && !isMailing && !(isPeople && wholeWords("contact|talk|write|reach").test(words))) return undefined
  if (values.domains.some((name) => /^[\d./]+$/.test(name) || !name.includes("."))) return undefined
  if (values.media.some((medium) => medium !== "email") || values.paths.length > 0 || stand === "mixed")
    return twoThings
  const bound = markedIn(stand.parts)
  const isFrom = wholeWords("(?<!(?:recipients?|address(?:es)?)(?: \\p{L}+){0,3} be )from(?! (?:you|us|me|now))").test(
    bound,
  )
  if (isFrom || wholeWords("signature|sender|log ?in|(?<!‹domain› )accounts?").test(bound)) return undefined
  if (wholeWords("contain\\p{L}*|valid|filter|form|rejects?|accepts?|this one").test(words)) return undefined
  const named = { ...stand, parts: stand.parts.map((part) => withoutNames(part, rule.text)) }
  const confidence = confidenceIn(
    named,
    mostStrange(stand),
    anyForm("mail"),
    anyForm("people"),
    listedWords("someTexts"),
  )
  if (confidence === undefined) return narrowed
  if (stand.direction === "never")
    return policyReading(
      rule,
      { template: "blocked-recipients", recipients: stand.values, ...topicIn(bound) },
      confidence,
    )
  if (stand.direction === "plain" && (isMail || !isDemand(stand))) return undefined
  const topic = topicIn(words)
  return isMail
    ? policyReading(rule, { template: "allowed-recipients", recipients: stand.values, ...topic }, confidence)
    : policyReading(rule, { template: "email-domains", domains: stand.values, ...topic }, confidence)
}

const unnamed = { why: "it does not say which addresses or domains are meant" } as const

/** A ban on mail to outsiders that does not name them. */
const noneNamed = ({ words, parts }: Rule): FamilyReading =>
  words.includes("‹medium›") &&
  listedWords("outsiders").test(words) &&
  parts.some(({ polarity }) => polarity === "never")
    ? unnamed
    : undefined

/** Removes capitalized names: the owner of an address adds nothing to the address. */
const withoutNames = (part: RulePart, text: string): RulePart => {
  const names = new Set([...text.matchAll(/(?<=[\p{L},] )\p{Lu}\p{Ll}+/gu)].map(([name]) => name.toLowerCase()))
  return { ...part, marked: part.marked.replace(/\p{L}+/gu, (word) => (names.has(word) ? " " : word)) }
}

/** True if a name has a known top-level domain, or no dot; `os.path` and `Math.random` are names in code. */
const isHost = (name: string): boolean =>
  !name.includes(".") ||
  /^[\d./]+$/.test(name) ||
  listedWords("hostEndings").test(name.slice(name.lastIndexOf(".") + 1))

export function hosts(rule: Rule): FamilyReading {
  const { words, values } = rule
  const stand = statementOn(rule.parts, ["domains"])
  if (stand === undefined) return network(rule)
  if (!values.domains.every(isHost) || values.recipients.length > 0) return undefined
  const isForbidden = wholeWords(
    "‹domain›,? (?:is|are)|no business|forbidden|off-limits|taboo|banned|out of bounds|never use|(?:stay|keep) (?:off|out|away)",
  )
  const isNet = anyForm("net").test(rule.bare) || isForbidden.test(words) || values.commands.length > 0
  if (!isNet || wholeWords("hard-?code[ds]?|mention|documented|e-?mail\\p{L}*|mail(?:s|ed|ing)?|‹medium›").test(words))
    return undefined
  if (stand === "mixed") return twoThings
  if (wholeWords("(?<!open )links? to|time out|article|docs|write|writing|parallel|no more than").test(words))
    return undefined
  const confidence = confidenceIn(stand, mostStrange(stand), anyForm("net"))
  if (confidence === undefined) return narrowed
  if (stand.direction === "never")
    return policyReading(rule, { template: "blocked-hosts", hosts: stand.values }, confidence)
  return stand.direction === "plain"
    ? undefined
    : policyReading(rule, { template: "allowed-hosts", hosts: stand.values }, confidence)
}

/** Reads a ban on the network as a whole: "nothing on the internet is to be accessed". */
function network(rule: Rule): FamilyReading {
  const [part, ...others] = rule.parts.filter(({ explains }) => !explains)
  if (part === undefined || others.length > 0 || part.polarity !== "never" || rule.asks) return undefined
  const isAll =
    wholeWords("internet|network|online|outbound|outgoing").test(part.plain) &&
    !part.marked.includes("‹") &&
    grammar("forbidsNetwork").test(part.plain) &&
    unexplainedWords(part, anyForm("net")).length === 0
  return isAll ? policyReading(rule, { template: "no-network" }, sure) : undefined
}

export function regions(rule: Rule): FamilyReading {
  const { values, words } = rule
  const stand = statementOn(rule.parts, ["regions"])
  if (stand === undefined) return undefined
  if (values.languages.length + values.recipients.length + values.domains.length > 0) return undefined
  if (listedWords("notCloud").test(words)) return undefined
  if (stand === "mixed") return twoThings
  const isCode = stand.parts.some(({ plain }) => /[a-z]-?[a-z]+-?\d|region/.test(plain))
  const isCloud = anyForm("cloud").test(rule.bare) || (stand.isDirect && anyForm("resource").test(rule.bare))
  if (!isCode && !isCloud) return undefined
  const confidence = confidenceIn(stand, mostStrange(stand), anyForm("resource"), anyForm("cloud"))
  if (confidence === undefined) return narrowed
  if (stand.direction === "never")
    return policyReading(rule, { template: "blocked-regions", regions: stand.values }, confidence)
  if (stand.direction === "plain" && !isDemand(stand)) return undefined
  return policyReading(rule, { template: "region-standard", regions: stand.values }, confidence)
}

export function language(rule: Rule): FamilyReading {
  const { plain, words, values } = rule
  const stand = statementOn(rule.parts, ["languages"])
  if (stand === undefined) return undefined
  if (stand === "mixed") return twoThings
  const isToOthers = listedWords("audience").test(plain) || words.includes("‹medium›")
  if (wholeWords("me|mir|moi|mí|mim").test(plain) && !isToOthers)
    return { why: "it is about answers to the user, and the guard judges tool calls" }
  if (wholeWords("speakers?|speaking|colleagues?|market").test(plain)) return undefined
  if (anyForm("keptTexts").test(plain) && !words.includes("‹medium›"))
    return { why: "the guard judges the language of what is sent, not of what is kept" }
  if (!anyForm("sentTexts").test(plain) && !listedWords("someTexts").test(plain)) return undefined
  if (values.languages.includes("other")) return { why: "the guard does not tell that language from others" }
  if (isOnePerson(rule) || grammar("oneText").test(plain)) return onOnePerson
  const marked = markedIn(stand.parts)
  const isLeftOut = stand.direction === "never" && /(?:leave|avoid|use|no|never) ‹language›/u.test(marked)
  if (!(grammar("asLanguage").test(marked) || isLeftOut) || grammar("isAdjective").test(marked)) return undefined
  if (wholeWords("correct|spelling|version|nouns?|formal|simple|names?|learn").test(plain)) return undefined
  const named = { ...stand, parts: stand.parts.map((part) => withoutNames(part, rule.text)) }
  const known = confidenceIn(named, 1, anyForm("sentTexts"), listedWords("someTexts"), listedWords("audience"))
  if (known === undefined) return narrowed
  // A rule for all answers also applies to texts for others, but only by implication.
  const isGeneral =
    !isToOthers &&
    !wholeWords(
      "send|sent|publish\\p{L}*|outgoing|letters?|messages?|correspondence|communications?|go(?:es)? out",
    ).test(plain)
  const confidence = Math.min(known, isGeneral ? guessed : listedWords("audience").test(plain) ? broad : likely)
  if (stand.direction === "never")
    return policyReading(rule, { template: "blocked-languages", languages: stand.values }, confidence)
  const explaining = rule.parts.filter(({ explains }) => explains).map((part) => part.plain)
  const demanded = explaining.reduce((text, part) => text.replace(part, " "), plain)
  if (stand.direction === "plain" && !isDemand(stand) && !listedWords("inAnyCase").test(demanded)) return undefined
  return policyReading(rule, { template: "language-policy", languages: stand.values, ...topicIn(words) }, confidence)
}

export function channels(rule: Rule): FamilyReading {
  const { words, parts, values } = rule
  const found = statementOn(parts, ["media"])
  if (found === undefined) return undefined
  const others = [values.domains, values.recipients, values.languages, values.paths, values.commands]
  if (others.some((some) => some.length > 0)) return undefined
  // A rule on the content of messages is not about channels; a rule that asks for approval is about an act.
  if (listedWords("secretNouns").test(rule.plain) || listedWords("personNouns").test(rule.plain)) return undefined
  if (rule.asks && values.media.every((medium) => medium === "email")) return undefined
  if (found === "mixed") return twoThings
  const marked = markedIn(found.parts)
  const stand =
    found.direction === "plain" && grammar("isAll").test(marked) ? { ...found, direction: "only" as const } : found
  if (listedWords("looking").test(words) || grammar("notWay").test(words) || stand.direction === "plain")
    return undefined
  const known = [anyForm("reach"), anyForm("people"), listedWords("audience")]
  // "Reports are posted to Slack, and never sent by e-mail" says where reports go.
  const [beside, ...more] = parts.filter((part) => part.values.media.length > 0 && !stand.parts.includes(part))
  const redirected =
    stand.direction === "never" && beside !== undefined && more.length === 0 ? subjectIn(beside.marked) : undefined
  if (redirected !== undefined && beside !== undefined)
    return routing({ ...stand, direction: "only", parts: [beside], values: beside.values.media }, redirected, known)
  const about = subjectIn(marked)
  if (about !== undefined) return routing(stand, about, known)
  if (stand.direction === "never" && isOnePerson(rule)) return onOnePerson
  if (stand.direction === "never" && listedWords("outsiders").test(words)) return unnamed
  // If another part says something else, the channel may be incidental to it.
  const rest = parts.filter((part) => !stand.parts.includes(part) && !part.explains && !part.others && !part.permits)
  if (rest.some((part) => part.values.media.length === 0 && unexplainedWords(part, ...known).length > 0))
    return undefined
  const isPointed = stand.pointing !== undefined
  if (!isPointed && !stand.parts.every((part) => grammar("isWay").test(part.marked) || isBareWay.test(part.marked)))
    return undefined
  // Only something is not to go that way; other messages may.
  if (stand.direction === "never" && (grammar("putInto").test(marked) || grammar("pointsAt").test(marked)))
    return someOnly
  const named = stand.direction === "only" ? stand.parts.map((part) => withoutNames(part, rule.text)) : stand.parts
  if (named.some((part) => unexplainedWords(part, ...known).length > (isPointed ? 1 : 0))) return narrowed
  const least = isOnePerson(rule) ? guessed : listedWords("audience").test(words) || isPointed ? broad : sure
  return policyReading(
    rule,
    { template: stand.direction === "only" ? "allowed-media" : "blocked-media", media: stand.values },
    stand.isDirect || stand !== found ? least : broad,
  )
}

/** Makes a policy that sends texts on one subject to their channel. */
function routing(stand: ValueStance, about: string, known: readonly LazyPattern[]): FamilyReading {
  const chatRooms = stand.values.filter((medium) => medium.startsWith("#")).length
  if (chatRooms > 0 && chatRooms < stand.values.length) return twoThings
  const words = wholeWords(
    about
      .replaceAll(" ", "|")
      .replace(/y$/, "(?:y|ies)")
      .replace(/(?<!\))$/, "s?"),
  )
  return stand.direction === "only" && confidenceIn(stand, 1, ...known, words) !== undefined
    ? { policy: { template: "channel-routing", media: stand.values, about: [about] }, confidence: broad }
    : someOnly
}

const isBareWay = /^(?:no|never|only|keep off|stay off|use|to)? ?‹medium›(?: (?:yes|no|only|never))?$/u

/** Returns the subject that a channel is for, if it is not messages in general: "outage notices belong in …". */
function subjectIn(text: string): string | undefined {
  const topic = new RegExp(`(?:[\\p{L}-]+ )?(?:${listedWords("someTexts").source})`, "u").exec(text)?.[0]
  const subject = topic ?? grammar("ownTexts").exec(text)?.[1]
  if (subject === undefined || listedWords("messages").test(subject)) return undefined
  return subject
    .replace(/^(?:the|all|your|our|my|any|every|a|an|post|send|for|no|never|of) /u, "")
    .replace(/ies$/, "y")
    .replace(/(?<!s)s$/, "")
}
