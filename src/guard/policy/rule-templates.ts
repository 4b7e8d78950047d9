import { namesIn } from "../../message/present.ts"
import { services } from "../facts/media.ts"
import { regionName } from "../facts/regions.ts"
import lists from "../facts/words.json" with { type: "json" }
import { cedarSet, cedarString, type PolicyDraft, requireTexts, type UseOptions } from "./template.ts"

/** Templates for what users' rules say: lists of what is never used, lists of what alone is, and what a person is asked about first. */
export type RuleTemplateUse =
  | AllowedMedia
  | AllowedPaths
  | AllowedRecipients
  | AskBefore
  | BlockedHosts
  | BlockedLanguages
  | BlockedMedia
  | BlockedRecipients
  | BlockedRegions
  | BlockedTools
  | NoProductionAccess

export const ruleTemplateNames = namesIn(
  "allowed-media allowed-paths allowed-recipients ask-before blocked-hosts blocked-languages blocked-media blocked-recipients blocked-regions blocked-tools no-production-access",
) satisfies readonly RuleTemplateUse["template"][]

export const isRuleTemplate = (use: { readonly template: string }): use is RuleTemplateUse =>
  ruleTemplateNames.some((name) => name === use.template)

/** What such a use says; `name` tells its matchers from those of others. */
export function ruleDraftOf(use: RuleTemplateUse, name: string): PolicyDraft {
  switch (use.template) {
    case "allowed-media":
      return allowedMedia(use)
    case "allowed-paths":
      return allowedPaths(use, name)
    case "allowed-recipients":
      return allowedRecipients(use, name)
    case "ask-before":
      return askBefore(use, name)
    case "blocked-hosts":
      return blockedHosts(use, name)
    case "blocked-languages":
      return blockedLanguages(use)
    case "blocked-media":
      return blockedMedia(use)
    case "blocked-recipients":
      return blockedRecipients(use, name)
    case "blocked-regions":
      return blockedRegions(use)
    case "blocked-tools":
      return blockedTools(use, name)
    case "no-production-access":
      return noProductionAccess()
  }
}

const sends = `context.actions.containsAny(["send", "disclose"])`
const mails = `context.actions.containsAny(["send", "disclose", "write", "execute", "other"])`

/** People are reached on these ways, or in these rooms (`#general`), only. */
type AllowedMedia = UseOptions & { readonly template: "allowed-media"; readonly media: readonly string[] }

function allowedMedia({ media }: AllowedMedia): PolicyDraft {
  const { all, ways, rooms } = waysIn(media)
  const inRooms = `!context.rooms.isEmpty() && ${cedarSet(rooms)}.containsAll(context.rooms)`
  const kept = [...(ways.length > 0 ? [reachesBy(ways)] : []), ...(rooms.length > 0 ? [inRooms] : [])]
  return {
    rule: `Messages go out by ${all.join(" or ")} only.`,
    instead: `Send it by ${all.join(" or ")}.`,
    when: [`${sends} && !(${kept.map((one) => `(${one})`).join(" || ")})`],
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

/** Nobody is reached on these ways or in these rooms. */
type BlockedMedia = UseOptions & { readonly template: "blocked-media"; readonly media: readonly string[] }

function blockedMedia({ media }: BlockedMedia): PolicyDraft {
  const { all, ways, rooms } = waysIn(media)
  return {
    rule: `Nothing is sent by ${all.join(" or ")}.`,
    instead: "Use another way, or ask the user.",
    when: [
      ...(ways.length > 0 ? [`${sends} && context.media.containsAny(${cedarSet(ways)})`] : []),
      ...(rooms.length > 0 ? [`${sends} && context.rooms.containsAny(${cedarSet(rooms)})`] : []),
    ],
  }
}

/** Files are changed in these places only; everything may be read. */
type AllowedPaths = UseOptions & { readonly template: "allowed-paths"; readonly paths: readonly string[] }

function allowedPaths({ paths }: AllowedPaths, name: string): PolicyDraft {
  const patterns = requireTexts("paths", paths)
  return {
    rule: `Files may only be changed in ${patterns.join(", ")}.`,
    instead: `Make the change in ${patterns.join(" or ")}, or ask the user.`,
    when: [`context.matches.contains("outside:${name}")`],
    matchers: { [name]: { of: "changedPaths", patterns } },
  }
}

/** E-mail goes to these addresses and domains only. */
type AllowedRecipients = UseOptions & {
  readonly template: "allowed-recipients"
  readonly recipients: readonly string[]
}

function allowedRecipients({ recipients }: AllowedRecipients, name: string): PolicyDraft {
  const patterns = requireTexts("recipients", recipients)
  return {
    rule: `E-mail may only be sent to ${patterns.join(", ")}.`,
    instead: `Send it to ${patterns.join(" or ")}, or ask the user what to do.`,
    when: [`context.matches.contains("outside:${name}") && ${mails}`],
    matchers: { [name]: { of: "recipients", patterns } },
  }
}

/** E-mail never goes to these addresses and domains. */
type BlockedRecipients = UseOptions & {
  readonly template: "blocked-recipients"
  readonly recipients: readonly string[]
}

function blockedRecipients({ recipients }: BlockedRecipients, name: string): PolicyDraft {
  const patterns = requireTexts("recipients", recipients)
  return {
    rule: `E-mail is never sent to ${patterns.join(", ")}.`,
    instead: "Leave that recipient out, or ask the user.",
    when: [`context.matches.contains("within:${name}") && ${mails}`],
    matchers: { [name]: { of: "recipients", patterns } },
  }
}

/** These hosts are never reached. */
type BlockedHosts = UseOptions & { readonly template: "blocked-hosts"; readonly hosts: readonly string[] }

function blockedHosts({ hosts }: BlockedHosts, name: string): PolicyDraft {
  const patterns = requireTexts("hosts", hosts).flatMap((host) =>
    host.startsWith("*.") ? [host] : [host, `*.${host}`],
  )
  return {
    rule: `The network may not be used to reach ${hosts.join(", ")}.`,
    instead: "Use another source, or ask the user.",
    when: [`context.matches.contains("within:${name}")`],
    matchers: { [name]: { of: "hosts", patterns } },
  }
}

/** Nothing that is sent is in one of these languages. */
type BlockedLanguages = UseOptions & { readonly template: "blocked-languages"; readonly languages: readonly string[] }

function blockedLanguages({ languages }: BlockedLanguages): PolicyDraft {
  const codes = requireTexts("languages", languages).map((language) => language.toLowerCase().slice(0, 2))
  return {
    rule: `Messages are never written in ${codes.join(" or ")}.`,
    instead: "Write the message in another language.",
    when: [`${sends} && context.languages.containsAny(${cedarSet(codes)})`],
  }
}

/** Nothing is changed or deployed in these regions. */
type BlockedRegions = UseOptions & { readonly template: "blocked-regions"; readonly regions: readonly string[] }

function blockedRegions({ regions }: BlockedRegions): PolicyDraft {
  const names = requireTexts("regions", regions).map(regionName)
  return {
    rule: `Nothing is created, changed or deployed in ${names.join(", ")}.`,
    instead: "Use another region, or ask the user.",
    when: [`context.changes && context.regions.containsAny(${cedarSet(names)})`],
  }
}

/** Production is not touched at all, not even to read. */
type NoProductionAccess = UseOptions & { readonly template: "no-production-access" }

const noProductionAccess = (): PolicyDraft => ({
  rule: "Production is not accessed, not even to read.",
  instead: "Work on staging or a copy, or ask the user.",
  when: [`context.environments.contains("production") && !(${onlyLocalFiles})`],
})

/** Files that have production in their name or text are files: nothing is reached by reading, searching or editing them. */
const onlyLocalFiles = [
  "!context.network",
  "context.sqlVerbs.isEmpty()",
  "context.hosts.isEmpty()",
  `!context.effects.containsAny(${cedarSet(["network", "deploy", "send", "execute", "remote-code", "pay", "unknown"])})`,
  "(!context.paths.isEmpty() || !context.commands.isEmpty())",
].join(" && ")

/** These tools and shell commands are never called. A command covers its uses with more words: flags count wherever they stand. */
type BlockedTools = UseOptions & {
  readonly template: "blocked-tools"
  readonly tools?: readonly string[]
  readonly commands?: readonly string[]
}

function blockedTools({ tools = [], commands = [] }: BlockedTools, name: string): PolicyDraft {
  const all = requireTexts("tools", [...tools, ...commands])
  const named = tools.map((tool) => cedarString(tool.trim().toLowerCase()))
  return {
    rule: `Tools and commands that may not be called: ${all.join(", ")}.`,
    instead: "Find another way, or ask the user to do it.",
    when: [
      ...named.map((tool) => `context.tool == ${tool} || context.tool like ${tool.replace(/^"/, '"*__')}`),
      ...(commands.length > 0 ? [`context.matches.contains("within:${name}")`] : []),
    ],
    ...(commands.length > 0 ? { matchers: { [name]: { of: "commandUses" as const, patterns: commands } } } : {}),
  }
}

/** What a person can be asked about before it is done. */
const askableActs = namesIn(
  "call cancel change commit delete deploy email grant install merge migrate network publish purchase push rename reschedule restart run send",
)
type AskableAct = (typeof askableActs)[number]

/** A person is asked before any of these is done. */
type AskBefore = UseOptions & {
  readonly template: "ask-before"
  readonly acts: readonly AskableAct[]
  /** Only where the call names one of these environments; everywhere unless given. */
  readonly environments?: readonly ("production" | "staging" | "development")[]
}

/** What an act is in a call: in Cedar, as uses of shell commands, or both. */
const signs: Readonly<Record<AskableAct, { readonly when?: string; readonly commands?: readonly string[] }>> = {
  call: { when: `context.media.contains("phone")` },
  cancel: { when: `context.tool like "*cancel*"` },
  change: { when: "context.changes" },
  commit: {
    when: `context.tool like "*git_commit" || context.tool like "*create_commit*"`,
    commands: lists.acts.commit,
  },
  delete: { when: `context.actions.contains("delete") || !context.destructive.isEmpty()` },
  deploy: { when: `context.actions.contains("deploy") || context.effects.contains("deploy")` },
  email: { when: `${sends} && context.media.contains("email")` },
  grant: {
    when: `context.tool like "*permission*" || context.tool like "*grant*" || context.tool like "*_role*"`,
    commands: ["chmod", "chown", "setfacl", "usermod"],
  },
  install: { when: `context.effects.contains("install")` },
  merge: {
    when: `context.tool like "*merge_pull_request*" || context.tool like "*merge_request*"`,
    commands: lists.acts.merge,
  },
  migrate: { when: `context.tool like "*migrat*"`, commands: lists.acts.migrate },
  network: { when: `context.network || !context.hosts.isEmpty()` },
  publish: { commands: lists.acts.publish },
  purchase: { when: `context.actions.contains("purchase")` },
  push: { when: `context.tool like "*push_files*" || context.tool like "*git_push*"`, commands: lists.acts.push },
  rename: { when: `context.tool like "*rename*"`, commands: ["mv", "git mv", "git branch -m"] },
  reschedule: {
    when: `context.tool like "*reschedul*" || context.tool like "*update_event*" || context.tool like "*move_event*"`,
  },
  restart: { when: `context.tool like "*restart*" || context.tool like "*reboot*"`, commands: lists.acts.restart },
  run: { when: `context.actions.contains("execute")` },
  send: { when: sends },
}

function askBefore({ acts, environments }: AskBefore, name: string): PolicyDraft {
  const wanted = requireTexts("acts", acts).flatMap((act) => askableActs.filter((known) => known === act))
  const commands = requireTexts(
    `acts (some of ${askableActs.join(", ")})`,
    wanted.length === acts.length ? wanted : [],
  ).flatMap((_, at) => signs[wanted[at] ?? "change"].commands ?? [])
  const where =
    environments === undefined
      ? ""
      : ` && context.environments.containsAny(${cedarSet(requireTexts("environments", environments))})`
  return {
    rule: `A person is asked before: ${wanted.join(", ")}.`,
    instead: "Ask the user first.",
    when: [
      ...wanted.flatMap((act) => signs[act].when ?? []),
      ...(commands.length > 0 ? [`context.matches.contains("within:${name}")`] : []),
    ].map((sign) => `(${sign})${where}`),
    ...(commands.length > 0 ? { matchers: { [name]: { of: "commandUses" as const, patterns: commands } } } : {}),
    decision: "ask",
  }
}
