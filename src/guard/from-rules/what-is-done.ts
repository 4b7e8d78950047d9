import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { amountsIn } from "../facts/amounts.ts"
import type { AskableAct } from "../policy/rule-templates.ts"
import type { TemplateUse } from "../policy/templates.ts"
import { forbidding, polarityOf } from "./clauses.ts"
import {
  any,
  broad,
  decided,
  type FamilyReading,
  inPlaceOf,
  likely,
  limiting,
  production,
  sure,
  twoThings,
} from "./family.ts"
import { isExplained, isPlainRule } from "./known-words.ts"
import type { RuleStatement } from "./statement.ts"
import { marks } from "./values.ts"

const perUnit = any(
  "per (?:night|person|head|seat|user|unit|item|hour|piece|kg|km|gb|call|token|request|head)|a night|a person|apiece|an hour|each item|per-seat|pro (?:nacht|person|stück)",
)

const perPeriod = any(
  "per (?:day|week|month|year|quarter|session)|daily|weekly|monthly|yearly|a (?:day|week|month|year)|pro (?:tag|woche|monat|jahr)|each (?:day|week|month|year)|every (?:day|week|month|year)",
)

const perPurchase = any(
  "each|single|one|any|an? (?:order|purchase|payment|booking|transaction|refund|transfer|subscription|expense|thing)|every|per (?:order|purchase|payment|booking|transaction|expense|refund|transfer)|orders|purchases|payments|invoices?|bookings|transactions|refunds|transfers|anything|order|purchase|payment|commande|compra|bestellung|something|tips?|booking|nothing that|buy(?:ing)? (?:anything|nothing)|einzelne\\p{L}*",
)

const inAll = any(
  "in total|in all|overall|altogether|total|budget|spend(?:s|ing)?|spent|insgesamt|gib|ausgeben|dépense\\p{L}*|gast\\p{L}*",
)

/** Each purchase by itself. */
const isEach = any(
  "each|single|for an? \\p{L}+|(?:per|a|every|any|one) (?:orders?|purchases?|payments?|bookings?|transactions?|expenses?|refunds?|transfers?)",
)

/** Words that make a sum a limit. */
const bounding = any(
  "at most|max|maximum|limit(?:ed)?|cap(?:ped)?|keep|stay|must|has to|have to|needs? to|up to|only|ceiling|the most|tops|in all|end of it|that's (?:all|it)|all (?:that )?you (?:may|can)",
)

export function spend(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  const sums = amountsIn(plain)
  if (sums.length === 0) return spendNothing(rule)
  const isPlain = isPlainRule(plain, "spend")
  if (!isPlain || !(limiting.test(plain) || bounding.test(plain))) return undefined
  if (!rule.forbids && !rule.asks && !bounding.test(plain)) return undefined
  if (any("minimum|at least|mindestens|earn|revenue|discount|price of the|invoice total").test(plain)) return undefined
  if (new Set(sums.map(({ minor, currency }) => `${minor} ${currency}`)).size > 1)
    return { why: "it names more than one sum" }
  const [{ minor, currency } = { minor: 0 }] = sums
  if (currency === undefined) return { why: "it names no currency" }
  if (perUnit.test(plain)) return { why: "it is a limit for a unit, and a purchase may be of several" }
  // A purchase above what a month may cost breaks the rule in any case; what was bought in other sessions the guard does not see.
  const each =
    isEach.test(plain) || perPeriod.test(plain) || rule.asks || (!inAll.test(plain) && perPurchase.test(plain))
  const per = each && !any("in total|in all|overall|altogether|insgesamt").test(plain) ? ({ per: "call" } as const) : {}
  return {
    policy: { template: "spend-limit", amount: minor / 100, currency, ...per, ...decided(rule) },
    confidence: perPeriod.test(plain) ? broad : sure,
  }
}

const spendingAtAll = any(
  "(?:spend|buy|purchase|pay|order|book)(?:ing)?(?: for)? (?:anything|any ?thing|things|any|money|stuff|an? (?:cent|penny|dime|single \\p{L}+))|(?:spend|buy|purchase|pay|order)|purchases?|payments?|orders|spending|buying|purchasing|transactions",
)

function spendNothing(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  if (rule.forbids && !rule.asks && spendingAtAll.test(plain) && !/\d/.test(plain) && isExplained(plain, "no-spending"))
    return { policy: { template: "spend-limit", amount: 0, currency: "USD" }, confidence: sure }
  const vague = rule.forbids && any("spend|budget").test(plain) && limiting.test(plain) && /\d/.test(plain)
  return vague ? { why: "it names no currency" } : undefined
}

const placing = any(
  "machines?|pick|choose|select|belongs?|volumes?|nodes?|replicas?|containers?|operat(?:e|ing)|forbidden|stacks?|touch(?:ed|ing)?|deploy(?:s|ed|ing|ment|ments)?|resources?|infrastructure|regions?|runs?|running|host(?:s|ed|ing)?|data|provision(?:ed|ing)?|create[ds]?|creating|stor(?:e|ed|age|ing)|cloud|buckets?|servers?|workloads?|launch(?:ed)?|spin up|live|lives|nothing|everything|anything|leave|stay(?:s)?|keep|use|avoid|ressourcen|daten|instances?|vms?|clusters?|databases?|backups?|off[- ]limits|out of bounds|leg|lege|données|datos|dados|allowed",
)

export function regions(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  const named = values.regions
  if (named.length === 0 || !(isPlainRule(text, "regions") && placing.test(rule.plain))) return undefined
  if (values.languages.length + values.domains.length > 0) return undefined
  if (any("people (?:in|from)|users? (?:in|from)|customers? (?:in|from)").test(text)) return undefined
  const polarity = polarityOf(text, marks.regions)
  if (polarity === "mixed") return twoThings
  if (polarity === "never")
    return { policy: { template: "blocked-regions", regions: named, ...decided(rule) }, confidence: sure }
  const isAll = any("everything|all|always|every|any|must|has to|have to|allowed").test(text)
  const bound = polarity === "only" || (isAll && !any("may|can|as well|also|too").test(text))
  if (!bound) return undefined
  return { policy: { template: "region-standard", regions: named, ...decided(rule) }, confidence: sure }
}

const destroying = any(
  "delet(?:e|es|ed|ing|ion|ions)|drop(?:s|ped|ping)?|truncat(?:e|ed|ing)|wip(?:e|ed|ing)|remov(?:e|es|ed|ing|al)|destroy(?:ed|ing)?|destructive|purg(?:e|ed|ing)|eras(?:e|ed|ing)|lösch\\p{L}*|gelöscht|apag\\p{L}*|tear down|supprime\\p{L}*|borr\\p{L}*|elimin\\p{L}*",
)

const changing = any(
  "writ(?:e|es|ing)|chang(?:e|es|ed|ing)|modif(?:y|ies|ied|ying|ications?)|updat(?:e|es|ed|ing)|alter(?:s|ed|ing)?|edit(?:s|ed|ing)?|insert(?:s|ed|ing)?|mutat(?:e|es|ing|ions?)|migrat(?:e|es|ions?)|overwrit(?:e|ten)|änder\\p{L}*|verändern|schreib\\p{L}*|modifie\\p{L}*|modific\\p{L}*|cambi\\p{L}*|alter\\p{L}*|geändert|verändert",
)

const touching = any(
  "touch(?:ed|ing)?|access(?:ed|ing)?|connect(?:s|ed|ing)?|go near|stay away|stay out|stay off|keep away|keep out|off[- ]limits|hands off|quer(?:y|ies|ied|ying)|read(?:s|ing)?|use|log ?in|open|accéder|acced\\p{L}*|zugreif\\p{L}*",
)

/** Touching production itself, and not something on the way to it. */
const nearProduction = lazyPattern(
  `(?:${touching.source})(?: (?:to|from|of|the|our|any|at|on|in|near|customer|live|anything|a|la|base|de|à|auf|die|der))* (?:${production.source})|(?:${production.source})(?: (?:is|are|systems?|databases?|data|db|environment|servers?|must|never|not|be|ever|to))* (?:${touching.source})`,
  "u",
)

const readOnly = any(
  "(?:may|can) (?:only )?(?:read|look|query)(?:[^.;]{0,60}?)(?:nothing (?:more|else)|no more|that's (?:all|it))|read[- ]only|read access|only reads?|reads? only|only select|select statements?|only (?:read|look at|query)|nur lesen|lesend|just read|readonly",
)

/** Production as a kind of build, or as what something is measured by. */
const otherProduction = any(
  "production (?:build|builds|code|bundle|quality|grade|ready|mode|dependencies|release|shapes?)|production-ready|production-grade|data shapes|depend(?:s|ing)?|mock\\p{L}*|log(?:s|ging)?(?! ?in)|secrets?|credentials?|passwords?|keys?",
)

export function productionData(rule: RuleStatement): FamilyReading {
  // A file or a host that has production in its name is a file or a host.
  const plain = rule.marked.text
  if (!production.test(plain) || otherProduction.test(plain)) return undefined
  const rest = decided(rule)
  if (readOnly.test(plain)) return { policy: { template: "no-production-writes", ...rest }, confidence: sure }
  if (!rule.forbids && !rule.asks) return undefined
  if (rule.marked.values.commands.length > 0) return undefined
  if (any("deploy(?:s|ed|ing|ment|ments)?|releas(?:e|es|ed|ing)|ship|push|merge|promote|roll ?out").test(plain))
    return undefined
  const isPlain = isPlainRule(plain, "production-data")
  const mayLook = any(
    "(?<!(?:not|never|don't|no) )(?:look|read|see|view|reads|selects?)(?: \\S+){0,4},? (?:but |just |and |only )?(?:you |must |may |please )*(?:don't|can't|cannot|mustn't|never|not|no)",
  ).test(plain)
  if (changing.test(plain) || (isPlain && (mayLook || any("alone|untouched|unchanged").test(plain))))
    return { policy: { template: "no-production-writes", ...rest }, confidence: sure }
  if (destroying.test(plain)) return { policy: { template: "no-production-destruction", ...rest }, confidence: sure }
  if (
    (nearProduction.test(plain) || (isPlain && touching.test(plain))) &&
    !any("copy|export|test data|for tests?|in tests?").test(plain)
  )
    return { policy: { template: "no-production-access", ...rest }, confidence: likely }
  return undefined
}

const controls: readonly (readonly [control: string, LazyPattern])[] = [
  ["audit", any("audit(?:ing|s)?(?:[- ]?(?:log|logs|logging|trail|trails))?")],
  ["logging", any("(?<!audit )(?:access |security |query |request )?logging|access logs?|query logs?|syslog")],
  [
    "authentication",
    any(
      "mfa|2fa|second factor|passkeys?|two-factor(?: authentication)?|multi-factor(?: authentication)?|double authentification|authentication|sso|zwei-faktor\\p{L}*",
    ),
  ],
  [
    "access",
    any(
      "rls|row[- ]level security|access controls?|rbac|branch protections?(?: rules?)?|protected branch(?:es)?|required reviews?|selinux|apparmor|permission checks?|authorization(?: checks?)?|sandbox(?:ing)?",
    ),
  ],
  [
    "network",
    any(
      "firewalls?(?: rules?)?|waf|security groups?|ip allow-?lists?|rate limit(?:s|ing|er)?|csrf(?: protection)?|network policies",
    ),
  ],
  [
    "detection",
    any(
      "security scan(?:s|ner|ning)?|vulnerability scan(?:s|ner|ning)?|secret scanning|monitoring|alerting|(?:security )?alerts?|alarms?|anti-?virus|virus (?:scanner|protection|scans?)|anti-malware|malware scann\\p{L}+|endpoint protection|ids|edr|xdr|intrusion detection|defender|guardduty|malware protection|virenscanner",
    ),
  ],
  [
    "encryption",
    any(
      "encryption|encrypt(?:ed|ing)? (?:disks?|traffic)|https|tls(?: verification| checks?)?|ssl(?: verification)?|certificate (?:verification|checks?|validation)|verschlüsselung|hsts|verificação de certificados?|chiffrement|cifrado",
    ),
  ],
  [
    "security",
    any(
      "signature(?:s| verification| checks?)|(?:commit|code) signing|commit hooks?|pre-commit(?: hooks?| checks?)?|pre-push hooks?|git hooks?",
    ),
  ],
]

const allControls = any(
  "security (?:controls?|settings?|measures?|checks?|protections?|features?|mechanisms?|safeguards?|tools?)|safeguards?|guardrails?|sicherheits(?:einstellungen|maßnahmen|funktionen|kontrollen)",
)

const off = any(
  "interrupt(?:ed|ing|s)?|(?:take|tak(?:en|ing)|bring|shut|put|set|switch|turn)(?:s|ing)?(?: \\S+){0,4} (?:down|off|out|offline)|mess(?:ing)? with|touch(?:es|ed|ing)?|open(?:ing)? up|(?:get|go|work)(?:ing)? (?:a)?round|tinker|fiddle|interfere|unplug|shut down|evade|sidestep|dodge|ignor(?:e|ed|ing)|drop(?:ped|ping)?|silenc(?:e|ed|ing)|disarm|reduc(?:e|ed|ing)|exempt|undermine|degrade|(?:is|are|be|go|goes|gets?) (?:\\S+ )?off|--no-verify|no-verify|disabl(?:e|es|ed|ing)|(?:turn|switch)(?:ed|ing)?(?: \\S+){0,4} off|(?:turn|switch)(?:ed|ing)? off|bypass(?:ed|ing)?|weaken(?:ed|ing)?|deactivat(?:e|ed|ing)|circumvent(?:ed|ing)?|tamper(?:ed|ing)?|stop(?:ped|ping)?|skip(?:ped|ping)?|remov(?:e|ed|ing)|paus(?:e|ed|ing)|mut(?:e|ed|ing)|suspend(?:ed|ing)?|kill|work around|override|deaktivier\\p{L}*|abschalten|ausschalten|schalt\\p{L}*(?: \\S+){0,4} (?:aus|ab)|désactiv\\p{L}*|desactiv\\p{L}*|desabilit\\p{L}*|lift(?:ed|ing)?|desativ\\p{L}*|lower|relax|loosen",
)

const on = any(
  "(?:has|have) to run|must run|(?:stay|stays|remain|remains|keep|keeps|leave|be|is|are)(?: \\S+){0,4} (?:on|enabled|active|activated|in place|in force|running|alive|armed|intact|untouched|unchanged|alone|switched on|turned on|up|in enforcing mode)|always on|must be on",
)

export function securityControls(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  const named = controls.filter(([, noun]) => noun.test(plain)).map(([control]) => control)
  const all = allControls.test(plain)
  if (named.length === 0 && !all) return undefined
  const kept =
    on.test(plain) && any("must|keep|leave|always|has to|have to|stays?|remains?|at all times|immer").test(plain)
  if (!(rule.forbids && off.test(plain)) && !kept) return undefined
  const policy: TemplateUse = {
    template: "keep-security-controls",
    ...(all ? {} : { controls: named }),
    ...decided(rule),
  }
  return { policy, confidence: sure }
}

const changeVerbs = any(
  "hands off|frozen|alone|untouched|unchanged|intact|read[- ]only|readonly|modif(?:y|ies|ied|ying)|modifications?|edit(?:s|ed|ing)?|chang(?:e|es|ed|ing)|touch(?:ed|ing)?|alter(?:ed|ing)?|writ(?:e|es|ten|ing)|overwrit(?:e|ten|ing)|updat(?:e|ed|ing)|creat(?:e|ed|ing)|add(?:ed|ing)?|rewrit(?:e|ten|ing)|renam(?:e|ed|ing)|mov(?:e|ed|ing)|refactor(?:ed|ing)?|reformat(?:ted|ting)?|sav(?:e|ed|ing)|put|work(?:ing)?|mess|tinker(?:ing)?|fiddle|tamper(?:ed|ing)?|leave (?:\\S+ )?as",
)

const deleteVerbs = any(
  "delet(?:e|es|ed|ing|ions?)|remov(?:e|es|ed|ing|al)|wip(?:e|ed|ing)|rm|purg(?:e|ed|ing)|eras(?:e|ed|ing)|clean(?:ed|ing)?|los(?:e|t)",
)

const readVerbs = any(
  "enter|go(?:ing)? in(?:to)?|read(?:ing)?|open(?:ed|ing)?|access(?:ed|ing)?|look(?:ed|ing)?|peek(?:ed|ing)?|view(?:ed|ing)?",
)

/** It is left alone, whatever one might do with it. */
const apart = any("off[- ]limits|stay out|stay away|keep out|keep away|stay off|keep off|go near")

export function paths(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  if (values.paths.length === 0) return undefined
  // "Strings go into ‹path› and are never written inline" names a place to write to.
  if (/(?<!(?:don't|never|not) )\b(?:go|goes|belongs?) (?:in|into|to) ‹path›/u.test(text) && !rule.asks)
    return undefined
  if (values.domains.length + values.commands.length + values.tools.length > 0) return undefined
  if (!isPlainRule(text, "paths")) return undefined
  if (inPlaceOf.test(text)) return twoThings
  const polarity = polarityOf(text.replace(/read[- ]only/g, "never changed"), marks.paths)
  if (polarity === "mixed") return twoThings
  const said = text.replace(/read[- ]only/g, "unchanged")
  const [changes, deletes, reads] = [changeVerbs.test(said), deleteVerbs.test(said), readVerbs.test(said)]
  if (!changes && !deletes && !reads && !apart.test(said)) return undefined
  const named = values.paths.map((path) => asWritten(path, rule.text))
  if (polarity === "only") {
    if (!changes) return undefined
    return { policy: { template: "allowed-paths", paths: named, ...decided(rule) }, confidence: sure }
  }
  if (polarity !== "never" && !(rule.asks && (changes || deletes))) return undefined
  const access = reads ? "any" : changes ? "change" : deletes ? "delete" : "any"
  return { policy: { template: "protected-paths", paths: named, access, ...decided(rule) }, confidence: sure }
}

/** A value in the letters that it was written in. */
function asWritten(value: string, text: string): string {
  const at = text.toLowerCase().indexOf(value)
  return at < 0 ? value : text.slice(at, at + value.length)
}

/** What would change something, where it is said of nothing in particular. */
const anyChange = lazyPattern(
  "(?<![\\p{L}])(?:change|modify|edit|write|alter|touch|update)(?:,? (?:or|and|nor) \\p{L}+)*(?: to)? (?:anything|any (?:files?|code|thing)|files|a thing)(?![\\p{L}])|(?<![\\p{L}])(?:nothing|no files?)(?: \\p{L}+){0,4} (?:changed|modified|edited|altered|touched)(?![\\p{L}])",
  "u",
)

const looksOnly = any(
  "read[- ]only(?: mode| access)?|readonly|look,? (?:but|and)|only (?:look|read)|(?:look|read)(?:ing)? only",
)

/** Nothing is changed at all. */
function isReadOnlyWork({ marked: { text, values }, plain, forbids }: RuleStatement): boolean {
  if (Object.values(values).some((some) => some.length > 0) || production.test(plain)) return false
  return (looksOnly.test(text) || (forbids && anyChange.test(text))) && isExplained(text, "read-only")
}

export function tools(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  if (isReadOnlyWork(rule)) return { policy: { template: "read-only", ...decided(rule) }, confidence: broad }
  const isNamed = values.commands.length + values.tools.length > 0
  if (!isNamed || values.paths.length + values.domains.length + values.recipients.length > 0) return undefined
  if (!isPlainRule(text, "tools"))
    return { why: "it does not forbid the command as such, and how it is used the guard cannot compare" }
  const found = new Set(
    [marks.commands, marks.tools].flatMap((mark) => (text.includes(mark) ? [polarityOf(text, mark)] : [])),
  )
  const [polarity] = found
  if (found.size > 1 || polarity === "mixed" || inPlaceOf.test(text)) return twoThings
  if (polarity === "only" && values.tools.length === 0 && any("commands?|run|execute").test(text))
    return { policy: { template: "shell-allow-list", commands: values.commands }, confidence: likely }
  if (polarity !== "never") return undefined
  const policy: TemplateUse = {
    template: "blocked-tools",
    ...(values.tools.length > 0 ? { tools: values.tools } : {}),
    ...(values.commands.length > 0 ? { commands: values.commands } : {}),
    ...decided(rule),
  }
  return { policy, confidence: sure }
}

const acts: readonly (readonly [AskableAct, LazyPattern])[] = [
  ["migrate", any("migrat(?:e|es|ed|ing|ion|ions)")],
  ["restart", any("restart(?:s|ed|ing)?|reboot(?:s|ed|ing)?")],
  ["cancel", any("cancel(?:s|led|ed|ling|ing|lation)?")],
  ["deploy", any("deploy(?:s|st|ed|ing|ment|ments)?|roll(?:ing)? out|rollouts?|deployst")],
  [
    "delete",
    any(
      "delet(?:e|es|ed|ing|ion|ions)|remov(?:e|es|ed|ing)|drop(?:ping)?|wip(?:e|ing)|destroy(?:ing)?|eras(?:e|ing)|lösch\\p{L}*|borr\\p{L}*|elimin\\p{L}*|supprim\\p{L}*|rm",
    ),
  ],
  ["push", any("push(?:es|ed|ing)?|pushst")],
  ["merge", any("merg(?:e|es|ed|ing)")],
  [
    "publish",
    any(
      "publish(?:es|ed|ing)?|(?<!branch )releas(?:e|es|ing)(?! notes?)|veröffentlich\\p{L}*|publi(?:er|que|car|quen?)",
    ),
  ],
  ["commit", any("commit(?:s|ted|ting)?")],
  [
    "install",
    any(
      "install(?:s|ed|ing)?|installier\\p{L}*|instal\\p{L}*|new (?:dependenc(?:y|ies)|packages?|librar(?:y|ies))|add(?:ing)? (?:a |any |new )*(?:dependenc(?:y|ies)|packages?|librar(?:y|ies))",
    ),
  ],
  [
    "purchase",
    any(
      "buy(?:s|ing)?|purchas(?:e|es|ing)|pay(?:s|ing|ments?)?|transfer(?:s|ring)?(?: money)?|(?<!in (?:that |this |which )?)order(?:s|ing|ed)?|spend(?:ing)?|bought|booked|book(?= (?:an?|any|anything|the|it|something|flights?|hotels?|rooms?|tickets?|for|trips?|travel)|[.,!]*$)|booking|bookings|kauf\\p{L}*|bestell\\p{L}*|ausgib\\p{L}*|compr\\p{L}*|achet\\p{L}*",
    ),
  ],
  [
    "email",
    any(
      "(?:before|without|never|don't|not) (?:you )?(?:e-?mail|mail|mailing|e-?mailing)|e-?mailing|mailing|send(?:ing)?(?: out)? (?:an? |any )?(?:e-?)?mails?|(?:e-?)?mails? (?:go|goes|are sent|leaves?)|mails? verschick\\p{L}*|outgoing e-?mails?",
    ),
  ],
  [
    "send",
    any(
      "send(?:s|ing)?(?: it| anything| out)?|messag(?:e|ing)|post(?:ing)?|contact(?:ing)?|reply(?:ing)? to|schick\\p{L}*|verschick\\p{L}*|sende\\p{L}*|envoy\\p{L}*|envi\\p{L}*|posts?",
    ),
  ],
  [
    "change",
    any(
      "(?:chang(?:e|ing)|edit(?:ing)?|modif(?:y|ying)|writ(?:e|ing)) (?:to )?(?:anything|any(?: of the)? (?:files?|code)|files?|code)|mak(?:e|ing) (?:any )?changes?",
    ),
  ],
  [
    "run",
    any(
      "(?:run(?:ning)?|execut(?:e|ing)) (?:anything|any (?:shell )?(?:commands?|scripts?)|(?:shell )?commands?|scripts?|code)",
    ),
  ],
  [
    "network",
    any(
      "(?:us(?:e|ing)|access(?:ing)?) the (?:network|internet)|(?:mak(?:e|ing) )?(?:any )?network (?:calls?|requests?)|go(?:ing)? online",
    ),
  ],
]

/** Who is asked is the user, and not somebody the agent talks to. */
const asksOthers =
  /\b(?:ask|asks) (?:the|an?|your|our|every|his|her|their) (?!user\b|owner\b|operator\b|human\b|maintainers?\b|admins?\b|boss\b|person\b)\p{L}+|\b(?:confirmed|approved|cleared|signed off|reviewed|checked) (?:by|with) (?!me\b|us\b|an? (?:person|human)\b|someone\b|somebody\b|the (?:user|operator|owner|maintainers?)\b)\p{L}|\bask (?:him|her|them|customers|clients|callers|guests|patients|visitors|students|vendors|suppliers)\b|\bask (?:me )?(?:for(?! (?:my|permission|approval|an? ok|the ok))|about|questions?|whether|which|what|how|why)\b/u

/** Somebody is asked by name. */
const asksSomebody = /(?<!\p{L})[Aa]sk \p{Lu}\p{Ll}+(?!\p{L})/u

/** What is changed, run or deleted is some place's. */
const inPlace = /\b(?:in|from|on|of|below|under|inside) (?:the|our|my|a|an|your|this|these) [\p{L}\p{N}-]+/u

const unspecific = any(
  "(?:anything|something|things|files) (?:that|which)|main|master|protected|specific|certain|some|another|twice",
)

/** The part of a rule that says what is asked about: what stands with "before" or "without", or else what is forbidden. */
function askedIn(said: string): string {
  const parts = said.split(/[;:.](?= |$)|, (?!(?:\p{L}+,? ){0,2}(?:or|and|nor|oder|und|ou|et|y|o|e) )| but /u)
  const ordered = parts.filter((part) =>
    any("before|without|until|unless|prior to|bevor|ohne|avant|antes|sans|sin|sem|only after|only once").test(part),
  )
  const named = (list: readonly string[]): boolean => acts.some(([, act]) => list.some((part) => act.test(part)))
  // Behind "before" stands what is asked about; with "without" it may stand on either side.
  const behind = ordered.map((part) =>
    part.replace(/^.*?(?<!\p{L})(?:before|bevor|avant|antes|prior to)(?!\p{L})/u, " "),
  )
  if (named(behind)) return behind.join(" ; ")
  if (named(ordered)) return ordered.join(" ; ")
  const forbidden = parts.filter((part) => forbidding.test(part) && !/^(?: not| never| no)?(?: not)? even /.test(part))
  return forbidden.length > 0 ? forbidden.join(" ; ") : said
}

export function askBefore(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  if (!rule.asks || asksOthers.test(plain) || asksSomebody.test(rule.text)) return undefined
  if (rule.marked.values.commands.length + rule.marked.values.tools.length > 0)
    return { why: "it is about some of such calls only" }
  const ordered = any(
    "before|then|without|unless|until|first|needs?|requires?|bevor|ohne|antes|sin|avant|sans|vorher|prior|wait|erst|must be|has to be|have to be|only|beforehand|sem|(?:confirm|check|clear|agree) (?:\\S+ ){1,4}with (?:me|us)|through me|past me|by me",
  ).test(plain)
  const isPlain = isExplained(plain, "ask-before")
  if (!ordered && !isPlain) return undefined
  if (rule.marked.values.domains.length + rule.marked.values.recipients.length + rule.marked.values.paths.length > 0)
    return { why: "it is about some of such calls only" }
  const said = plain.replace(
    /\b(?:ask|check(?:ing)?|confirm(?:ation)?|show|sign[- ]?off|run (?:it|this|that) (?:by|past))\b(?: \w+){0,2}? (?:me|us)\b/g,
    " ",
  )
  const asked = askedIn(said)
  const done = isPlain
    ? asked
        .replace(/(?<!\p{L})(?:sent|posted)(?!\p{L})/gu, "send")
        .replace(/(?<!\p{L})(?:paid|spent)(?!\p{L})/gu, "pay")
    : asked
  const named = acts.filter(([, act]) => act.test(done)).map(([act]) => act)
  const wanted = named.includes("email") ? named.filter((act) => act !== "send") : named
  if (wanted.length === 0) return { why: "what has to be asked about is nothing that the guard can see in a call" }
  if (
    limiting.test(plain) &&
    /\d|(?<!\p{L})(?:euros?|dollars?|pounds?|reais|francs?|hundred|thousand|mil|mille|tausend|hundert)(?!\p{L})/u.test(
      plain,
    )
  )
    return { why: "it names no sum that can be read" }
  if (wanted.some((act) => act === "change" || act === "run" || act === "delete") && inPlace.test(said))
    return { why: "it is about some of such calls only" }
  if (unspecific.test(plain)) return { why: "it is about some of such calls only" }
  const inProduction = production.test(plain) ? ({ environments: ["production"] } as const) : {}
  return { policy: { template: "ask-before", acts: wanted, ...inProduction }, confidence: likely }
}
