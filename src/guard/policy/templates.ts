import { refuseOption } from "../../message/errors.ts"
import { entriesOf, namesIn } from "../../message/present.ts"
import type { ToolContract, Undeclared } from "../facts/contracts.ts"
import { services } from "../facts/media.ts"
import type { PersonalKind } from "../facts/personal.ts"
import { regionName } from "../facts/regions.ts"
import type { Matcher } from "./matcher.ts"
import {
  cedarSet,
  cedarString,
  fillWords,
  type PolicyDraft,
  refuseGiven,
  requireAmount,
  requireTexts,
  saysOneOf,
  type UseOptions,
} from "./template.ts"
import table from "./templates.json" with { type: "json" }

/** The parameters of each template. */
type TemplateParameters = {
  /** The network is used to reach these hosts only; `*.example.com` stands for all below it. */
  readonly "allowed-hosts": { readonly hosts: readonly string[] }
  /** Texts about something, such as status reports, go out on these ways only. */
  readonly "channel-routing": {
    /** Names of media, such as slack or ticket, or of rooms, such as #status. */
    readonly media: readonly string[]
    /** What a text says if the rule is about it; common words for reports unless given. */
    readonly about?: readonly string[]
  }
  /** E-mail goes to these domains only; `*.example.com` stands for all below it. */
  readonly "email-domains": { readonly domains: readonly string[] }
  /** Audit logs, logging, firewalls and other security controls stay on. */
  readonly "keep-security-controls": {
    /** Those that the rule is about, as `controlsOff` of the schema names them; all unless given. */
    readonly controls?: readonly string[]
  }
  /** What is sent is written in these languages only. */
  readonly "language-policy": {
    /** In two letters, such as en. */
    readonly languages: readonly string[]
    /** What of a longer text in a language that is not known? Refused unless told otherwise. */
    readonly unknown?: "deny" | "allow"
  }
  /** The agent works on what is here. */
  readonly "no-network": object
  /** Personal data is not sent or disclosed. */
  readonly "no-personal-data": {
    /** Those that the rule is about; numbers that identify a person or an account unless given. */
    readonly kinds?: readonly PersonalKind[]
  }
  /** Nothing of production is dropped, truncated, deleted or torn down. */
  readonly "no-production-destruction": {
    /** What of data and infrastructure whose environment nobody names? Refused unless told otherwise. */
    readonly unmarked?: "deny" | "allow"
  }
  /** Production is looked at and not changed. */
  readonly "no-production-writes": object
  /** No key, credential or password store is opened, and none of their values leaves. */
  readonly "no-secrets": {
    /** What is forbidden with them: reading and sending unless given. */
    readonly deny?: readonly SecretAct[]
  }
  /** These files and directories are left alone. */
  readonly "protected-paths": {
    readonly paths: readonly string[]
    /** `change` lets them be read, `delete` changed as well; `any` neither. The first unless given. */
    readonly access?: keyof typeof accesses
  }
  /** The agent looks and changes nothing. */
  readonly "read-only": object
  /** What is changed or deployed stays in these regions. */
  readonly "region-standard": {
    readonly regions: readonly string[]
    /** What of a deployment that names no region? Let through unless told otherwise. */
    readonly unnamed?: "deny" | "allow"
  }
  /** Only these programs are run, each with its first words: `git status` does not cover `git push`. */
  readonly "shell-allow-list": { readonly commands: readonly string[] }
  /** No purchase above a sum, alone or with what was spent before. */
  readonly "spend-limit": SpendLimit
  /** People are reached on these ways, or in these rooms (`#general`), only. */
  readonly "allowed-media": { readonly media: readonly string[] }
  /** Files are changed in these places only; everything may be read. */
  readonly "allowed-paths": { readonly paths: readonly string[] }
  /** E-mail goes to these addresses and domains only. */
  readonly "allowed-recipients": { readonly recipients: readonly string[] }
  /** A person is asked before any of these is done. */
  readonly "ask-before": {
    readonly acts: readonly AskableAct[]
    /** Only where the call names one of these environments; everywhere unless given. */
    readonly environments?: readonly ("production" | "staging" | "development")[]
  }
  /** These hosts are never reached. */
  readonly "blocked-hosts": { readonly hosts: readonly string[] }
  /** Nothing that is sent is in one of these languages. */
  readonly "blocked-languages": { readonly languages: readonly string[] }
  /** Nobody is reached on these ways or in these rooms. */
  readonly "blocked-media": { readonly media: readonly string[] }
  /** E-mail never goes to these addresses and domains. */
  readonly "blocked-recipients": { readonly recipients: readonly string[] }
  /** Nothing is changed or deployed in these regions. */
  readonly "blocked-regions": { readonly regions: readonly string[] }
  /** These tools and shell commands are never called. A command covers its uses with more words: flags count wherever they stand. */
  readonly "blocked-tools": { readonly tools?: readonly string[]; readonly commands?: readonly string[] }
  /** Production is not touched at all, not even to read. */
  readonly "no-production-access": object
}

export type TemplateName = keyof TemplateParameters

type Uses = { readonly [Name in TemplateName]: UseOptions & { readonly template: Name } & TemplateParameters[Name] }

/** A rule by the name of its template, with its parameters. */
export type TemplateUse = Uses[TemplateName]

/** A text of Cedar policies, with a name for messages or without, or a template by name with its parameters. */
export type PolicyInput = string | { readonly name: string; readonly text: string } | TemplateUse | ToolDeclarations

/** What tools do, and what becomes of those that nobody has declared, beside the policies: as a file of the policy directory has it. */
type ToolDeclarations = {
  readonly name?: string
  readonly tools: readonly ToolContract[]
  readonly undeclared?: Undeclared
  /** `deny` lets through only what a policy permits. */
  readonly default?: "allow" | "deny"
}

export const isDeclarations = (input: unknown): input is ToolDeclarations =>
  typeof input === "object" && input !== null && "tools" in input && !("template" in input)

/** How many policies there are, as people count them: each use of a template, and each policy of a text. */
export const countPolicies = (inputs: readonly PolicyInput[]): number =>
  inputs.reduce((sum, input) => {
    if (isDeclarations(input)) return sum
    const text = typeof input === "string" ? input : "text" in input ? input.text : undefined
    const plain = text?.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*/g, "")
    return sum + (plain === undefined ? 1 : (plain.match(/\b(?:permit|forbid)\s*\(/g)?.length ?? 0))
  }, 0)

/** What a use of a template says; `name` tells its matchers from those of others. */
export function draftOf<Name extends TemplateName>(use: Uses[Name], name: string): PolicyDraft {
  const { template } = use
  if (!Object.hasOwn(drafts, template))
    refuseOption("template", `one of ${templateNames.join(", ")}`, String(template).slice(0, 60))
  const { named = {}, ...draft } = drafts[template](use, name)
  const { rule, instead } = templateWords[template]
  return { ...draft, rule: fillWords(rule, named), instead: fillWords(instead, named) }
}

/** What each template says to whoever is refused, with names of parameters in braces. */
const templateWords: Readonly<Record<TemplateName, Readonly<Record<"rule" | "instead", string>>>> = table.words

const sends = `context.actions.containsAny(["send", "disclose"])`
const mails = `context.actions.containsAny(["send", "disclose", "write", "execute", "other"])`

/** A draft before it is put into words, with the parameters that its words name. */
type Conditions = Omit<PolicyDraft, "rule" | "instead"> & { readonly named?: Parameters<typeof fillWords>[1] }

/** The condition that a value of the call is outside or within a list, and the list. */
const matching = (
  where: "outside" | "within",
  name: string,
  of: Matcher["of"],
  patterns: readonly string[],
  and?: string,
): Required<Pick<PolicyDraft, "when" | "matchers">> => ({
  when: [`context.matches.contains("${where}:${name}")${and === undefined ? "" : ` && ${and}`}`],
  matchers: { [name]: { of, patterns } },
})

type Drafts = {
  readonly [Name in TemplateName]: (parameters: TemplateParameters[Name], name: string) => Conditions
}

const drafts: Drafts = {
  "allowed-hosts": ({ hosts: given }, name) => {
    const hosts = requireTexts("hosts", given)
    const isOutside = `context.matches.contains("outside:${name}")`
    const isDisguised = `context.suspectAddresses && context.hosts.containsAny(${JSON.stringify(loopback)})`
    return {
      named: { hosts },
      when: [`${isOutside} || (${isDisguised})`],
      matchers: { [name]: { of: "hosts", patterns: [...hosts, ...loopback] } },
    }
  },
  "channel-routing": ({ media: given, about: texts = table.reportPhrases }) => {
    const { all: media, ways } = waysIn(given)
    // A room is no medium: a rule about rooms says nothing of the ways to them.
    const by = ways.length === 0 ? "context.rooms" : "context.media"
    const words = requireTexts("about", texts)
    const about = `${words.slice(0, 3).join(", ")}${words.length > 3 ? " and the like" : ""}`
    return {
      named: { media, about },
      when: ["containsAny", "containsAll"].map(
        (test) => `${sends} && !(${cedarSet(media)}.${test}(${by})) && (${saysOneOf(words)})`,
      ),
    }
  },
  "email-domains": ({ domains: given }, name) => {
    const domains = requireTexts("domains", given)
    return { named: { domains }, ...matching("outside", name, "recipientDomains", domains, mails) }
  },
  "keep-security-controls": ({ controls }) => {
    if (controls === undefined)
      return {
        named: { which: "such as audit logging, authentication and firewalls" },
        when: ["!context.controlsOff.isEmpty()"],
      }
    const set = requireTexts("controls", controls)
    return { named: { which: `(${set.join(", ")})` }, when: [`context.controlsOff.containsAny(${cedarSet(set)})`] }
  },
  "language-policy": ({ languages: given, unknown = "deny" }) => {
    const languages = languageCodes(given)
    const allowed = unknown === "allow" ? [...languages, "und"] : languages
    return { named: { languages }, when: [`${sends} && !(${cedarSet(allowed)}.containsAll(context.languages))`] }
  },
  "no-network": () => ({
    when: [
      `context.network || !context.hosts.isEmpty() || context.effects.containsAny(["network", "install", "remote-code"])`,
      `!context.media.isEmpty() && ${sends}`,
    ],
  }),
  "no-personal-data": ({ kinds = identifying }) => {
    const set = cedarSet(requireTexts("kinds", kinds))
    return {
      named: { kinds },
      when: [
        `${sends} && context.personal.containsAny(${set})`,
        `context.network && context.changes && context.personal.containsAny(${set})`,
        // Where everybody reads it, an address or a telephone number identifies a person, too.
        `context.media.containsAny(["public", "social"]) && context.personal.containsAny(["phone", "email"])`,
        // A home address with a phone number or e-mail address identifies a person to any reader.
        `${sends} && context.personal.contains("address") && context.personal.containsAny(["phone", "email"])`,
      ],
    }
  },
  "no-production-destruction": ({ unmarked = "deny" }) => ({
    when: [
      `${inProduction} && (context.destructive.containsAny(["data", "infrastructure", "repository"]) || (context.destructive.contains("files") && context.productionChanges))`,
      ...(unmarked === "deny"
        ? [`context.destructive.containsAny(["data", "infrastructure"]) && context.environments.isEmpty()`]
        : []),
    ],
    assume: unmarked === "allow" ? ["environments"] : [],
  }),
  "no-production-writes": () => ({
    when: [
      `${inProduction} && (context.productionChanges || context.destructive.containsAny(["data", "infrastructure", "repository"]))`,
    ],
  }),
  "no-secrets": ({ deny = ["read", "send"] }) => {
    const acts = requireTexts("deny", deny).filter((act): act is SecretAct => Object.hasOwn(secretActs, act))
    if (acts.length < deny.length) requireTexts(`deny (some of ${Object.keys(secretActs).join(", ")})`, [])
    return {
      named: { done: acts.map((act) => secretActs[act].said) },
      when: [...new Set(acts.flatMap((act) => secretActs[act].when))],
    }
  },
  "protected-paths": ({ paths: given, access = "change" }, name) => {
    const paths = requireTexts("paths", given)
    if (!Object.hasOwn(accesses, access)) refuseGiven("access", "change, delete or any", access)
    const { of, said: done } = accesses[access]
    return { named: { paths, done }, ...matching("within", name, of, paths) }
  },
  "read-only": () => ({
    when: [
      `context.changes || context.actions.containsAny(["send", "write", "delete", "purchase", "disclose", "deploy"])`,
    ],
  }),
  "region-standard": ({ regions: given, unnamed = "allow" }) => {
    const regions = requireTexts("regions", given).map(regionName)
    return {
      named: { regions },
      when: [
        `context.changes && !(${cedarSet(regions)}.containsAll(context.regions))`,
        ...(unnamed === "deny" ? [`context.actions.contains("deploy") && context.regions.isEmpty()`] : []),
      ],
    }
  },
  "shell-allow-list": ({ commands: given }, name) => {
    const commands = requireTexts("commands", given)
    const named = { commands, some: commands.slice(0, 5) }
    return { named, ...matching("outside", name, "commandLines", commands), decision: "ask" }
  },
  "spend-limit": spendLimit,
  "allowed-media": ({ media: given }) => {
    const { all: media, ways, rooms } = waysIn(given)
    const inRooms = `!context.rooms.isEmpty() && ${cedarSet(rooms)}.containsAll(context.rooms)`
    const kept = [...(ways.length > 0 ? [reachesBy(ways)] : []), ...(rooms.length > 0 ? [inRooms] : [])]
    return { named: { media }, when: [`${sends} && !(${kept.map((one) => `(${one})`).join(" || ")})`] }
  },
  "allowed-paths": ({ paths: given }, name) => {
    const paths = requireTexts("paths", given)
    return { named: { paths }, ...matching("outside", name, "changedPaths", paths) }
  },
  "allowed-recipients": ({ recipients: given }, name) => {
    const recipients = requireTexts("recipients", given)
    return { named: { recipients }, ...matching("outside", name, "recipients", recipients, mails) }
  },
  "ask-before": ({ acts: given, environments }, name) => {
    const acts = requireTexts("acts", given).flatMap((act) => askableActs.filter((known) => known === act))
    if (acts.length < given.length) requireTexts(`acts (some of ${askableActs.join(", ")})`, [])
    const where =
      environments === undefined
        ? ""
        : ` && context.environments.containsAny(${cedarSet(requireTexts("environments", environments))})`
    const { when, matchers } = usesOf(
      acts.flatMap((act) => signs[act].commands ?? []),
      name,
    )
    return {
      named: { acts },
      when: [...acts.flatMap((act) => signs[act].when ?? []), ...when].map((sign) => `(${sign})${where}`),
      matchers,
      decision: "ask",
    }
  },
  "blocked-hosts": ({ hosts }, name) => {
    const patterns = requireTexts("hosts", hosts).flatMap((host) =>
      host.startsWith("*.") ? [host] : [host, `*.${host}`],
    )
    return { named: { hosts }, ...matching("within", name, "hosts", patterns) }
  },
  "blocked-languages": ({ languages: given }) => {
    const languages = languageCodes(given)
    return { named: { languages }, when: [`${sends} && context.languages.containsAny(${cedarSet(languages)})`] }
  },
  "blocked-media": ({ media: given }) => {
    const { all: media, ways, rooms } = waysIn(given)
    const blocked = (kind: "media" | "rooms", some: readonly string[]): readonly string[] =>
      some.length === 0 ? [] : [`${sends} && context.${kind}.containsAny(${cedarSet(some)})`]
    return { named: { media }, when: [...blocked("media", ways), ...blocked("rooms", rooms)] }
  },
  "blocked-recipients": ({ recipients: given }, name) => {
    const recipients = requireTexts("recipients", given)
    return { named: { recipients }, ...matching("within", name, "recipients", recipients, mails) }
  },
  "blocked-regions": ({ regions: given }) => {
    const regions = requireTexts("regions", given).map(regionName)
    return { named: { regions }, when: [`context.changes && context.regions.containsAny(${cedarSet(regions)})`] }
  },
  "blocked-tools": ({ tools = [], commands = [] }, name) => {
    const all = requireTexts("tools", [...tools, ...commands])
    const named = tools.map((tool) => cedarString(tool.trim().toLowerCase()))
    const { when, matchers } = usesOf(commands, name)
    const called = named.map((tool) => `context.tool == ${tool} || context.tool like ${tool.replace(/^"/, '"*__')}`)
    return { named: { all }, when: [...called, ...when], matchers }
  },
  "no-production-access": () => ({ when: [`${inProduction} && !(${onlyLocalFiles})`] }),
}

export const templateNames: readonly TemplateName[] = entriesOf(drafts).map(([name]) => name)

/** What stays on the machine uses no network. Not by another spelling, such as a number: who writes it so hides it. */
const loopback: readonly string[] = ["localhost", "*.localhost", "127.0.0.1", "[::1]", "0.0.0.0"]

const identifying: readonly PersonalKind[] = namesIn("ssn card iban passport national-id account birth-date health")

const languageCodes = (languages: readonly string[]): readonly string[] =>
  requireTexts("languages", languages).map((language) => language.toLowerCase().slice(0, 2))

/** What may be forbidden with secrets, each as the rule says it and as calls show it. */
const secretActs = {
  read: { said: "read", when: ["!context.secretPaths.isEmpty()"] },
  // What a tool reads is printed to the model; a command that has the value in it shows it to whoever sees the screen.
  print: {
    said: "printed",
    when: ["!context.secretPaths.isEmpty()", `context.actions.contains("execute") && !context.secrets.isEmpty()`],
  },
  send: {
    said: "sent",
    when: [`${sends} && !context.secrets.isEmpty()`, "context.network && !context.secrets.isEmpty()"],
  },
  // A file of secrets that git takes, or a value that is written into one that it will.
  commit: {
    said: "committed",
    when: [
      `context.commands.contains("git") && !context.secretPaths.isEmpty()`,
      `context.actions.contains("write") && !context.secrets.isEmpty()`,
    ],
  },
} as const
type SecretAct = keyof typeof secretActs

const accesses = {
  change: { of: "changedPaths", said: "changed" },
  delete: { of: "deletedPaths", said: "deleted" },
  any: { of: "paths", said: "read or changed" },
} as const

type SpendLimit = {
  readonly amount: number
  /** In three letters; USD unless given. */
  readonly currency?: string
  /** What of a purchase that names no sum? Refused unless told otherwise. */
  readonly unnamed?: "deny" | "allow"
  /** Each purchase by itself, or all of a session, of an agent or of a tenant together. Those of a session unless given. */
  readonly per?: keyof typeof limited
  /** The limit begins anew at midnight UTC: for an agent or a tenant. */
  readonly every?: "day"
}

/** What a limit adds to the sum of a purchase, and how it says whose purchases it is about. */
const limited = {
  call: { spent: "", whose: "" },
  session: { spent: " + context.spent", whose: "" },
  agent: { spent: " + context.agentSpent", whose: " by one agent" },
  tenant: { spent: " + context.tenantSpent", whose: " in all sessions together" },
} as const

function spendLimit({ amount, currency = "USD", unnamed = "deny", per = "session", every }: SpendLimit): Conditions {
  const minor = Math.round(requireAmount("amount", amount) * 100)
  const code = currency.toUpperCase()
  if (!Object.hasOwn(limited, per)) refuseGiven("per", "call, session, agent or tenant (a day is every: day)", per)
  if (every !== undefined && every !== "day") refuseGiven("every", "day", every)
  if (every === "day" && per !== "agent" && per !== "tenant")
    refuseGiven("per", "agent or tenant beside every: day", per)
  const { spent, whose } = limited[per]
  const [today, days] = every === "day" ? ["Today", " in a day"] : ["", ""]
  const isPurchase = `context.actions.contains("purchase")`
  return {
    named: { sum: `${amount} ${code}`, whose, days, inAll: per === "call" ? "" : ` in all${days}` },
    when: [
      `${isPurchase} && context.spend${spent}${today} > ${minor}`,
      `${isPurchase} && !([${cedarString(code)}].containsAll(context.currencies))`,
      ...(unnamed === "deny" ? [`${isPurchase} && !context.amountNamed`] : []),
    ],
    assume: unnamed === "allow" ? ["amounts"] : [],
  }
}

/** Media and rooms: a room has its sign before its name. */
function waysIn(media: readonly string[]): Readonly<Record<"all" | "ways" | "rooms", readonly string[]>> {
  const all = requireTexts("media", media).map((way) => way.toLowerCase())
  return { all, ways: all.filter((way) => !way.startsWith("#")), rooms: all.filter((way) => way.startsWith("#")) }
}

/** Does a call go by these ways alone? A kind has all its services; a service is of its kind, and has to be named. */
function reachesBy(ways: readonly string[]): string {
  const kinds = Object.keys(services).filter((kind) => services[kind]?.some((name) => ways.includes(name)))
  const named = [...ways, ...kinds, ...ways.flatMap((way) => services[way] ?? [])]
  const all = `${cedarSet([...new Set(named)])}.containsAll(context.media)`
  return kinds.length === 0
    ? all
    : `${all} && (context.media.isEmpty() || context.media.containsAny(${cedarSet(ways)}))`
}

const inProduction = `context.environments.contains("production")`

/** Files that have production in their name or text are files: nothing is reached by reading, searching or editing them. */
const onlyLocalFiles = [
  "!context.network",
  "context.sqlVerbs.isEmpty()",
  "context.hosts.isEmpty()",
  `!context.effects.containsAny(${cedarSet(["network", "deploy", "send", "execute", "remote-code", "pay", "unknown"])})`,
  "(!context.paths.isEmpty() || !context.commands.isEmpty())",
].join(" && ")

/** Uses of shell commands, if there are any. */
const usesOf = (commands: readonly string[], name: string): ReturnType<typeof matching> =>
  commands.length === 0 ? { when: [], matchers: {} } : matching("within", name, "commandUses", commands)

/** What an act is in a call that a person can be asked about: in Cedar, as uses of shell commands, or both. */
const signs: Readonly<Record<AskableAct, { readonly when?: string; readonly commands?: readonly string[] }>> =
  table.acts
/** The acts of the table, written out for whoever reads the types of the package. */
type AskableAct =
  | "call"
  | "cancel"
  | "change"
  | "commit"
  | "delete"
  | "deploy"
  | "email"
  | "grant"
  | "install"
  | "merge"
  | "migrate"
  | "network"
  | "publish"
  | "purchase"
  | "push"
  | "rename"
  | "reschedule"
  | "restart"
  | "run"
  | "send"
const askableActs = entriesOf(signs).map(([act]) => act)
