import { claimIn } from "../../compact/gate/claim.ts"
import { fitForData } from "../../compact/gate/fit-for-data.ts"
import { steers } from "../../compact/gate/steers.ts"
import { admits } from "../../compact/summary/admit.ts"
import { directs } from "../../language/imperative.ts"
import { type Channel, instructs } from "../../message/channel.ts"
import type { MemoryRow } from "../../store/memory-row.ts"

const channels: readonly Channel[] = ["operator", "system", "user", "assistant", "memory", "document", "tool"]

/** Where a piece ends that can be read by itself. */
const pieces = /(?<=[:.;!?：])\s+|(?<=[。！？；])|\n+/u

/** What was done or changed is told with the code of it first: quoted, and no word to the reader. */
const deeds: ReadonlySet<string> = new Set(["command", "transaction", "error", "path"])
const code = /^(?:\[[A-Z][a-z ]{3,24}\] )?`[^`\n]{1,1000}`/

/** As far as a short value is looked at whole; longer pieces are looked at as sentences. */
const maxValue = 160

/** Verbs that name things too, as the label of a value or before the number of what is told of. */
const noun =
  "(?:order|report|list|update|change|check|test|build|release|contact|address|e?mail|note|return|refund|request|record|file|plan|book|document|start|end|review|support|access|place|state|price|stock|search|query|host|cost|log|commit|rate|charge|charges|name|date|issue|ticket|job|task|step|page|case|claim|import|export|backup|copy|set|share|shares|post|message|reply|transfer|deposit|sample|process|schedule|display|control|match|mark|model|open|close|sort|type)"
const label = new RegExp(
  `^\\W{0,3}${noun}(?: (?!the |all |every |your |an? |this |my |me |to |it |any )[\\p{L}\\p{N}_-]{1,24}){0,3}(?: of [^\\s:]{1,60}){0,2}:$`,
  "iu",
)
const report = new RegExp(
  `^\\W{0,3}${noun} (?:[\\p{L}-]{1,12} )?[\`#]?[\\w./-]{0,40}\\d[\\w./-]{0,40}[\`]? (?:is|was|are|were|has|had|failed|passed|shipped|arrived)\\b`,
  "iu",
)

function isFit(piece: string, channel: Channel): boolean {
  if (label.test(piece) || report.test(piece)) return !steers(piece) && claimIn(piece) === undefined
  if (piece.length <= maxValue) return fitForData(piece, channel)
  return !directs(piece) && !steers(piece) && claimIn(piece) === undefined
}

/**
 * May a row be shown to a model again? What somebody said who may instruct may. What the assistant said may unless it carries an attempt
 * to steer. What data said may only if no piece of it directs, speaks to its reader or claims a say. A channel that nobody knows is data.
 */
export function admitsRow({ kind, text, channel: named, trusted }: MemoryRow): boolean {
  const channel = channels.find((one) => one === named) ?? "tool"
  if (trusted && instructs(channel)) return true
  const asData: Channel = instructs(channel) ? "tool" : channel
  if (!admits(text, asData)) return false
  const told = deeds.has(kind) ? text.replace(code, "") : text
  return asData === "assistant" || told.split(pieces).every((piece) => isFit(piece, asData))
}
