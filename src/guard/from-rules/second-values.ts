import type { LazyPattern } from "../../language/lazy.ts"
import { amountsIn } from "../facts/amounts.ts"
import type { TemplateUse } from "../policy/templates.ts"
import { any, broad, type FamilyReading, limiting, someOnly, someTexts, twoThings } from "./family.ts"
import { type RulePart, standingOf, type ValueStanding } from "./parts.ts"
import type { Said } from "./second-reading.ts"
import {
  changeWords,
  cloudWords,
  deleteWords,
  inForms,
  keptTexts,
  lookWords,
  mailWords,
  netWords,
  peopleWords,
  reachWords,
  resourceWords,
  sentTexts,
  strangeWords,
} from "./second-words.ts"
import { asking } from "./statement.ts"
import { asLanguage, isAdjective, oneText, unknownLanguage } from "./what-leaves.ts"

const decided = ({ asks }: Said): { readonly decision?: "ask" } => (asks ? { decision: "ask" } : {})
const made = (policy: TemplateUse): FamilyReading => ({ policy, confidence: broad })

const demanding = any(
  "must|has to|have to|needs? to|always|all|every|everything|any|each|whatever|should|shall|go|goes",
)
const isDemand = ({ parts }: ValueStanding): boolean =>
  parts.every(({ marked, permits }) => demanding.test(marked) && !permits)

/** One person: a policy would bind what goes to all others too. */
const onePerson =
  /(?<![\p{L}])(?:him|her|his|(?:my|his|her) (?:mother|father|wife|husband|sister|brother|boss|landlord|neighbou?r|cousin|aunt|uncle|son|daughter|friend|partner|father-in-law|mother-in-law|ex(?:-\p{L}+)?)|(?:mrs|mr|ms|dr|herr|frau|madame|monsieur)\.? \p{L}+)(?![\p{L}])/u
const isOnePerson = ({ plain, text }: Said): boolean =>
  onePerson.test(plain) ||
  /(?<=(?:to|reach|contact|write|tell|for|with|mail|call|ask) )\p{Lu}\p{Ll}+(?! \p{Lu})(?= (?:in|via|by|on|over|through)(?!\p{L}))/u.test(
    text,
  )

/** Words that may narrow what is said: with more of them than so many, what is bound cannot be told. */
const isNarrowed = (
  { parts }: Pick<ValueStanding, "parts">,
  most: number,
  ...families: readonly LazyPattern[]
): boolean => parts.some((part) => strangeWords(part, ...families).length > most)

const narrowed = { why: "it has words that may narrow it, and what they mean is not known" } as const

const one = { why: "it is about one person, whom a call may not name" } as const

const markedIn = (parts: readonly RulePart[]): string => parts.map(({ marked }) => marked).join(" ; ")

/** The texts that a rule is about, where it is about some only: "reports", "press releases". */
function topicIn(words: string): { readonly about?: readonly string[] } {
  const topic = someTexts.exec(words)?.[0]
  return topic === undefined ? {} : { about: [topic.replace(/ies$/, "y").replace(/(?<!s)s$/, "")] }
}

const mailing = any(
  "‹medium›|e-?mail\\p{L}*|mail(?:s|ed|ing)?|messages?|recipients?|addressees?|mailbox(?:es)?|inbox(?:es)?|newsletters?|letters?|invitations?|send\\p{L}*|sent|writ(?:e|es|ing) to|repl(?:y|ies)|forward\\p{L}*|address(?:es)?|go(?:es)? out",
)
const webbing = any(
  "urls?|https?|download\\p{L}*|fetch\\p{L}*|requests?|links?|ssh|connect\\p{L}*|hosts?|servers?|sites?|apis?|install",
)

export function recipientsNamed(said: Said): FamilyReading {
  const stand = standingOf(said.parts, ["recipients", "domains"])
  if (stand === undefined) return undefined
  const { words, parts } = said
  const isMail = parts.some(({ values }) => values.recipients.length > 0)
  const isPeople = any("(?:any|some|every|no)(?:one|body)|nobody|people|folks|staff|colleagues|members|employees").test(
    words,
  )
  if (
    !isMail &&
    !(mailing.test(words) && (isPeople || !webbing.test(words))) &&
    !(isPeople && any("contact|talk|write|reach").test(words))
  )
    return undefined
  if (parts.some(({ values }) => values.domains.some((name) => /^[\d./]+$/.test(name) || !isHost(name))))
    return undefined
  if (parts.some(({ values }) => values.media.some((medium) => medium !== "email") || values.paths.length > 0))
    return twoThings
  if (stand === "mixed") return twoThings
  const bound = markedIn(stand.parts)
  if (any("from(?! (?:you|us|me|now))|signature|sender|log ?in|(?<!‹domain› )accounts?").test(bound)) return undefined
  if (any("contain\\p{L}*|valid|filter|form|rejects?|this one").test(words)) return undefined
  const named = { ...stand, parts: stand.parts.map((part) => withoutNames(part, said.text)) }
  if (isNarrowed(named, 1, mailWords, peopleWords, someTexts)) return narrowed
  const { values } = stand
  if (stand.direction === "never")
    return made({ template: "blocked-recipients", recipients: values, ...topicIn(bound), ...decided(said) })
  if (stand.direction === "plain" && (isMail || !isDemand(stand))) return undefined
  return made(
    isMail
      ? { template: "allowed-recipients", recipients: values, ...topicIn(words), ...decided(said) }
      : { template: "email-domains", domains: values, ...topicIn(words), ...decided(said) },
  )
}

/** Whom an address belongs to says no more than the address. */
const withoutNames = (part: RulePart, text: string): RulePart => {
  const names = new Set([...text.matchAll(/(?<=[\p{L},] )\p{Lu}\p{Ll}+/gu)].map(([name]) => name.toLowerCase()))
  return { ...part, marked: part.marked.replace(/\p{L}+/gu, (word) => (names.has(word) ? " " : word)) }
}

/** Names of hosts by how they end; `os.path` and `Math.random` are names in code. */
const isHost = (name: string): boolean =>
  !name.includes(".") ||
  /^[\d./]+$/.test(name) ||
  /\.(?:[a-z]{2}|com|org|net|edu|gov|mil|int|info|biz|dev|app|cloud|tech|online|site|xyz|shop|store|blog|news|media|agency|studio|design|systems|solutions|services|group|network|email|health|bank|finance|club|team|world|life|live|work|works|tools|software|digital|global|today|space|website|academy|energy|legal|coop|museum|travel|jobs|mobi|name|asia|cat|berlin|london|paris|nyc|tokyo|swiss|example|test|invalid|local|internal|corp|lan|home|intranet|onion)$/u.test(
    name,
  )

const forbids = any("‹domain›,? (?:is|are)|no business|forbidden|off-limits|taboo|banned|out of bounds|never use")

export function hostsNamed(said: Said): FamilyReading {
  const stand = standingOf(said.parts, ["domains"])
  if (stand === undefined) return networkNamed(said)
  if (!said.parts.flatMap(({ values }) => values.domains).every(isHost)) return undefined
  if (said.parts.some(({ values }) => values.recipients.length > 0)) return undefined
  const { words } = said
  if (
    !(netWords.test(said.bare) || forbids.test(words)) ||
    any("hard-?code[ds]?|mention|documented|e-?mail\\p{L}*|mail(?:s|ed|ing)?|‹medium›").test(words)
  )
    return undefined
  if (stand === "mixed") return twoThings
  if (any("(?<!open )links? to|time out|article|docs|write|writing").test(words)) return undefined
  if (isNarrowed(stand, 1, netWords)) return narrowed
  const hosts = stand.values
  if (stand.direction === "never") return made({ template: "blocked-hosts", hosts, ...decided(said) })
  return stand.direction === "plain" ? undefined : made({ template: "allowed-hosts", hosts, ...decided(said) })
}

/** The network as such: "nothing on the internet is to be accessed". */
function networkNamed({ parts, asks }: Said): FamilyReading {
  const [part, ...others] = parts.filter(({ explains }) => !explains)
  const isAll =
    part !== undefined &&
    others.length === 0 &&
    part.polarity === "never" &&
    !asks &&
    any("internet|network|online").test(part.plain) &&
    !part.marked.includes("‹") &&
    /^(?:please |you )*(?:never|don't|do not|no|nothing|must not|mustn't|may not|keep|stay|cut|avoid)(?![\p{L}])/u.test(
      part.plain,
    ) &&
    strangeWords(part, netWords).length === 0
  return isAll ? made({ template: "no-network" }) : undefined
}

const notCloud = any(
  "latency|tax|vat|law|gdpr|ship(?:s|ped|ping)?|flights?|hotels?|travel|trip|suppliers?|prices?|currency|shown|customers? (?:in|from)|people (?:in|from)|users? (?:in|from)|visit|live in|born|language|holiday|delivery|deliver",
)

export function regionsNamed(said: Said): FamilyReading {
  const stand = standingOf(said.parts, ["regions"])
  if (stand === undefined) return undefined
  const named = said.parts.flatMap(({ values }) => [...values.languages, ...values.recipients, ...values.domains])
  if (named.length > 0 || notCloud.test(said.words)) return undefined
  if (stand === "mixed") return twoThings
  const isCode = stand.parts.some(({ plain }) => /[a-z]-?[a-z]+-?\d|region/.test(plain))
  if (!cloudWords.test(said.bare) && !isCode) return undefined
  if (any("office|team|emoji|paper").test(said.words)) return undefined
  if (isNarrowed(stand, 1, resourceWords, cloudWords)) return narrowed
  if (stand.direction === "never") return made({ template: "blocked-regions", regions: stand.values, ...decided(said) })
  if (stand.direction === "plain" && !isDemand(stand)) return undefined
  return made({ template: "region-standard", regions: stand.values, ...decided(said) })
}

export function languageNamed(said: Said): FamilyReading {
  const stand = standingOf(said.parts, ["languages"])
  if (stand === undefined) return undefined
  const { words: plain } = said
  if (stand === "mixed") return twoThings
  if (any("me|mir|moi|mí|mim").test(plain) && !any("customers?|clients?|suppliers?|e-?mails?|letters?").test(plain))
    return { why: "it is about answers to the user, and the guard judges tool calls" }
  if (any("speakers?|speaking|colleagues?|market").test(plain)) return undefined
  if (keptTexts.test(plain)) return { why: "the guard judges the language of what is sent, not of what is kept" }
  if (!sentTexts.test(plain) && !someTexts.test(plain)) return undefined
  if (said.parts.some(({ values }) => values.languages.includes("other"))) return unknownLanguage
  if (isOnePerson(said) || oneText.test(said.plain)) return one
  const marked = stand.parts.map((part) => part.marked).join(" ; ")
  const isLeftOut = stand.direction === "never" && /(?:leave|avoid|use|no|never) ‹language›/u.test(marked)
  if (!(asLanguage.test(marked) || isLeftOut) || isAdjective.test(marked)) return undefined
  if (any("correct|spelling|version|nouns?|formal|simple|names?|learn").test(plain)) return undefined
  if (isNarrowed(stand, 1, sentTexts, someTexts)) return narrowed
  const languages = stand.values
  if (stand.direction === "never") return made({ template: "blocked-languages", languages, ...decided(said) })
  if (stand.direction === "plain" && !isDemand(stand)) return undefined
  return made({ template: "language-policy", languages, ...topicIn(plain), ...decided(said) })
}

export function pathsNamed(said: Said): FamilyReading {
  const { parts, words } = said
  const stand = standingOf(parts, ["paths"])
  if (stand === undefined) return undefined
  if (parts.some(({ values }) => values.domains.length + values.commands.length + values.tools.length > 0))
    return undefined
  const readable = parts.filter(({ marked }) => /‹path›.*(?<![\p{L}])read[- ]only(?![\p{L}])/u.test(marked))
  if (readable.length === 1 && parts.every((part) => part === readable[0] || part.polarity === "plain"))
    return made({ template: "protected-paths", paths: pathsIn(readable, said), access: "change", ...decided(said) })
  if (stand === "mixed") return twoThings
  const beside = parts.filter(
    ({ others, permits, polarity, marked }) => others || permits || (polarity === "never" && !marked.includes("‹")),
  )
  const acting = markedIn(stand.pointing ?? [...stand.parts, ...beside]).replace(/‹\p{L}+›/gu, "‹›")
  if (!pathActs.test(acting) || notPlace.test(markedIn(stand.parts))) return undefined
  if (
    any("branch(?:es)?|commit|merge|prs?|push|tests?|conflicts?|inline|modules?|this file|rule of thumb|instead").test(
      words,
    )
  )
    return undefined
  if (isNarrowed(stand, 1, changeWords, deleteWords, lookWords, fileWords)) return narrowed
  const [changes, deletes, reads] = [
    changeWords.test(acting),
    deleteWords.test(acting),
    opening.test(acting) || (closing.test(acting) && !modifying.test(acting)),
  ]
  const paths = pathsIn(stand.parts, said)
  if (stand.direction === "only") {
    if (any("has|have|needs?|contains?|requires?").test(markedIn(stand.parts)) || (deletes && !changes))
      return undefined
    // What is forbidden beside it is another thing.
    if (parts.some((part) => part.polarity === "never" && !part.others && !stand.parts.includes(part))) return twoThings
    return !changes && any("read(?:ing)?|open|look").test(words)
      ? { why: "it says what alone may be read, and the guard judges what is changed" }
      : made({ template: "allowed-paths", paths, ...decided(said) })
  }
  const isAsked = said.asks && (changes || deletes) && stand.parts.every(({ plain }) => asking.test(plain))
  if (stand.direction !== "never" && !isAsked) return undefined
  const access = reads ? "any" : deletes && !changes ? "delete" : "change"
  return made({ template: "protected-paths", paths, access, ...decided(said) })
}

const opening = any(
  "unread|read(?:ing)?|open(?:ed|ing)?|look(?:ing)?|view|see|enter|access(?:ed|ing)?|go (?:near|into|in)|inspect|browse|cat|peek|list|exist",
)
/** Words that leave nothing to be done with a place, unless a change is what is forbidden. */
const closing = any(
  "off-limits|forbidden|taboo|banned|out of bounds|stay (?:out|away|off)|keep (?:out|away|off)|business",
)
const modifying = any(
  "modif\\p{L}+|edit\\p{L}*|chang\\p{L}+|alter\\p{L}*|writ\\p{L}+|overwrit\\p{L}+|sav\\p{L}+|creat\\p{L}+|renam\\p{L}+|mov\\p{L}+",
)

const pathsIn = (parts: readonly RulePart[], { text }: Said): readonly string[] => [
  ...new Set(parts.flatMap(({ values }) => values.paths).map((path) => asWritten(path, text))),
]

/** Something is put there, listed there or taken from there: no place to stay in or out of. */
const notPlace =
  /(?<![\p{L}])(?:(?:listed|defined|described|kept|covered|fix) in|from|(?<!start )with|use|see|than) (?:\p{L}+ )?‹path›|(?<![\p{L}])(?:put|write|add|save|copy|move|paste|keep|store)(?:s|d|ing)? (?!(?:to|in|out|away|off|your|into|files?|anything|outside|only|there|code|under|inside|within)(?![\p{L}]))(?:\p{L}+ ){1,4}(?:in|into|to|under) (?:the )?(?:folder |directory )?‹path›/u

const fileWords = inForms(
  "file folder directory code content path disk copy note tree repository project document subfolder drive",
)

/** Without one of these, a place is only spoken of. */
const pathActs = any(
  "writ(?:e|es|ing|ten)|edit(?:s|ed|ing)?|chang(?:e|es|ed|ing)|modif\\p{L}+|alter\\p{L}*|updat\\p{L}+|overwrit\\p{L}+|creat\\p{L}+|sav(?:e|es|ed|ing)|touch\\p{L}*|renam\\p{L}+|mov(?:e|es|ed|ing)|delet\\p{L}+|remov\\p{L}+|eras\\p{L}+|wip\\p{L}+|clean\\p{L}*|read(?:ing|able)?|read[- ]only|open(?:ed|ing)?|look|enter|access|go near|go into|outside|inside|within|stay|stays|leave|off-limits|out of bounds|forbidden|taboo|banned|hands off|output|goes to|work|alone|yours|list|exist|unread|untouched|business|near",
)

/** A value in the letters that it was written in. */
function asWritten(value: string, text: string): string {
  const at = text.toLowerCase().indexOf(value)
  return at < 0 ? value : text.slice(at, at + value.length)
}

/** What may stand beside a command that is forbidden as such, and not some use of it. */
const besideCommand =
  /^(?:‹(?:command|tool)›|[,.!]|never|no|not|don't|do|does|doesn't|nor|or|and|the|a|an|any|all|you|please|must|mustn't|may|should|shouldn't|shall|can|can't|cannot|is|are|isn't|aren't|be|ever|use|uses|used|using|run|runs|running|execute|executed|executing|call|called|calling|invoke|invoked|type|touch|employ|start|keep|stay|away|from|off|out|of|on|in|at|here|there|to|this|that|machine|computer|laptop|host|repository|project|server|system|tool|tools|command|commands|function|program|programs|script|scripts|cli|binary|entirely|completely|altogether|all|allowed|permitted|forbidden|banned|prohibited|taboo|off-limits|avoid|via|with|directly|yourself|i|want|see|for|anything|under|circumstances|it|fine|ok|okay|leave|alone|hands|never use|only|shell|nothing|else|other|others|something|both|neither|more|being|typed|calls|disabled|solution|answer|again|own|these|those|two|i've|none|anywhere)$/u

const toolWords = inForms("install package dependency tool command run use we prefer")

export function toolsNamed(said: Said): FamilyReading {
  const { parts } = said
  const stand = standingOf(parts, ["commands", "tools"])
  if (stand === undefined) return undefined
  if (said.parts.some(({ values }) => values.paths.length + values.domains.length > 0)) return undefined
  if (stand === "mixed") return twoThings
  const isBare = stand.parts.every(({ marked }) =>
    marked.split(/[\s,.!]+/).every((word) => word === "" || besideCommand.test(word)),
  )
  const used = "it does not forbid the command as such, and how it is used the guard cannot compare"
  const tools = [...new Set(stand.parts.flatMap(({ values }) => values.tools))]
  const commands = [...new Set(stand.parts.flatMap(({ values }) => values.commands))]
  if (
    tools.length > 0 &&
    !any("tools?|functions?|call\\p{L}*|use[ds]?|using|run|invoke[ds]?|commands?").test(said.bare)
  )
    return undefined
  if (stand.direction === "only") {
    const isAll = any(
      "only (?:shell )?(?:commands?|programs?|tools?)|nothing else|no others?|any other|only (?:run|use|execute)|(?:run|use|execute) only",
    )
    return tools.length === 0 && isAll.test(said.words) && isBare
      ? made({ template: "shell-allow-list", commands })
      : { why: used }
  }
  if (
    stand.direction === "plain" ||
    (stand.pointing ?? []).some(({ plain }) => !/^(?:never|no|forbidden|taboo)$/.test(plain))
  )
    return undefined
  const rest = parts.filter((part) => !stand.parts.includes(part) && !part.explains)
  if (!isBare || isNarrowed({ parts: rest }, 1, toolWords)) return { why: used }
  return made({
    template: "blocked-tools",
    ...(tools.length > 0 ? { tools } : {}),
    ...(commands.length > 0 ? { commands } : {}),
    ...decided(said),
  })
}

const looking = any(
  "resell|mark|close[ds]?|resolve[ds]?|file|dinner|screen|picks? up|answers? (?:the|his|her|their)|spoilers?|name[sd]?|read|history|search|check|ignore|ignored|look|scan|summari[sz]e|monitor|watch",
)

export function channelsNamed(said: Said): FamilyReading {
  const stand = standingOf(said.parts, ["media"])
  if (stand === undefined) return undefined
  const { words: plain, parts } = said
  if (
    parts.some(
      ({ values }) =>
        values.domains.length +
          values.recipients.length +
          values.languages.length +
          values.paths.length +
          values.commands.length >
        0,
    )
  )
    return undefined
  if (stand === "mixed") return twoThings
  if (looking.test(plain) || stand.direction === "plain") return undefined
  const topic = topicIn(markedIn(stand.parts))
  if (topic.about !== undefined)
    return stand.direction === "only" && !isNarrowed(stand, 0, reachWords, peopleWords, someTexts)
      ? made({ template: "channel-routing", media: stand.values, ...topic })
      : someOnly
  if (isOnePerson(said)) return one
  // What another part forbids or says is something else that the channel may be beside.
  const rest = parts.filter((part) => !stand.parts.includes(part) && !part.explains && !part.others && !part.permits)
  if (rest.some(({ values }) => values.media.length === 0)) return undefined
  if (!stand.parts.every(({ marked }) => isWay.test(marked) || isBareWay.test(marked))) return undefined
  // Something is not to go that way, and other things may.
  if (
    /(?<![\p{L}])(?:send|share|forward|post|deliver|mail)(?:ing)? (?:them|it|this|that|these|those)(?![\p{L}])/u.test(
      markedIn(stand.parts),
    )
  )
    return someOnly
  if (isNarrowed(stand, 0, reachWords, peopleWords)) return narrowed
  const media = stand.values
  if (stand.direction === "only") return made({ template: "allowed-media", media, ...decided(said) })
  return made({ template: "blocked-media", media, ...decided(said) })
}

/** A channel as the way on which people are reached, and not as what is spoken of. */
const isWay =
  /(?<![\p{L}])(?:by|via|over|through|per|using|use|on|off|keep to|of) (?:(?:the|our|any|an?|only|either|phone) )*‹medium›|^(?:please |you |so |and |or |but )*(?:only|never|no|not|don't|do not|must not|may not|must never|should not|shouldn't|cannot|can't|never use|avoid)(?: (?:ever|to|send|make|place|any|by|leave|out|use|go|you))* ‹medium›|(?:stay|keep) (?:away from|off|out of|clear of) ‹medium›|(?:forbidden|prohibited)(?: \p{L}+){0,3} ‹medium›|‹medium›(?: \p{L}+){0,3} (?:is|are|must stay) (?:untouched|forbidden|off-limits|banned|taboo|out|dead|the only)|‹medium›(?: \p{L}+){0,2} only(?![\p{L}])|(?:only|exclusively)(?: (?:by|via|over|through|per|on|use|the|our|to|with))* ‹medium›/u
const isBareWay = /^(?:no|never|only|keep off|stay off|use|to)? ?‹medium›(?: (?:yes|no|only))?$/u

const bounding = any(
  "larger|bigger|greater|higher|pricier|costlier|dearer|expensive|limit|ceiling|cap|allowance|budget|maximum|max|tops|kitty|all you (?:may|can|have)|beyond|exceed\\p{L}*|past|not a cent|no more|up to|at most|under|below|within|above|over|more than|less than|or less|or more|from(?= \\p{Sc}?\\d)|mark",
)
const perUnit = any(
  "(?:per|a|each|every|the|la|par|pro|por) (?:night|person|head|seat|user|unit|hour|piece|kg|km|gb|token|request|nuit|noche|nacht|stück|personne|persona)|apiece|each item|hourly|nightly",
)
const perPeriod = any(
  "(?:per|a|each|every) (?:day|week|month|year|quarter|session)|daily|weekly|monthly|quarterly|yearly|annually|mensuel(?:le)?|mensual|mensile",
)
const moneyWords = inForms(
  "spend spent budget buy purchase order pay payment cost book booking charge expense transaction subscription transfer refund ticket lunch meal gift supply invoice bid hire rent donate tip allowance limit card price licence license software hotel flight fee dinner trip",
)
const noLimit = any(
  "minimum|at least|mindestens|earn|revenue|discount|income|salary|profit|sales|price of the|was|were|used to|costs? (?:us|me)|saved|left|debt|owes?",
)

const buysNothing =
  /^(?:please |so )*(?:(?:buy|purchase|order|spend|pay(?: for)?) nothing|(?:never|don't|do not) spend (?:an?|one|any) (?:single )?(?:cent|penny|money|dime|euro|dollar)|no (?:purchases|payments|spending|buying))$/u

export function sumNamed(said: Said): FamilyReading {
  const sums = amountsIn(said.plain)
  if (said.parts.some(({ plain }) => buysNothing.test(plain)))
    return made({ template: "spend-limit", amount: 0, currency: "USD" })
  if (sums.length === 0 || said.parts.some(({ plain }) => plain === "once")) return undefined
  const isStated = said.parts.some(({ polarity }) => polarity === "never" || polarity === "only") || said.asks
  if (!(bounding.test(said.words) || limiting.test(said.words)) || noLimit.test(said.words)) return undefined
  if (
    !isStated &&
    !any(
      "limit|ceiling|cap|allowance|budget|maximum|max|at most|up to|tops|keep|stay|must|too expensive|the most",
    ).test(said.words)
  )
    return undefined
  if (said.parts.some(({ excepts }) => excepts)) return twoThings
  if (any("prices?|shown?|display|suggest\\p{L}*|average|nobody wants|landing|page|quotes?|offers?").test(said.words))
    return undefined
  // "Below 20 euros no reminder is sent" is no limit to what is spent.
  if (
    said.parts.some(
      ({ polarity, plain }) =>
        polarity === "never" && /(?<![\p{L}])(?:under|below|less than|unter|cheaper)(?![\p{L}])/u.test(plain),
    )
  )
    return undefined
  const isBudget =
    any("budget|have|got|kitty|allowance").test(said.words) &&
    !any("limit|ceiling|cap|capped|maximum|at most").test(said.words) &&
    !isStated &&
    !perPeriod.test(said.words)
  if (
    isBudget ||
    (!moneyWords.test(said.words) &&
      !perPeriod.test(said.words) &&
      !said.parts.some(({ polarity }) => polarity === "never"))
  )
    return undefined
  if (new Set(sums.map(({ minor, currency }) => `${minor} ${currency}`)).size > 1)
    return { why: "it names more than one sum" }
  const [{ minor, currency } = { minor: 0 }] = sums
  if (currency === undefined) return { why: "it names no currency" }
  if (perUnit.test(said.words)) return { why: "it is a limit for a unit, and a purchase may be of several" }
  const inAll =
    any("in total|in all|overall|altogether|budget|whole|together|insgesamt").test(said.words) &&
    !perPeriod.test(said.words)
  return made({
    template: "spend-limit",
    amount: minor / 100,
    currency,
    ...(inAll ? {} : { per: "call" }),
    ...decided(said),
  })
}
