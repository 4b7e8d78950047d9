import { type Action, mayMail, maySurf, possibleActions } from "./action.ts"
import { hasRates } from "./amounts.ts"
import type { Programs } from "./call-fields.ts"
import type { Declared } from "./contracts.ts"
import type { Addressed, HostFact } from "./hosts.ts"
import { type Leaf, type Open, type OpenFacts, open } from "./leaf.ts"
import { mediaOf } from "./media.ts"
import { hasContacts, tellsOfPeople } from "./personal.ts"

/** A call by its tool and its values: what the name says that it does, and what somebody has declared. */
type Naming = {
  readonly tool: string
  readonly leaves: readonly Leaf[]
  readonly named: ReadonlySet<Action>
  readonly declared: Declared | undefined
}

/** What of a call is unresolved: as its programs say, and where it sends, calls or pays and does not say whom, where or how much. */
export function openOf(
  { tool, leaves, named, declared }: Naming,
  programs: Programs,
  { emails, unresolved }: Addressed,
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
  // A contract that has a field for who gets it means that somebody does.
  const tells = medium === "email" || (medium === undefined && declared?.contract.recipients !== undefined)
  const sends = declared === undefined ? mayMail(tool) && !isReading : tells && named.has("send")
  if (sends && !byOther && !isAddressed && programs.commands.length === 0)
    open(into, "recipients", "it does not say to which address it goes")
  const contacted = hosts.some((host) => host.contacted)
  if (declared === undefined && maySurf(tool) && !contacted && programs.read === 0) {
    open(into, "hosts", "it does not say which host it calls")
    open(into, "network", "its name says that it uses a network")
  }
  // What runs behind a server of tools that nobody has declared is not in the call.
  if (declared === undefined && /^mcp__/.test(tool) && programs.read === 0)
    open(
      into,
      contacted ? "network" : ["network", "hosts"],
      "nobody has said whether the tools of this server use a network",
    )
  // A tool that is there to change a file, and is not told which, changes one that nobody has named.
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

/** A field for the address of who gets something, and one that chooses what a tool for many things does. */
const namesMail = ({ role, field, text }: Leaf): boolean =>
  (role === "recipient" && /mail/.test(field)) ||
  (text.length <= 80 &&
    /^(?:node|type|action|operation|service|provider|channel|app|integration|connector)$/.test(field) &&
    mayMail(text))

const isNamedFile = ({ role, text }: Leaf): boolean => (role === "path" || role === "patch") && text.trim() !== ""
