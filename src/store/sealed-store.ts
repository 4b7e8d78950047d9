import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"
import { assert } from "../message/assert.ts"
import { HoldfastError, refuseOption } from "../message/errors.ts"
import { createPause } from "./pace.ts"
import { isPayload, isSealed, packText, sealedMark, unpackText } from "./packed-text.ts"
import { hashEntry, nextSealingLog, type StoreOfLogs, sealingLog } from "./reserved-log.ts"
import { searchAmong } from "./search-terms.ts"
import type { Batch, Job, MemoryQuery, MemoryRow, MemoryStore, SharedEvents, StoredEntry } from "./store.ts"
import { corruptStore } from "./stored-row.ts"

const keyBytes = 32
const ivBytes = 12
const tagBytes = 16

/** Reads a key: 32 bytes as 64 hexadecimal digits or as base64. */
export function readStoreKey(text: string): Uint8Array {
  const word = text.trim()
  const bytes = Buffer.from(word, /^[0-9a-f]{64}$/i.test(word) ? "hex" : "base64")
  if (bytes.length === keyBytes && /^[\w+/=-]+$/.test(word)) return bytes
  const expected = "32 bytes in hexadecimal or base64, as openssl rand -hex 32 prints them"
  refuseOption("storeKey", expected, `a text of ${word.length} characters`)
}

type Seal = ReturnType<typeof createSeal>

/**
 * Encrypts texts under a key. Each is bound to its purpose: a text that is moved to another place cannot be decrypted. AES-256-GCM, with a
 * derived key for each purpose, so that a nonce cannot repeat under one key.
 */
function createSeal(key: Uint8Array) {
  assert(key.length === keyBytes, `not a key of ${keyBytes} bytes`)
  const keyOf = (what: string): Buffer => createHmac("sha256", key).update(what, "utf8").digest()
  return {
    /** Returns a keyed hash: the same for the same text, without revealing it. */
    blind: (what: string, text: string): string =>
      createHmac("sha256", keyOf(what)).update(text, "utf8").digest("base64url"),
    close: async (what: string, text: string): Promise<string> => {
      const packed = await packText(text)
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv("aes-256-gcm", keyOf(what), iv)
      const kind = Buffer.from([typeof packed === "string" ? 0 : 1])
      const bytes = [cipher.update(kind), cipher.update(packed), cipher.final()]
      return sealedMark + Buffer.concat([iv, cipher.getAuthTag(), ...bytes]).toString("base64")
    },
    /** Decrypts a text; undefined if the key is another, or the text was changed or moved. */
    open: async (what: string, sealed: string): Promise<string | undefined> => {
      const bytes = Buffer.from(sealed.slice(sealedMark.length), "base64")
      if (!isSealed(sealed) || bytes.length <= ivBytes + tagBytes) return undefined
      const decipher = createDecipheriv("aes-256-gcm", keyOf(what), bytes.subarray(0, ivBytes))
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      try {
        const plain = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
        return await unpackText(plain[0] === 1 ? plain.subarray(1) : plain.toString("utf8", 1))
      } catch {
        return undefined
      }
    },
  }
}

/**
 * A text that can be decrypted only with the store's key, in stores of earlier versions, whose texts are encrypted with that key directly.
 */
const keyCheck = "the key of this store"

/** The entry with the data key, which encrypts the texts, encrypted with the operator's key. */
const wrapped = "key-wrapped"

async function wrappedEntry(dataKey: Uint8Array, key: Uint8Array): Promise<StoredEntry> {
  const body = await createSeal(key).close("data-key", Buffer.from(dataKey).toString("base64"))
  const entry = { seq: 1, type: wrapped, atMs: 0, body }
  return { ...entry, hash: hashEntry("", entry) }
}

/** Decrypts the data key in an entry; undefined if this key does not fit. */
async function unwrapped({ type, body }: StoredEntry, key: Uint8Array): Promise<Uint8Array | undefined> {
  const seal = createSeal(key)
  if (type !== wrapped) return (await seal.open("check", body)) === keyCheck ? key : undefined
  const text = await seal.open("data-key", body)
  return text === undefined ? undefined : Buffer.from(text, "base64")
}

/**
 * Returns the data key of a store; a new store gets one. Refuses a store whose texts cannot be read with this key or without one, and a
 * store that already has plain texts, because they would stay unencrypted.
 */
async function dataKeyOf(store: StoreOfLogs, key: Uint8Array | undefined): Promise<Uint8Array | undefined> {
  const [first, next] = [await firstEntry(store, sealingLog), await firstEntry(store, nextSealingLog)]
  const refuse = (reason: "no-key" | "other-key" | "plain"): never => {
    throw new HoldfastError({ code: "store-sealed", store: store.kind, reason })
  }
  if (key === undefined) return first === undefined && next === undefined ? undefined : refuse("no-key")
  const known = first === undefined ? undefined : await unwrapped(first, key)
  if (known !== undefined) return known
  // A key change that was interrupted is completed with the new key.
  const changed = next === undefined ? undefined : await unwrapped(next, key)
  if (changed !== undefined && next !== undefined) {
    await installKey(store, next)
    return changed
  }
  if (first !== undefined || next !== undefined) return refuse("other-key")
  if ((await store.sessions({ limit: 1 })).length > 0) refuse("plain")
  const dataKey = randomBytes(keyBytes)
  const entry = await wrappedEntry(dataKey, key)
  const written = await store.append(sealingLog, { after: 0, entries: [entry] })
  // Another process created the entry at the same time, with its key.
  return written.type === "appended" ? dataKey : dataKeyOf(store, key)
}

/**
 * Encrypts the data key with another key. The new entry is written beside the old one first, so that at every moment one of the two keys
 * opens the store, and an interrupted change is repeated or completed.
 */
async function changeKey(store: StoreOfLogs, dataKey: Uint8Array, key: Uint8Array): Promise<void> {
  const entry = await wrappedEntry(dataKey, key)
  await store.remove(nextSealingLog)
  await store.append(nextSealingLog, { after: 0, entries: [entry] })
  await installKey(store, entry)
}

async function installKey(store: StoreOfLogs, entry: StoredEntry): Promise<void> {
  await store.remove(sealingLog)
  await store.append(sealingLog, { after: 0, entries: [entry] })
  // The other entry stays: if two processes do this at once, one of the entries always exists. Nothing under the old key is left.
  await store.scrub()
}

/**
 * Reads the first entry of a sealing log. A damaged store is opened anyway: its sessions are refused one by one, and reported as damaged.
 */
async function firstEntry(store: StoreOfLogs, log: typeof sealingLog): Promise<StoredEntry | undefined> {
  try {
    return (await store.read(log, { limit: 1 }))[0]
  } catch (error) {
    if (error instanceof HoldfastError && error.problem.code === "store-corrupt") return undefined
    throw error
  }
}

export type StoreKeys = {
  /** Encrypts every text with this key of 32 bytes; it must be the same whenever the store is opened. */
  readonly key?: Uint8Array
  /** The key that opens the encrypted store from now on; `key` is the current one. */
  readonly nextKey?: Uint8Array
}

/** Encrypts a store that was just opened, if there is a key; closes it again if it cannot be used. */
export async function sealedWith(store: StoreOfLogs, { key, nextKey }: StoreKeys): Promise<StoreOfLogs> {
  try {
    const dataKey = await dataKeyOf(store, key)
    if (nextKey !== undefined && dataKey === undefined)
      throw new HoldfastError({ code: "store-sealed", store: store.kind, reason: "plain" })
    if (nextKey !== undefined && dataKey !== undefined) await changeKey(store, dataKey, nextKey)
    return dataKey === undefined ? store : sealStore(store, dataKey)
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Wraps a store so that every text of a conversation is encrypted. Names of sessions and agents, hashes, sizes, times and kinds are not.
 */
function sealStore(store: StoreOfLogs, key: Uint8Array): StoreOfLogs {
  const seal = createSeal(key)
  const decrypted = async (session: string, what: string, sealed: string): Promise<string> => {
    const text = await seal.open(what, sealed)
    if (text !== undefined) return text
    const kind = what.split(":", 1)[0]
    throw corruptStore(
      store.kind,
      session,
      `${kind} cannot be decrypted: it was changed, or put there by somebody without the key`,
    )
  }
  const plainJob = <One extends Job>(job: One): Promise<One> =>
    withPayload(job, (what, sealed) => decrypted(job.session, what, sealed))
  const entries = async (session: string, read: readonly StoredEntry[]): Promise<readonly StoredEntry[]> => {
    const plain: StoredEntry[] = []
    const pause = createPause()
    for (const entry of read) {
      plain.push({ ...entry, body: await decrypted(session, `entry:${entry.hash}`, entry.body) })
      await pause()
    }
    return plain
  }
  return {
    ...store,
    append: async (session, batch) => store.append(session, await sealedBatch(seal, batch)),
    read: async (session, range) => entries(session, await store.read(session, range)),
    readEntries: async (session, seqs) => entries(session, await store.readEntries(session, seqs)),
    payloads: async (session, hashes) => {
      const plain = new Map<string, string>()
      for (const [hash, sealed] of await store.payloads(session, hashes)) {
        const text = await decrypted(session, `payload:${hash}`, sealed)
        if (!isPayload(text, hash)) throw corruptStore(store.kind, session, `payload ${hash} is not what it was`)
        plain.set(hash, text)
      }
      return plain
    },
    putSummary: async (session, name, json) =>
      store.putSummary(session, name, await seal.close(`summary:${session}:${name}`, json)),
    getSummary: async (session, name) => {
      const sealed = await store.getSummary(session, name)
      return sealed === undefined ? undefined : decrypted(session, `summary:${session}:${name}`, sealed)
    },
    putAliases: (session, aliases) =>
      store.putAliases(
        session,
        aliases.map((alias) => ({ ...alias, name: seal.blind("alias", alias.name) })),
      ),
    findAliases: async (names) => {
      const asked = new Map(names.map((name) => [seal.blind("alias", name), name]))
      const found = await store.findAliases([...asked.keys()])
      return found.map((alias) => ({ ...alias, name: asked.get(alias.name) ?? "" }))
    },
    jobs: {
      ...store.jobs,
      put: async (job, now) => store.jobs.put(await withPayload(job, seal.close), now),
      lease: async (now, leaseMs) => {
        const job = await store.jobs.lease(now, leaseMs)
        return job === undefined ? undefined : plainJob(job)
      },
      list: async (session) => Promise.all((await store.jobs.list(session)).map(plainJob)),
    },
    memory: sealMemory(store.memory, seal, decrypted),
    ...(store.events === undefined ? {} : { events: sealEvents(store.events, seal) }),
  }
}

type Decrypt = (session: string, what: string, sealed: string) => Promise<string>

const withPayload = async <One extends Job>(job: One, turn: Seal["close"]): Promise<One> => ({
  ...job,
  payload: await turn(`job:${job.session}:${job.key}`, job.payload),
})

async function sealedBatch(seal: Seal, batch: Batch): Promise<Batch> {
  const pause = createPause()
  const entries: StoredEntry[] = []
  for (const entry of batch.entries) {
    entries.push({ ...entry, body: await seal.close(`entry:${entry.hash}`, entry.body) })
    await pause()
  }
  if (batch.payloads === undefined) return { ...batch, entries }
  const payloads = new Map<string, string>()
  for (const [hash, text] of batch.payloads) payloads.set(hash, await seal.close(`payload:${hash}`, text))
  return { ...batch, entries, payloads }
}

/** Rows that a search decrypts: the newest of each day, from the newest day on, until this number is reached. */
const searchedRows = 20_000
const rowsOfDay = 1_000

/**
 * Wraps a memory whose texts are encrypted. The store's index has no words, so a search decrypts the newest rows and searches them in this
 * process: the same words find the same rows, among fewer.
 */
function sealMemory(memory: MemoryStore, seal: Seal, opened: Decrypt): MemoryStore {
  const plain = (row: MemoryRow): Promise<MemoryRow> =>
    withTexts(row, (what, sealed) => opened(row.session, what, sealed))
  const newest = async (query: MemoryQuery): Promise<readonly MemoryRow[]> => {
    const { text: _, limit: _limit, ...filter } = query
    const { fromDay = "", toDay = "9999" } = query
    const rows: MemoryRow[] = []
    const pause = createPause()
    for (const { day } of await memory.days(query)) {
      if (day < fromDay || day > toDay) continue
      const found = await memory.search({ ...filter, fromDay: day, toDay: day, limit: rowsOfDay })
      for (const { row } of found) {
        rows.push(await plain(row))
        await pause()
      }
      if (rows.length >= searchedRows) break
    }
    return rows
  }
  return {
    ...memory,
    write: async (rows) => memory.write(await Promise.all(rows.map((row) => withTexts(row, seal.close)))),
    search: async (query) => searchAmong(await newest(query), query),
    get: async (owner, ids) => Promise.all((await memory.get(owner, ids)).map(plain)),
  }
}

/** Encrypts or decrypts the texts of a row, each bound to its purpose. */
async function withTexts(row: MemoryRow, turn: Seal["close"]): Promise<MemoryRow> {
  const { session, id, subject } = row
  const text = await turn(`memory:${session}:${id}`, row.text)
  return subject === undefined
    ? { ...row, text }
    : { ...row, text, subject: await turn(`subject:${session}:${id}`, subject) }
}

/** Events that cannot be decrypted are not from a gateway with this key, and are dropped. */
function sealEvents(events: SharedEvents, seal: Seal): SharedEvents {
  return {
    publish: (event) => {
      void seal.close(`event:${event.name}`, event.json).then((json) => events.publish({ ...event, json }))
    },
    follow: (listener, sinceMs) => {
      let last: Promise<void> = Promise.resolve()
      return events.follow((event) => {
        last = last.then(async () => {
          const json = await seal.open(`event:${event.name}`, event.json)
          if (json !== undefined) listener({ ...event, json })
        })
      }, sinceMs)
    },
  }
}
