import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { amountsIn } from "../facts/amounts.ts"
import type { AskableAct } from "../policy/rule-templates.ts"
import type { TemplateUse } from "../policy/templates.ts"
import { clausesIn, forbidding, polarityOf } from "./clauses.ts"
import {
  any,
  broad,
  decided,
  type FamilyReading,
  inPlaceOf,
  likely,
  limiting,
  production,
  secretNouns,
  sure,
  twoThings,
} from "./family.ts"
import { askingClause, type RuleStatement } from "./statement.ts"
import { marks } from "./values.ts"

const spending = any(
  "spend(?:s|ing)?|spent|budget|buy(?:ing)?|purchas(?:e|es|ing)|orders?|ordering|pay(?:s|ing)?|payments?|costs?|book(?:s|ing|ings)?|charges?|expenses?|transactions?|subscriptions?|transfers?|refunds?|in total|overall|expensive|ausgeben|gib|ausgaben|kauf\\p{L}*|bestell\\p{L}*|dépense\\p{L}*|achat|achats|gast\\p{L}*|compr\\p{L}*|command(?:e|es|er)|pagamento|pago|pagar|tips?|cap|anything|total|not (?:a|one) (?:cent|penny|dollar|buck|euro|pound) more",
)

const perUnit = any(
  "per (?:night|person|head|seat|user|unit|item|hour|piece|kg|km|gb|call|token|request|head)|a night|a person|apiece|an hour|each item|per-seat|la nuit|par nuit|la noche|por noche|pro (?:nacht|person|stück)",
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
  "each|single|(?:per|a|every|any|one) (?:order|purchase|payment|booking|transaction|expense|refund|transfer)",
)

export function spend(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  const sums = amountsIn(plain)
  if (sums.length === 0) return spendNothing(rule)
  if (!spending.test(plain) || !limiting.test(plain)) return undefined
  const stated =
    rule.forbids ||
    rule.asks ||
    any(
      "at most|max|maximum|limit(?:ed)?|cap(?:ped)?|keep|stay|must|has to|have to|needs? to|up to|only|ceiling|the most|höchstens|maximal",
    ).test(plain)
  if (!stated) return undefined
  if (any("minimum|at least|mindestens|earn|revenue|discount|average|price of the|invoice total").test(plain))
    return undefined
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

function spendNothing(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  const all =
    /(?:never|don't|do not|must not|may not|not allowed to) (?:ever )?(?:spend|buy|purchase|pay|order)(?:,? (?:or|and|nor) (?:buy|pay|order|purchase|spend)(?: for)?)*(?: for)? (?:any money|money|anything|any thing)(?: at all|,? period|,? ever)?[.!]*$|^(?:please )?(?:never|don't|do not) (?:make|place) (?:an?|any) (?:payments?|purchases?|orders?)(?: at all|,? period|,? ever|,? please)*[.!]*$/u
  const none =
    /^(?:no|zero) (?:purchases|orders|payments|spending|purchasing|buying)(?: at all|,? ever|,? please)*[.!]*$/u
  if (all.test(plain) || none.test(plain))
    return { policy: { template: "spend-limit", amount: 0, currency: "USD" }, confidence: sure }
  const vague = rule.forbids && any("spend|budget").test(plain) && limiting.test(plain) && /\d/.test(plain)
  return vague ? { why: "it names no currency" } : undefined
}

const placing = any(
  "stacks?|touch(?:ed|ing)?|deploy(?:s|ed|ing|ment|ments)?|resources?|infrastructure|regions?|runs?|running|host(?:s|ed|ing)?|data|provision(?:ed|ing)?|create[ds]?|creating|stor(?:e|ed|age|ing)|cloud|buckets?|servers?|workloads?|launch(?:ed)?|spin up|live|lives|nothing|everything|anything|leave|stay(?:s)?|keep|use|avoid|ressourcen|daten|instances?|vms?|clusters?|databases?|backups?|off[- ]limits|out of bounds|leg|lege|données|datos|dados|allowed",
)

export function regions(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  const named = values.regions
  if (named.length === 0 || !placing.test(rule.plain)) return undefined
  if (values.languages.length + values.domains.length > 0) return undefined
  if (
    any(
      "latency|customers? (?:in|from)|people (?:in|from)|users? (?:in|from)|tax|vat|law|gdpr|ship(?:s|ped|ping)?|flights?|hotels?|travel|suppliers?|prices?|lieferanten|firmen|fournisseurs?|proveedores|fornecedores|fornitori|leveranciers|francs?|franken|currency|shown",
    ).test(text)
  )
    return undefined
  const polarity = polarityOf(text, marks.regions)
  if (polarity === "mixed") return twoThings
  if (polarity === "never")
    return { policy: { template: "blocked-regions", regions: named, ...decided(rule) }, confidence: sure }
  const bound =
    polarity === "only" ||
    any("everything|all|always|every|any|must|has to|have to|allowed|immer|toujours|siempre|sempre|doivent|doit").test(
      text,
    )
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
  "read[- ]only|read access|only reads?|reads? only|only select|select statements?|only (?:read|look at|query)|nur lesen|lesend|just read|readonly|read(?: from)?(?: \\S+){0,4},? (?:and )?nothing (?:more|else)",
)

/** Production as a kind of build, or as what something is measured by. */
const otherProduction = any(
  "production (?:build|builds|code|bundle|quality|grade|ready|mode|dependencies|release|shapes?)|production-ready|production-grade|data shapes|depend(?:s|ing)?|mock\\p{L}*|log(?:s|ging)?|secrets?|credentials?|passwords?|keys?",
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
  if (changing.test(plain)) return { policy: { template: "no-production-writes", ...rest }, confidence: sure }
  if (destroying.test(plain)) return { policy: { template: "no-production-destruction", ...rest }, confidence: sure }
  if (nearProduction.test(plain) && !any("copy|export|test data|for tests?|in tests?").test(plain))
    return { policy: { template: "no-production-access", ...rest }, confidence: likely }
  return undefined
}

const controls: readonly (readonly [control: string, LazyPattern])[] = [
  ["audit", any("audit(?:ing|s)?(?:[- ]?(?:log|logs|logging|trail|trails))?")],
  ["logging", any("(?<!audit )(?:access |security |query |request )?logging|access logs?|query logs?|syslog")],
  [
    "authentication",
    any(
      "mfa|2fa|two-factor(?: authentication)?|multi-factor(?: authentication)?|double authentification|authentication|sso|zwei-faktor\\p{L}*",
    ),
  ],
  [
    "access",
    any(
      "rls|row[- ]level security|access controls?|rbac|branch protection(?: rules?)?|selinux|apparmor|permission checks?|authorization(?: checks?)?|sandbox(?:ing)?",
    ),
  ],
  ["network", any("firewalls?(?: rules?)?|waf|rate limit(?:s|ing|er)?|csrf(?: protection)?|network policies")],
  [
    "detection",
    any(
      "security scan(?:s|ner|ning)?|vulnerability scan(?:s|ner|ning)?|secret scanning|monitoring|alerting|(?:security )?alerts?|alarms?|antivirus|virus scanner|edr|xdr|intrusion detection|defender|guardduty|malware protection|virenscanner",
    ),
  ],
  [
    "encryption",
    any(
      "encryption|tls(?: verification| checks?)?|ssl(?: verification)?|certificate (?:verification|checks?|validation)|verschlüsselung|hsts|verificação de certificados?|chiffrement|cifrado",
    ),
  ],
  ["security", any("signature(?:s| verification| checks?)|commit hooks|pre-commit hooks?|git hooks")],
]

export const allControls = any(
  "security (?:controls?|settings?|measures?|checks?|protections?|features?|mechanisms?|safeguards?|tools?)|safeguards?|guardrails?|sicherheits(?:einstellungen|maßnahmen|funktionen|kontrollen)",
)

const off = any(
  "disabl(?:e|es|ed|ing)|(?:turn|switch)(?:ed|ing)?(?: \\S+){0,4} off|(?:turn|switch)(?:ed|ing)? off|bypass(?:ed|ing)?|weaken(?:ed|ing)?|deactivat(?:e|ed|ing)|circumvent(?:ed|ing)?|tamper(?:ed|ing)?|stop(?:ped|ping)?|skip(?:ped|ping)?|remov(?:e|ed|ing)|paus(?:e|ed|ing)|mut(?:e|ed|ing)|suspend(?:ed|ing)?|kill|work around|override|deaktivier\\p{L}*|abschalten|ausschalten|schalt\\p{L}*(?: \\S+){0,4} (?:aus|ab)|désactiv\\p{L}*|desactiv\\p{L}*|desabilit\\p{L}*|lift(?:ed|ing)?|desativ\\p{L}*|lower|relax|loosen",
)

const on = any(
  "(?:stay|stays|remain|remains|keep|keeps|leave|be|is|are)(?: \\S+){0,4} (?:on|enabled|active|activated|in place|running|intact|untouched|switched on|turned on|up|in enforcing mode)|always on|must be on",
)

export function securityControls(rule: RuleStatement): FamilyReading {
  const { plain } = rule
  const named = controls.filter(([, noun]) => noun.test(plain)).map(([control]) => control)
  const all = allControls.test(plain)
  if (named.length === 0 && !all) return undefined
  if (any("may be|except|apart from|unless it").test(plain)) return twoThings
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

/** Words that may stand between what is done and the file that it is done to. */
const between =
  "when|whenever|you|exclusively|solely|have|has|need|needs|even|no|anything|any|everything|all|files?|the|a|an|in|under|from|to|into|within|inside|of|at|on|directory|folder|it|its|outside|that|which|are|is|not|code|below|contents?|things?|or|and|existing|our|my|your|by|hand|what's|what|be|must|may|should|shall|can|cannot|never|ever|nothing|etwas|nie|nichts|dateien|were|otherwise|else|than|other|except|there|only|nor|changes?|edits|stay|stays|off[- ]limits|wird|werden|im|in|dem|den|der|die|das|ordner|verzeichnis|immer|jamais|le|la|les|dossier|du|de|dans|nada|ninguno|los|las|el|archivos|fichiers|carpeta|pasta|by|generated|ausschließlich|nur|uniquement|solo|stay|always"

const changeVerbs =
  "frozen|alone|untouched|read[- ]only|geändert|bearbeitet|modifiez|modifier|arbeite|arbeiten|travaille|trabaja|modif(?:y|ied|ying)|edit(?:s|ed|ing)?|chang(?:e|es|ed|ing)|touch(?:ed|ing)?|alter(?:ed|ing)?|writ(?:e|ten|ing)|overwrit(?:e|ten|ing)|updat(?:e|ed|ing)|creat(?:e|ed|ing)|add|leave|rewrit(?:e|ten|ing)|ändere?|bearbeite|schreibe?|modifie|modifiques?|toca|rename[ds]?|move[ds]?|refactor|reformat|hands off|work(?:ing)?(?= (?:only|exclusively|solely|in|within|inside|under))"

const deleteVerbs =
  "delet(?:e|es|ed|ing)|remov(?:e|es|ed|ing)|wip(?:e|ed|ing)|rm|purg(?:e|ed|ing)|eras(?:e|ed|ing)|lösche?|gelöscht|supprimez?|borres?|elimines?|apague"

const readVerbs =
  "enter|go in(?:to)?|read(?:ing)?|open(?:ed|ing)?|access(?:ed|ing)?|look|off[- ]limits|stay out|stay away|keep out|keep away|stay off|go near|go|lies|öffne|view(?:ed)?"

const near = (verbs: string, mark: string): LazyPattern =>
  lazyPattern(
    `(?<![\\p{L}-])(?:${verbs})(?:,? (?:${between}|${changeVerbs}|${deleteVerbs}|${readVerbs}))* ${mark}|${mark}(?:,? (?:${between}|${changeVerbs}|${deleteVerbs}|${readVerbs}))*? (?:${verbs})(?![\\p{L}-])`,
    "u",
  )

const [nearChange, nearDelete, nearRead] = [
  near(changeVerbs, marks.paths),
  near(deleteVerbs, marks.paths),
  near(readVerbs, marks.paths),
]

export function paths(rule: RuleStatement): FamilyReading {
  // "Strings go into ‹path› and are never written inline" names a place to write to.
  if (/(?<!(?:don't|never|not) )\b(?:go|goes|belongs?) (?:in|into|to) ‹path›/u.test(rule.marked.text) && !rule.asks)
    return undefined
  const { text, values } = rule.marked
  if (values.paths.length === 0) return undefined
  if (values.domains.length + values.commands.length + values.tools.length > 0) return undefined
  if (secretNouns.test(text) && !nearChange.test(text)) return undefined
  const [changes, deletes, reads] = [nearChange.test(text), nearDelete.test(text), nearRead.test(text)]
  if (!changes && !deletes && !reads) return undefined
  if (inPlaceOf.test(text)) return twoThings
  // What is forbidden is done to the file in the same clause, or the clause stands alone behind "never".
  const clauses = clausesIn(text)
  const said = clauses.filter((clause) => clause.text.includes(marks.paths))
  const others = clauses.some(
    ({ text: clause, forbids }) => forbids && (alone.test(clause) || (pointsThere.test(clause) && doing.test(clause))),
  )
  const isBound = ({ text: clause, forbids }: (typeof clauses)[number]): boolean =>
    (forbids ||
      others ||
      rule.asks ||
      any("only|exclusively|solely|stays?|keep|read[- ]only|nur|ausschließlich").test(clause)) &&
    [nearChange, nearDelete, nearRead].some((verbs) => verbs.test(clause))
  if (!said.some(isBound) && !others) return undefined
  const polarity = polarityOf(text, marks.paths)
  if (polarity === "mixed" || (said.length > 1 && !said.every(isBound))) return twoThings
  const named = values.paths.map((path) => asWritten(path, rule.text))
  if (polarity === "only") {
    if (!changes) return undefined
    return { policy: { template: "allowed-paths", paths: named, ...decided(rule) }, confidence: sure }
  }
  if (!rule.forbids && !any("read[- ]only").test(text) && !(rule.asks && (changes || deletes))) return undefined
  const access = reads && !any("read[- ]only|alone|untouched").test(text) ? "any" : changes ? "change" : "delete"
  return { policy: { template: "protected-paths", paths: named, access, ...decided(rule) }, confidence: sure }
}

/** A clause that says nothing but no, and one that points back to a place. */
const alone =
  /^(?:please )?(?:never|no|no way|not allowed|forbidden|off[- ]limits|not ever|hands off|nie|niemals|jamais|nunca)(?:,? (?:ever|please|at all))*[.! ]*$/u
const pointsThere = any("there|in there|in it|dort|darin|from there|it|them")
const doing = any(`${changeVerbs}|${deleteVerbs}|${readVerbs}`)

/** A value in the letters that it was written in. */
function asWritten(value: string, text: string): string {
  const at = text.toLowerCase().indexOf(value)
  return at < 0 ? value : text.slice(at, at + value.length)
}

const calling =
  "run|runs|running|use|uses|used|using|call|calls|called|calling|execute|executed|executing|invoke|invoked|invoking|with|type|issue|benutze|benutzt|verwende|verwendet|nutze|führe|utilise|uses|ejecutes|hands off|unused|want you to"

const callGlue =
  "the|a|an|any|tool|tools|command|commands|function|anything|be|ever|to|is|are|must|may|should|not|never|werden|darf|nie|niemals|nicht|cli|script|directly|program|your|off|das|werkzeug|l'outil|outil|le|la|el|herramienta|stays?"

const callEnd =
  "(?:,? (?:ever|please|at all|under any circumstances?|in any case|anywhere|here|again|whatsoever|tool|command|commands|for any reason|no matter what|aus|werden|directly|by you|whatever happens|now or later|in this (?:project|repo|repository)|en este (?:proyecto|repositorio)|hier|für dich))*[ .!]*$"

const callPattern = lazyPattern(
  `^(?:please |you |agents? |under no circumstances |always )*(?:never|don't|do not|must not|must never|may not|should never|should not|cannot|can't|no|avoid|not allowed to|are not allowed to|nie|niemals|keine?|nunca|jamais|under no circumstances|i don't want you to|(?:are |you're )?(?:forbidden|not permitted|prohibited|banned) (?:to|from)|mustn't|shouldn't|keep your hands off|hands off|stay away from|verwende niemals|verwende nie|benutze nie|benutze niemals|n'utilise jamais)(?: ever| even)?(?: (?:${calling}|${callGlue}))* (?:‹command›|‹tool›)${callEnd}|^(?:the |a )?(?:tool |command )?(?:‹command›|‹tool›)(?: tool| command)? (?:is|isn't|are|aren't|must|may|should|darf|shall|ist|stays?)(?: (?:strictly|absolutely|hier|${callGlue}))* (?:forbidden|prohibited|banned|off[- ]limits|not allowed|allowed|verboten|tabu|taboo|${calling})${callEnd}`,
  "u",
)

/** Nothing is changed at all. */
const readOnlyWork = lazyPattern(
  "^(?:please |always |you |agents? )*(?:must |should |have to |need to )?(?:stay|work|remain|operate|be|run)(?: strictly| always| purely)? (?:in )?(?:an? |the )?(?:strictly )?read[- ]only(?: mode)?(?:,? (?:at all times|always|please))*[.!]*$|^(?:(?:please |you |agents? |this is )*(?:(?:can|may|are|have) (?:only )?(?:to )?(?:read|look|read access)(?: only)?|read[- ]only)[,;:.]? (?:and |but )?)?(?:please |you |agents? )*(?:never|don't|do not|must not|must never|may not|should never|are not allowed to|mustn't)(?: ever)? (?:change|modify|edit|write|alter|touch)(?:,? (?:or|and|nor) (?:create|delete|write|edit|change|modify|remove))* (?:anything|any files?|any code|files|any thing)(?:,? (?:at all|whatsoever|ever|please|anywhere|under any circumstances))*[.!]*$",
  "u",
)

/** The commands are all that may be run, in so many words. */
const onlyCommands = lazyPattern(
  "^(?:please |you )*(?:may |can |must )?(?:only (?:ever )?(?:run|use|execute)|(?:run|use|execute) only)(?: the)?(?: commands?)? ‹command›(?:,|;| and| -)? ?(?:and )?(?:no other commands?|no others?|nothing else|no other shell commands?)[.!]*$|^the only (?:shell )?commands? (?:that )?(?:you|agents) (?:may|can|are allowed to|should) (?:run|use|execute) (?:is|are) ‹command›[.!]*$",
  "u",
)

export function tools(rule: RuleStatement): FamilyReading {
  const { text, values } = rule.marked
  if (readOnlyWork.test(text)) return { policy: { template: "read-only", ...decided(rule) }, confidence: broad }
  if (values.tools.length === 0 && onlyCommands.test(text))
    return { policy: { template: "shell-allow-list", commands: values.commands }, confidence: likely }
  if (values.commands.length + values.tools.length === 0 || !rule.forbids) return undefined
  // What is named after an environment is a database or a table of it.
  if (values.tools.some((tool) => /(?:^|_)(?:live|prod|prd|production)(?:_|$)/.test(tool))) return undefined
  const clauses = text.split(
    /[;.:](?= |$)|, (?=(?:and |but )?(?:never|no|don't|always|use|instead|prefer)\b)| but | instead/,
  )
  const forbidden = clauses.filter((clause) => callPattern.test(clause.replace(askingClause, " ").trim()))
  if (forbidden.length === 0)
    return { why: "it does not forbid the command as such, and how it is used the guard cannot compare" }
  // "Never yarn, use npm": the values of other clauses are none of the forbidden.
  const all = clauses.filter((clause) => /‹command›|‹tool›/.test(clause))
  if (all.length > forbidden.length) return twoThings
  const policy: TemplateUse = {
    template: "blocked-tools",
    ...(values.tools.length > 0 ? { tools: values.tools } : {}),
    ...(values.commands.length > 0 ? { commands: values.commands } : {}),
    ...decided(rule),
  }
  return { policy, confidence: sure }
}

export const acts: readonly (readonly [AskableAct, LazyPattern])[] = [
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
    any("publish(?:es|ed|ing)?|releas(?:e|es|ing)(?! notes?)|veröffentlich\\p{L}*|publi(?:er|que|car|quen?)"),
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
      "(?:before|without|never|don't|not) (?:you )?(?:e-?mail|mail|mailing|e-?mailing)|e-?mailing|mailing|send(?:ing)?(?: out)? (?:an? |any )?e-?mails?|e-?mails? (?:go|goes|are sent|leaves?)|mails? verschick\\p{L}*|outgoing e-?mails?",
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
export const asksOthers =
  /\b(?:ask|asks) (?:the|an?|your|our|every|his|her|their) (?!user\b|owner\b|operator\b|human\b|maintainers?\b|admins?\b|boss\b|person\b)\p{L}+|\b(?:confirmed|approved|cleared|signed off|reviewed|checked) (?:by|with) (?!me\b|us\b|an? (?:person|human)\b|someone\b|somebody\b|the (?:user|operator|owner|maintainers?)\b)\p{L}|\bask (?:customers|clients|callers|guests|patients|visitors|students|vendors|suppliers)\b|\bask \p{L}+ for (?:the|an?|his|her)\b|\bask (?:me )?(?:for|about|questions?|whether|which|what|how|why)\b/u

/** What is changed, run or deleted is some place's. */
export const inPlace = /\b(?:in|from|on|of|below|under|inside) (?:the|our|my|a|an|your|this|these) [\p{L}\p{N}-]+/u

const unspecific = any("main|master|protected|specific|certain|some|another|twice")

/** The part of a rule that says what is asked about: what stands with "before" or "without", or else what is forbidden. */
export function askedIn(said: string): string {
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
  if (!rule.asks || asksOthers.test(plain)) return undefined
  if (rule.marked.values.commands.length + rule.marked.values.tools.length > 0)
    return { why: "it is about some of such calls only" }
  const ordered = any(
    "before|then|without|unless|until|first|needs?|requires?|bevor|ohne|antes|sin|avant|sans|vorher|prior|wait|erst|must be|has to be|have to be|only|beforehand|sem|(?:confirm|check|clear|agree) (?:\\S+ ){1,4}with (?:me|us)|through me|past me|by me",
  ).test(plain)
  if (!ordered) return undefined
  if (rule.marked.values.domains.length + rule.marked.values.recipients.length + rule.marked.values.paths.length > 0)
    return { why: "it is about some of such calls only" }
  const said = plain.replace(
    /\b(?:ask|check(?:ing)?|confirm(?:ation)?|show|sign[- ]?off|run (?:it|this|that) (?:by|past))\b(?: \w+){0,2}? (?:me|us)\b/g,
    " ",
  )
  const asked = askedIn(said)
  const named = acts.filter(([, act]) => act.test(asked)).map(([act]) => act)
  const wanted = named.includes("email") ? named.filter((act) => act !== "send") : named
  if (wanted.length === 0) return { why: "what has to be asked about is nothing that the guard can see in a call" }
  if (limiting.test(plain) && /\d/.test(plain)) return { why: "it names no currency" }
  if (wanted.some((act) => act === "change" || act === "run" || act === "delete") && inPlace.test(said))
    return { why: "it is about some of such calls only" }
  if (unspecific.test(plain)) return { why: "it is about some of such calls only" }
  const inProduction = production.test(plain) ? ({ environments: ["production"] } as const) : {}
  return { policy: { template: "ask-before", acts: wanted, ...inProduction }, confidence: likely }
}
