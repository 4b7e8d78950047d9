import { lazy } from "../../language/lazy.ts"
import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { type Action, type Environment, namedActions, possibleActions } from "./action.ts"
import { type AmountFact, amountsOf, highestAmounts } from "./amounts.ts"
import type { Programs } from "./call-fields.ts"
import { actionsOfContract, type Contracts, knownContracts, type MatchedContract, mainRole } from "./contracts.ts"
import { changesControl } from "./controls.ts"
import {
  type AddressFacts,
  composedIn,
  type EmailFact,
  emailsOf,
  type HostFact,
  hostsOf,
  isPaymentUrl,
} from "./hosts.ts"
import { languagesOf } from "./language.ts"
import { keyName, type Leaf, leafOf, leavesOf, type Mark, type OpenFacts } from "./leaf.ts"
import { mediaOf, roomsOf } from "./media.ts"
import { foundIn } from "./options.ts"
import { type Access, type PathFact, pathsOf } from "./paths.ts"
import { type PersonalKind, personalKinds } from "./personal.ts"
import { programsOf } from "./programs.ts"
import { regionsOf } from "./regions.ts"
import { secretKinds } from "./secrets.ts"
import type { CommandFact } from "./shell.ts"
import type { SqlFact } from "./sql.ts"
import { openFactsOf } from "./unresolved.ts"
import lists from "./words.json" with { type: "json" }
import { clean, fold, isAscii } from "./words.ts"

export type ToolCall = { readonly tool: string; readonly input: unknown }

/** What a tool call does, read from its name and arguments; each thing has one spelling, however it was written. */
export type CallFacts = {
  readonly tool: string
  readonly actions: ReadonlySet<Action>
  /** True if it may change something: a file, a row, a machine. Assumed if it is not known. */
  readonly changes: boolean
  /** True if it may change something in production. */
  readonly productionChanges: boolean
  readonly emails: readonly EmailFact[]
  readonly unresolvedRecipients: boolean
  readonly hosts: readonly HostFact[]
  readonly network: boolean
  readonly paths: readonly PathFact[]
  readonly statements: readonly SqlFact[]
  readonly commands: readonly CommandFact[]
  /** Kinds of things that it destroys: `data`, `files`, `infrastructure`, `repository`. */
  readonly destructive: ReadonlySet<string>
  readonly environments: ReadonlySet<Environment>
  readonly amounts: readonly AmountFact[]
  readonly regions: readonly string[]
  readonly media: ReadonlySet<string>
  /** Chat rooms that it names, such as `#general`. */
  readonly rooms: ReadonlySet<string>
  readonly personal: ReadonlySet<PersonalKind>
  readonly secrets: ReadonlySet<string>
  readonly languages: ReadonlySet<string>
  readonly controlsOff: ReadonlySet<string>
  readonly marks: ReadonlySet<Mark>
  /** Facts that are unresolved: the call may have more of them than the facts say. */
  readonly open: OpenFacts
  /** Facts over everything that it may do, where that is more: by a file that it writes, or because only its name says what it does. */
  readonly possible?: CallFacts
  /** True if a contract declares what the tool does. */
  readonly declared: boolean
  /** All texts of the call, for rules that search them. */
  readonly text: string
}

const changing: readonly Action[] = ["write", "delete", "deploy", "purchase"]

function accessOf(actions: ReadonlySet<Action>): Access {
  if (actions.has("delete")) return "delete"
  if (actions.has("write") || actions.has("deploy")) return "write"
  return actions.has("read") || actions.has("query") ? "read" : "unknown"
}

const textOf = (leaves: readonly Leaf[]): string =>
  leaves
    .filter(({ value }) => typeof value === "string")
    .map(({ text }) => text)
    .join("\n")

/** Matches a Latin letter beside a Greek or Cyrillic one: such a word may imitate another. */
const mixed = /[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z]/i

function marksOf(leaves: readonly Leaf[], read: ReadonlySet<Mark>, programs: Programs): ReadonlySet<Mark> {
  const marks = new Set(read)
  if (programs.tooMany) marks.add("too-many")
  if (programs.open.has("everything")) marks.add("obscured")
  if (leaves.some(({ encoded }) => encoded)) marks.add("encoded")
  if (leaves.some(({ text }) => !isAscii(text) && mixed.test(text))) marks.add("look-alike")
  return marks
}

/** Adds the addresses that mail programs are given, as recipients. */
function allEmails({ emails, unresolved, tooMany }: AddressFacts, programs: Programs): AddressFacts {
  const mailed = programs.mailed.map((text) => leafOf(["to"], text, { role: "recipient", folded: text, encoded: true }))
  return { emails: [...emails, ...emailsOf(mailed).emails], unresolved, tooMany }
}

/** A command as a value, with its quotes and variables resolved. */
const commandLeaf = ({ line }: CommandFact): Leaf => leafOf(["command"], line)

/** Values of a command's options for regions. */
const regionLeaves = ({ line }: CommandFact): readonly Leaf[] =>
  foundIn(line, /(?:^|\s)--(?:region|regions|location|primary-region)[= ](\S{1,60})/g).map((region) =>
    leafOf(["region"], region),
  )

/** Facts that depend on the argument values alone: computed when a policy first reads them, and shared with `possible`. */
const saidBy = (leaves: readonly Leaf[]) => ({
  amounts: lazy(() => amountsOf(leaves)),
  /** The same, and the highest amounts that several figures can come to. */
  mostAmounts: lazy(() => [...amountsOf(leaves), ...highestAmounts(leaves)]),
  regions: lazy(() => regionsOf(leaves)),
  personal: lazy(() => personalKinds(leaves)),
  secrets: lazy(() => secretKinds(leaves)),
  languages: lazy(() => languagesOf(leaves)),
  text: lazy(() => textOf(leaves)),
  rooms: lazy(() => roomsOf(leaves)),
})

/** Adds the facts that policies seldom read, computed on first access: a call that sends nothing is not searched for languages. */
function withLazy(
  sure: EagerFacts,
  { leaves, said, declared }: ParsedCall,
  programs: Programs,
  isPossible: boolean,
): CallFacts {
  const languages = lazy(
    () => new Set([...said.languages(), ...languagesOf(programs.told.map((text) => leafOf(["body"], text)))]),
  )
  const { commands, mailed } = programs
  const regions = lazy(() => [
    ...said.regions(),
    ...regionsOf(commands.map(commandLeaf)),
    ...regionsOf(commands.flatMap(regionLeaves)),
  ])
  const medium = declared?.contract.medium
  const names = commands.map(({ name }) => name)
  const media = lazy(() =>
    medium === undefined ? mediaOf(sure.tool, leaves, names, mailed.length > 0) : new Set([medium]),
  )
  return {
    ...sure,
    get amounts() {
      return isPossible ? said.mostAmounts() : said.amounts()
    },
    get regions() {
      return regions()
    },
    get personal() {
      return said.personal()
    },
    get secrets() {
      return said.secrets()
    },
    get languages() {
      return languages()
    },
    get text() {
      return said.text()
    },
    get media() {
      return media()
    },
    get rooms() {
      return said.rooms()
    },
  }
}

type EagerFacts = Omit<
  CallFacts,
  "amounts" | "regions" | "personal" | "secrets" | "languages" | "text" | "media" | "rooms"
>

/**
 * Reads everything that policies ask about a tool call. Pure, linear in the size of the call, and never throws: what it cannot read it
 * marks.
 */
export function factsOf(call: ToolCall, contracts: Contracts = knownContracts()): CallFacts {
  const name = clean(String(call.tool).slice(0, 300)).text
  const declared = contracts.of(name, call.input)
  const { leaves: values, marks } = leavesOf(call.input)
  const told = declared === undefined ? values : values.map((leaf) => declaredLeaf(leaf, declared))
  const leaves = [...told, ...settingsOf(told)]
  const named = declared === undefined ? namedActions(name, leaves) : actionsOfContract(declared.contract)
  const { now, later } = programsOf(fold(name), named, leaves, declared)
  const reading: ParsedCall = {
    name,
    leaves,
    marks,
    named,
    declared,
    said: saidBy(leaves),
    addressed: emailsOf(leaves),
    hosts: hostsOf(leaves),
  }
  const all = later === undefined ? now : both(now, later)
  if (declared !== undefined)
    return factsWith(reading, now, named, later === undefined ? {} : { possible: factsWith(reading, all, named) })
  const may = possibleActions(name, named, leaves, now.read > 0)
  const beside = { mayChange: now.read === 0, mayChangePaths: now.commands.length === 0 }
  return factsWith(reading, now, named, { possible: factsWith(reading, all, may, beside) })
}

type ParsedCall = {
  readonly name: string
  readonly leaves: readonly Leaf[]
  readonly marks: ReadonlySet<Mark>
  readonly named: ReadonlySet<Action>
  readonly declared: MatchedContract | undefined
  readonly said: ReturnType<typeof saidBy>
  readonly addressed: AddressFacts
  readonly hosts: readonly HostFact[]
}

/** Sets the role of a value of a declared tool: that of the innermost field that the contract names, otherwise text for people. */
function declaredLeaf(leaf: Leaf, { roles, contract }: MatchedContract): Leaf {
  const named = leaf.keys.map((key) => roles.get(key)).findLast((one) => one !== undefined)
  // Arguments that are a single text have the main role of the contract.
  const role = named ?? (leaf.keys.length === 0 ? mainRole(contract) : "body")
  if (role !== "amount" || contract.hundredths !== true) return { ...leaf, role }
  const field = `${leaf.field}_cents`
  return { ...leaf, role, field, keys: [...leaf.keys.slice(0, -1), field] }
}

/** Merges what is done now and what may be done later. */
function both(now: Programs, later: Programs): Programs {
  return {
    ...now,
    statements: [...now.statements, ...later.statements],
    commands: [...now.commands, ...later.commands],
    paths: [...now.paths, ...later.paths],
    hosts: [...now.hosts, ...later.hosts],
    mailed: [...now.mailed, ...later.mailed],
    destructive: new Set([...now.destructive, ...later.destructive]),
    environments: new Set([...now.environments, ...later.environments]),
    controlsOff: new Set([...now.controlsOff, ...later.controlsOff]),
    actions: new Set([...now.actions, ...later.actions]),
    changes: now.changes || later.changes,
    elsewhere: now.elsewhere || later.elsewhere,
    network: now.network || later.network,
    tooMany: now.tooMany || later.tooMany,
  }
}

type FactOptions = {
  readonly possible?: CallFacts
  /** True if only the name of the tool says that it reads: it may change something, or the files that it names. */
  readonly mayChange?: boolean
  readonly mayChangePaths?: boolean
}

function factsWith(
  reading: ParsedCall,
  programs: Programs,
  may: ReadonlySet<Action>,
  { possible, mayChange = false, mayChangePaths = false }: FactOptions = {},
): CallFacts {
  const { name, leaves, marks, named, declared } = reading
  const tool = fold(name)
  const addressed = allEmails(reading.addressed, programs)
  const { unresolved, tooMany } = addressed
  const hosts = [...reading.hosts, ...programs.hosts]
  const actions = allActions(may, programs, hosts, leaves)
  const opaque = actions.has("execute") && programs.commands.length + programs.statements.length + programs.read === 0
  // An address outside a field for recipients is a recipient only if the call sends or runs something.
  const goes = actions.has("send") || actions.has("disclose") || actions.has("execute") || programs.mailed.length > 0
  const emails = goes
    ? addressed.emails
    : addressed.emails.map((one) => (one.field ? one : { ...one, recipient: false }))
  const open = openFactsOf({ tool, leaves, named, declared }, programs, addressed, hosts)
  const paths = [
    ...pathsOf(programs.commands.length > 0 ? programs.rest : leaves, accessOf(actions), isCopy(tool)).map((path) =>
      declared?.contract.below === true ? { ...path, tree: "files" as const } : path,
    ),
    ...programs.paths,
  ]
  // A call without a tool name counts as one that changes something.
  const changes =
    tool === "" ||
    mayChange ||
    programs.changes ||
    (opaque && declared !== undefined) ||
    changing.some((action) => actions.has(action))
  // A tool that only runs programs changes what those change.
  const isProgram =
    programs.read > 0 && !mayChange && [...may].every((action) => /^(?:execute|query|read)$/.test(action))
  const sure: EagerFacts = {
    tool,
    actions,
    changes,
    productionChanges: programs.environments.has("production") && (isProgram ? programs.elsewhere : changes),
    emails,
    unresolvedRecipients: unresolved || open.has("recipients"),
    hosts,
    network: programs.network || declared?.contract.network === true || hosts.some(({ contacted }) => contacted),
    paths: mayChangePaths ? paths.map(perhapsChanged).map(perhapsWhole) : paths,
    statements: programs.statements,
    commands: programs.commands,
    destructive: programs.destructive,
    environments: programs.environments,
    controlsOff: programs.controlsOff,
    marks: marksOf(leaves, tooMany ? new Set([...marks, "too-many"]) : marks, programs),
    open: paths.some(changesControl) ? new Map([["controls", "it changes a file of a control"], ...open]) : open,
    declared: declared !== undefined,
    ...present({ possible }),
  }
  return withLazy(sure, reading, programs, possible === undefined)
}

/** True for a tool that copies a file and leaves the original. */
const isCopy = (tool: string): boolean =>
  /(?:^|_)(?:copy|cp|duplicate|backup)(?:_|$)/.test(tool) && !/mov|renam/.test(tool)

const perhapsChanged = (path: PathFact): PathFact => (path.access === "read" ? { ...path, access: "unknown" } : path)

/** A tool that is given a folder may use everything in it. */
const perhapsWhole = (path: PathFact): PathFact =>
  path.tree === undefined && /^[/~]/.test(path.path) && !/[^/.]\.[a-z]\w{0,5}$/i.test(path.path)
    ? { ...path, tree: "files" }
    : path

/**
 * Actions of the tool's name, statements and commands. A send to a payment service is a purchase too, and `other` is dropped if there is
 * more.
 */
function allActions(
  named: ReadonlySet<Action>,
  programs: Programs,
  hosts: readonly HostFact[],
  leaves: readonly Leaf[],
): ReadonlySet<Action> {
  const actions = new Set([...named, ...programs.actions])
  if (actions.has("send") && hosts.some(({ host, contacted }) => contacted && isPaymentHost(host)))
    actions.add("purchase")
  if (actions.has("send") && leaves.some(({ role, text }) => (role === "url" || role === "path") && isPaymentUrl(text)))
    actions.add("purchase")
  if (leaves.some((leaf) => composedIn(leaf).length > 0)) actions.add("send")
  if (actions.size > 1) actions.delete("other")
  return actions
}

/** Matches hosts of payment services: what is sent there is a payment, by whatever tool. */
const processors = new RegExp(`(?:^|\\.)${anyOf(lists.processors)}\\.(?:com|net|org|io|co|eu|in)$`)

const isPaymentHost = (host: string): boolean => processors.test(host)

/** Matches configuration files: what is written into one is a setting, not prose. */
const configFile = /\.(?:ya?ml|toml|ini|conf|cfg|cnf|properties|env|tf|tfvars|hcl|bicep)$|(?:^|[/\\])\.env(?:\.\w+)?$/i

/** Maximum number of lines of one file that are read as settings. */
const maxLines = 2_000

const settingLine = /^(\s{0,40})(?:-\s)?["']?([\w.-]{1,80})["']?\s{0,20}(?:[:=]\s{0,20}["']?([^"'#\n{]{0,200})|\{|["'])/

/** The settings that a call writes into a configuration file, each with the keys above it, as values of the call. */
function settingsOf(leaves: readonly Leaf[]): readonly Leaf[] {
  const configures = leaves.some(({ role, text }) => role === "path" && configFile.test(text.trim()))
  if (!configures) return []
  return leaves.flatMap((leaf) => (leaf.role === "body" && leaf.text.length > 0 ? settingsIn(leaf) : []))
}

function settingsIn(leaf: Leaf): readonly Leaf[] {
  const above: { readonly indent: number; readonly name: string }[] = []
  const found: Leaf[] = []
  for (const line of leaf.text.split("\n", maxLines)) {
    const [, space = "", key = "", value = ""] = settingLine.exec(line.slice(0, 400)) ?? []
    if (key === "") continue
    while ((above.at(-1)?.indent ?? -1) >= space.length) above.pop()
    const name = fold(keyName(clean(key).text))
    above.push({ indent: space.length, name })
    const said = value.trim()
    const keys = above.slice(-6).map((one) => one.name)
    // On one line: `provider "aws" { region = "us-east-1" }`.
    for (const [, inner = "", told = ""] of line
      .slice(0, 400)
      .matchAll(/[{,;]\s{0,20}([\w.-]{1,80})\s{0,20}[:=]\s{0,20}["']?([^"',;}]{1,200})/g))
      found.push(settingLeaf([...keys, fold(keyName(inner))], told.trim(), leaf))
    if (said !== "") found.push(settingLeaf(keys, said, leaf))
  }
  return found
}

const settingLeaf = (keys: readonly string[], text: string, { group, encoded }: Leaf): Leaf =>
  leafOf(keys, text, { value: text === "true" || (text === "false" ? false : text), group, encoded })
