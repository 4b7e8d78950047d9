import { statSync } from "node:fs"
import { join } from "node:path"
import { deflateRawSync } from "node:zlib"
import { openSqliteStore } from "../src/store/sqlite-store.ts"
import { countO200k } from "../src/tokens/counter.ts"
import { countMessages } from "./chat.ts"
import { openAgent } from "./session-agent.ts"
import { makeSession, sessionSizes } from "./sessions.ts"

/** Disk space of a log of about a million tokens, per million tokens, compared with the messages as plain JSON. */
export type SizeMeasured = {
  readonly tokens: number
  readonly messages: number
  readonly jsonMbPerMillion: number
  readonly fileMbPerMillion: number
  /** All of the JSON deflated at once, at the level that the store uses: the difference is what storing each message separately costs. */
  readonly deflatedMbPerMillion: number
}

const page = 50

export async function measureSize(folder: string): Promise<SizeMeasured> {
  console.error("  session: size on disk")
  const size = sessionSizes.find(({ name }) => name === "1M tokens")
  const messages = size === undefined ? [] : makeSession(size, 7).slice(1)
  const path = join(folder, "size.db")
  const store = await openSqliteStore({ path })
  const session = openAgent(store).session("size")
  for (let at = 0; at < messages.length; at += page) await session.append(messages.slice(at, at + page))
  // Closing merges the write-ahead log into the file.
  await store.close()
  const json = JSON.stringify(messages)
  const tokens = countMessages(messages, countO200k)
  const perMillion = (bytes: number): number => bytes / 1e6 / (tokens / 1e6)
  return {
    tokens,
    messages: messages.length,
    jsonMbPerMillion: perMillion(Buffer.byteLength(json)),
    fileMbPerMillion: perMillion(statSync(path).size),
    deflatedMbPerMillion: perMillion(deflateRawSync(json, { level: 1 }).length),
  }
}
