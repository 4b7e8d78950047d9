import { assert } from "../message/assert.ts"
import { wireText } from "../message/ids.ts"
import type { Message, Transcript } from "../message/message.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { overlay, write } from "../wire/overlay.ts"
import { onOneLine } from "./lines.ts"
import { type LinesOrigin, reuseOf, textBefore } from "./origin.ts"

/** How the entries of a kind of session file hang together: the names of their own and their parent's id. */
export type Links = { readonly id: string; readonly parent: string }

/** A line that we wrote, and the id that the next one names as its parent. */
export type Written = { readonly line: string; readonly id: string }

/** What a kind of session file needs to be written: its head, and the lines of a message of ours. */
export type ChainWriter = {
  readonly head: () => readonly string[]
  readonly write: (message: Message, parent: string | undefined) => readonly Written[]
  /** Absent where lines stand in a row and name no parent. */
  readonly links?: Links
}

/**
 * A session file. Nothing changed: the very text. Messages added at the end: that text and their lines. Anything else: the head, each
 * message that was not changed in the lines that it came in, linked anew where its parent is gone, and new lines for the rest.
 */
export function writeChain(origin: LinesOrigin | undefined, messages: Transcript, writer: ChainWriter): string {
  const reuse = origin === undefined ? undefined : reuseOf(origin, messages)
  if (origin !== undefined && reuse?.type === "whole") return origin.lines.join("\n")
  if (origin !== undefined && reuse?.type === "append") {
    return textBefore(origin) + lay(undefined, reuse.added, writer, origin.leaf)
  }
  const old = origin?.head.flatMap((index) => origin.lines[index] ?? [])
  const head = old === undefined || old.length === 0 ? writer.head() : old
  return head.map((line) => `${line}\n`).join("") + lay(origin, messages, writer, undefined)
}

function lay(
  origin: LinesOrigin | undefined,
  messages: Transcript,
  { write: writeMessage, links }: ChainWriter,
  leaf: string | undefined,
): string {
  const out: string[] = []
  let parent = leaf
  const put = ({ line, id }: Written): void => {
    out.push(`${line}\n`)
    parent = id
  }
  for (const message of messages) {
    const indexes = origin?.owned.get(message)
    if (origin === undefined || indexes === undefined)
      for (const { line, id } of writeMessage(message, parent)) put({ line: onOneLine(line), id })
    else for (const index of indexes) put(relink(origin.lines[index] ?? "", parent, links))
  }
  return out.join("")
}

/** The line with another parent; the same text if it has that parent already. */
function relink(line: string, parent: string | undefined, links: Links | undefined): Written {
  if (links === undefined) return { line, id: "" }
  const linked = overlay(wireText(line), { [links.parent]: write(parent ?? null) })
  const value = tryParse(linked)
  const id = isObject(value) ? value[links.id] : undefined
  assert(typeof id === "string", "an entry without an id in a file whose entries have them")
  return { line: linked, id }
}
