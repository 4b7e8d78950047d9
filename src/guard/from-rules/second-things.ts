import type { LazyPattern } from "../../language/lazy.ts"
import type { PersonalKind } from "../facts/personal.ts"
import type { AskableAct } from "../policy/rule-templates.ts"
import type { SecretAct, TemplateUse } from "../policy/templates.ts"
import { forbidding } from "./clauses.ts"
import { any, broad, type FamilyReading, health, homeAddress, personNouns, secretNouns, twoThings } from "./family.ts"
import type { RulePart } from "./parts.ts"
import type { Said } from "./second-reading.ts"
import { inForms } from "./second-words.ts"
import { acts, allControls, askedIn, asksOthers, inPlace } from "./what-is-done.ts"
import { designWords } from "./what-leaves.ts"

const decided = ({ asks }: Said): { readonly decision?: "ask" } => (asks ? { decision: "ask" } : {})
const made = (policy: TemplateUse): FamilyReading => ({ policy, confidence: broad })

/** The parts that forbid, and those that point to what the sentence is about. */
const forbidden = (said: Said): readonly RulePart[] =>
  said.parts.filter(
    ({ polarity, others, explains, plain }) =>
      polarity === "never" && !others && !explains && forbids.test(plain) && !/^(?:with no|without) /u.test(plain),
  )

/** Something is forbidden, and not ordered to be left out: "skip the hooks" is no ban on skipping. */
const forbids = any(`${forbidding.source}|avoid|leave|out of the question`)

const excepted = ({ parts }: Said): boolean => parts.some(({ excepts, permits }) => excepts || permits)

const productionName = any(
  "production|prod|prd|prod[-_][\\w-]+|[\\w]+(?:[-_][\\w]+)*[-_](?:prod|prd|live)(?:[-_]?\\d\\w*|[-_]\\w+)*|live (?:\\p{L}+ ){0,2}(?:tables?|db|databases?|schemas?|systems?|servers?|clusters?|nodes?|data|records?|crm|erp|shop(?:'s)?|store|site|environment|redis|postgres|mysql|mongo|cache|instances?|ledger|one|buckets?|queues?|warehouse)|real (?:\\p{L}+ )?(?:data|records|database|db|customers?)|echte \\p{L}*datenbank|produktiv\\p{L}*",
)
const testName = any(
  "(?:staging|test|dev|development|sandbox) (?:replica|copy|database|db|cluster|environment|server|system|instance)",
)
const otherProduction = any(
  "production (?:build|builds|code|bundle|quality|grade|ready|mode|dependencies|release)|production-ready|production-grade|mock\\p{L}*|deploy\\p{L}*|releas(?:e|es|ed|ing)|merge|secrets?|credentials?|passwords?|tokens?|keys?|pipeline|(?:from|in|for) tests?|models?",
)
const destroys = inForms("delete drop truncate wipe remove destroy purge erase flush empty tear_down")
const writes = inForms(
  "write change modify update alter edit insert mutate migrate migration overwrite restore restart seed import fix touch_up patch rename create add load reindex",
)
const reads = inForms(
  "touch access connect query read use open run work copy export look dump pull go enter log_in leave hands near playground near script command debug experiment try business stay keep test",
)

export function productionKept(said: Said): FamilyReading {
  const marked = said.parts.map(({ marked }) => marked).join(" ; ")
  if (otherProduction.test(said.plain)) return undefined
  // A file that has production in its name is a file.
  const placeOf = ({ plain, marked, values }: RulePart): string => (values.paths.length > 0 ? marked : plain)
  const named = said.parts.filter((part) => productionName.test(placeOf(part)))
  const rest = decided(said)
  if (named.length === 0) {
    const only = said.parts.some(
      ({ plain, polarity }) =>
        polarity === "only" && testName.test(plain) && any("only|exclusively|solely").test(plain),
    )
    return only && inForms("query work run test use write connect touch").test(said.plain) && !excepted(said)
      ? made({ template: "no-production-access", ...rest })
      : undefined
  }
  if (excepted(said) && !said.parts.some(({ permits, plain }) => permits && any("read|query|select|look").test(plain)))
    return twoThings
  if (
    any("read[- ]only|only (?:read|select|query|look)|(?:read|select|query|look) only|only \\p{L}+ to select").test(
      said.plain,
    )
  )
    return made({ template: "no-production-writes", ...rest })
  const bound = said.parts.filter(
    ({ polarity, plain, explains }) =>
      polarity === "never" && !explains && (productionName.test(plain) || pointing.test(plain)),
  )
  if (bound.length === 0 && !said.asks) return undefined
  const text = bound.length === 0 ? marked : bound.map(({ plain }) => plain).join(" ; ")
  if (writes.test(text)) return made({ template: "no-production-writes", ...rest })
  if (destroys.test(text)) return made({ template: "no-production-destruction", ...rest })
  return reads.test(text) || /^(?:never|not) (?:with|on|against|in) /u.test(text)
    ? made({ template: "no-production-access", ...rest })
    : undefined
}

const pointing = any("it|there|them|those|in there|that|the (?:same|latter)")

const moreSecrets = any(
  "(?:signing|encryption|stripe|aws|gcp|azure|openai|github|ssh|gpg|pgp|deploy|license|licence|root|master|service|host|webhook|recovery|backup|client|shared|admin|wifi|wi-fi|database|db|bank|card|alarm|door|safe|vault|wallet|account) (?:keys?|certificates?|tokens?|passwords?|passphrases?|pins?|secrets?|credentials?)|(?:recovery|backup|door|access|alarm|security|safe|pin|gate|entry) codes?|(?:the|our|my|any|your|private) (?:tokens?|pins?)(?= |$)|tokens|jetons|login (?:details|data)|recovery codes?|backup codes?|seed phrases?|pin codes?|connection strings?|kubeconfig|keychain|keyring|password managers?|vault|private keys?|passwords?|wlan-passwort|id_(?:rsa|ed25519)|access codes?",
)
const noSecret = any(
  "plain ?text|constant-time|branching|reference|index|doors|primary|foreign|sort|partition|cache|object|dictionary|map|json|shortcut|keyboard|hotkeys?|arrow|answer|success|count(?:er|ing)?|max|limit|budget|piano|musical|car|house|context|rotate|rotation|expire|length|characters|strong|hash(?:ed)?|reset|gift certificates?|birth certificates?|translation keys?|config keys?|key (?:points?|findings?|messages?|words?|figures?|accounts?|customers?)",
)
const secretActs: readonly (readonly [readonly SecretAct[], LazyPattern])[] = [
  [
    ["commit"],
    any(
      "commit\\p{L}*|check(?:s|ed|ing)? (?:\\S+ ){0,4}in(?:to)?|repositor(?:y|ies)|version control|git|push(?:ed|ing)?|hard-?cod\\p{L}*|(?:source )?code|documents?|files?|store[ds]?|writ(?:e|ten|ing)",
    ),
  ],
  [
    ["send"],
    any(
      "send\\p{L}*|sent|shar(?:e|es|ed|ing)|post(?:s|ed|ing)?|forward\\p{L}*|mail(?:ed|ing|s)?|e-?mails?|disclos\\p{L}*|reveal\\p{L}*|giv(?:e|en|ing)|past(?:e|ed|ing)|upload\\p{L}*|leak\\p{L}*|transmit\\p{L}*|messages?|tickets?|third part(?:y|ies)|expos\\p{L}*|leav(?:e|es|ing)|hand(?:s|ed|ing)? (?:out|over)|pass(?:es|ed|ing)? on|slack|chats?|outside|tell|told|anyone|anybody|nobody|visitors?",
    ),
  ],
  [
    ["read"],
    any(
      "read(?:s|ing)?|open(?:s|ed|ing)?|look(?:s|ing|ups?)?(?: (?:at|into|up|in))?|access\\p{L}*|view\\p{L}*|retriev\\p{L}*|peek\\p{L}*|cat|touch\\p{L}*|unread|eyes",
    ),
  ],
  [["read", "send"], any("cop(?:y|ies|ied|ying)|mov(?:e|ed|ing)|export\\p{L}*|extract\\p{L}*")],
  [
    ["print"],
    any(
      "print\\p{L}*|log(?:s|ged|ging)?|echo\\p{L}*|outputs?|display\\p{L}*|show\\p{L}*|console|terminal|stdout|repeat\\p{L}*|command ?lines?|screen|dump\\p{L}*|type",
    ),
  ],
]

export function secretsKept(said: Said): FamilyReading {
  if (noSecret.test(said.plain) || designWords.test(said.plain)) return undefined
  const isNamed = (plain: string): boolean => secretNouns.test(plain) || moreSecrets.test(plain)
  if (!said.parts.some(({ plain }) => isNamed(plain))) return undefined
  if (said.parts.some(({ values }) => values.tools.length > 0)) return undefined
  const bound = forbidden(said).filter(({ plain }) => isNamed(plain) || pointing.test(plain))
  if (bound.length === 0) return undefined
  if (excepted(said)) return twoThings
  const text = bound
    .map(({ plain }) => plain.replace(new RegExp(`${secretNouns.source}|${moreSecrets.source}`, "gu"), " "))
    .join(" ; ")
  const deny = [...new Set(secretActs.flatMap(([acts, words]) => (words.test(text) ? acts : [])))]
  if (deny.length === 0) return { why: "it does not say what must not be done with the secrets" }
  return made({ template: "no-secrets", deny, ...decided(said) })
}

const kinds: readonly (readonly [PersonalKind, LazyPattern])[] = [
  ["card", any("(?:credit |debit )?cards?(?: numbers?| data| details)")],
  ["ssn", any("ssns?|social security numbers?")],
  ["email", any("e-?mail addresses")],
  ["phone", any("(?:phone|telephone|mobile|cell|private|personal) numbers?|contact details|contact data")],
  ["iban", any("ibans?|bank (?:details|data|accounts?|account numbers?)")],
  ["account", any("bank (?:details|data|accounts?|account numbers?)|account numbers?")],
  ["passport", any("passports?(?: numbers?| scans?| data| copies)?")],
  [
    "health",
    any(
      "diagnos[ei]s|health(?: data| records?| information| details)|anybody's health|medical (?:data|records?|info(?:rmation)?|details|history|histories|files)|illness(?:es)?|sick leave|medications?|patient (?:data|records?|files|information)",
    ),
  ],
  ["address", any("(?:home|private|postal|street|residential|personal) address(?:es)?|home addresses")],
  ["birth-date", any("dates? of birth|birth ?dates?")],
  [
    "national-id",
    any("national ids?|tax ids?|id numbers?|identity numbers?|insurance numbers?|driving licen[cs]es?(?: numbers?)?"),
  ],
]
const allPersonal = any(
  "(?:personal|private) (?:data|details|information)|pii|(?:customer|user|client|member|guest|donor|tenant|student|pupil|patient|employee|applicant)s?'? (?:data|details|records)|data (?:of|about) (?:the |our )?(?:customers?|users?|clients?|members?|guests?|donors?|tenants?|students?|pupils?|employees?|applicants?)",
)
const unseen = any(
  "names?|salar(?:y|ies)|photos?|pictures?|faces?|ip addresses|licen[cs]e plates?|cvs?|résumés?|resumes?|religion|grades?|wages?",
)
const handsOut = inForms(
  "share send sent post forward disclose reveal give include put mention message ticket email mail leave leak expose pass_on pass paste upload publish export tell document report letter chat list crm outsider third outside external anyone anybody newsletter write stand appear copy communicate go online public nobody",
)

export function personalKept(said: Said): FamilyReading {
  const isNamed = (plain: string): boolean =>
    allPersonal.test(plain) || personNouns.test(plain) || kinds.some(([, kind]) => kind.test(plain))
  if (!said.parts.some(({ plain }) => isNamed(plain))) return undefined
  const bound = [...forbidden(said), ...said.parts.filter(({ plain }) => keepsOut.test(plain))]
  const binding = bound.filter(({ plain }) => isNamed(plain) || pointing.test(plain))
  if (any("advice|announced?|congratulat\\p{L}*|gets? our").test(said.plain)) return undefined
  if (binding.length === 0 || said.parts.some(({ values }) => values.regions.length + values.languages.length > 0))
    return undefined
  if (excepted(said)) return twoThings
  if (unseen.test(said.plain)) return { why: "the guard does not recognize that kind of personal data in a text" }
  const text = said.plain
  if (!handsOut.test(text)) return undefined
  if (
    any("logs?|logging|logged|print|stored?|storing|database|test data|fixtures|examples?").test(text) &&
    !any("send|share|mail|post|message|publish|paste|export").test(text)
  )
    return { why: "it is about what is kept or printed, and the guard judges what is sent" }
  const isGeneral = allPersonal.test(text)
  const named = kinds
    .filter(
      ([name, kind]) =>
        kind.test(text) || (name === "health" ? health : name === "address" ? homeAddress : none).test(text),
    )
    .map(([name]) => name)
  if (!isGeneral && named.length === 0)
    return { why: "the guard does not recognize that kind of personal data in a text" }
  return made({ template: "no-personal-data", ...(isGeneral ? {} : { kinds: named }), ...decided(said) })
}

const none = any("(?!)")

const keepsOut =
  /(?<![\p{L}])(?:keep|kept|leave|strip|remove|stays?)(?![\p{L}]).{0,60}(?<![\p{L}])(?:out of|here|inside|confidential|to yourself|with us|private)(?![\p{L}])/u

const controls: readonly (readonly [control: string, LazyPattern])[] = [
  ["audit", any("audit(?:ing|s)?(?:[- ]?(?:logs?|logging|trails?|records?))?|audit trail")],
  ["logging", any("(?:security|access|event|system|query|request) logs?|logging")],
  [
    "authentication",
    any(
      "mfa|2fa|two-factor(?: authentication)?|multi-factor(?: authentication)?|double authentification|authentication|sso|password polic(?:y|ies)|login protection|captcha|extra code|lockout",
    ),
  ],
  [
    "access",
    any(
      "rls|row[- ]level security|access controls?|rbac|branch protection(?: rules?)?|selinux|apparmor|sandbox(?:ing)?|sudoers|admin(?:istrator)? rights|root rights|least privilege|permission checks?|code ?owners|required reviews?",
    ),
  ],
  [
    "network",
    any(
      "firewalls?(?: rules?)?|waf(?: rules?)?|rate limit(?:s|ing|er)?|csrf(?: protection)?|network polic(?:y|ies)|security groups?|ip (?:allow|white)list|ports?(?= (?:in|on|of) the firewall)|ips(?= (?:in|on|to|into)|$)|vpn|ddos protection",
    ),
  ],
  [
    "detection",
    any(
      "(?:security|vulnerability|secret|virus|malware|dependency) scan(?:s|ners?|ning)?|monitoring|alert(?:s|ing)?|alarms?|antivirus|virus scanner|edr|xdr|intrusion detection|defender|guardduty|cloudtrail|siem|virenscanner",
    ),
  ],
  [
    "encryption",
    any(
      "encryption|tls(?: verification| checks?)?|ssl(?: verification)?|certificate (?:verification|checks?|validation|errors?)|hsts|https",
    ),
  ],
  [
    "security",
    any(
      "signature(?:s| verification| checks?)|signed commits|commit hooks?|pre-commit hooks?|git hooks?|--no-verify|public access block|security (?:controls?|settings?|checks?|features?|headers?)|safeguards?|guardrails?|linters?|content security policy|s3 bucket public|buckets? public",
    ),
  ],
]
const switches = inForms(
  "leave mess take_down get_around disable bypass weaken deactivate circumvent tamper skip remove pause mute suspend kill override lift lower relax loosen silence open whitelist allowlist clear edit stop delete ignore shorten raise grant give make touch change use set off exempt switch_off turn_off turn out_of public",
)
const keepsOn =
  /(?<![\p{L}])(?:stays?|remains?|keep|kept|leave|must|always|has to|have to)(?![\p{L}]).*(?<![\p{L}])(?:on|enabled|active|running|in place|intact|untouched|as (?:it|they) (?:is|are)|as is|enforcing|switched on|turned on|up|alone|unchanged)(?![\p{L}])/u

export function controlsKept(said: Said): FamilyReading {
  const named = controls
    .filter(([, noun]) => said.parts.some(({ plain }) => noun.test(plain)))
    .map(([control]) => control)
  if (named.length === 0) return undefined
  const isNamed = (plain: string): boolean => controls.some(([, noun]) => noun.test(plain)) || pointing.test(plain)
  const off = forbidden(said).some(
    ({ plain }) => isNamed(plain) && (switches.test(plain) || /^no changes? to/.test(plain)),
  )
  const on = said.parts.some(({ plain, polarity }) => keepsOn.test(plain) && polarity !== "never" && isNamed(plain))
  if (!off && !on) return undefined
  if (said.parts.some(({ excepts, permits, plain }) => (excepts || permits) && !any("read|look|view").test(plain)))
    return twoThings
  return made({
    template: "keep-security-controls",
    ...(allControls.test(said.plain) ? {} : { controls: named }),
    ...decided(said),
  })
}

/** Words for acts that the first reading does without, since they are also words for things. */
const moreActs: readonly (readonly [AskableAct, LazyPattern])[] = [
  ["migrate", inForms("schema_change")],
  ["rename", any("renam(?:e|es|ed|ing)")],
  [
    "reschedule",
    any(
      "reschedul\\p{L}+|(?:mov|shift|postpon)(?:e|ing) (?:\\p{L}+ ){0,2}(?:meetings?|appointments?|dates?)|(?:termine?n?|meetings?|appointments?) verschieb\\p{L}*",
    ),
  ],
  [
    "grant",
    any(
      "(?:chang\\p{L}+|grant\\p{L}*|giv\\p{L}+|edit\\p{L}*|modify\\p{L}*) (?:\\p{L}+ ){0,2}(?:permissions?|access|rights|roles?)",
    ),
  ],
  ["call", any("(?:before|without) (?:you )?(?:call|phone|ring)(?:ing)?|‹medium›")],
  ["cancel", any("kündig\\p{L}+|terminat(?:e|ing)|cancellation")],
  ["delete", any("overwrit(?:e|ing)|throw(?:ing)? (?:\\p{L}+ ){0,2}away|discard(?:ing)?")],
  ["install", any("add(?:ing)? (?:an? |any |new )*dependenc(?:y|ies)|upgrad(?:e|es|ing)")],
  [
    "purchase",
    any(
      "subscrib(?:e|ing)|(?:a|any|every|each) (?:flight|hotel|booking|order|purchase|transfer|refund|payment)|refunds?|transfers?",
    ),
  ],
  [
    "send",
    any(
      "(?:before|until|without) (?:you )?(?:reply(?:ing)?|answer(?:ing)?|respond(?:ing)?|tweet(?:ing)?|accept(?:ing)?)|tweets?|invitations?|post(?=(?:ing)? (?:it|anything|a|to|on|in)(?![\\p{L}]))",
    ),
  ],
]

const ordering = any(
  "needed|about to|stop and ask|get my|have to|has to|before|first|until|unless|without|needs?|requires?|beforehand|prior|wait|only after|only once|must be|has to be|have to be|then|past me|by me|through me|only if|only when|want to",
)

export function askFirst(said: Said): FamilyReading {
  const { parts } = said
  const plain = withoutNames(said)
  if (
    !said.asks ||
    !asksPerson.test(plain) ||
    asksOthers.test(plain.replace(namedPerson, "me")) ||
    !ordering.test(plain)
  )
    return undefined
  const named = parts.flatMap(({ values }) => [
    ...values.commands,
    ...values.tools,
    ...values.paths,
    ...values.domains,
    ...values.recipients,
  ])
  if (named.length > 0) return { why: "it is about some of such calls only" }
  if (/\p{Sc}\s?\d|\d/u.test(plain) || parts.some(({ excepts }) => excepts) || asksBack.test(plain)) return undefined
  const text = askedIn(plain.replace(asked, " "))
  const found = [...acts, ...moreActs].filter(([, act]) => act.test(text)).map(([act]) => act)
  const unique = [...new Set(found)]
  const wanted = unique.includes("email") ? unique.filter((act) => act !== "send") : unique
  if (wanted.length === 0) return { why: "what has to be asked about is nothing that the guard can see in a call" }
  if (wanted.some((act) => act === "change" || act === "run") && inPlace.test(text))
    return { why: "it is about some of such calls only" }
  return made({ template: "ask-before", acts: wanted })
}

/** "Cleared with Oskar": whoever is named is a person who has to agree. */
const withoutNames = ({ plain, text }: Said): string =>
  [...text.matchAll(/(?<=(?<![\p{L}])(?:with|by|from|ask) )\p{Lu}\p{Ll}+(?! \p{Ll}+ (?:office|desk))/gu)].reduce(
    (said, [name]) =>
      said.replace(new RegExp(`(?<=(?:with|by|from|ask) )${name.toLowerCase()}(?![\\p{L}])`, "u"), "me"),
    plain,
  )

/** Who is asked is the user or somebody by name: "confirm an order" asks nobody. */
const asksPerson = any(
  "permission|approval|me|my|us|our|i|i've|we|(?:from|with) \\p{L}+|ask first|ask before|asking|ask",
)

/** The asking itself, which is none of the acts. */
const asked =
  /(?<![\p{L}])(?:ask|check(?:ing)?|confirm(?:ation)?|show|sign[- ]?off|run (?:it|this|that|the \p{L}+) (?:by|past)|tell|message)(?: \p{L}+){0,2}? (?:me|us)(?![\p{L}])|(?:my|your|for an?) (?:answer|reply|order|word)(?![\p{L}])/gu
const namedPerson = /(?<=ask )(?:the )?(?:user|owner|operator|maintainers?|admins?|boss)(?![\p{L}])/gu
/** The agent is told to ask somebody something, or the user asks. */
const asksBack = any(
  "i want to ask|if i can|can i|does|do i have|how|why|did you|one question|questions?|if you can|spoilers?|bug fix first",
)
