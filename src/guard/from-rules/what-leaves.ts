import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { services } from "../facts/media.ts"
import type { PersonalKind } from "../facts/personal.ts"
import type { SecretAct, TemplateUse } from "../policy/templates.ts"
import { clausesIn, onlyValues, type Polarity, polarityOf, ratherValues } from "./clauses.ts"
import {
  any,
  broad,
  decided,
  type FamilyReading,
  guessed,
  health,
  homeAddress,
  inPlaceOf,
  likely,
  limiting,
  personNouns,
  secretNouns,
  someOnly,
  someTexts,
  sure,
  twoThings,
} from "./family.ts"
import type { RuleStatement } from "./statement.ts"
import { marks } from "./values.ts"

const mailing = any(
  "‹medium›|receive(?:s|d)?|send(?:s|ing)?|sent|mail(?:s|ed|ing)?|e-?mail(?:s|ed|ing)?|writ(?:e|es|ing|ten) to|recipients?|addresses|address|schick\\p{L}*|send\\p{L}*|envoie|envoyer|envía|enviar|correos?|adressen|adresses|écris|écrire|schreib\\p{L}*|gesendet|messages?|go(?:es)? out|hit send|scriv\\p{L}*|escrib\\p{L}*|escrev\\p{L}*",
)

const surfing = any(
  "open(?:s|ed|ing)?|hit(?:s|ting)?|go to|site|forbidden|blocked|banned|connect(?:s|ion|ions|ing)?|talk(?:ing)?|call(?:s|ed|ing)?|requests?|fetch(?:ing)?|download(?:s|ed|ing)?|upload(?:s|ed|ing)?|network|https?|reach(?:ed|ing)?|contact(?:ed|ing)?|access(?:ed|ing)?|visit(?:ed|ing)?|brows(?:e|ing)|urls?|hosts?|internet|outbound|online|webhooks?|endpoints?|traffic|egress|ruf|rufe|aufrufen|verbinde|scrape|pull from|push to|load(?:ing)?|query(?:ing)?|stay off|off[- ]limits|out of bounds|test(?:ing)? against|sent to|scans?|packages|greif|zugreif\\p{L}*|lade|hochlad\\p{L}*|connecte\\p{L}*|conect\\p{L}*|accède\\p{L}*|acced\\p{L}*|usa|utilise\\p{L}*|télécharg\\p{L}*|descarg\\p{L}*",
)

export function recipients(rule: RuleStatement): FamilyReading {
  const { recipients: addresses, domains } = rule.marked.values
  const named = [...addresses, ...domains]
  const { text } = rule.marked
  if (named.length === 0) {
    const outside = any("outside|external(?:ly)?|outsiders|third part(?:y|ies)")
    return mailing.test(text) && outside.test(text) && rule.forbids && text.includes(marks.media)
      ? { why: "it does not say which addresses or domains are meant" }
      : undefined
  }
  if (!mailing.test(text)) return undefined
  const toAddress = any("addresses|address|recipients?|adressen|direcciones|adresses|mailboxes").test(text)
  const byMail =
    /‹medium›|\b(?:mail|correo|courriel)/.test(text) ||
    any(
      "writ(?:e|ing) to|messages?|that domain|whatever you send|goes? out to|go(?:es)? out|gesendet|écris|écrire|schreib\\p{L}*|schick\\p{L}*|scriv\\p{L}*|escrib\\p{L}*",
    ).test(text)
  if (addresses.length === 0 && !toAddress && !byMail) return undefined
  if (
    addresses.length === 0 &&
    !toAddress &&
    any("download(?:s|ed|ing)?|upload(?:s|ed|ing)?|https?|requests?|fetch|urls?|documents?|files?").test(text)
  )
    return undefined
  if (any("contains?|valid|filter|rejects?|accepts?").test(text)) return undefined
  if (rule.marked.values.media.some((medium) => medium !== "email")) return twoThings
  if (any("from(?! (?:you|us|me|now))|copy|subject|sender|signature").test(text) && !any("to|at|outside").test(text))
    return undefined
  if (someTexts.test(text)) return someOnly
  const polarity = polarityOf(text, addresses.length > 0 ? marks.recipients : marks.domains)
  if (polarity === "mixed") return twoThings
  if (polarity === "never")
    return { policy: { template: "blocked-recipients", recipients: named, ...decided(rule) }, confidence: sure }
  const isAllAt = lazyAllAt.test(text)
  const bound =
    polarity === "only" || isAllAt || (toAddress && any("must|has to|have to|needs? to|make sure|allowed").test(text))
  if (!bound) return undefined
  const policy: TemplateUse =
    addresses.length === 0
      ? { template: "email-domains", domains: domains, ...decided(rule) }
      : { template: "allowed-recipients", recipients: named, ...decided(rule) }
  return { policy, confidence: sure }
}

/** What is sent has to be to them. */
const lazyAllAt = lazyPattern(
  "(?:must|has to|have to|needs? to|always)(?: always| only)* (?:be|go|be sent|be addressed)(?: only| always)?(?: to| at| in| within| for)?(?: the| someone| somebody| people| an?| one of| our)* ‹(?:domain|recipient)›",
  "u",
)

const reaching = any(
  "(?:get|gets|receive|receives)(?: an?| any| your)* ‹medium›|contact(?:s|ed|ing)?|messag(?:e|es|ing)|reach(?:ed|ing)?|post(?:s|ed|ing)?|send(?:s|ing)?|sent|communicat(?:e|es|ing|ion)|notif(?:y|ies|ied|ication|ications)|channel|text(?:ing)?|dms?|pings?|nudge|respond|reply|write|talk|announce|schick\\p{L}*|nachrichten|kontaktier\\p{L}*|angeschrieben|verschick\\p{L}*|schreib\\p{L}*|gepostet|posten|habl\\p{L}*|mand\\p{L}*|envi\\p{L}*|envoie\\p{L}*|publi\\p{L}*|écris|écrire|escrib\\p{L}*|us(?:e|es|ed|ing)(?: the| any| our| my| your| only| exclusively| solely| not| as)* ‹medium›|‹medium›(?: \\p{L}+){0,4} used|go(?:es)? (?:out|to|in|into|through|over)|go(?:es)? on(?:to)?(?: the| our| any)* ‹medium›|belongs? (?:in|to|on)|call",
)

const reading = any("read|history|search|check|ignore|ignored|answer every|respond to every|look|according")

const guardMedia = new Set([
  "email",
  "slack",
  "teams",
  "discord",
  "sms",
  "chat",
  "ticket",
  "phone",
  "social",
  "webhook",
  ...Object.values(services).flat(),
])

export function channels(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  const about = someTexts.exec(text)?.[0] ?? topicOf(text)
  const alone = about === undefined ? onlyValues(rule, "media") : ratherValues(rule, "media")
  const media = alone ?? values.media
  if (media.length === 0) return undefined
  if (values.domains.length + values.recipients.length + values.languages.length + values.paths.length > 0)
    return undefined
  if (!reaching.test(text) && !isBareMedium(text)) return undefined
  if (reading.test(text) || keptOut(rule)) return undefined
  if (!media.every((medium) => medium.startsWith("#") || guardMedia.has(medium)))
    return { why: "the guard knows no such channel" }
  const polarity = alone === undefined ? wayPolarity(text) : "only"
  if (polarity === "mixed") return twoThings
  if (polarity === "plain" && !rule.asks) return undefined
  if (polarity !== "only" && putInto.test(text)) return someOnly
  if (!governed.test(text) && !isBareMedium(text)) return undefined
  if (
    any(
      "outside|external(?:ly)?|outsiders|third part(?:y|ies)|strangers|unknown|competitors?|journalists?|press|minors|colleagues",
    ).test(text) &&
    polarity !== "only"
  )
    return { why: "it does not say which addresses or domains are meant" }
  if (rule.asks && media.length === 1 && media[0] === "email")
    return { policy: { template: "ask-before", acts: ["email"] }, confidence: likely }
  const confidence = any(
    "customers?|clients?|suppliers?|users?|kunden|team|staff|journalists?|sources?|informant(?:s|en)?|patients?|guests?|applicants?|partners?|members?|parents?",
  ).test(text)
    ? broad
    : sure
  if (polarity === "only") {
    const rooms = media.filter((medium) => medium.startsWith("#")).length
    if (about !== undefined) return rooms > 0 && rooms < media.length ? twoThings : topicRouting(text, media, about)
    return { policy: { template: "allowed-media", media, ...decided(rule) }, confidence }
  }
  if (about !== undefined) return someOnly
  return { policy: { template: "blocked-media", media, ...decided(rule) }, confidence }
}

/** Something is not to stand in messages, which may go out all the same: "no emojis in mails", "never put links into posts". */
const putInto = lazyPattern(
  "(?<![\\p{L}])(?:use|using|put|putting|includ\\p{L}+|mention|write|add|past(?:e|ing)|attach|insert|no) (?!(?:anything|something|things?|messages?|people|anyone|anybody|to|on|in|by|via|with|it|posts?|replies|the team|customers?|clients?|users?)(?![\\p{L}]))(?:[\\p{L}-]+ ){1,5}?(?:in|into|inside|to|within)(?: any| the| our| your| outgoing| all| an?)* ‹medium›|(?<![\\p{L}])(?:send|sending|forward|forwarding|share|sharing|deliver|transmit|post|posting|discuss|discussing)(?: out)? (?!(?:anything|nothing|never|not|no|something|things?|messages?|notifications?|people|anyone|anybody|to|on|in|by|via|posts?|replies|repl(?:y|ies)|any|your|all|out)(?![\\p{L}]))(?:[\\p{L}-]+ ){1,5}?(?:by|via|over|through|on|in|per)(?: any| the| our| your| an?)* ‹medium›",
  "u",
)

/** The channel is what is used, and not just something that is spoken of. */
const governed = lazyPattern(
  "(?<![\\p{L}])(?:by|via|per|over|through|on|in|into|to|use|uses|using|from|off|of|with|send|sends|sending|post|posting|write|make|place|no|never|don't|not|only|but|be|than|me|is|are|:|;|,|for|and|as|say|sms|text|über|auf|par|por)(?: (?!that |i )\\p{L}+){0,2}? ‹medium›|^(?:please )?‹medium›|‹medium›(?: \\p{L}+){0,3} (?:is|are|must|may|should|off|forbidden|not|never|isn't|aren't|only|used|allowed)(?![\\p{L}])",
  "u",
)

/** "All messages have to go out by Slack" names the only way. */
function wayPolarity(text: string): Polarity {
  const polarity = polarityOf(text, marks.media)
  const isAll =
    /^(?:please )?(?:all|every|any|each)(?: [\p{L}-]+){1,5} (?:must|has to|have to|needs? to|(?:are|is) to|goes?|(?:is|are) (?:always )?sent)(?![\p{L}]).*‹medium›[.!]*$/u
  return polarity === "plain" && isAll.test(text) ? "only" : polarity
}

/** The rule is nothing but a channel that is forbidden: "No SMS." */
const isBareMedium = (text: string): boolean =>
  /^(?:please )?(?:never|no|keine?|don't|do not) ‹medium›(?:,? (?:customers?|clients?|people|anyone|anybody|users?|ever|please|at all|never|(?:an?|the|any|our) \p{L}+|(?:to|with|for) \p{L}+(?: \p{L}+)?))?[,.! ]*(?:please|ever)?[.!]*$/u.test(
    text,
  ) ||
  /^(?:please )?(?:stay|keep) (?:out of|off|away from) ‹medium›[.!]*$/u.test(text) ||
  /‹medium› (?:is|are) (?:strictly |absolutely )?(?:off[- ]limits|forbidden|not allowed|prohibited|verboten|tabu)/u.test(
    text,
  )

/** The rule is about what stands in messages, and not about the way that they take. */
const keptOut = (rule: RuleStatement): boolean =>
  secretNouns.test(rule.plain) || personNouns.test(rule.plain) || isToken(rule)

/** A token is a secret where it is shown, sent or kept, and nothing is counted. */
const isToken = ({ plain }: RuleStatement): boolean =>
  shownTokens.test(plain) && !/\d/.test(plain) && !limiting.test(plain)

const shownTokens = lazyPattern(
  "(?<![\\p{L}])(?:print|log|echo|output|display|show|send|share|post|forward|mail|reveal|disclose|expose|paste|put|write|leak|commit|hard-?code)(?:ing)?(?:,? (?:or|and|nor|print|log|share|commit|any|the|our|my|your|auth|api|bare|raw))* tokens(?![\\p{L}])|(?<![\\p{L}])tokens (?:must |may |should |are |can )*(?:never|not|cannot)(?: ever)? (?:be )?(?:print|log|echo|shown|display|sent|shar|post|forward|reveal|disclos|expos|past|leak|commit|hard-?cod)\\p{L}*(?![\\p{L}])",
  "u",
)

/** What it is that belongs in a channel, where that is not messages as such: "outage notices belong in …". */
function topicOf(text: string): string | undefined {
  const subject =
    /^(?:please )?(?:all |the |our |your |any |every )*((?:[\p{L}-]+ )?[\p{L}-]+s) (?:always |only )*(?:belong|go|are (?:only |always )*(?:posted|sent|announced|shared|reported|discussed)|(?:must|have to|should) (?:only |always )*(?:go|be (?:posted|sent|announced|shared)))(?![\p{L}])/u.exec(
      text,
    )?.[1]
  const isGeneral =
    /(?:^| )(?:messages|mails|posts|replies|customers|clients|people|suppliers|users|sources|texts|communications|notifications|contacts|answers|applicants|drivers|guests|patients|partners|members|parents|words|things|tickets)$/u
  return subject === undefined || isGeneral.test(subject) ? undefined : subject
}

function topicRouting(text: string, media: readonly string[], about: string): FamilyReading {
  const topic = new RegExp(`((?:\\p{L}+ ){0,1})${about}`, "u").exec(text)?.[0].trim() ?? about
  const words = topic.replace(/^(?:the|all|your|our|my|any|every|a|an|post|send|‹medium›) /u, "").replace(/s$/, "")
  return { policy: { template: "channel-routing", media, about: [words] }, confidence: broad }
}

const outgoing = any(
  "‹medium›|correspondence|communications?|messages?|customers?|clients?|comments?|posts?|letters?|repl(?:y|ies) to|send(?:s|ing)?|sent|outgoing|channel|suppliers?|write to|partners?|kunden|nachrichten|außen|e-?mails?|mails?|clientes|mensajes|correos?|courriels?|outside|public|go(?:es)? out",
)

const writing = any(
  "writ(?:e|es|ing|ten)|answers?|repl(?:y|ies)|respond|communicat(?:e|es)|publish|texts?|antwort\\p{L}*|schreib\\p{L}*|réponds|répondre|écris|responde|responda|responder|escrib\\p{L}*|escrev\\p{L}*|scriv\\p{L}*|rispond\\p{L}*",
)

export const unknownLanguage = { why: "the guard does not tell that language from others" } as const

export function language(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  if (values.languages.length === 0) return undefined
  if (values.languages.includes("other")) return unknownLanguage
  if (
    any(
      "translat(?:e|es|ed|ing|ion|ions)|speakers?|speaking customers?|market|localiz\\p{L}*|übersetz\\p{L}*|strings?|docs|documentation|docstrings?|readme|changelog|code|ui|user-visible|user-facing|labels?|identifiers?|tests?|copy|(?:error|log|status) messages?|(?:of|in) the (?:app|page|ui|site|game|tool|website|program)|variables?|commit\\p{L}*|kept waiting",
    ).test(text)
  )
    return undefined
  const audience = any(
    "customers?|clients?|kunden|clientes|outgoing|suppliers?|tenants?|partners?|guests?|parents?|applicants?",
  )
  if (any("me|mir|explain|talk|speak|moi|mí").test(text) && !audience.test(text))
    return { why: "it is about answers to the user, and the guard judges tool calls" }
  // Whoever has every answer in one language means what goes to others as well; it is read between the lines.
  const general = !outgoing.test(text) && !audience.test(text)
  if (general && !writing.test(text)) return undefined
  if (!asLanguage.test(text)) return undefined
  if (isAdjective.test(text) || inPlaceOf.test(text)) return undefined
  const alone = onlyValues(rule, "languages")
  const languages = alone ?? values.languages
  const polarity = alone === undefined ? polarityOf(text, marks.languages) : "only"
  if (polarity === "mixed") return twoThings
  if (
    polarity === "plain" &&
    !any(
      "all|always|every|everything|must|has to|have to|immer|alle|toujours|siempre|sempre|from now on|without exception|regardless|whatever|anything|(?<!(?:this|that) \\p{L}+ )are|(?:communication|correspondence|language|tongue) (?:\\S+ ){0,4}is",
    ).test(text) &&
    !(audience.test(text) && any("use|write").test(text))
  )
    return undefined
  if (polarity === "plain" && oneText.test(rule.plain)) return { why: "it is meant for once" }
  if (polarity === "never" && !forbidsLanguage.test(text)) return undefined
  const confidence = general ? guessed : audience.test(text) ? broad : likely
  if (polarity === "never")
    return { policy: { template: "blocked-languages", languages, ...decided(rule) }, confidence }
  return { policy: { template: "language-policy", languages, ...decided(rule) }, confidence }
}

/** The language is what something is written in. */
export const asLanguage =
  /(?<![\p{L}])(?:in|auf|en|use|only|but|than|nur|into|solo|sólo|em|on|stick to|per|write) (?:\p{L}+ )?‹language›|: ‹language›|‹language› (?:only|is|in|for)|\bno ‹language›/u

/** "Every German text": the language says which texts are meant, and not in what to write. */
export const isAdjective = lazyPattern(
  "(?<![\\p{L}])(?:with|for|of) (?:\\p{L}+ )?(?:texts?|documents?|words?|names?|‹medium›) in ‹language›|(?:every|any|all|the|our|your|their|an?|simple|to|where|no|good|write) ‹language› (?!(?:only|is|are|in|for|or|and|please|from|at|by|to|with|when|whenever|always|as|unless|exclusively|not|but|if|language|ever|on|text(?=[.!]*$)|here|now|then|everywhere|too|also|instead|because|until)(?![\\p{L}]))\\p{L}",
  "u",
)

/** One letter, and not letters as such. */
export const oneText =
  /(?<![\p{L}])(?:the|this|that|my) (?:letter|mail|e-?mail|message|comment|note|text|card|post|reply|answer|invitation|cousin|friend|brother|sister|mother|father|landlord|bank|neighbou?r)(?![\p{L}])/u

/** It is the writing in that language that is forbidden. */
const forbidsLanguage = lazyPattern(
  "(?<![\\p{L}])(?:never|don't|do not|not|must not|mustn't|may not|cannot|avoid|no longer|nothing|no|isn't|aren't|nobody)(?: (?:ever|be|to|me|us|them|anyone|anybody|customers?|clients?|users?|people|any|the|our|tickets?|messages?|‹medium›|out|go|goes|is|are|gets?|in|please|again|anything|outgoing|other|language|but|than|with|for|on|written|writing|writes?|write|answers?|answering|repl(?:y|ies|ying)|respond(?:ing)?|sends?|sent|sending|use|using|speak|communicat\\p{L}+|post|posting|publish|reply|draft|text))* ‹language›|‹language›(?: \\p{L}+){0,3} (?:is|are|must|may|isn't|aren't|never|not)(?: \\p{L}+){0,3}(?: (?:forbidden|off[- ]limits|allowed|taboo|banned|used|sent|prohibited))",
  "u",
)

const secretActs: readonly (readonly [SecretAct, LazyPattern])[] = [
  [
    "commit",
    any(
      "commit(?:s|ted|ting)?|check(?:s|ed|ing)? (?:\\S+ ){0,4}in(?:to)?|repo(?:s|sitory|sitories)?|version control|source control|git|push(?:ed|ing)?|hard-?cod(?:e|ed|ing)|source code",
    ),
  ],
  [
    "send",
    any(
      "send(?:s|ing)?|sent|shar(?:e|es|ed|ing)|post(?:s|ed|ing)?|forward(?:s|ed|ing)?|mail(?:ed|ing)?|e-?mail(?:ed|ing)?|disclos(?:e|ed|ing)|reveal(?:ed|ing)?|giv(?:e|ing) (?:out|away|\\S+ )|past(?:e|ed|ing)|upload(?:ed|ing)?|leak(?:ed|ing)?|transmit(?:ted)?|messages?|tickets?|e-?mails?|third part(?:y|ies)|expos(?:e|ed|ing)|leave (?:our|this|the)|hand(?:s|ed|ing)?(?: \\S+)? to|pass(?:es|ed|ing)? (?:\\S+ )?on|slack|chat|outside|weiter|weitergeben|verschick\\p{L}*|send\\p{L}*|envoy\\p{L}*|enviar|compart\\p{L}*",
    ),
  ],
  [
    "read",
    any(
      "read(?:s|ing)?|open(?:s|ed|ing)?|look(?:s|ing)? (?:at|into|up)|access(?:ed|ing)?|view(?:ed|ing)?|(?:stay|keep) out of (?:the )?(?= |$)|retriev(?:e|ing)|lies|lesen|öffne\\p{L}*|lire|leer|cat",
    ),
  ],
  [
    "print",
    any(
      "print(?:s|ed|ing)?|log(?:s|ged|ging)?|echo(?:ed|ing)?|output(?:s|ting)?|display(?:ed|ing)?|show(?:n|ing)?|console|terminal|stdout|transcript|ausgeben|affiche\\p{L}*|muestr\\p{L}*|imprim\\p{L}*",
    ),
  ],
]

/** A file that has "secrets" in its name is a file; one of the environment holds them. */
const withoutFiles = ({ plain, marked }: RuleStatement): string =>
  marked.values.paths.reduce((text, path) => (path.includes(".env") ? text : text.replaceAll(path, "‹path›")), plain)

const pointsTo = any("them|it|those|these|sie|les|los|las")

const instead =
  /[;.:](?= |$)|, (?=(?:but |and )?(?:always|use|read|load|take|get|fetch|put|keep|store|pull|they|these|it|that|instead|rather)(?![\p{L}]))| instead(?![\p{L}])/u

/** A system is described in which secrets are handled. */
export const designWords = any(
  "errors?|events?|snapshots?|types?|state|payloads?|runtime|backend|transports?|boundar(?:y|ies)|diagnostics?|projections?|schemas?|callers?|clients?|rotation|manager|handled|design",
)

export function secrets(rule: RuleStatement): FamilyReading {
  const plain = withoutFiles(rule)
  if (!(secretNouns.test(plain) || isToken(rule)) || !rule.forbids) return undefined
  if (/\b(?:you|agents?) (?:may|can) (?:read|open|look|see|use)\b.*\bbut\b/u.test(plain)) return twoThings
  if (designWords.test(plain)) return undefined
  if (
    any(
      "characters|length|digits|rotate[ds]?|hash(?:ed)?|expire|strong|reuse|guess|reset|plain ?text|at least|primary keys?|foreign keys?",
    ).test(plain)
  )
    return undefined
  // "Never paste tokens, read them from the environment": what is to be done instead is not forbidden.
  const parts = plain.split(instead)
  const forbidden = parts
    .flatMap((part) => clausesIn(part))
    .filter(({ forbids, text }) => forbids && !/(?:isn't|aren't) in(?![\p{L}])/u.test(text))
    .map(({ text }) => text.replace(/going forward/g, " "))
  const isNamed = (part: string): boolean => secretNouns.test(part) || isToken({ ...rule, plain: part })
  if (!forbidden.some((part) => isNamed(part) || pointsTo.test(part))) return undefined
  const rest = forbidden.join(" ").replace(new RegExp(secretNouns.source, "gu"), " ")
  const deny = secretActs.filter(([, act]) => act.test(rest)).map(([name]) => name)
  if (deny.length === 0 && any("touch(?:ed|ing)?|hands off|stay away|off[- ]limits|go near").test(plain))
    return { policy: { template: "no-secrets", ...decided(rule) }, confidence: likely }
  if (deny.length === 0) return { why: "it does not say what must not be done with the secrets" }
  return { policy: { template: "no-secrets", deny, ...decided(rule) }, confidence: sure }
}

const personKinds: readonly (readonly [PersonalKind, LazyPattern])[] = [
  ["card", any("credit ?cards?(?: numbers?| data| details)?|card (?:numbers?|data|details)")],
  ["ssn", any("ssns?|social security numbers?")],
  ["email", any("(?:customers'? )?e-?mail addresses")],
  ["phone", any("phone numbers?|telefonnummern?|handynummern?|números? de teléfono|numéros? de téléphone")],
  ["iban", any("ibans?")],
  ["passport", any("passport(?: numbers?)?s?")],
  ["health", health],
  ["address", homeAddress],
  ["birth-date", any("dates? of birth|birth ?dates?|birthdays?|geburtsdat\\p{L}*")],
  ["account", any("(?:bank )?account numbers?")],
  ["national-id", any("cpf|national ids?|tax ids?|national identity numbers?")],
]

const givingOut = any(
  "hand(?:s|ed|ing)? (?:out|over)|send(?:s|ing)?|sent|shar(?:e|es|ed|ing)|post(?:s|ed|ing)?|forward(?:s|ed|ing)?|disclos(?:e|es|ed|ing)|reveal(?:ed|ing)?|giv(?:e|en|ing)|includ(?:e|es|ed|ing)|put|mention(?:ed|ing)?|messages?|tickets?|e-?mails?|mails?|leave our|leave the|leave out|leak(?:ed|ing)?|expos(?:e|ed|ing)|pass(?:ed)? on|out of (?:every|all|any|the|your|our)?\\s?(?:messages?|e-?mails?|mails?|tickets?|posts?|chats?)|third part(?:y|ies)|outsiders|weiter|weitergeben|gib|partag\\p{L}*|compart\\p{L}*|envoy\\p{L}*|enviar|posts?|transmit(?:ted)?|publish(?:ed)?|leave|leaves|tell|told|export(?:ed)?|strip|redact|disclosed|go(?:es)? (?:out|into?)|(?:in|into|on|from|of|off|to)(?: \\S+){0,3} (?:lists?|letters?|chats?|reports?|lines|anything|everything|output|answers)|auftauch\\p{L}*|verschick\\p{L}*|erwähn\\p{L}*|figur\\p{L}*|divulg\\p{L}*|partilh\\p{L}*|envi\\p{L}*|courrier|correo|confidential|appear(?:s)?|contain(?:s|ed)?|outputs?|mail|coloque|envíes|envie|sortir",
)

const keepsOut =
  /\b(?:keep|kept|leave|strip|remove|stays?)\b.{0,60}\bout of\b|\bleave\b.{1,60}\b(?:out|off)\b|^(?:please )?(?:always )?(?:strip|redact|mask|remove)\b(?!.*\bshow)/

export function personalData(rule: RuleStatement): FamilyReading {
  // What is not to get out is named where something is forbidden, and not only somewhere before.
  const parts = clausesIn(rule.plain)
  const bound = parts.filter((part) => part.forbids || keepsOut.test(part.text)).map((part) => part.text)
  const isNamed = bound.some((part) => personNouns.test(part))
  if (!isNamed && !bound.some((part) => pointsTo.test(part))) return undefined
  if (any("except|apart from|aside from").test(rule.plain)) return twoThings
  const plain = isNamed ? bound.join("; ") : rule.plain
  if (!personNouns.test(plain) || !givingOut.test(rule.plain) || rule.marked.values.regions.length > 0) return undefined
  if (!rule.forbids && !keepsOut.test(plain)) return undefined
  const sendsToo = any(
    "send(?:s|ing)?|sent|shar(?:e|es|ed|ing)|disclos(?:e|ed|ing)|forward(?:ed|ing)?|messages?|e-?mails?",
  ).test(plain)
  if (!sendsToo && any("logs?|logging|logged|print|store[ds]?|storing|database|test data|fixtures").test(plain))
    return { why: "it is about what is kept or printed, and the guard judges what is sent" }
  const kinds = personKinds.filter(([, kind]) => kind.test(plain)).map(([name]) => name)
  const general = any(
    "personal\\p{L}* \\p{L}+|pii|personenbezogene\\p{L}*|persönliche\\p{L}* daten|données personnelles|datos personales|dados pessoais",
  ).test(plain)
  // The guard knows no name from another word: half of the rule would be lost.
  if (kinds.length > 0 && /(?<![\p{L}])names(?:,| and | or | nor )|(?:and|or|nor) names(?![\p{L}])/u.test(plain))
    return twoThings
  if (kinds.length === 0 && !general)
    return { why: "the guard does not recognize that kind of personal data in a text" }
  const policy: TemplateUse = {
    template: "no-personal-data",
    ...(general || kinds.length === 0 ? {} : { kinds }),
    ...decided(rule),
  }
  return { policy, confidence: sure }
}

export function hosts(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  if (values.recipients.length > 0) return undefined
  if (values.domains.length === 0) return noNetwork(rule)
  const fetches = values.commands.length > 0 && values.commands.every((command) => /^(?:curl|wget)$/.test(command))
  if (
    !(surfing.test(text) || fetches) ||
    any("hard-?code[ds]?|mention|link|links|link to|accepts?|returns?|documented").test(text)
  )
    return undefined
  if (any("addresses|recipients?|messages?|that domain").test(text) || values.media.includes("email")) return undefined
  if (
    /(?<![\p{L}])(?:any(?:one|body)|some(?:one|body)|nobody|no one|people|folks) (?:at|from|with|of) (?:\p{L}+ )?\(? ?‹domain›/u.test(
      text,
    )
  )
    return undefined
  const polarity = hostPolarity(text)
  if (polarity === "mixed") return twoThings
  if (polarity === "plain") return undefined
  const policy: TemplateUse =
    polarity === "only"
      ? { template: "allowed-hosts", hosts: values.domains, ...decided(rule) }
      : { template: "blocked-hosts", hosts: values.domains, ...decided(rule) }
  return { policy, confidence: sure }
}

/** "The hosts you may reach are …" names all of them. */
function hostPolarity(text: string): Polarity {
  const polarity = polarityOf(text, marks.domains)
  return polarity === "plain" &&
    /\bhosts? (?:that )?(?:you're|you are|you may|you can|are|is|allowed)\b.*\b(?:is|are)\b/u.test(text)
    ? "only"
    : polarity
}

const noNetworkWords =
  /^(?:please |you |agents? |always )*(?:never|no|don't|do not|must not|must never|may not|are not allowed to|are not to|you're not to|cannot|avoid|keine?n?|ne|nunca)(?: (?:you|ever|use|using|access|accessing|make|making|go|connect|connecting|to|on|the|any|an?|open|have|touch|reach|send))* (?:internet|network|online|network (?:access|requests?|calls?|connections?|traffic)|internet access|netzwerk|netz|internetzugriff|outbound (?:connections?|traffic|requests?))(?:,? (?:access|at all|whatsoever|ever|requests?|connections?|allowed|please|of any kind|for the whole project|in this project|whatever the task|no matter what))*[.!]*$|^(?:please )?(?:always )?(?:work|stay|remain)(?: strictly| completely| fully)? offline(?: only| at all times| always)?[.!]*$|^(?:please )?(?:always )?(?:work|stay|remain|operate|run|do (?:it|this|everything)) without (?:any |the |an? )?(?:internet|network)(?: access| calls?| connections?| requests?| traffic)?[.!]*$|^(?:please )?(?:no|never|avoid) (?:\p{L}+ )?(?:connections?|requests?|access|traffic|calls?) to (?:the )?(?:internet|network|outside world)[.!]*$|^leave the (?:internet|network) alone[.!]*$|^(?:all |any )?(?:the )?(?:(?:outbound|network|internet) (?:connections?|access|traffic|requests?|use)|internet|network) (?:is|are) (?:off[- ]limits|forbidden|not allowed|prohibited)(?: altogether| at all)?[.!]*$/u

const noNetwork = (rule: RuleStatement): FamilyReading =>
  noNetworkWords.test(rule.marked.text) ? { policy: { template: "no-network" }, confidence: sure } : undefined
