import { present } from "../message/present.ts"
import type { Command } from "./command.ts"
import { misuse } from "./failure.ts"
import { moment } from "./paper.ts"
import { readSpan } from "./read-span.ts"
import { signAndSubmit, signingOptions } from "./sign-and-submit.ts"

export const pinCommand: Command = {
  summary: "Give a rule that no conversation can take back, signed",
  usage: 'pin "TEXT" --key FILE [--agent NAME] [--session ID] [--expires 7d] [--print] [--json]',
  options: {
    agent: { value: "NAME", help: "only for this agent; for all unless given" },
    session: { value: "ID", help: "only for this session, by its ID or the name its client gave it" },
    expires: { value: "WHEN", help: "30m, 12h, 7d, 8w, or a date such as 2027-01-31 (its first moment, UTC)" },
    ...signingOptions,
  },
  maxPositionals: 1,
  notes: `The rule stands to the letter in every request, until it expires or holdfast unpin takes it back. The answer says
its ID. Rules that are to last are better put into a file of the policy directory. In a gateway the agent is what
the client says in the header x-holdfast-agent; a rule for a session holds in its side calls and subagents too.

  holdfast pin "Never send mail outside example.com." --key operator.key
  holdfast pin "Do not deploy." --agent builder --expires 2d --key operator.key
  holdfast pin "Do not deploy." --key operator.key --audience harbour --print | ssh box holdfast policy submit -`,
  run: async (args, world) => {
    const [text = ""] = args.positionals
    if (text.trim() === "") return misuse("There is no rule to pin.", 'Write it in quotes: holdfast pin "Never …"')
    const expiresAtMs = readSpan("--expires", args.valueOf("expires"), world.dateMs())
    const scope = present({ agent: args.valueOf("agent"), session: args.valueOf("session"), expiresAtMs })
    const until = expiresAtMs === undefined ? "" : `, until ${moment(expiresAtMs)} (UTC)`
    return signAndSubmit(args, world, { type: "pin", text, ...scope }, ({ rule }, store) => [
      `Pinned as ${rule}${until}.`,
      `Every gateway on ${store} sends it with its next request; one on another store does not.`,
      `It is taken back with: holdfast unpin ${rule} --key FILE`,
    ])
  },
}
