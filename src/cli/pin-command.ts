import { readMoment } from "../guard/operator/rule-file.ts"
import { refuseOption } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { placeWords } from "./ask-store.ts"
import { type Command, misuse, needed, readSpan } from "./command.ts"
import { enforcedLines } from "./running-gateway.ts"
import { signAndSubmit, signingOptions } from "./sign-and-submit.ts"
import { moment, sentenceOf } from "./terminal/output.ts"

/** The time of an expiry: a span such as `7d` from now, or a date. */
function readExpiry(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const ms = readSpan(text)
  const atMs = ms === undefined ? readMoment(text) : nowMs + ms
  if (atMs !== undefined) return atMs
  const expected = "a time such as 30m, 12h, 7d or 8w, or a date such as 2027-01-31"
  refuseOption("--expires", expected, JSON.stringify(text.slice(0, 40)))
}

export const pinCommand: Command = {
  options: {
    agent: { value: "NAME", help: "only for this agent; for all unless given" },
    session: { value: "ID", help: "only for this session, by its ID or the name its client gave it" },
    expires: { value: "WHEN", help: "30m, 12h, 7d, 8w, or a date such as 2027-01-31 (its first moment, UTC)" },
    ...signingOptions,
  },
  maxPositionals: 1,
  run: async (args, world) => {
    const [text = ""] = args.positionals
    if (text.trim() === "") return misuse("There is no rule to pin.", 'Write it in quotes: holdfast pin "Never …"')
    const expiresAtMs = readExpiry(args.valueOf("expires"), world.dateMs())
    const scope = present({ agent: args.valueOf("agent"), session: args.valueOf("session"), expiresAtMs })
    const until = expiresAtMs === undefined ? "" : `, until ${moment(expiresAtMs)} (UTC)`
    return signAndSubmit(
      args,
      world,
      [{ type: "pin", text, ...scope }],
      ([{ rule = "" } = {}], { place, enforced }) => [
        `Pinned as ${rule}${until}.`,
        `It is in ${placeWords(place)}; gateways on another store do not have it.`,
        ...enforcedLines(place, enforced, { rules: [rule], policies: [] }),
        `It is taken back with: holdfast unpin ${rule} --key FILE`,
      ],
    )
  },
}

export const unpinCommand: Command = {
  options: signingOptions,
  maxPositionals: 1,
  run: async (args, world) => {
    const rule = needed(args.positionals[0], "which rule", "Write its ID; holdfast policy lists them.")
    return signAndSubmit(args, world, [{ type: "unpin", rule }], () => [`Taken back: ${sentenceOf(rule)}.`])
  },
}
