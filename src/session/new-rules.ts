import { type EntryBody, entryId, type RuleBody } from "../log/entry.ts"
import { trust } from "../message/channel.ts"
import type { Message, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { readPinCommand } from "../pin/read-pin-command.ts"
import type { InjectedDocument } from "../prompt/separate.ts"
import { isSpoken } from "../stage/spoken.ts"
import type { Live } from "./live.ts"
import { isInForce, type SessionPin } from "./pins.ts"
import { documentRules, seekRules } from "./seek-rules.ts"

/** New messages, what stands before them, and the documents that open the session and were not seen before. */
export type News = {
  readonly messages: Transcript
  readonly before: Transcript
  readonly documents: readonly InjectedDocument[]
  /** The texts of all documents that are lifted out of the messages. */
  readonly lifted: ReadonlySet<string>
  /** A message that a client put in the place of what was said before: no one's own words. */
  readonly retold?: Message
}

export const noDocuments: Pick<News, "documents" | "lifted"> = { documents: [], lifted: new Set() }

/** The rules that new messages and documents say and that do not stand yet, as entries; `first` is the place of the first message. */
export function newRules(
  { options }: Live,
  pins: readonly SessionPin[],
  { messages, before, documents, lifted, retold }: News,
  first: number,
): readonly RuleBody[] {
  if (options.finder === "none") return []
  const said = seekRules(messages, { before, lifted, ...present({ retold }) }).flatMap((rules, n) =>
    rules.map(({ at, ...rule }): RuleBody => ({ ...rule, place: { entry: first + n, ...at } })),
  )
  const standing = new Set(pins.filter(isInForce).map(nameOf))
  return [...documentRules(documents), ...said].filter((rule) => {
    const name = nameOf(rule)
    if (standing.has(name)) return false
    standing.add(name)
    return true
  })
}

const nameOf = ({ channel, text, source = "" }: Pick<RuleBody, "channel" | "text" | "source">): string =>
  JSON.stringify([channel, channel === "user" ? "" : source, text])

/** What a user takes back at the head of a message, `/unpin e12`: a rule of theirs, or one of less trust; never the operator's. */
export function takenBackIn(
  pins: readonly SessionPin[],
  messages: Transcript,
  seqOf: (id: string) => number | undefined,
): readonly EntryBody[] {
  const ids = messages.filter(isSpoken).flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const command = part.type === "text" ? readPinCommand(part.text) : undefined
      return command?.type === "unpin" ? command.id : []
    }),
  )
  return ids.flatMap((id): readonly EntryBody[] => {
    const known = pins.find((pin) => pin.id === id && isInForce(pin) && trust(pin.channel) <= trust("user"))
    const pin = known === undefined ? undefined : seqOf(id)
    return pin === undefined ? [] : [{ type: "rule-unpinned", pin }]
  })
}

/** Longer than this, a user's message in the place of another may be a summary that a client made. */
const maxReplaced = 1000

/** Did the user go back and say something else? A client that compacts puts more there, or another kind of message. */
export function isRewind(left: Transcript, added: Transcript, known: number): boolean {
  const [oldest] = left
  const [only] = added
  if (known === 0 || added.length !== 1 || oldest === undefined || only === undefined) return false
  const length = only.parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0)
  return isSpoken(oldest) && isSpoken(only) && length <= maxReplaced
}

/** Rules that were found in words which the user took back go with them. */
export function rewound(
  pins: readonly SessionPin[],
  left: readonly number[],
  seqOf: (id: string) => number | undefined,
): readonly EntryBody[] {
  const gone = new Set(left.map(entryId))
  return pins.flatMap(({ id, place }): readonly EntryBody[] => {
    const pin = seqOf(id)
    const isGone = place !== undefined && "entry" in place && gone.has(place.entry)
    return isGone && pin !== undefined ? [{ type: "rule-unpinned", pin, rewound: true }] : []
  })
}
