import { refuseOption } from "../../message/errors.ts"
import { namesIn } from "../../message/present.ts"
import type { ToolContract, Undeclared } from "../facts/contracts.ts"
import type { PersonalKind } from "../facts/personal.ts"
import { regionName } from "../facts/regions.ts"
import lists from "../facts/words.json" with { type: "json" }
import { isRuleTemplate, type RuleTemplateUse, ruleDraftOf, ruleTemplateNames } from "./rule-templates.ts"
import type { SpentName } from "./schema.ts"
import {
  cedarSet,
  cedarString,
  type PolicyDraft,
  refuseGiven,
  requireAmount,
  requireTexts,
  saysOneOf,
  type UseOptions,
} from "./template.ts"

/** A rule by the name of its template, with its parameters. */
export type TemplateUse =
  | AllowedHosts
  | ChannelRouting
  | EmailDomains
  | KeepControls
  | LanguagePolicy
  | NoDestruction
  | NoNetwork
  | NoPersonalData
  | NoProductionWrites
  | NoSecrets
  | ProtectedPaths
  | ReadOnly
  | RegionStandard
  | ShellAllowList
  | SpendLimit
  | RuleTemplateUse

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

export type TemplateName = TemplateUse["template"]

export const templateNames: readonly TemplateName[] = [
  ...namesIn(
    "allowed-hosts channel-routing email-domains keep-security-controls language-policy no-network no-personal-data no-production-destruction no-production-writes no-secrets protected-paths read-only region-standard shell-allow-list spend-limit",
  ),
  ...ruleTemplateNames,
]

/** What a use of a template says; `name` tells its matchers from those of others. */
export function draftOf(use: TemplateUse, name: string): PolicyDraft {
  if (isRuleTemplate(use)) return ruleDraftOf(use, name)
  switch (use.template) {
    case "allowed-hosts":
      return allowedHosts(use, name)
    case "channel-routing":
      return channelRouting(use)
    case "email-domains":
      return emailDomains(use, name)
    case "keep-security-controls":
      return keepControls(use)
    case "language-policy":
      return languagePolicy(use)
    case "no-network":
      return noNetwork()
    case "no-personal-data":
      return noPersonalData(use)
    case "no-production-destruction":
      return noDestruction(use)
    case "no-production-writes":
      return noProductionWrites()
    case "no-secrets":
      return noSecrets(use)
    case "protected-paths":
      return protectedPaths(use, name)
    case "read-only":
      return readOnly()
    case "region-standard":
      return regionStandard(use)
    case "shell-allow-list":
      return shellAllowList(use, name)
    case "spend-limit":
      return spendLimit(use)
    default:
      return unknownTemplate(use)
  }
}

function unknownTemplate(use: never): never {
  const { template }: { readonly template?: unknown } = use
  const expected = `one of ${templateNames.join(", ")}`
  refuseOption("template", expected, String(template).slice(0, 60))
}

/** The network is used to reach these hosts only; `*.example.com` stands for all below it. */
type AllowedHosts = UseOptions & { readonly template: "allowed-hosts"; readonly hosts: readonly string[] }

function allowedHosts({ hosts }: AllowedHosts, name: string): PolicyDraft {
  const patterns = requireTexts("hosts", hosts)
  return {
    rule: `The network may only be used to reach ${patterns.join(", ")}.`,
    instead: `Use ${patterns.join(" or ")}, or ask the user.`,
    when: [
      `context.matches.contains("outside:${name}") || (context.suspectAddresses && context.hosts.containsAny(${JSON.stringify(loopback)}))`,
    ],
    matchers: { [name]: { of: "hosts", patterns: [...patterns, ...loopback] } },
  }
}

/** What stays on the machine uses no network. Not by another spelling, such as a number: who writes it so hides it. */
const loopback: readonly string[] = ["localhost", "*.localhost", "127.0.0.1", "[::1]", "0.0.0.0"]

/** Texts about something, such as status reports, go out on these ways only. */
type ChannelRouting = UseOptions & {
  readonly template: "channel-routing"
  /** Names of media, such as slack or ticket, or of rooms, such as #status. */
  readonly media: readonly string[]
  /** What a text says if the rule is about it; common words for reports unless given. */
  readonly about?: readonly string[]
}

const reports: readonly string[] = lists.reportPhrases

function channelRouting({ media, about = reports }: ChannelRouting): PolicyDraft {
  const ways = requireTexts("media", media).map((way) => way.toLowerCase())
  // A room is no medium: a rule about rooms says nothing of the ways to them.
  const by = ways.every((way) => way.startsWith("#")) ? "context.rooms" : "context.media"
  const words = requireTexts("about", about)
  const said = saysOneOf(words)
  return {
    rule: `Messages about ${words.slice(0, 3).join(", ")}${words.length > 3 ? " and the like" : ""} go out by ${ways.join(" or ")} only.`,
    instead: `Send it by ${ways.join(" or ")}.`,
    when: [
      `context.actions.containsAny(["send", "disclose"]) && !(${cedarSet(ways)}.containsAny(${by})) && (${said})`,
      `context.actions.containsAny(["send", "disclose"]) && !(${cedarSet(ways)}.containsAll(${by})) && (${said})`,
    ],
  }
}

/** E-mail goes to these domains only; `*.example.com` stands for all below it. */
type EmailDomains = UseOptions & {
  readonly template: "email-domains"
  readonly domains: readonly string[]
}

function emailDomains({ domains }: EmailDomains, name: string): PolicyDraft {
  const patterns = requireTexts("domains", domains)
  return {
    rule: `E-mail may only be sent to addresses at ${patterns.join(", ")}.`,
    instead: `Send it to an address at ${patterns.join(", ")}, or ask the user what to do.`,
    when: [
      `context.matches.contains("outside:${name}") && context.actions.containsAny(["send", "disclose", "write", "execute", "other"])`,
    ],
    matchers: { [name]: { of: "recipientDomains", patterns } },
  }
}

/** Audit logs, logging, firewalls and other security controls stay on. */
type KeepControls = UseOptions & {
  readonly template: "keep-security-controls"
  /** Those that the rule is about, as `controlsOff` of the schema names them; all unless given. */
  readonly controls?: readonly string[]
}

function keepControls({ controls }: KeepControls): PolicyDraft {
  const named = controls === undefined ? undefined : requireTexts("controls", controls)
  const which = named === undefined ? "such as audit logging, authentication and firewalls" : `(${named.join(", ")})`
  return {
    rule: `Security controls ${which} are not disabled or tampered with.`,
    instead: "Leave the control on, or ask the user to change it.",
    when: [
      named === undefined ? "!context.controlsOff.isEmpty()" : `context.controlsOff.containsAny(${cedarSet(named)})`,
    ],
  }
}

/** What is sent is written in these languages only. */
type LanguagePolicy = UseOptions & {
  readonly template: "language-policy"
  /** In two letters, such as en. */
  readonly languages: readonly string[]
  /** What of a longer text in a language that is not known? Refused unless told otherwise. */
  readonly unknown?: "deny" | "allow"
}

function languagePolicy({ languages, unknown = "deny" }: LanguagePolicy): PolicyDraft {
  const codes = requireTexts("languages", languages).map((language) => language.toLowerCase().slice(0, 2))
  const allowed = unknown === "allow" ? [...codes, "und"] : codes
  return {
    rule: `Messages are written in ${codes.join(", ")} only.`,
    instead: `Write the message in ${codes.join(" or ")}.`,
    when: [
      `context.actions.containsAny(["send", "disclose"]) && !(${cedarSet(allowed)}.containsAll(context.languages))`,
    ],
  }
}

/** Nothing of production is dropped, truncated, deleted or torn down. */
type NoDestruction = UseOptions & {
  readonly template: "no-production-destruction"
  /** What of data and infrastructure whose environment nobody names? Refused unless told otherwise. */
  readonly unmarked?: "deny" | "allow"
}

function noDestruction({ unmarked = "deny" }: NoDestruction): PolicyDraft {
  return {
    rule: "No destructive operations on production.",
    instead: "Read instead, act on staging, or ask the user to do it.",
    when: [
      `context.environments.contains("production") && (context.destructive.containsAny(["data", "infrastructure", "repository"]) || (context.destructive.contains("files") && context.productionChanges))`,
      ...(unmarked === "deny"
        ? [`context.destructive.containsAny(["data", "infrastructure"]) && context.environments.isEmpty()`]
        : []),
    ],
    assume: unmarked === "allow" ? ["environments"] : [],
  }
}

/** The agent works on what is here. */
type NoNetwork = UseOptions & { readonly template: "no-network" }

function noNetwork(): PolicyDraft {
  return {
    rule: "The network is not used.",
    instead: "Work with what is on this machine, or ask the user to fetch it.",
    when: [
      `context.network || !context.hosts.isEmpty() || context.effects.containsAny(["network", "install", "remote-code"])`,
      `!context.media.isEmpty() && context.actions.containsAny(["send", "disclose"])`,
    ],
  }
}

/** Personal data is not sent or disclosed. */
type NoPersonalData = UseOptions & {
  readonly template: "no-personal-data"
  /** Those that the rule is about; numbers that identify a person or an account unless given. */
  readonly kinds?: readonly PersonalKind[]
}

const identifying: readonly PersonalKind[] = namesIn("ssn card iban passport national-id account birth-date health")

function noPersonalData({ kinds = identifying }: NoPersonalData): PolicyDraft {
  const set = cedarSet(requireTexts("kinds", kinds))
  return {
    rule: `Personal data (${kinds.join(", ")}) is not disclosed.`,
    instead: "Leave the personal data out or mask it, or ask the user.",
    when: [
      `context.actions.containsAny(["send", "disclose"]) && context.personal.containsAny(${set})`,
      `context.network && context.changes && context.personal.containsAny(${set})`,
      // Where everybody reads it, an address or a telephone number identifies a person, too.
      `context.media.containsAny(["public", "social"]) && context.personal.containsAny(["phone", "email"])`,
      // A home address with a phone number or e-mail address identifies a person to any reader.
      `context.actions.containsAny(["send", "disclose"]) && context.personal.contains("address") && context.personal.containsAny(["phone", "email"])`,
    ],
  }
}

/** Production is looked at and not changed. */
type NoProductionWrites = UseOptions & { readonly template: "no-production-writes" }

function noProductionWrites(): PolicyDraft {
  return {
    rule: "Nothing in production is changed.",
    instead: "Read from production, make the change on staging, or ask the user.",
    when: [
      `context.environments.contains("production") && (context.productionChanges || context.destructive.containsAny(["data", "infrastructure", "repository"]))`,
    ],
  }
}

/** No key, credential or password store is opened, and none of their values leaves. */
type NoSecrets = UseOptions & {
  readonly template: "no-secrets"
  /** What is forbidden with them: reading and sending unless given. */
  readonly deny?: readonly SecretAct[]
}

type SecretAct = "read" | "print" | "send" | "commit"

const secretActs: Readonly<Record<SecretAct, readonly string[]>> = {
  read: ["!context.secretPaths.isEmpty()"],
  // What a tool reads is printed to the model; a command that has the value in it shows it to whoever sees the screen.
  print: ["!context.secretPaths.isEmpty()", `context.actions.contains("execute") && !context.secrets.isEmpty()`],
  send: [
    `context.actions.containsAny(["send", "disclose"]) && !context.secrets.isEmpty()`,
    "context.network && !context.secrets.isEmpty()",
  ],
  // A file of secrets that git takes, or a value that is written into one that it will.
  commit: [
    `context.commands.contains("git") && !context.secretPaths.isEmpty()`,
    `context.actions.contains("write") && !context.secrets.isEmpty()`,
  ],
}

function noSecrets({ deny = ["read", "send"] }: NoSecrets): PolicyDraft {
  const acts = requireTexts("deny", deny).filter((act): act is SecretAct => Object.hasOwn(secretActs, act))
  if (acts.length < deny.length) requireTexts(`deny (some of ${Object.keys(secretActs).join(", ")})`, [])
  const said = acts.map((act) => ({ read: "read", print: "printed", send: "sent", commit: "committed" })[act])
  return {
    rule: `Keys, credentials and other secrets are not ${said.join(" or ")}.`,
    instead: "Go on without the secret, or ask the user to do the step that needs it.",
    when: [...new Set(acts.flatMap((act) => secretActs[act]))],
  }
}

/** These files and directories are left alone. */
type ProtectedPaths = UseOptions & {
  readonly template: "protected-paths"
  readonly paths: readonly string[]
  /** `change` lets them be read, `delete` changed as well; `any` neither. The first unless given. */
  readonly access?: "change" | "delete" | "any"
}

const accesses = {
  change: { of: "changedPaths", said: "changed" },
  delete: { of: "deletedPaths", said: "deleted" },
  any: { of: "paths", said: "read or changed" },
} as const

function protectedPaths({ paths, access = "change" }: ProtectedPaths, name: string): PolicyDraft {
  const patterns = requireTexts("paths", paths)
  if (!Object.hasOwn(accesses, access)) refuseGiven("access", "change, delete or any", access)
  const { of, said } = accesses[access]
  return {
    rule: `${patterns.join(", ")} may not be ${said}.`,
    instead: "Work on another file, or ask the user to make the change.",
    when: [`context.matches.contains("within:${name}")`],
    matchers: { [name]: { of, patterns } },
  }
}

/** The agent looks and changes nothing. */
type ReadOnly = UseOptions & { readonly template: "read-only" }

function readOnly(): PolicyDraft {
  return {
    rule: "The agent may look and search, and change or send nothing.",
    instead: "Describe the change to the user instead of making it.",
    when: [
      `context.changes || context.actions.containsAny(["send", "write", "delete", "purchase", "disclose", "deploy"])`,
    ],
  }
}

/** What is changed or deployed stays in these regions. */
type RegionStandard = UseOptions & {
  readonly template: "region-standard"
  readonly regions: readonly string[]
  /** What of a deployment that names no region? Let through unless told otherwise. */
  readonly unnamed?: "deny" | "allow"
}

function regionStandard({ regions, unnamed = "allow" }: RegionStandard): PolicyDraft {
  const names = requireTexts("regions", regions).map(regionName)
  return {
    rule: `Resources may only be created, changed or deployed in ${names.join(", ")}.`,
    instead: `Use ${names.join(" or ")}, or ask the user for an exception.`,
    when: [
      `context.changes && !(${cedarSet(names)}.containsAll(context.regions))`,
      ...(unnamed === "deny" ? [`context.actions.contains("deploy") && context.regions.isEmpty()`] : []),
    ],
  }
}

/** Only these programs are run, each with its first words: `git status` does not cover `git push`. */
type ShellAllowList = UseOptions & { readonly template: "shell-allow-list"; readonly commands: readonly string[] }

function shellAllowList({ commands }: ShellAllowList, name: string): PolicyDraft {
  const patterns = requireTexts("commands", commands)
  return {
    rule: `Of shell commands, only ${patterns.join(", ")} may be run without approval.`,
    instead: `Use ${patterns.slice(0, 5).join(", ")}, or ask the user to run it.`,
    when: [`context.matches.contains("outside:${name}")`],
    matchers: { [name]: { of: "commandLines", patterns } },
    decision: "ask",
  }
}

/** No purchase above a sum, alone or with what was spent before. */
type SpendLimit = UseOptions & {
  readonly template: "spend-limit"
  readonly amount: number
  /** In three letters; USD unless given. */
  readonly currency?: string
  /** What of a purchase that names no sum? Refused unless told otherwise. */
  readonly unnamed?: "deny" | "allow"
  /** Each purchase by itself, or all of a session, of an agent or of a tenant together. Those of a session unless given. */
  readonly per?: "call" | "session" | "agent" | "tenant"
  /** The limit begins anew at midnight UTC: for an agent or a tenant. */
  readonly every?: "day"
}

const spentBefore = {
  call: undefined,
  session: "spent",
  agent: "agentSpent",
  tenant: "tenantSpent",
} as const satisfies Readonly<Record<string, SpentName | undefined>>

function spendLimit(use: SpendLimit): PolicyDraft {
  const { amount, currency = "USD", unnamed = "deny", per = "session", every } = use
  const minor = Math.round(requireAmount("amount", amount) * 100)
  const code = currency.toUpperCase()
  if (!Object.hasOwn(spentBefore, per)) refuseGiven("per", "call, session, agent or tenant (a day is every: day)", per)
  if (every !== undefined && every !== "day") refuseGiven("every", "day", every)
  if (every === "day" && per !== "agent" && per !== "tenant")
    refuseGiven("per", "agent or tenant beside every: day", per)
  const before = spentBefore[per]
  const sum = before === undefined ? "" : ` + context.${before}${every === "day" ? "Today" : ""}`
  const whose = { call: "", session: "", agent: " by one agent", tenant: " in all sessions together" }[per]
  const days = every === "day" ? " in a day" : ""
  return {
    rule: `No purchase or payment above ${amount} ${code}${whose}${days} without approval.`,
    instead: `Stay within ${amount} ${code}${per === "call" ? "" : ` in all${days}`}, or ask the user to approve it.`,
    when: [
      `context.actions.contains("purchase") && context.spend${sum} > ${minor}`,
      `context.actions.contains("purchase") && !([${cedarString(code)}].containsAll(context.currencies))`,
      ...(unnamed === "deny" ? [`context.actions.contains("purchase") && !context.amountNamed`] : []),
    ],
    assume: unnamed === "allow" ? ["amounts"] : [],
  }
}
