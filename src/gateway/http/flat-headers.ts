import type { IncomingHttpHeaders } from "node:http"

/** Headers by lower-case name, each one text. */
export function flatOf(headers: IncomingHttpHeaders): Readonly<Record<string, string | undefined>> {
  const flat: Record<string, string | undefined> = {}
  for (const [name, value] of Object.entries(headers)) flat[name] = Array.isArray(value) ? value.join(", ") : value
  return flat
}

/** A list of names and values in turn, without those of some names. */
export function bare(list: readonly string[], names: readonly string[]): string[] {
  const kept: string[] = []
  for (let n = 0; n + 1 < list.length; n += 2) {
    const [name = "", value = ""] = [list[n], list[n + 1]]
    if (!names.includes(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}
