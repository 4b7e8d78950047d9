import { HoldfastError } from "../../message/errors.ts"
import { sha256HexInSteps } from "../../message/sha256.ts"
import type { Steps } from "../../message/steps.ts"
import { toStorable } from "../../store/packed-text.ts"
import { brokenLink, hashEntry, payloadsOf } from "../../store/reserved-log.ts"
import type { Head, SessionId, Store, StoredEntry } from "../../store/store.ts"
import type { EntryBody } from "./entry.ts"

/** Texts of a body with more characters are stored separately by their hash: a text is stored once, however many entries contain it. */
export const payloadLength = 1024

/** The hash of a payload, as stores check it: of its UTF-8, with lone surrogates escaped so that they stay distinct. */
const hashPayload = (text: string): Steps<string> => sha256HexInSteps(text.isWellFormed() ? text : toStorable(text))

/** Entries in order, with the long texts that their bodies name by hash. */
export type ChainedEntries = {
  readonly entries: readonly StoredEntry[]
  readonly payloads: ReadonlyMap<string, string>
}

/** Converts bodies to the next entries of a log, each linked by its hash to all before it. Each is redacted just before that. */
export function* chainEntries(
  head: Head,
  bodies: readonly EntryBody[],
  atMs: number,
  redact: (body: EntryBody) => EntryBody = (body) => body,
): Steps<ChainedEntries> {
  const payloads = new Map<string, string>()
  const entries: StoredEntry[] = []
  let { seq, hash } = head
  for (const given of bodies) {
    const body = redact(given)
    seq += 1
    const names = new Map<string, string>()
    for (const text of longTexts(body)) names.set(text, yield* hashPayload(text))
    for (const [text, name] of names) payloads.set(name, text)
    const entry = { seq, type: body.type, atMs, ...referenceOf(body), body: writeBody(body, names) }
    hash = hashEntry(hash, entry)
    entries.push({ ...entry, hash })
    yield
  }
  return { entries, payloads }
}

/** The entry that a body refers to. It is stored beside the body, so that the outline can be read without the bodies. */
function referenceOf(body: EntryBody): Pick<StoredEntry, "parent" | "key"> {
  switch (body.type) {
    case "message-appended":
      return { parent: body.parent, key: body.key }
    case "branch-opened":
      return { parent: body.from }
    case "checkpoint-installed":
    case "summary-begun":
      return { parent: body.node }
    case "checkpoint-undone":
    case "lookups-repeated":
      return { parent: body.checkpoint }
    case "rule-unpinned":
      return { parent: body.pin }
    case "memory-flushed":
      return { parent: body.upTo }
    case "memory-retrieved":
    case "handoff-restored":
      return { parent: body.before }
    case "text-recalled":
      return { parent: body.after }
    case "rule-pinned":
      return body.place === undefined ? {} : { parent: body.place.entry }
    case "session-opened":
    case "stack-seen":
    case "stack-installed":
    case "usage-reported":
    case "calls-judged":
      return {}
  }
}

/** Marks a text that is stored separately. A foreign member with this name is written with an additional colon. */
const mark = "payload:sha256"
const foreignName = /^payload:sha256(:*)$/
const escapedName = /^payload:sha256:(:*)$/

/** Renames the members of an object that match; returns the same object if there are none. */
function rename(value: object, from: RegExp, to: string): object {
  if (Array.isArray(value) || !Object.keys(value).some((name) => from.test(name))) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name.replace(from, to), inner]))
}

/** The texts of a body that are stored separately. */
function longTexts(body: EntryBody): ReadonlySet<string> {
  const found = new Set<string>()
  JSON.stringify(body, (_name, value: unknown) => {
    if (typeof value !== "string" || value.length <= payloadLength) return value
    found.add(value)
    return undefined
  })
  return found
}

function writeBody(body: EntryBody, names: ReadonlyMap<string, string>): string {
  return JSON.stringify(body, (_name, value: unknown) => {
    if (typeof value === "object" && value !== null) return rename(value, foreignName, `${mark}:$1`)
    const name = typeof value === "string" ? names.get(value) : undefined
    return name === undefined ? value : { [mark]: name }
  })
}

/** Decodes a stored body. Only our own program writes bodies, so an invalid shape means damage. */
export function readBody(entry: StoredEntry, payloads: ReadonlyMap<string, string>, session: string): EntryBody {
  const damaged = (reason: string): never => {
    throw new HoldfastError({ code: "store-corrupt", store: "log", session, reason: `entry ${entry.seq} ${reason}` })
  }
  const restore = (_name: string, value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value
    if (!(mark in value)) return rename(value, escapedName, `${mark}$1`)
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

/** Only the type is checked: we wrote this JSON ourselves, so the type determines the other fields. */
function isBody(body: unknown, type: string): body is EntryBody {
  return typeof body === "object" && body !== null && "type" in body && body.type === type
}

/** Page sizes for checking entries and texts; texts are few at a time because each may be megabytes. */
const entriesPage = 1000
const textsPage = 20

/** Reads a whole log, and checks that the hash chain is intact and every text is present; damage is a Problem. */
export async function verifyLog(store: Store, session: SessionId): Promise<Head> {
  let head: Head = { seq: 0, hash: "" }
  for (;;) {
    const page = await store.read(session, { from: head.seq + 1, limit: entriesPage })
    const broken = brokenLink(head, page)
    if (broken !== undefined) {
      const reason = `entry ${broken} does not follow from the one before it`
      throw new HoldfastError({ code: "store-corrupt", store: store.kind, session, reason })
    }
    const names = [...new Set(page.flatMap(({ body }) => payloadsOf(body)))]
    for (let at = 0; at < names.length; at += textsPage) await store.payloads(session, names.slice(at, at + textsPage))
    const last = page.at(-1)
    if (last !== undefined) head = { seq: last.seq, hash: last.hash }
    if (page.length < entriesPage) return head
  }
}
