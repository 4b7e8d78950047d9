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
  keptPrivate,
  likely,
  limiting,
  personNouns,
  secretNouns,
  someOnly,
  someTexts,
  sure,
  twoThings,
} from "./family.ts"
import { isPlainRule, speaksOf } from "./known-words.ts"
import type { RuleStatement } from "./statement.ts"
import { marks } from "./values.ts"

const mailing = any(
  "written|writ(?:e|ing) (?:only |exclusively |never )*to|‹medium›|receive(?:s|d)?|send(?:s|ing)?|sent|mail(?:s|ed|ing)?|e-?mail(?:s|ed|ing)?|writ(?:e|es|ing|ten) to|recipients?|addresses|address|schick\\p{L}*|send\\p{L}*|envoie|envoyer|envía|enviar|correos?|adressen|adresses|écris|écrire|schreib\\p{L}*|gesendet|messages?|go(?:es)? out|hit send|scriv\\p{L}*|escrib\\p{L}*|escrev\\p{L}*",
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
  if (!isPlainRule(text, "recipients") || !(addresses.length > 0 || mailing.test(text))) return undefined
  const toAddress = any("addresses|address|recipients?|adressen|direcciones|adresses|mailboxes").test(text)
  const byMail =
    /‹medium›|\be-?mail|\bmail/.test(text) ||
    any(
      "written to|writ(?:e|ing) (?:only |exclusively |never )*to|letters?|cc|bcc|inbox(?:es)?|messages?|that domain|whatever you send|goes? out to|go(?:es)? out|gesendet|écris|écrire|schreib\\p{L}*|schick\\p{L}*|scriv\\p{L}*|escrib\\p{L}*",
    ).test(text)
  if (addresses.length === 0 && !toAddress && !byMail) return undefined
  if (
    addresses.length === 0 &&
    !toAddress &&
    any("download(?:s|ed|ing)?|upload(?:s|ed|ing)?|https?|requests?|fetch|urls?|documents?|files?").test(text)
  )
    return undefined
  if (rule.marked.values.media.some((medium) => medium !== "email")) return twoThings
  if (any("from(?! (?:you|us|me|now))|copy|subject|sender|signature").test(text) && !any("to|at|outside").test(text))
    return undefined
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
  const isPlain = isPlainRule(text, "channels") && !sendsThose.test(text)
  // What goes there may be called anything where it is some texts only.
  if (!isPlain && !(about !== undefined && reaching.test(text) && governed.test(text))) return undefined
  if (keptOut(rule)) return undefined
  if (!media.every((medium) => medium.startsWith("#") || guardMedia.has(medium)))
    return { why: "the guard knows no such channel" }
  const polarity = alone === undefined ? wayPolarity(text) : "only"
  if (polarity === "mixed") return twoThings
  if (polarity === "plain" && !(rule.asks && rule.forbids)) return undefined
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

/** Something that was spoken of before is sent, and nothing is said of other messages. */
const sendsThose = any(
  "(?:send|sending|sent|forward|share|post|mail|deliver)(?:ed|ing|s)? (?:them|it|that|this|those|these)",
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

/** The rule is about what stands in messages, and not about the way that they take. */
const keptOut = (rule: RuleStatement): boolean =>
  secretNouns.test(rule.plain) || personNouns.test(rule.plain) || isToken(rule)

/** A token is a secret where it is shown, sent or kept, and nothing is counted. */
const isToken = ({ plain }: RuleStatement): boolean =>
  any("tokens?").test(plain) &&
  (shownTokens.test(plain) || isPlainRule(plain, "secrets")) &&
  !/\d/.test(plain) &&
  !limiting.test(plain) &&
  !countedTokens.test(plain)

const shownTokens = lazyPattern(
  "(?<![\\p{L}])(?:print|log|echo|output|display|show|send|share|post|forward|mail|reveal|disclose|expose|paste|put|write|leak|commit|hard-?code)(?:ing)?(?:,? (?:or|and|nor|print|log|share|commit|any|the|our|my|your|auth|api|bare|raw))* tokens(?![\\p{L}])|(?<![\\p{L}])tokens (?:must |may |should |are |can )*(?:never|not|cannot)(?: ever)? (?:be )?(?:print|log|echo|shown|display|sent|shar|post|forward|reveal|disclos|expos|past|leak|commit|hard-?cod)\\p{L}*(?![\\p{L}])",
  "u",
)

const countedTokens = any(
  "per token|design tokens?|tokens? (?:counts?|limits?|windows?|budgets?|usage)|counts?|counted|counting|number of tokens|context|twice|generat(?:e|es|ed|ing)|waste|save|css|parser|lexer|syntax",
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

export function language(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  if (values.languages.length === 0) return undefined
  if (!isPlainRule(text, "language")) return undefined
  const audience = any(
    "customers?|clients?|kunden|clientes|outgoing|suppliers?|tenants?|partners?|guests?|parents?|applicants?",
  )
  if (any("me|mir|explain|talk|speak|moi|mí").test(text) && !audience.test(text))
    return { why: "it is about answers to the user, and the guard judges tool calls" }
  // Whoever has every answer in one language means what goes to others as well; it is read between the lines.
  const general = !outgoing.test(text) && !audience.test(text)
  if (general && !writing.test(text)) return undefined
  if (isAdjective.test(text) || inPlaceOf.test(text)) return undefined
  if (values.languages.some((code) => unknownLanguages.has(code)))
    return { why: "the guard does not tell that language from others" }
  const alone =
    onlyValues(rule, "languages") ??
    (any("always|must|have to|has to|all|every").test(text) || notThat.test(text)
      ? ratherValues(rule, "languages")
      : undefined)
  const languages = alone ?? values.languages
  const polarity = alone === undefined ? polarityOf(text, marks.languages) : "only"
  if (polarity === "mixed") return twoThings
  if (
    polarity === "plain" &&
    !any(
      "all|always|every|everything|mandatory|obligatory|compulsory|required|whoever|must|has to|have to|immer|alle|toujours|siempre|sempre|from now on|without exception|regardless|whatever|anything|(?<!(?:this|that) \\p{L}+ )are|(?:communication|correspondence|language|tongue) (?:\\S+ ){0,4}is",
    ).test(text) &&
    !(audience.test(text) && any("use|write").test(text))
  )
    return undefined
  if (polarity === "plain" && oneText.test(rule.plain)) return { why: "it is meant for once" }
  const confidence = general ? guessed : audience.test(text) ? broad : likely
  if (polarity === "never")
    return { policy: { template: "blocked-languages", languages, ...decided(rule) }, confidence }
  return { policy: { template: "language-policy", languages, ...decided(rule) }, confidence }
}

/** "In ‹language›, never in ‹language›": the first is the one. */
const notThat = /‹language›,? (?:and |but )?(?:never|not)(?: in| on| to)? ‹language›[.!]*$/u

const unknownLanguages: ReadonlySet<string> = new Set(["no", "ca", "uk", "other"])

/** "Every German text": the language says which texts are meant, and not in what to write. */
const isAdjective = lazyPattern(
  "(?<![\\p{L}])(?:with|for|of) (?:\\p{L}+ )?(?:texts?|documents?|words?|names?|‹medium›) in ‹language›|(?:every|any|all|the|our|your|their|an?|simple|to|where|no|good) ‹language› (?!(?:only|is|are|in|for|or|and|please|from|at|by|to|with|when|whenever|always|as|unless|exclusively|not|but|if|language|ever|on|text(?=[.!]*$)|(?<=(?:send|no|write) ‹language› )(?:texts|messages|mails|emails|letters|replies|answers|‹medium›)|here|now|then|everywhere|too|also|instead|because|until)(?![\\p{L}]))\\p{L}",
  "u",
)

/** One letter, and not letters as such. */
const oneText =
  /(?<![\p{L}])(?:the|this|that|my) (?:letter|mail|e-?mail|message|comment|note|text|card|post|reply|answer|invitation|cousin|friend|brother|sister|mother|father|landlord|bank|neighbou?r)(?![\p{L}])/u

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
      "divulg(?:e|ed|ing)|tell|told|let slip|get out|gets out|go(?:es)? out|text(?:ed|ing)?|confidential|to yourself|under wraps|circulat(?:e|ed|ing)|distribut(?:e|ed|ing)|publish(?:ed|ing)?|hand(?:s|ed|ing)? (?:\\S+ ){0,2}(?:out|over)|get (?:\\S+ ){0,3}from you|send(?:s|ing)?|sent|shar(?:e|es|ed|ing)|post(?:s|ed|ing)?|forward(?:s|ed|ing)?|mail(?:ed|ing)?|e-?mail(?:ed|ing)?|disclos(?:e|ed|ing)|reveal(?:ed|ing)?|giv(?:e|en|ing)|past(?:e|ed|ing)|upload(?:ed|ing)?|leak(?:ed|ing)?|transmit(?:ted)?|messages?|tickets?|e-?mails?|third part(?:y|ies)|expos(?:e|ed|ing)|leave (?:our|this|the)|hand(?:s|ed|ing)?(?: \\S+)? to|pass(?:es|ed|ing)? (?:\\S+ )?on|slack|chat|outside|weiter|weitergeben|verschick\\p{L}*|send\\p{L}*|envoy\\p{L}*|enviar|compart\\p{L}*",
    ),
  ],
  [
    "read",
    any(
      "peek(?:ed|ing)?|your eyes|inspect(?:ed|ing)?|snoop(?:ing)?|brows(?:e|ing)|read(?:s|ing)?|open(?:s|ed|ing)?|look(?:s|ing)? (?:at|into|up)|access(?:ed|ing)?|view(?:ed|ing)?|(?:stay|keep) out of (?:the )?(?= |$)|retriev(?:e|ing)|lies|lesen|öffne\\p{L}*|lire|leer|cat",
    ),
  ],
  [
    "print",
    any(
      "visible|dump(?:ed|ing)?|screen|show up|print(?:s|ed|ing)?|log(?:s|ged|ging)?|echo(?:ed|ing)?|output(?:s|ting)?|display(?:ed|ing)?|show(?:n|ing)?|console|terminal|stdout|transcript|ausgeben|affiche\\p{L}*|muestr\\p{L}*|imprim\\p{L}*",
    ),
  ],
]

/** A file that has "secrets" in its name is a file; one of the environment holds them. */
const withoutFiles = ({ plain, marked }: RuleStatement): string =>
  marked.values.paths.reduce((text, path) => (path.includes(".env") ? text : text.replaceAll(path, "‹path›")), plain)

const pointsTo = any("them|they|they're|it|those|these|sie|les|los|las")

const instead =
  /[;.:](?= |$)|, (?=(?:but |and )?(?:always|use|read|load|take|get|fetch|put|keep|store|pull|they|these|it|that|instead|rather)(?![\p{L}]))| instead(?![\p{L}])/u

export function secrets(rule: RuleStatement): FamilyReading {
  const plain = withoutFiles(rule)
  if (!(secretNouns.test(plain) || isToken(rule)) || !(rule.forbids || keptPrivate.test(plain))) return undefined
  if (/\b(?:you|agents?) (?:may|can) (?:read|open|look|see|use)\b.*\bbut\b/u.test(plain)) return twoThings
  if (
    any(
      "errors?|events?|snapshots?|types?|state|payloads?|runtime|backend|transports?|boundar(?:y|ies)|diagnostics?|projections?|schemas?|callers?|clients?|rotation|manager|handled|design",
    ).test(plain)
  )
    return undefined
  if (
    any(
      "characters|caractères|caracteres|zeichen|length|digits|rotate[ds]?|hash(?:ed)?|expire|strong|reuse|guess|reset|plain ?text|at least|primary keys?|foreign keys?",
    ).test(plain)
  )
    return undefined
  // "Never paste tokens, read them from the environment": what is to be done instead is not forbidden.
  const parts = plain.split(instead)
  const forbidden = parts
    .flatMap((part) => clausesIn(part))
    .filter(({ forbids, text }) => (forbids || keptPrivate.test(text)) && !/(?:isn't|aren't) in(?![\p{L}])/u.test(text))
    .map(({ text }) => text)
  const isNamed = (part: string): boolean => secretNouns.test(part) || isToken({ ...rule, plain: part })
  if (!forbidden.some((part) => isNamed(part) || pointsTo.test(part))) return undefined
  const rest = forbidden.join(" ").replace(new RegExp(secretNouns.source, "gu"), " ")
  // What is uploaded to a repository is committed.
  const done = any("repo(?:s|sitory|sitories)?|git").test(rest)
    ? rest.replace(/(?<!\p{L})upload(?:ed|ing|s)?(?!\p{L})/gu, " ")
    : rest
  const deny = secretActs.filter(([, act]) => act.test(done)).map(([name]) => name)
  if (deny.length === 0 && any("touch(?:ed|ing)?|hands off|stay away|off[- ]limits|go near").test(plain))
    return { policy: { template: "no-secrets", ...decided(rule) }, confidence: likely }
  if (deny.length === 0) return { why: "it does not say what must not be done with the secrets" }
  return { policy: { template: "no-secrets", deny, ...decided(rule) }, confidence: sure }
}

const personKinds: readonly (readonly [PersonalKind, LazyPattern])[] = [
  ["card", any("credit ?cards?(?: numbers?| data| details)?|card (?:numbers?|data|details)")],
  ["ssn", any("ssns?|ssn's|social security (?:numbers?|details)")],
  ["email", any("(?:customers'? )?e-?mail addresses")],
  [
    "phone",
    any(
      "(?:phone|mobile|cell|cellphone|telephone)(?: phone)? numbers?|telefonnummern?|handynummern?|números? de teléfono|numéros? de téléphone",
    ),
  ],
  ["iban", any("ibans?")],
  ["passport", any("passport(?: numbers?)?s?")],
  ["health", health],
  ["address", homeAddress],
  ["birth-date", any("dates? of birth|birth ?dates?|birthdays?|geburtsdat\\p{L}*")],
  ["account", any("(?:bank )?account numbers?")],
  ["national-id", any("cpf|(?:id|identity) (?:card )?numbers?|national ids?|tax ids?|national identity numbers?")],
]

const dataOfPeople = any("(?:customer|client|user|member|guest|employee|people's)s?'? (?:data|information|info)")

const givingOut = any(
  "divulg(?:e|ed|ing)|let slip|circulat(?:e|ed|ing)|distribut(?:e|ed|ing)|text(?:ed|ing)?|fax(?:ed|ing)?|upload(?:ed|ing)?|past(?:e|ed|ing)|discuss(?:ed|ing)?|pass(?:ing)? (?:\\S+ ){0,4}(?:on|along)|hand(?:ed|ing)?|sell|trade|hand(?:s|ed|ing)? (?:out|over)|send(?:s|ing)?|sent|shar(?:e|es|ed|ing)|post(?:s|ed|ing)?|forward(?:s|ed|ing)?|disclos(?:e|es|ed|ing)|reveal(?:ed|ing)?|giv(?:e|en|ing)|put|mention(?:ed|ing)?|messages?|tickets?|e-?mails?|mails?|leave our|leave the|leave out|leak(?:ed|ing)?|expos(?:e|ed|ing)|pass(?:ed)? on|out of (?:every|all|any|the|your|our)?\\s?(?:messages?|e-?mails?|mails?|tickets?|posts?|chats?)|third part(?:y|ies)|outsiders|weiter|weitergeben|gib|partag\\p{L}*|compart\\p{L}*|envoy\\p{L}*|enviar|posts?|transmit(?:ted)?|publish(?:ed)?|leave|leaves|tell|told|export(?:ed)?|strip|redact|disclosed|go(?:es)? (?:out|into?)|(?:in|into|on|from|of|off|to)(?: \\S+){0,3} (?:lists?|letters?|chats?|reports?|lines|anything|everything|output|answers)|auftauch\\p{L}*|verschick\\p{L}*|erwähn\\p{L}*|figur\\p{L}*|divulg\\p{L}*|partilh\\p{L}*|envi\\p{L}*|courrier|correo|confidential|appear(?:s)?|outputs?|mail|coloque|envíes|envie|sortir",
)

/** They are in it; what is in them is how they are written. */
const containing = lazyPattern(
  `(?<![\\p{L}])(?:includ|contain)\\p{L}*(?![\\p{L}]).*(?:${personNouns.source})|(?:${personNouns.source}).*(?<![\\p{L}])(?:included|contained|include (?:them|it|any|those))(?![\\p{L}])`,
  "u",
)

const keepsOut =
  /\b(?:keep|kept|leave|strip|remove|stays?)\b.{0,60}\bout of\b|\bleave\b.{1,60}\b(?:out|off)\b|^(?:please )?(?:always )?(?:strip|redact|mask|remove)\b(?!.*\bshow)/

export function personalData(rule: RuleStatement): FamilyReading {
  // What is not to get out is named where something is forbidden, and not only somewhere before.
  const parts = clausesIn(rule.plain)
  const bound = parts
    .filter((part) => part.forbids || keepsOut.test(part.text) || keptPrivate.test(part.text))
    .map((part) => part.text)
  const isNamed = bound.some((part) => personNouns.test(part))
  if (!isNamed && !bound.some((part) => pointsTo.test(part))) return undefined
  const plain = isNamed ? bound.join("; ") : rule.plain
  if (
    !personNouns.test(plain) ||
    !(
      givingOut.test(rule.plain) ||
      containing.test(plain) ||
      keptPrivate.test(plain) ||
      isPlainRule(rule.plain, "personal-data")
    ) ||
    rule.marked.values.regions.length > 0
  )
    return undefined
  if (!rule.forbids && !keepsOut.test(plain) && !keptPrivate.test(plain)) return undefined
  if (any("ask(?:s|ing)? (?:\\S+ ){0,3}for|request(?:s|ing)?|collect(?:s|ing)?").test(plain)) return undefined
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
  if (kinds.length === 0 && !general && !dataOfPeople.test(plain))
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
  const reaches = values.commands.length > 0 && values.commands.every((command) => networkPrograms.test(command))
  if (values.commands.length > 0 && !reaches) return undefined
  const isNear =
    reaches || speaksOf(text, "hosts") || any("(?:stay|keep) (?:away|off|out)|off-limits|forbidden").test(text)
  if (!isNear || !isPlainRule(text, "hosts")) return undefined
  if (any("addresses|recipients?|messages?|that domain").test(text) || values.media.includes("email")) return undefined
  const polarity = hostPolarity(text)
  if (polarity === "mixed") return twoThings
  if (polarity === "plain") return undefined
  const policy: TemplateUse =
    polarity === "only"
      ? { template: "allowed-hosts", hosts: values.domains, ...decided(rule) }
      : { template: "blocked-hosts", hosts: values.domains, ...decided(rule) }
  // Who may only log in there may well fetch from elsewhere.
  return { policy, confidence: reaches && polarity === "only" ? broad : sure }
}

const networkPrograms = /^(?:curl|wget|ssh|scp|rsync|nc|netcat|ncat)$/

/** "The hosts you may reach are …" names all of them. */
function hostPolarity(text: string): Polarity {
  const polarity = polarityOf(text, marks.domains)
  const isAll =
    /^(?:please )?(?:all|every|any|each)(?: [\p{L}-]+){1,5} (?:must|has to|have to|needs? to|(?:are|is) to) (?:go|be sent|be made|come)(?![\p{L}]).*‹domain›[.!]*$/u
  if (polarity === "plain" && isAll.test(text)) return "only"
  return polarity === "plain" &&
    /\bhosts? (?:that )?(?:you're|you are|you may|you can|are|is|allowed)\b.*\b(?:is|are)\b/u.test(text)
    ? "only"
    : polarity
}

const network = any("internet|network|online|offline|the web|outside world|outbound (?:connections?|traffic|requests?)")

/** Nothing is reached at all. */
function noNetwork({ marked: { text, values }, forbids }: RuleStatement): FamilyReading {
  if (Object.values(values).some((some) => some.length > 0) || !network.test(text)) return undefined
  if (/^(?:it|this|he|she|that) (?:has|is)(?!\p{L})/u.test(text)) return undefined
  const isOffline = any("offline|without (?:any |the |an? )?(?:internet|network)").test(text)
  if (isOffline === forbids || !isPlainRule(text.replace(/(?<!\p{L})without(?!\p{L})/u, " "), "network"))
    return undefined
  return { policy: { template: "no-network" }, confidence: sure }
}
