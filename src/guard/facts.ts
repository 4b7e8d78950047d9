import { type Action, namedActions } from "./action.ts"
import { type AmountFact, amountsOf } from "./amounts.ts"
import { type Medium, mediaOf } from "./channel.ts"
import { clean, fold } from "./clean.ts"
import { type Addressed, type EmailFact, emailsOf } from "./emails.ts"
import type { Environment } from "./environment.ts"
import { type HostFact, hostsOf } from "./hosts.ts"
import { languagesOf } from "./language.ts"
import { type Leaf, leavesOf } from "./leaf.ts"
import type { Mark } from "./mark.ts"
import { type Access, type PathFact, pathsOf } from "./paths.ts"
import { isPaymentHost } from "./payment-host.ts"
import { type PersonalKind, personalKinds } from "./personal.ts"
import { type Programs, programsOf } from "./programs.ts"
import { regionsOf } from "./regions.ts"
import { secretKinds } from "./secrets.ts"
import { settingsOf } from "./settings.ts"
import type { CommandFact } from "./shell.ts"
import type { SqlFact } from "./sql.ts"

export type ToolCall = { readonly tool: string; readonly input: unknown }

/** What a call says about itself, in one spelling for each thing, however it was written. */
export type CallFacts = {
  readonly tool: string
  readonly actions: ReadonlySet<Action>
  /** It may change something: a file, a row, a machine. Of what is not known, it is assumed. */
  readonly changes: boolean
  readonly emails: readonly EmailFact[]
  readonly unresolvedRecipients: boolean
  readonly hosts: readonly HostFact[]
  readonly network: boolean
  readonly paths: readonly PathFact[]
  readonly statements: readonly SqlFact[]
  readonly commands: readonly CommandFact[]
  /** What it takes away for good: `data`, `files`, `infrastructure`, `repository`. */
  readonly destructive: ReadonlySet<string>
  readonly environments: ReadonlySet<Environment>
  readonly amounts: readonly AmountFact[]
  readonly regions: readonly string[]
  readonly media: ReadonlySet<Medium>
  readonly personal: ReadonlySet<PersonalKind>
  readonly secrets: ReadonlySet<string>
  readonly languages: ReadonlySet<string>
  readonly controlsOff: ReadonlySet<string>
  readonly marks: ReadonlySet<Mark>
  /** The words of all texts, as they came, for rules that search them. */
  readonly text: string
}

const changing: readonly Action[] = ["write", "delete", "deploy", "purchase", "other"]

function accessOf(actions: ReadonlySet<Action>): Access {
  if (actions.has("delete")) return "delete"
  if (actions.has("write") || actions.has("deploy")) return "write"
  return actions.has("read") || actions.has("query") ? "read" : "unknown"
}

/** The text of all values. */
const textOf = (leaves: readonly Leaf[]): string =>
  leaves
    .filter(({ value }) => typeof value === "string")
    .map(({ text }) => text)
    .join("\n")

/** A word in which letters of two scripts stand side by side passes for another. */
const mixed = /[a-z][\u0370-\u052f]|[\u0370-\u052f][a-z]/i

function marksOf(leaves: readonly Leaf[], read: ReadonlySet<Mark>, programs: Programs): ReadonlySet<Mark> {
  const marks = new Set(read)
  if (programs.tooMany) marks.add("too-many")
  if (programs.obscured) marks.add("obscured")
  if (leaves.some(({ encoded }) => encoded)) marks.add("encoded")
  if (leaves.some(({ text }) => mixed.test(text))) marks.add("look-alike")
  return marks
}

/** A mail program's words are addresses of those who get it. */
function allEmails({ emails, unresolved, tooMany }: Addressed, programs: Programs): Addressed {
  const mailed = programs.mailed.map(
    (text): Leaf => ({ keys: ["to"], role: "recipient", text, folded: text, value: text, group: 0, encoded: true }),
  )
  return { emails: [...emails, ...emailsOf(mailed).emails], unresolved, tooMany }
}

/** Work something out when it is first asked for, and once. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A command with its quotes and variables undone, as a value. */
const commandLeaf = ({ line }: CommandFact): Leaf => ({
  keys: ["command"],
  role: "command",
  text: line,
  folded: fold(line),
  value: line,
  group: 0,
  encoded: false,
})

/** Facts that policies seldom ask for are worked out when one does: a call that sends nothing is not searched for languages. */
function withLazy(sure: Sure, leaves: readonly Leaf[], programs: Programs): CallFacts {
  const amounts = once(() => amountsOf(leaves))
  const regions = once(() => [...regionsOf(leaves), ...regionsOf(programs.commands.map(commandLeaf))])
  const personal = once(() => personalKinds(leaves))
  const secrets = once(() => secretKinds(leaves))
  const languages = once(() => languagesOf(leaves))
  const text = once(() => textOf(leaves))
  const names = programs.commands.map(({ name }) => name)
  const media = once(() => mediaOf(sure.tool, leaves, names, programs.mailed.length > 0))
  return {
    ...sure,
    get amounts() {
      return amounts()
    },
    get regions() {
      return regions()
    },
    get personal() {
      return personal()
    },
    get secrets() {
      return secrets()
    },
    get languages() {
      return languages()
    },
    get text() {
      return text()
    },
    get media() {
      return media()
    },
  }
}

type Sure = Omit<CallFacts, "amounts" | "regions" | "personal" | "secrets" | "languages" | "text" | "media">

/** Everything that policies ask about a tool call. Pure, linear in the call, and never throws: what it could not read it marks. */
export function factsOf(call: ToolCall, known?: readonly Action[]): CallFacts {
  const tool = fold(clean(String(call.tool).slice(0, 300)).text)
  const { leaves: values, marks } = leavesOf(call.input)
  const leaves = [...values, ...settingsOf(values)]
  const named = known === undefined ? namedActions(clean(String(call.tool).slice(0, 300)).text, leaves) : new Set(known)
  const programs = programsOf(tool, named, leaves)
  const { emails, unresolved, tooMany } = allEmails(emailsOf(leaves), programs)
  const hosts = [...hostsOf(leaves), ...programs.hosts]
  const actions = allActions(named, programs, hosts)
  const opaque = actions.has("execute") && programs.commands.length + programs.statements.length + programs.read === 0
  const sure: Sure = {
    tool,
    actions,
    changes: programs.changes || opaque || changing.some((action) => actions.has(action)),
    emails,
    unresolvedRecipients: unresolved,
    hosts,
    network: programs.network || hosts.some(({ contacted }) => contacted),
    paths: [...pathsOf(programs.commands.length > 0 ? programs.rest : leaves, accessOf(actions)), ...programs.paths],
    statements: programs.statements,
    commands: programs.commands,
    destructive: programs.destructive,
    environments: programs.environments,
    controlsOff: programs.controlsOff,
    marks: marksOf(leaves, tooMany ? new Set([...marks, "too-many"]) : marks, programs),
  }
  return withLazy(sure, leaves, programs)
}

/** What the name says, less what turned out to be something else, and what its statements and commands do. */
function allActions(named: ReadonlySet<Action>, programs: Programs, hosts: readonly HostFact[]): ReadonlySet<Action> {
  const actions = new Set([...named, ...programs.actions])
  if (actions.has("send") && hosts.some(({ host, contacted }) => contacted && isPaymentHost(host)))
    actions.add("purchase")
  if (actions.size > 1) actions.delete("other")
  return actions
}
