import type { LazyPattern } from "../../language/lazy.ts"
import { services } from "../facts/media.ts"
import type { PersonalKind } from "../facts/personal.ts"
import type { SecretAct, TemplateUse } from "../policy/templates.ts"
import {
  any,
  broad,
  decided,
  type FamilyReading,
  guessed,
  health,
  homeAddress,
  likely,
  personNouns,
  secretNouns,
  someOnly,
  someTexts,
  sure,
  twoThings,
} from "./family.ts"
import { type Polarity, polarityOf, type RuleStatement } from "./statement.ts"
import { marks } from "./values.ts"

const mailing = any(
  "‹medium›|send(?:s|ing)?|sent|mail(?:s|ed|ing)?|e-?mail(?:s|ed|ing)?|writ(?:e|es|ing|ten) to|recipients?|addresses|address|schick\\p{L}*|send\\p{L}*|envoie|envoyer|envía|enviar|correos?|adressen|adresses|écris|écrire|schreib\\p{L}*|gesendet|messages?|go(?:es)? out|hit send|scriv\\p{L}*|escrib\\p{L}*|escrev\\p{L}*",
)

const surfing = any(
  "connect(?:s|ion|ions|ing)?|talk(?:ing)?|call(?:s|ed|ing)?|requests?|fetch(?:ing)?|download(?:s|ed|ing)?|upload(?:s|ed|ing)?|network|https?|reach(?:ed)?|contact(?:ed|ing)?|access(?:ed|ing)?|visit(?:ed|ing)?|brows(?:e|ing)|urls?|hosts?|internet|outbound|online|webhooks?|endpoints?|traffic|egress|ruf|rufe|aufrufen|verbinde|scrape|pull from|push to|load(?:ing)?|query(?:ing)?|stay off|off[- ]limits|out of bounds|test(?:ing)? against|sent to|scans?|packages|greif|zugreif\\p{L}*|lade|hochlad\\p{L}*|connecte\\p{L}*|conect\\p{L}*|accède\\p{L}*|acced\\p{L}*|usa|utilise\\p{L}*|télécharg\\p{L}*|descarg\\p{L}*",
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
  if (rule.marked.values.media.some((medium) => medium !== "email")) return twoThings
  if (any("from|cc|bcc|copy|subject|sender|signature").test(text) && !any("to|at|outside").test(text)) return undefined
  if (someTexts.test(text)) return someOnly
  const polarity = polarityOf(text, addresses.length > 0 ? marks.recipients : marks.domains)
  if (polarity === "mixed") return twoThings
  if (polarity === "never")
    return { policy: { template: "blocked-recipients", recipients: named, ...decided(rule) }, confidence: sure }
  const bound = polarity === "only" || (toAddress && any("must|has to|have to|needs? to|make sure|allowed").test(text))
  if (!bound) return undefined
  const policy: TemplateUse =
    addresses.length === 0
      ? { template: "email-domains", domains: domains, ...decided(rule) }
      : { template: "allowed-recipients", recipients: named, ...decided(rule) }
  return { policy, confidence: sure }
}

const reaching = any(
  "contact(?:s|ed|ing)?|messag(?:e|es|ing)|reach(?:ed|ing)?|post(?:s|ed|ing)?|send(?:s|ing)?|sent|communicat(?:e|es|ing|ion)|notif(?:y|ies|ied|ication|ications)|channel|text(?:ing)?|dms?|respond|reply|write|use|used|using|talk|announce|schick\\p{L}*|nachrichten|kontaktier\\p{L}*|angeschrieben|verschick\\p{L}*|schreib\\p{L}*|gepostet|posten|benutz\\p{L}*|verwende\\p{L}*|habl\\p{L}*|mand\\p{L}*|envi\\p{L}*|envoie\\p{L}*|publi\\p{L}*|utilis\\p{L}*|n'utilise\\p{L}*|écris|écrire|escrib\\p{L}*|usa|usar|go(?:es)? (?:out|to|in|into|through|over)|belongs? (?:in|to|on)|call",
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
  const { media } = values
  if (media.length === 0) return undefined
  if (values.domains.length + values.recipients.length + values.languages.length + values.paths.length > 0)
    return undefined
  if (!reaching.test(text) && !isBareMedium(text)) return undefined
  if (reading.test(text) || keptOut(rule)) return undefined
  if (!media.every((medium) => medium.startsWith("#") || guardMedia.has(medium)))
    return { why: "the guard knows no such channel" }
  const polarity = polarityOf(text, marks.media)
  if (polarity === "mixed") return twoThings
  if (polarity === "plain" && !rule.asks) return undefined
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
    const about = someTexts.exec(text)?.[0]
    const rooms = media.filter((medium) => medium.startsWith("#")).length
    if (about !== undefined) return rooms > 0 && rooms < media.length ? twoThings : topicRouting(rule, about)
    return { policy: { template: "allowed-media", media, ...decided(rule) }, confidence }
  }
  if (someTexts.test(text)) return someOnly
  return { policy: { template: "blocked-media", media, ...decided(rule) }, confidence }
}

/** The rule is nothing but a channel that is forbidden: "No SMS." */
const isBareMedium = (text: string): boolean =>
  /^(?:please )?(?:never|no|keine?|don't|do not) ‹medium›(?:,? (?:customers?|clients?|people|anyone|anybody|users?|ever|please|at all|(?:an?|the|any|our) \p{L}+|to \p{L}+(?: \p{L}+)?))?[,.! ]*(?:please|ever)?[.!]*$/u.test(
    text,
  ) ||
  /^(?:please )?(?:stay|keep) (?:out of|off|away from) ‹medium›[.!]*$/u.test(text) ||
  /‹medium› (?:is|are) (?:strictly |absolutely )?(?:off[- ]limits|forbidden|not allowed|prohibited|verboten|tabu)/u.test(
    text,
  )

/** The rule is about what stands in messages, and not about the way that they take. */
const keptOut = ({ plain }: RuleStatement): boolean => secretNouns.test(plain) || personNouns.test(plain)

function topicRouting({ marked }: RuleStatement, about: string): FamilyReading {
  const topic = new RegExp(`((?:\\p{L}+ ){0,1})${about}`, "u").exec(marked.text)?.[0].trim() ?? about
  const words = topic.replace(/^(?:the|all|your|our|my|any|every|a|an|post|send) /u, "").replace(/s$/, "")
  return { policy: { template: "channel-routing", media: marked.values.media, about: [words] }, confidence: broad }
}

const outgoing = any(
  "‹medium›|messages?|customers?|clients?|comments?|posts?|letters?|repl(?:y|ies) to|send(?:s|ing)?|sent|outgoing|channel|suppliers?|write to|partners?|kunden|nachrichten|außen|e-?mails?|mails?|clientes|mensajes|correos?|courriels?|outside|public|go(?:es)? out",
)

const writing = any(
  "writ(?:e|es|ing|ten)|answers?|repl(?:y|ies)|respond|communicat(?:e|es)|publish|texts?|antwort\\p{L}*|schreib\\p{L}*|réponds|répondre|écris|responde|responda|responder|escrib\\p{L}*|escrev\\p{L}*|scriv\\p{L}*|rispond\\p{L}*",
)

export function language(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  if (values.languages.length === 0) return undefined
  if (
    any(
      "translat(?:e|es|ed|ing|ion|ions)|speakers?|speaking customers?|market|localiz\\p{L}*|übersetz\\p{L}*|strings?|docs|documentation|docstrings?|readme|changelog|code|ui|user-visible|user-facing|labels?|identifiers?|tests?|copy|variables?|commit|kept waiting",
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
  if (
    !/(?:in|auf|en|to|use|only|but|than|nur|into|solo|sólo|em|stick to|per) (?:\p{L}+ )?‹language›|‹language› (?:only|is|in|for)|\bno ‹language›/u.test(
      text,
    )
  )
    return undefined
  const polarity = polarityOf(text, marks.languages)
  if (polarity === "mixed") return twoThings
  if (
    polarity === "plain" &&
    !any(
      "all|always|every|everything|must|has to|have to|is|are|immer|alle|toujours|siempre|sempre|from now on|without exception|regardless|anything|use|write",
    ).test(text)
  )
    return undefined
  const confidence = general ? guessed : audience.test(text) ? broad : likely
  if (polarity === "never")
    return { policy: { template: "blocked-languages", languages: values.languages, ...decided(rule) }, confidence }
  return { policy: { template: "language-policy", languages: values.languages, ...decided(rule) }, confidence }
}

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

export function secrets(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  if (!secretNouns.test(plain) || !rule.forbids) return undefined
  if (/\b(?:you|agents?) (?:may|can) (?:read|open|look|see|use)\b.*\bbut\b/u.test(plain)) return twoThings
  if (
    any(
      "errors?|events?|snapshots?|types?|state|payloads?|runtime|backend|transports?|boundar(?:y|ies)|diagnostics?|projections?|schemas?|callers?|clients?|rotation|manager|handled|design",
    ).test(plain)
  )
    return undefined
  if (
    any(
      "characters|length|digits|rotate[ds]?|hash(?:ed)?|expire|strong|reuse|guess|reset|plain ?text|at least|primary keys?|foreign keys?",
    ).test(plain)
  )
    return undefined
  if (any("touch(?:ed|ing)?|hands off|stay away|off[- ]limits|go near").test(plain))
    return { policy: { template: "no-secrets", ...decided(rule) }, confidence: likely }
  const rest = plain.replace(new RegExp(secretNouns.source, "gu"), " ")
  const deny = secretActs.filter(([, act]) => act.test(rest)).map(([name]) => name)
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
  "send(?:s|ing)?|sent|shar(?:e|es|ed|ing)|post(?:s|ed|ing)?|forward(?:s|ed|ing)?|disclos(?:e|es|ed|ing)|reveal(?:ed|ing)?|giv(?:e|en|ing)|includ(?:e|es|ed|ing)|put|mention(?:ed|ing)?|messages?|tickets?|e-?mails?|mails?|leave our|leave the|leave out|leak(?:ed|ing)?|expos(?:e|ed|ing)|pass(?:ed)? on|out of (?:every|all|any|the|your|our)?\\s?(?:messages?|e-?mails?|mails?|tickets?|posts?|chats?)|third part(?:y|ies)|anyone|outsiders|weiter|weitergeben|gib|partag\\p{L}*|compart\\p{L}*|envoy\\p{L}*|enviar|posts?|transmit(?:ted)?|publish(?:ed)?|leave|leaves|tell|told|export(?:ed)?|strip|redact|disclosed|go(?:es)? (?:out|into?)|lists?|letters?|chats?|reports?|lines|anybody|everything|auftauch\\p{L}*|verschick\\p{L}*|erwähn\\p{L}*|figur\\p{L}*|divulg\\p{L}*|partilh\\p{L}*|envi\\p{L}*|courrier|correo|confidential|appear(?:s)?|contain(?:s|ed)?|outputs?|mail|coloque|envíes|envie|sortir",
)

export function personalData(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  if (!personNouns.test(plain) || !givingOut.test(plain)) return undefined
  if (
    !rule.forbids &&
    !/\b(?:keep|kept|leave|strip|remove|stays?)\b.{0,60}\bout of\b|\bleave\b.{1,60}\bout\b|^(?:please )?(?:always )?(?:strip|redact|mask|remove)\b(?!.*\bshow)/.test(
      plain,
    )
  )
    return undefined
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
  if (kinds.length > 0 && any("names (?:and|or|nor) \\p{L}+|(?:and|or|nor) names").test(plain)) return twoThings
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
  if (!surfing.test(text) || any("hard-?code[ds]?|mention|link|links|link to|accepts?|returns?|documented").test(text))
    return undefined
  if (any("addresses|recipients?|messages?|that domain").test(text) || values.media.includes("email")) return undefined
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
  /^(?:please |you |agents? |always )*(?:never|no|don't|do not|must not|must never|may not|are not allowed to|are not to|you're not to|cannot|avoid|keine?n?|ne|nunca)(?: (?:ever|use|using|access|accessing|make|making|go|connect|connecting|to|on|the|any|an?|open|have|touch|reach|send))* (?:internet|network|online|network (?:access|requests?|calls?|connections?|traffic)|internet access|netzwerk|netz|internetzugriff|outbound (?:connections?|traffic|requests?))(?:,? (?:access|at all|whatsoever|ever|requests?|connections?|allowed|please|of any kind|for the whole project|in this project|whatever the task|no matter what))*[.!]*$|^(?:please )?(?:always )?(?:work|stay|remain)(?: strictly| completely| fully)? offline(?: only| at all times| always)?[.!]*$|^(?:internet|network|network access|internet access) (?:is|are) (?:off[- ]limits|forbidden|not allowed|prohibited)[.!]*$/u

const noNetwork = (rule: RuleStatement): FamilyReading =>
  noNetworkWords.test(rule.marked.text) ? { policy: { template: "no-network" }, confidence: sure } : undefined
