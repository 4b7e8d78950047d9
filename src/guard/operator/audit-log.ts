import { type CommandRefusal, HoldfastError } from "../../message/errors.ts"
import { withinMs } from "../../model/within-ms.ts"
import { brokenLink, hashEntry, operatorLog } from "../../store/reserved-log.ts"
import type { Appended, Head, Store, StoredEntry } from "../../store/store.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { FileHash } from "./directory.ts"

/** A stored line of the audit log. */
export type AuditEntry = {
  readonly number: number
  readonly atMs: number
  readonly hash: string
  readonly body: AuditBody
}

/** Page size for reading lines. */
const pageLines = 500
/** Time limit for a store call: our own stores give up after ten seconds; one that takes twice as long will not answer. */
const usualLimitMs = 20_000

/** The audit log in a store: append-only, each line linked by its hash to all before it. */
export type AuditLog = {
  readonly head: () => Promise<Head>
  /** Returns the lines after a head, with the hash chain checked; a log that became shorter, or is another one, is damaged. */
  readonly readBehind: (head: Head) => Promise<readonly AuditEntry[]>
  readonly append: (head: Head, body: AuditBody, atMs: number) => Promise<AuditEntry | "conflict">
}

export function openAuditLog(store: Store, limitMs = usualLimitMs): AuditLog {
  const reason = `it did not answer within ${limitMs} ms`
  const ask = <Value>(act: () => Promise<Value>): Promise<Value> =>
    withinMs(act, limitMs, () => ({ code: "store-unavailable", store: store.kind, reason }))
  const damaged = (why: string): never => {
    throw new HoldfastError({ code: "store-corrupt", store: store.kind, session: operatorLog, reason: why })
  }
  const readPage = async (after: Head): Promise<readonly StoredEntry[]> => {
    // Read the last known line again, to check that it is still the same log.
    const from = Math.max(1, after.seq)
    const page = await ask(() => store.read(operatorLog, { from, limit: pageLines + 1 }))
    const [first] = page
    if (after.seq === 0) return page
    if (first?.seq !== after.seq || first.hash !== after.hash)
      damaged(`line ${after.seq} is missing or is not what it was`)
    return page.slice(1)
  }
  return {
    head: () => ask(() => store.head(operatorLog)),
    readBehind: async (head) => {
      const entries: AuditEntry[] = []
      let last = head
      for (;;) {
        const page = await readPage(last)
        const broken = brokenLink(last, page)
        if (broken !== undefined) damaged(`line ${broken} does not follow from the one before it`)
        for (const { seq, atMs, hash, type, body } of page) {
          const read = readAuditBody(type, body) ?? damaged(`line ${seq} is not of its type`)
          entries.push({ number: seq, atMs, hash, body: read })
          last = { seq, hash }
        }
        if (page.length < pageLines) return entries
      }
    },
    append: async (head, body, atMs) => {
      const line = { seq: head.seq + 1, type: body.type, atMs, body: JSON.stringify(body) }
      const hash = hashEntry(head.hash, line)
      const batch = { after: head.seq, entries: [{ ...line, hash }] }
      const answer: Appended = await ask(() => store.append(operatorLog, batch))
      return answer.type !== "appended" ? "conflict" : { number: line.seq, atMs, hash, body }
    },
  }
}

/** The content of an audit line. `by` distinguishes lines that two programs write at once. */
export type AuditBody = { readonly by: string } & (
  | { readonly type: "log-opened"; readonly audience: string }
  /** The complete command with its signature, so that a reader can verify it. */
  | { readonly type: "command-accepted"; readonly signed: string }
  | {
      readonly type: "command-refused"
      readonly reason: CommandRefusal
      /** The key that it names, if known. */
      readonly key?: string
      readonly sha256: string
      /** Number of earlier refusals without a line of their own. */
      readonly unwritten?: number
    }
  | {
      readonly type: "directory-changed"
      readonly files: readonly FileHash[]
      /** The ids of added and removed rules. */
      readonly added: readonly string[]
      readonly removed: readonly string[]
    }
)

type Unsigned<Body> = Body extends unknown ? Omit<Body, "by"> : never
export type NewAuditBody = Unsigned<AuditBody>

const isText = (value: unknown): value is string => typeof value === "string"
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)
const isFileHash = (value: unknown): value is FileHash => isObject(value) && isText(value.name) && isText(value.sha256)

const shapes: { readonly [Type in AuditBody["type"]]: (fields: Readonly<Record<string, unknown>>) => boolean } = {
  "log-opened": ({ audience }) => isText(audience),
  "command-accepted": ({ signed }) => isText(signed),
  "command-refused": ({ reason, sha256, key = "", unwritten = 0 }) =>
    isText(reason) && isText(sha256) && isText(key) && Number.isSafeInteger(unwritten),
  "directory-changed": ({ files, added, removed }) =>
    Array.isArray(files) && files.every(isFileHash) && isTexts(added) && isTexts(removed),
}

const isBody = (value: unknown, type: string): value is AuditBody =>
  isObject(value) &&
  value.type === type &&
  isText(value.by) &&
  Object.entries(shapes).some(([name, fits]) => name === type && fits(value))

/** Parses a stored line; undefined if it is invalid. */
function readAuditBody(type: string, json: string): AuditBody | undefined {
  const value = tryParse(json)
  return isBody(value, type) ? value : undefined
}
