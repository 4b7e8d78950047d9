import { type Channel, instructs } from "../message/channel.ts"
import { concept } from "./concept.ts"
import type { FindingKind } from "./finding.ts"
import { directs } from "./imperative.ts"
import { normalize } from "./normalize.ts"
import { scan } from "./scan.ts"
import { sentencesOf } from "./sentence.ts"
import { sharesWords, type Topic, topicOf } from "./share-words.ts"
import { createLookup, valuesIn } from "./value.ts"

/** A line that a summarizer wrote, and the ids of the sources that it says the line rests on. */
export type SummaryLine = { readonly text: string; readonly sources: readonly string[] }

export type SummarySource = { readonly id: string; readonly text: string; readonly channel: Channel }

/** Why a line may not stand in a summary. */
export type DropReason =
  | { readonly code: "source-missing" }
  | { readonly code: "injection-found"; readonly kinds: readonly FindingKind[] }
  | { readonly code: "imperative-from-data" }
  | { readonly code: "approval-from-data" }
  | { readonly code: "value-not-in-source"; readonly values: readonly string[] }
  | { readonly code: "words-not-in-source" }

export type GateEvent = { readonly type: "line-dropped"; readonly line: number; readonly reason: DropReason }

export type GatedSummary = { readonly lines: readonly SummaryLine[]; readonly events: readonly GateEvent[] }

const granted =
  /\b(?:approv|authori[sz]|permit|allow|agree|consent|grant|confirm|decid)\w{0,5}\b|aprob|autoriz|genehmig|erlaub|autoris|approuv|одобр|разреш|согласи|批准|同意|授权|允许/i

/** Does the line say that somebody with a say has allowed or decided something? */
function claimsApproval(text: string): boolean {
  const people = concept.user | concept.operator
  return (
    granted.test(text) &&
    sentencesOf(normalize(text).text).some(({ words }) => words.some(({ concepts }) => (concepts & people) !== 0))
  )
}

/** A source, prepared once for all lines that rest on it. */
type Ground = { readonly channel: Channel; readonly stands: (value: string) => boolean; readonly topic: Topic }

const groundOf = ({ channel, text }: SummarySource): Ground => ({
  channel,
  stands: createLookup(text),
  topic: topicOf(text),
})

/** What a line may not take from data alone. */
function reasonOfAuthority(text: string, channels: readonly Channel[]): DropReason | undefined {
  if (channels.some(instructs)) return undefined
  const { findings } = scan(text, { channel: "tool" })
  if (findings.length > 0) return { code: "injection-found", kinds: [...new Set(findings.map(({ kind }) => kind))] }
  if (claimsApproval(text)) return { code: "approval-from-data" }
  // What the assistant planned is its own; what a tool or a document asks for is nobody's plan.
  return directs(text) && !channels.includes("assistant") ? { code: "imperative-from-data" } : undefined
}

function reasonToDrop(text: string, grounds: readonly Ground[]): DropReason | undefined {
  if (grounds.length === 0) return { code: "source-missing" }
  const unfit = reasonOfAuthority(
    text,
    grounds.map(({ channel }) => channel),
  )
  if (unfit !== undefined) return unfit
  const values = valuesIn(text).filter((value) => !grounds.some(({ stands }) => stands(value)))
  if (values.length > 0) return { code: "value-not-in-source", values }
  const topics = grounds.map(({ topic }) => topic)
  return sharesWords(text, topics) ? undefined : { code: "words-not-in-source" }
}

/**
 * The gate behind a summarizer: only lines that rest on their sources pass. A line never gains authority on the way: what data alone
 * asks for, claims to be allowed or cannot show is dropped, and the event says why. The lines that pass are the same objects.
 */
export function gateSummary(lines: readonly SummaryLine[], sources: readonly SummarySource[]): GatedSummary {
  const claimed = new Set(lines.flatMap((line) => line.sources))
  const grounds = new Map(sources.filter(({ id }) => claimed.has(id)).map((source) => [source.id, groundOf(source)]))
  const events = lines.flatMap(({ text, sources: ids }, line): readonly GateEvent[] => {
    const reason = reasonToDrop(
      text,
      ids.flatMap((id) => grounds.get(id) ?? []),
    )
    return reason === undefined ? [] : [{ type: "line-dropped", line, reason }]
  })
  const dropped = new Set(events.map(({ line }) => line))
  return { lines: lines.filter((_, at) => !dropped.has(at)), events }
}
