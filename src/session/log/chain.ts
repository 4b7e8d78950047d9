import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { sha256Hex } from "../../message/sha256.ts"
import { toStorable } from "../../store/packed-text.ts"
import { hashEntry } from "../../store/reserved-log.ts"
import type { Head, StoredEntry } from "../../store/store.ts"
import { type EntryBody, refersTo } from "./entry.ts"

/** Longer texts of a body are kept apart, by their hash: one text is stored once, however many entries name it. */
export const payloadLength = 1024

/** The name of a payload, as stores check it: of its UTF-8, in which lone surrogates are told apart by their escapes. */
const hashPayload = (text: string): string => sha256Hex(text.isWellFormed() ? text : toStorable(text))

type Chained = { readonly entries: readonly StoredEntry[]; readonly payloads: ReadonlyMap<string, string> }

/** Bodies as the next entries of a log, each bound by its hash to all before it. */
export function chainEntries(head: Head, bodies: readonly EntryBody[], atMs: number): Chained {
  const payloads = new Map<string, string>()
  const entries: StoredEntry[] = []
  let { seq, hash } = head
  for (const body of bodies) {
    seq += 1
    const entry = { seq, type: body.type, atMs, ...referenceOf(body), body: writeBody(body, payloads) }
    hash = hashEntry(hash, entry)
    entries.push({ ...entry, hash })
  }
  return { entries, payloads }
}

const referenceOf = (body: EntryBody): Pick<StoredEntry, "parent" | "key"> =>
  present({ parent: refersTo(body), key: body.type === "message-appended" ? body.key : undefined })

/** Marks a text that is kept apart. A member of someone else's that has this name is written with a colon more. */
const mark = "payload:sha256"
const theirs = /^payload:sha256(:*)$/
const theirsWritten = /^payload:sha256:(:*)$/

/** The object with some of its members under other names; the same object where there are none of them. */
function rename(value: object, from: RegExp, to: string): object {
  if (Array.isArray(value) || !Object.keys(value).some((name) => from.test(name))) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.replace(from, to), inner]))
}

function writeBody(body: EntryBody, payloads: Map<string, string>): string {
  return JSON.stringify(body, (_name, value: unknown) => {
    if (typeof value === "object" && value !== null) return rename(value, theirs, `${mark}:$1`)
    if (typeof value !== "string" || value.length <= payloadLength) return value
    const hash = hashPayload(value)
    payloads.set(hash, value)
    return { [mark]: hash }
  })
}

const reference = /\{"payload:sha256":"([0-9a-f]{64})"\}/g

/** The payloads that a body names. A text of someone else's that looks like a name is quoted in the body, and so none. */
export const payloadsOf = (body: string): readonly string[] =>
  [...body.matchAll(reference)].map(([, hash = ""]) => hash)

/** Read a body back. The chain has vouched for it, so what does not have the shape of one is damage. */
export function readBody(entry: StoredEntry, payloads: ReadonlyMap<string, string>, session: string): EntryBody {
  const damaged = (reason: string): never => {
    throw new HoldfastError({ code: "store-corrupt", store: "log", session, reason: `entry ${entry.seq} ${reason}` })
  }
  const restore = (_name: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (!(mark in value)) return rename(value, theirsWritten, `${mark}$1`)
    const hash = value[mark]
    return (typeof hash === "string" ? payloads.get(hash) : undefined) ?? damaged("names a text that is missing")
  }
  try {
    const body: unknown = JSON.parse(entry.body, restore)
    return isBody(body, entry.type) ? body : damaged("is not of its type")
  } catch (error) {
    if (error instanceof HoldfastError) throw error
    return damaged("is not JSON")
  }
}

/** Our own writing, read back: the type says what the rest is. */
function isBody(body: unknown, type: string): body is EntryBody {
  return typeof body === "object" && body !== null && "type" in body && body.type === type
}
