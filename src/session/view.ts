import { applyEdits } from "../compact/stages/edit.ts"
import type { Message, Transcript } from "../message/message.ts"
import { type CheckpointBody, entryId, type Item } from "./log/entry.ts"

/** What is shown at one message of the log: what the checkpoint in force says, and every message since. */
export type View = {
  readonly at: number
  /** The checkpoint in force; 0 if none. */
  readonly checkpoint: number
  readonly items: readonly Item[]
  /** Entries that hold infrastructure and are not among the items. */
  readonly standing: readonly number[]
}

/** The view at a message: `since` are the entries behind the checkpoint, `retrieved` what memory had to say before some of them. */
export function viewOf(
  at: number,
  checkpoint: { readonly seq: number; readonly body: CheckpointBody } | undefined,
  since: readonly number[],
  retrieved: ReadonlyMap<number, Message>,
): View {
  const items = [
    ...(checkpoint?.body.items ?? []),
    ...since.flatMap((entry) => sinceItems(entry, retrieved.get(entry))),
  ]
  const shown = new Set(items.flatMap((item) => (item.type === "shown" ? [item.entry] : [])))
  const standing = (checkpoint?.body.standing ?? []).filter((entry) => !shown.has(entry))
  return { at, checkpoint: checkpoint?.seq ?? 0, items, standing }
}

const sinceItems = (entry: number, before: Message | undefined): readonly Item[] => [
  ...(before === undefined ? [] : [{ type: "made" as const, message: before }]),
  { type: "shown", entry },
]

/** The entries whose messages a view needs. */
export const entriesIn = ({ items, standing }: View): readonly number[] => [
  ...standing,
  ...items.flatMap((item) => (item.type === "shown" ? [item.entry] : [])),
]

/** Where the messages of a view are had: those of entries by their id, and messages of ours as they are in what they stand in. */
export type Places = {
  readonly find: (id: string) => Message | undefined
  readonly made: (message: Message) => Message | undefined
}

/** The messages of a view: those of which less is shown as they are shown, or whole. */
export function showItems(items: readonly Item[], { find, made }: Places, how: "as-shown" | "whole"): Transcript {
  return items.flatMap((item): readonly Message[] => {
    if (item.type === "made") return [made(item.message) ?? []].flat()
    const message = find(entryId(item.entry))
    if (message === undefined) return []
    return item.edits === undefined || how === "whole" ? [message] : [shorten(message, item)]
  })
}

type Shown = Extract<Item, { type: "shown" }>

/** The same message and item give the same object, so that its tokens are counted once. */
const shortened = new WeakMap<Shown, { readonly of: Message; readonly as: Message }>()

function shorten(message: Message, item: Shown): Message {
  const known = shortened.get(item)
  if (known?.of === message) return known.as
  const [as = message] = applyEdits([message], item.edits ?? [])
  shortened.set(item, { of: message, as })
  return as
}
