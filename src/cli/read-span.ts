import { readMoment } from "../guard/operator/rule-file.ts"
import { HoldfastError } from "../message/errors.ts"

const hourMs = 3_600_000
const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: hourMs, d: 24 * hourMs, w: 7 * 24 * hourMs }

/** The moment that is meant by `7d` from now on, or by a date. */
export function readSpan(option: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const [, digits = "", unit = ""] = /^(\d{1,5})([mhdw])$/.exec(text) ?? []
  const ms = Number(digits) * (unitMs[unit] ?? 0)
  const atMs = ms > 0 ? nowMs + ms : readMoment(text)
  if (atMs !== undefined) return atMs
  const expected = "a time such as 30m, 12h, 7d or 8w, or a date such as 2027-01-31"
  throw new HoldfastError({ code: "option-invalid", option, expected, found: JSON.stringify(text.slice(0, 40)) })
}
