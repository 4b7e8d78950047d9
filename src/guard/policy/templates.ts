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
  /** The network is used only to reach these hosts; `*.example.com` matches all subdomains. */
  readonly "allowed-hosts": { readonly hosts: readonly string[] }
  /** Texts on some subject, such as status reports, are sent only through these media. */
  readonly "channel-routing": {
    /** Media, such as slack or ticket, or chat rooms, such as #status. */
    readonly media: readonly string[]
    /** Words that identify a text on the subject; by default common words for reports. */
    readonly about?: readonly string[]
  }
  /** E-mail goes only to these domains; `*.example.com` matches all subdomains. */
  readonly "email-domains": { readonly domains: readonly string[] }
  /** Audit logs, logging, firewalls and other security controls stay on. */
  readonly "keep-security-controls": {
    /** The controls that the rule is about, named as in `controlsOff` of the schema; all by default. */
    readonly controls?: readonly string[]
  }
  /** What is sent is written only in these languages. */
  readonly "language-policy": {
    /** Two-letter codes, such as en. */
    readonly languages: readonly string[]
    /** Whether a longer text in an unrecognized language is denied; `deny` by default. */
    readonly unknown?: "deny" | "allow"
  }
  /** No network at all: the agent works with what is on the machine. */
  readonly "no-network": object
  /** Personal data is not sent or disclosed. */
  readonly "no-personal-data": {
    /** The kinds that the rule is about; by default numbers that identify a person or an account. */
    readonly kinds?: readonly PersonalKind[]
  }
  /** No production data, file or infrastructure is dropped, truncated, deleted or torn down. */
  readonly "no-production-destruction": {
    /** Whether a call on data or infrastructure of an unstated environment is denied; `deny` by default. */
    readonly unmarked?: "deny" | "allow"
  }
  /** Production may be read, but not changed. */
  readonly "no-production-writes": object
  /** Keys, credentials and password stores are not opened, and their values do not leave the machine. */
  readonly "no-secrets": {
    /** What is forbidden to do with secrets; reading and sending by default. */
    readonly deny?: readonly SecretAct[]
  }
  /** These files and directories are protected. */
  readonly "protected-paths": {
    readonly paths: readonly string[]
    /** `change` (the default) allows reading, `delete` allows reading and changing, `any` allows neither. */
    readonly access?: keyof typeof accesses
  }
  /** The agent may read, but change nothing. */
  readonly "read-only": object
  /** What is changed or deployed stays in these regions. */
  readonly "region-standard": {
    readonly regions: readonly string[]
    /** Whether a deployment that names no region is denied; `allow` by default. */
    readonly unnamed?: "deny" | "allow"
  }
  /** Only these programs are run, matched with their first words: `git status` does not cover `git push`. */
  readonly "shell-allow-list": { readonly commands: readonly string[] }
  /** No purchase above an amount, alone or together with earlier spending. */
  readonly "spend-limit": SpendLimit
  /** People are reached only through these media or chat rooms (`#general`). */
  readonly "allowed-media": { readonly media: readonly string[] }
  /** Files are changed only in these places; everything may be read. */
  readonly "allowed-paths": { readonly paths: readonly string[] }
  /** E-mail goes only to these addresses and domains. */
  readonly "allowed-recipients": { readonly recipients: readonly string[] }
  /** A person is asked before any of these acts. */
  readonly "ask-before": {
    readonly acts: readonly AskableAct[]
    /** Only for calls that name one of these environments; everywhere by default. */
    readonly environments?: readonly ("production" | "staging" | "development")[]
  }
  /** These hosts are never contacted. */
  readonly "blocked-hosts": { readonly hosts: readonly string[] }
  /** Nothing is sent in one of these languages. */
  readonly "blocked-languages": { readonly languages: readonly string[] }
  /** Nobody is reached through these media or chat rooms. */
  readonly "blocked-media": { readonly media: readonly string[] }
  /** E-mail never goes to these addresses and domains. */
  readonly "blocked-recipients": { readonly recipients: readonly string[] }
  /** Nothing is changed or deployed in these regions. */
  readonly "blocked-regions": { readonly regions: readonly string[] }
  /** These tools and shell commands are never called. A command also matches with further words; its flags match in any position. */
  readonly "blocked-tools": { readonly tools?: readonly string[]; readonly commands?: readonly string[] }
  /** Production is not touched at all, not even read. */
  readonly "no-production-access": object
}

export type TemplateName = keyof TemplateParameters

type UsesByTemplate = {
  readonly [Name in TemplateName]: UseOptions & { readonly template: Name } & TemplateParameters[Name]
}

/** A use of a template: its name and its parameters. */
export type TemplateUse = UsesByTemplate[TemplateName]

/** Cedar policies as text, with or without a name for messages; a use of a template; or tool declarations. */
export type PolicyInput = string | { readonly name: string; readonly text: string } | TemplateUse | ToolDeclarations

/** Declares what tools do, and what happens to undeclared ones, as a file of the policy directory states it. */
type ToolDeclarations = {
  readonly name?: string
  readonly tools: readonly ToolContract[]
  readonly undeclared?: Undeclared
  /** `deny` allows only what a policy permits. */
  readonly default?: "allow" | "deny"
}

export const isDeclarations = (input: unknown): input is ToolDeclarations =>
  typeof input === "object" && input !== null && "tools" in input && !("template" in input)

/** Counts policies as people do: each use of a template, and each policy in a text. */
export const countPolicies = (inputs: readonly PolicyInput[]): number =>
  inputs.reduce((sum, input) => {
    if (isDeclarations(input)) return sum
    const text = typeof input === "string" ? input : "text" in input ? input.text : undefined
    const plain = text?.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*/g, "")
    return sum + (plain === undefined ? 1 : (plain.match(/\b(?:permit|forbid)\s*\(/g)?.length ?? 0))
  }, 0)

/** Builds the draft for a use of a template; `name` keeps its matchers apart from those of other policies. */
export function draftOfUse<Name extends TemplateName>(use: UsesByTemplate[Name], name: string): PolicyDraft {
  const { template } = use
  if (!Object.hasOwn(drafts, template))
    refuseOption("template", `one of ${templateNames.join(", ")}`, String(template).slice(0, 60))
  const { named = {}, ...draft } = drafts[template](use, name)
  const { rule, instead } = templateWords[template]
  return { ...draft, rule: fillWords(rule, named), instead: fillWords(instead, named) }
}

/** The messages of each template for a denied call, with parameter names in braces. */
const templateWords: Readonly<Record<TemplateName, Readonly<Record<"rule" | "instead", string>>>> = table.words

const sends = `context.actions.containsAny(["send", "disclose"])`
const mails = `context.actions.containsAny(["send", "disclose", "write", "execute", "other"])`

/** A draft before its messages are filled in, with the parameters for them. */
type UnnamedDraft = Omit<PolicyDraft, "rule" | "instead"> & { readonly named?: Parameters<typeof fillWords>[1] }

/** Builds the condition that a value of the call is outside or within a list, and the matcher for the list. */
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

type DraftList = {
  readonly [Name in TemplateName]: (parameters: TemplateParameters[Name], name: string) => UnnamedDraft
}

const drafts: DraftList = {
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
    const { all: media, ways } = splitMedia(given)
    // Rooms are not media: a rule on rooms alone says nothing about the media that lead there.
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
        // In public, a phone number or e-mail address identifies a person too.
        `context.media.containsAny(["public", "social"]) && context.personal.containsAny(["phone", "email"])`,
        // A home address together with a phone number or e-mail address identifies a person to any reader.
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
    const { all: media, ways, rooms } = splitMedia(given)
    const inRooms = `!context.rooms.isEmpty() && ${cedarSet(rooms)}.containsAll(context.rooms)`
    const kept = [...(ways.length > 0 ? [onlyThroughMedia(ways)] : []), ...(rooms.length > 0 ? [inRooms] : [])]
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
    const { when, matchers } = commandConditions(
      acts.flatMap((act) => actSigns[act].commands ?? []),
      name,
    )
    return {
      named: { acts },
      when: [...acts.flatMap((act) => actSigns[act].when ?? []), ...when].map((sign) => `(${sign})${where}`),
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
    const { all: media, ways, rooms } = splitMedia(given)
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
    const { when, matchers } = commandConditions(commands, name)
    const called = named.map((tool) => `context.tool == ${tool} || context.tool like ${tool.replace(/^"/, '"*__')}`)
    return { named: { all }, when: [...called, ...when], matchers }
  },
  "no-production-access": () => ({ when: [`${inProduction} && !(${onlyLocalFiles})`] }),
}

export const templateNames: readonly TemplateName[] = entriesOf(drafts).map(([name]) => name)

/** Addresses of this machine need no network. Other spellings, such as a number, are not listed: they are used to hide the address. */
const loopback: readonly string[] = ["localhost", "*.localhost", "127.0.0.1", "[::1]", "0.0.0.0"]

const identifying: readonly PersonalKind[] = namesIn("ssn card iban passport national-id account birth-date health")

const languageCodes = (languages: readonly string[]): readonly string[] =>
  requireTexts("languages", languages).map((language) => language.toLowerCase().slice(0, 2))

/** What may be forbidden with secrets: the word for the rule, and the conditions on a call. */
const secretActs = {
  read: { said: "read", when: ["!context.secretPaths.isEmpty()"] },
  // Whatever a tool reads is shown to the model; a command that contains the value shows it on the screen.
  print: {
    said: "printed",
    when: ["!context.secretPaths.isEmpty()", `context.actions.contains("execute") && !context.secrets.isEmpty()`],
  },
  send: {
    said: "sent",
    when: [`${sends} && !context.secrets.isEmpty()`, "context.network && !context.secrets.isEmpty()"],
  },
  // A secret file in a git command, or a value written to a file that may be committed.
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
  /** Three-letter code; USD by default. */
  readonly currency?: string
  /** Whether a purchase that names no amount is denied; `deny` by default. */
  readonly unnamed?: "deny" | "allow"
  /** Limit each purchase by itself, or the sum of a session, an agent or a tenant; the session by default. */
  readonly per?: keyof typeof limitScopes
  /** The sum starts again at midnight UTC; only for an agent or a tenant. */
  readonly every?: "day"
}

/** For each scope of a limit: the earlier spending to add, and the words for it. */
const limitScopes = {
  call: { spent: "", whose: "" },
  session: { spent: " + context.spent", whose: "" },
  agent: { spent: " + context.agentSpent", whose: " by one agent" },
  tenant: { spent: " + context.tenantSpent", whose: " in all sessions together" },
} as const

function spendLimit({ amount, currency = "USD", unnamed = "deny", per = "session", every }: SpendLimit): UnnamedDraft {
  const minor = Math.round(requireAmount("amount", amount) * 100)
  const code = currency.toUpperCase()
  if (!Object.hasOwn(limitScopes, per)) refuseGiven("per", "call, session, agent or tenant (a day is every: day)", per)
  if (every !== undefined && every !== "day") refuseGiven("every", "day", every)
  if (every === "day" && per !== "agent" && per !== "tenant")
    refuseGiven("per", "agent or tenant beside every: day", per)
  const { spent, whose } = limitScopes[per]
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

/** Splits the list into media and chat rooms, which start with `#`. */
function splitMedia(media: readonly string[]): Readonly<Record<"all" | "ways" | "rooms", readonly string[]>> {
  const all = requireTexts("media", media).map((way) => way.toLowerCase())
  return { all, ways: all.filter((way) => !way.startsWith("#")), rooms: all.filter((way) => way.startsWith("#")) }
}

/**
 * Builds the condition that a call uses only these media. A kind includes all its services; a service also belongs to its kind, and has to
 * be named in the call.
 */
function onlyThroughMedia(ways: readonly string[]): string {
  const kinds = Object.keys(services).filter((kind) => services[kind]?.some((name) => ways.includes(name)))
  const named = [...ways, ...kinds, ...ways.flatMap((way) => services[way] ?? [])]
  const all = `${cedarSet([...new Set(named)])}.containsAll(context.media)`
  return kinds.length === 0
    ? all
    : `${all} && (context.media.isEmpty() || context.media.containsAny(${cedarSet(ways)}))`
}

const inProduction = `context.environments.contains("production")`

/** A file with "production" in its name or text is only a file: reading, searching or editing it does not touch production. */
const onlyLocalFiles = [
  "!context.network",
  "context.sqlVerbs.isEmpty()",
  "context.hosts.isEmpty()",
  `!context.effects.containsAny(${cedarSet(["network", "deploy", "send", "execute", "remote-code", "pay", "unknown"])})`,
  "(!context.paths.isEmpty() || !context.commands.isEmpty())",
].join(" && ")

/** Builds the conditions for uses of shell commands; none if the list is empty. */
const commandConditions = (commands: readonly string[], name: string): ReturnType<typeof matching> =>
  commands.length === 0 ? { when: [], matchers: {} } : matching("within", name, "commandUses", commands)

/** How each act that needs approval is recognized in a call: by a Cedar condition, by shell commands, or both. */
const actSigns: Readonly<Record<AskableAct, { readonly when?: string; readonly commands?: readonly string[] }>> =
  table.acts
/** The keys of the table, written out so that the package's types list them. */
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
const askableActs = entriesOf(actSigns).map(([act]) => act)
