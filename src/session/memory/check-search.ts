import { refuseValue } from "../../message/errors.ts"
import { checkName } from "../../message/option-names.ts"
import type { MemoryOwner, MemoryQuery } from "../../store/store.ts"

/** A memory search; its owner is fixed by the memory. */
export type MemorySearch = Omit<MemoryQuery, keyof MemoryOwner>

/** Limit on the rows of one search, also in the store. */
export const maxHits = 1_000

/** A search has a few words; a whole page is refused. */
const maxQuestionLength = 1_000

/** Refuse an invalid calendar day. */
export function checkDay(option: string, day: unknown): void {
  const isDay = typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day)
  const time = isDay ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day)
    refuseValue(option, "a day such as 2026-11-15", day)
}

/** Refuse a time outside the years 0 to 9999. */
export function checkMoment(atMs: number): void {
  if (!Number.isFinite(atMs) || Number.isNaN(new Date(atMs).getTime()) || dayYear(atMs) < 0 || dayYear(atMs) > 9999)
    refuseValue("now", "a function that returns milliseconds since 1970", atMs)
}

const dayYear = (atMs: number): number => new Date(atMs).getUTCFullYear()

/** Refuse an invalid search, before the store is asked. */
export function checkSearch(search: MemorySearch): void {
  const { text, session, kind, fromDay, toDay, limit } = search
  if (text !== undefined && (typeof text !== "string" || text.length > maxQuestionLength))
    refuseValue("text", `text of at most ${maxQuestionLength} characters`, text)
  if (session !== undefined) checkName("session", session)
  if (kind !== undefined) checkName("kind", kind)
  if (fromDay !== undefined) checkDay("fromDay", fromDay)
  if (toDay !== undefined) checkDay("toDay", toDay)
  if (fromDay !== undefined && toDay !== undefined && fromDay > toDay)
    refuseValue("toDay", `${fromDay} or later`, toDay)
  for (const name of ["trustedOnly", "withSuperseded"] as const)
    if (search[name] !== undefined && typeof search[name] !== "boolean")
      refuseValue(name, "true or false", search[name])
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1 && limit <= maxHits))
    refuseValue("limit", `a whole number from 1 to ${maxHits}`, limit)
}
