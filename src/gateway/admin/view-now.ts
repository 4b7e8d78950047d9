import { applyEdits } from "../../compact/stages/edit.ts"
import { ownMessage } from "../../compact/standing.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { type EntryBody, entryId, type Item } from "../../session/log/entry.ts"
import { thaw } from "../../session/log/frozen.ts"
import { createMeter } from "../../tokens/meter.ts"
import type { Profile, Profiles } from "./session-profile.ts"

/** What a model sees of a session now, in the provider's tokens. The parts add up to the last request and what came since. */
type ViewNow = {
  readonly checkpoint?: string
  readonly contextTokens: number
  /** System prompt, tools and framing: everything that is not a message. */
  readonly stackTokens: number
  readonly rulesTokens: number
  readonly handoffTokens: number
  readonly shortenedTokens: number
  readonly verbatimTokens: number
  readonly messages: { readonly shortened: number; readonly verbatim: number }
}

export async function viewNow(profiles: Profiles, session: string, { outline, turns }: Profile): Promise<ViewNow> {
  const tip = outline.tip()
  const at = outline.checkpointAt(tip)
  const body = at === 0 ? undefined : (await profiles.entries(session, [at])).get(at)?.body
  const checkpoint = body?.type === "checkpoint-installed" ? body : undefined
  const since = outline.path(tip, checkpoint?.node ?? 0) ?? []
  const items: readonly Item[] = [
    ...(checkpoint?.items ?? []),
    ...since.map((entry): Item => ({ type: "shown", entry })),
  ]
  const seqs = items.flatMap((item) => (item.type === "shown" ? item.entry : []))
  const entries = await profiles.entries(session, [...new Set(seqs)])
  const meter = createMeter(present({ model: turns.at(-1)?.model }))
  const counted = { rules: 0, handoff: 0, shortened: 0, verbatim: 0 }
  const messages = { shortened: 0, verbatim: 0 }
  for (const item of items) {
    const kind = kindOf(item)
    const message = messageOf(item, (seq) => entries.get(seq)?.body)
    if (message === undefined) continue
    counted[kind] += meter.message(message)
    if (kind === "shortened" || kind === "verbatim") messages[kind] += 1
  }
  const raw = counted.rules + counted.handoff + counted.shortened + counted.verbatim
  const last = turns.at(-1)
  const contextTokens = last === undefined ? raw : last.contextTokens + last.outputTokens
  const learned = last === undefined || last.estimatedTokens === 0 ? 1 : last.contextTokens / last.estimatedTokens
  const ratio = raw * learned > contextTokens && raw > 0 ? contextTokens / raw : learned
  const scaled = (tokens: number): number => Math.round(tokens * ratio)
  return {
    ...(checkpoint === undefined ? {} : { checkpoint: entryId(at) }),
    contextTokens,
    stackTokens: Math.max(0, contextTokens - scaled(raw)),
    rulesTokens: scaled(counted.rules),
    handoffTokens: scaled(counted.handoff),
    shortenedTokens: scaled(counted.shortened),
    verbatimTokens: scaled(counted.verbatim),
    messages,
  }
}

function kindOf(item: Item): "rules" | "handoff" | "shortened" | "verbatim" {
  if (item.type === "shown") return item.edits === undefined ? "verbatim" : "shortened"
  const own = ownMessage(item.message)
  return own === "pins" ? "rules" : own === "digest" ? "handoff" : "verbatim"
}

function messageOf(item: Item, bodyOf: (seq: number) => EntryBody | undefined): Message | undefined {
  if (item.type === "made") return item.message
  const body = bodyOf(item.entry)
  if (body?.type !== "message-appended") return undefined
  const message = thaw(body.message, entryId(item.entry))
  return item.edits === undefined ? message : applyEdits([message], item.edits)[0]
}
