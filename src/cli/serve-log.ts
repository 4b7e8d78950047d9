import type { ExchangeRecord } from "../gateway/exchange-record.ts"
import type { OperatorEvent } from "../guard/operator/hub.ts"
import type { SessionEvent } from "../session/events.ts"
import { logLevels } from "./config/config-schema.ts"
import type { LogFormat, LogLevel } from "./config/resolved-config.ts"
import { escapeActing } from "./printable.ts"
import { type Entry, faultEntry, missedEntry, operatorEntry, recordEntry, sessionEntry } from "./serve-log-entries.ts"

/** Where a running gateway tells what it does. No secret, header, query or word of a conversation is ever in it. */
export type LogSink = {
  readonly record: (record: ExchangeRecord) => void
  readonly fault: (error: unknown) => void
  readonly sessionEvent: (event: SessionEvent) => void
  readonly operatorEvent: (event: OperatorEvent) => void
}

export type LogOptions = {
  readonly level: LogLevel
  readonly format: LogFormat
  readonly write: (text: string) => Promise<void>
  readonly now: () => number
  /** Hides secrets that should not be in any line in the first place. */
  readonly mask: (text: string) => string
}

/** Lines that wait for a slow reader; more are counted and left out, so that nobody's terminal can fill our memory. */
const maxWaiting = 1000

export function createLog({ level, format, write, now, mask }: LogOptions): LogSink {
  const most = logLevels.indexOf(level)
  let [waiting, left] = [0, 0]
  const out = (text: string): void => {
    waiting += 1
    const done = (): void => {
      waiting -= 1
    }
    write(text).then(done, done)
  }
  const tell = (entry: Entry): void => {
    if (logLevels.indexOf(entry.level) > most) return
    if (waiting >= maxWaiting) {
      left += 1
      return
    }
    const missed = left
    left = 0
    if (missed > 0) out(lineOf(missedEntry(missed, entry.atMs), format, mask))
    out(lineOf(entry, format, mask))
  }
  return {
    record: (record) => tell(recordEntry(record)),
    fault: (error) => tell(faultEntry(error, now())),
    sessionEvent: (event) => {
      const entry = sessionEntry(event)
      if (entry !== undefined) tell(entry)
    },
    operatorEvent: (event) => tell(operatorEntry(event)),
  }
}

function lineOf(
  { atMs, level, event, words, fields }: Entry,
  format: LogFormat,
  mask: (text: string) => string,
): string {
  const time = new Date(atMs).toISOString()
  if (format === "json") {
    const masked = (_name: string, value: unknown): unknown => (typeof value === "string" ? mask(value) : value)
    return `${escapeActing(JSON.stringify({ time, level, event, ...fields }, masked))}\n`
  }
  return mask(
    `${time.slice(11, 19)} ${level === "info" ? "" : `${level}: `}${words.filter((word) => word !== "").join("  ")}\n`,
  )
}
