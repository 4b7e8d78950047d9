import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { noHead, wholeRange } from "./batch.ts"
import { unpackText } from "./packed-text.ts"
import { isPayload } from "./payload-hash.ts"
import type { Database } from "./postgres-database.ts"
import type { Row } from "./postgres-persist.ts"
import { numberIn, numberOrNoneIn, textIn, textOrNoneIn } from "./postgres-row.ts"
import { toStorable } from "./storable-text.ts"
import type { OutlineEntry, Range, SessionId, Store, StoredEntry } from "./store.ts"

/** Entry numbers are PostgreSQL integers: nothing stands beyond. */
const largestSeq = 2_147_483_647

const shape = "seq, hash, type, at_ms, parent, key"

/** What is read of a log. */
export function createLogReader(
  database: Database,
  schema: string,
): Pick<Store, "head" | "read" | "readEntries" | "outline" | "payloads"> {
  const inRange = (columns: string): string =>
    `select ${columns} from ${schema}.entry where session = $1 and seq >= $2 and seq <= $3 order by seq limit $4`
  const ask = (name: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> =>
    database.call(async (ask) => (await ask({ name, text, values })).rows)

  return {
    head: async (session) => {
      const text = `select head_seq, head_hash from ${schema}.session where id = $1`
      const [row] = await ask("head", text, [toStorable(session)])
      return row === undefined ? noHead : { seq: numberIn(row, "head_seq"), hash: textIn(row, "head_hash") }
    },
    read: async (session, range) => {
      const rows = await ask("read", inRange(`${shape}, body`), [toStorable(session), ...limitsOf(range)])
      return rows.map(entryIn)
    },
    outline: async (session, range) => {
      const rows = await ask("outline", inRange(shape), [toStorable(session), ...limitsOf(range)])
      return rows.map(outlineIn)
    },
    readEntries: async (session, seqs) => {
      const wanted = [...new Set(seqs)].filter((seq) => Number.isInteger(seq) && seq > 0 && seq <= largestSeq)
      const text = `select ${shape}, body from ${schema}.entry where session = $1 and seq = any($2::integer[]) order by seq`
      return (await ask("read-entries", text, [toStorable(session), wanted])).map(entryIn)
    },
    payloads: async (session, hashes) => {
      const text = `select hash, packed, data from ${schema}.payload where session = $1 and hash = any($2::text[])`
      const rows = await ask("payloads", text, [toStorable(session), [...new Set(hashes.map(toStorable))]])
      return textsOf(session, hashes, rows)
    },
  }
}

/** Whole numbers that PostgreSQL takes, however the range was given. */
function limitsOf(range: Range | undefined): readonly number[] {
  const { from, to, limit } = wholeRange(range)
  const within = (value: number): number => Math.trunc(Math.max(0, Math.min(value, largestSeq)))
  return [within(from), within(to), within(limit)]
}

function outlineIn(row: Row): OutlineEntry {
  return {
    seq: numberIn(row, "seq"),
    hash: textIn(row, "hash"),
    type: textIn(row, "type"),
    atMs: numberIn(row, "at_ms"),
    ...present({ parent: numberOrNoneIn(row, "parent"), key: textOrNoneIn(row, "key") }),
  }
}

function entryIn(row: Row): StoredEntry {
  return { ...outlineIn(row), body: textIn(row, "body") }
}

async function textsOf(
  session: SessionId,
  hashes: readonly string[],
  rows: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map(rows.map((row) => [textIn(row, "hash"), row]))
  const texts = new Map<string, string>()
  for (const hash of hashes) {
    const row = found.get(hash)
    if (row === undefined) throw corrupt(session, `payload ${hash} is missing`)
    const text = await payloadIn(row)
    if (text === undefined || !isPayload(text, hash)) throw corrupt(session, `payload ${hash} is not what it was`)
    texts.set(hash, text)
  }
  return texts
}

/** `undefined` if its bytes are damaged. */
async function payloadIn({ packed, data }: Row): Promise<string | undefined> {
  if (!(data instanceof Uint8Array)) return undefined
  if (packed === true) return unpackText(data).catch(() => undefined)
  return unpackText(Buffer.from(data).toString("utf8"))
}

function corrupt(session: SessionId, reason: string): HoldfastError {
  return new HoldfastError({ code: "store-corrupt", store: "postgres", session, reason })
}
