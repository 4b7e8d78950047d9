import { type Action, mayMail, maySurf, possibleActions } from "./action.ts"
import { hasRates } from "./amounts.ts"
import type { Programs } from "./call-fields.ts"
import type { MatchedContract } from "./contracts.ts"
import type { AddressFacts, HostFact } from "./hosts.ts"
import { type Leaf, type Open, type OpenFacts, open } from "./leaf.ts"
import { mediaOf } from "./media.ts"
import { hasContacts, tellsOfPeople } from "./personal.ts"

/** A tool call: its values, the actions that its name says, and its contract. */
type NamedTool = {
  readonly tool: string
  readonly leaves: readonly Leaf[]
  readonly named: ReadonlySet<Action>
  readonly declared: MatchedContract | undefined
}

/**
 * Collects what is unresolved in a call: what its programs leave open, and whom it sends to, which host it calls or how much it pays, where
 * it does not say so.
 */
export function openFactsOf(
  { tool, leaves, named, declared }: NamedTool,
  programs: Programs,
  { emails, unresolved }: AddressFacts,
  hosts: readonly HostFact[],
): OpenFacts {
  const into: Open = new Map(programs.open)
  const isReading = [...named].every((action) => action === "read" || action === "query")
  const medium = declared?.contract.medium
  const media = medium === undefined ? mediaOf(tool, leaves, [], false) : new Set([medium])
  const byOther = media.size > 0 && !media.has("email") && !media.has("calendar")
  const isAddressed = emails.some(({ recipient }) => recipient)
  const isMail = declared === undefined ? mayMail(tool) || named.has("send") || leaves.some(namesMail) : true
  if (unresolved && !byOther && isMail) open(into, "recipients", "a recipient is named without an address")
  // A contract that has a field for recipients means that the tool sends to somebody.
  const tells = medium === "email" || (medium === undefined && declared?.contract.recipients !== undefined)
  const sends = declared === undefined ? mayMail(tool) && !isReading : tells && named.has("send")
  if (sends && !byOther && !isAddressed && programs.commands.length === 0)
    open(into, "recipients", "it does not say to which address it goes")
  const contacted = hosts.some((host) => host.contacted)
  if (declared === undefined && maySurf(tool) && !contacted && programs.read === 0) {
    open(into, "hosts", "it does not say which host it calls")
    open(into, "network", "its name says that it uses a network")
  }
  // What an undeclared tool of an MCP server does is not in the call.
  if (declared === undefined && /^mcp__/.test(tool) && programs.read === 0)
    open(
      into,
      contacted ? "network" : ["network", "hosts"],
      "nobody has said whether the tools of this server use a network",
    )
  // A tool for changing files that is given none changes an unknown one.
  const changes = named.has("write") || named.has("delete")
  if (declared?.contract.paths !== undefined && changes && !leaves.some(isNamedFile) && programs.read === 0)
    open(into, ["paths", "changedPaths"], "it does not say which file it changes")
  if (declared?.contract.network === true && !contacted && declared.contract.hosts !== undefined)
    open(into, "hosts", "it does not say which host it calls")
  if (
    leaves.some(
      ({ role, value, text }) =>
        role === "amount" &&
        typeof value === "string" &&
        text.trim() !== "" &&
        !/[\d٠-٩]/.test(text) &&
        !/\b(?:one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million)\b/i.test(text),
    )
  )
    open(into, "amounts", "a sum of money is not given as a number")
  const handsOn = declared === undefined && (named.has("disclose") || named.has("send"))
  if (handsOn && (tellsOfPeople(tool) || hasContacts(leaves)))
    open(into, "personal", "it hands on what is kept about people")
  const pays =
    named.has("purchase") || (declared === undefined && possibleActions(tool, named, leaves, false).has("purchase"))
  if (pays && hasRates(leaves)) open(into, "amounts", "a sum of money comes of several figures")
  if (named.has("execute") && programs.read === 0 && declared === undefined)
    open(into, ["changes", "network", "statements"], "what it runs is not in the call")
  return into
}

/** True for a field for a mail address, or one that selects mail in a tool for many things. */
const namesMail = ({ role, field, text }: Leaf): boolean =>
  (role === "recipient" && /mail/.test(field)) ||
  (text.length <= 80 &&
    /^(?:node|type|action|operation|service|provider|channel|app|integration|connector)$/.test(field) &&
    mayMail(text))

const isNamedFile = ({ role, text }: Leaf): boolean => (role === "path" || role === "patch") && text.trim() !== ""
