import { HoldfastError, type Problem } from "../message/errors.ts"
import { channelOf } from "../message/fence.ts"
import type { Message } from "../message/message.ts"
import { present } from "../message/present.ts"
import { withinMs } from "../model/within-ms.ts"
import { type FindOptions, findRules, type RuleFinder } from "../rules/find-rules.ts"
import { isWithin, ownWords } from "../rules/own-words.ts"
import { type FoundRule, mergeRules } from "../rules/pin.ts"
import type { Committed } from "./journal.ts"
import type { Live } from "./live.ts"
import type { RuleBody } from "./log/entry.ts"
import { type IgnoredParts, noIgnoredParts } from "./own-compaction.ts"
import { foundRules, isInForce, knownPins } from "./pins.ts"

/** Limits on the texts of one call passed to a finder, because it may be a model and each text a question. */
const maxTexts = 20
const maxLength = 60_000

type FinderText = {
  readonly text: string
  readonly options: FindOptions
  readonly place: NonNullable<RuleBody["place"]>
}

/**
 * Ask a custom finder about new messages after the call; until then the rule is in the message itself. A result counts only if the text
 * contains it verbatim, so that no rule can be invented.
 */
export function askFinder(
  live: Live,
  { entries }: Committed,
  messages: readonly Message[],
  ignoredParts: IgnoredParts = noIgnoredParts,
): void {
  const { finder, rules } = live.options
  const find = rules?.find ?? "all"
  if (typeof finder !== "function" || find === "off") return
  const appended = entries.filter(({ body }) => body.type === "message-appended")
  const asked = appended
    .flatMap(({ seq }, n) => {
      const from = ignoredParts.get(messages[n]?.id ?? "") ?? 0
      return textsOf(messages[n], seq).filter(
        ({ place, options }) =>
          place.part >= from && (find === "all" || (options.channel === "user") === (find === "user")),
      )
    })
    .slice(0, maxTexts)
  if (asked.length > 0) live.beside("rules", () => runFinder(live, finder, asked))
}

function textsOf(message: Message | undefined, entry: number): readonly FinderText[] {
  if (message === undefined || message.role === "assistant") return []
  return message.parts.flatMap((piece, at): readonly FinderText[] => {
    if (piece.type !== "text" || piece.text.trim() === "" || piece.text.length > maxLength) return []
    const channel = channelOf(message.role, piece)
    if (channel === "assistant" || channel === "memory" || channel === "tool") return []
    return [{ text: piece.text, options: { channel }, place: { entry, part: at, start: 0 } }]
  })
}

async function runFinder(live: Live, finder: RuleFinder, asked: readonly FinderText[]): Promise<void> {
  const bodies: RuleBody[] = []
  for (const { text, options, place } of asked) {
    const own = options.channel === "user" ? ownWords(text) : [{ start: 0, end: text.length }]
    const sound = (await answerOf(finder, text, options)).filter(
      (rule) => rule.text !== "" && text.slice(rule.start, rule.end) === rule.text && isWithin(rule, own),
    )
    const others = new Set(sound)
    for (const rule of mergeRules(findRules(text, options), sound)) {
      if (!others.has(rule)) continue
      const { kind, explicitness, context, needsContext } = rule
      bodies.push({
        type: "rule-pinned",
        text: rule.text,
        channel: options.channel,
        by: "found",
        kind,
        explicitness,
        place: { ...place, start: rule.start },
        ...present({ source: options.source, context: needsContext ? context : undefined }),
      })
    }
  }
  await live.lock(() => pinFound(live, bodies))
}

/** A finder may be a model; after a minute it counts as hanging. */
const finderMs = 60_000

async function answerOf(finder: RuleFinder, text: string, options: FindOptions): Promise<readonly FoundRule[]> {
  const failed = (reason: string): Problem => ({ code: "finder-failed", reason })
  try {
    const late = (): Problem => failed(`no result within ${finderMs} ms`)
    const answer = await withinMs(async () => finder(text, options), finderMs, late)
    return Array.isArray(answer) ? answer : []
  } catch (error) {
    if (error instanceof HoldfastError) throw error
    throw new HoldfastError(failed(error instanceof Error ? error.message.slice(0, 300) : "it failed"), {
      cause: error,
    })
  }
}

async function pinFound(live: Live, bodies: readonly RuleBody[]): Promise<void> {
  if (live.removed) return
  const known = new Set((await knownPins(live)).filter(isInForce).map(({ channel, text }) => `${channel} ${text}`))
  const fresh = bodies.filter(({ channel, text }) => !known.has(`${channel} ${text}`))
  if (fresh.length === 0) return
  const { entries, problem } = await live.journal.commit(() => fresh)
  if (problem !== undefined) throw new HoldfastError(problem)
  const rules = foundRules(entries)
  live.emit({ type: "rules-found", pins: rules.map(({ pin }) => pin), rules })
}
