import type { Summary } from "../compact/summary/summary.ts"
import { isObject, tryParse } from "../wire/json.ts"
import type { Live } from "./live.ts"
import { isStillWanted, type Speculation } from "./speculation.ts"

/** The summary that was begun for what is in force now, if one was. */
export async function currentSpeculation({ journal, at }: Live): Promise<Speculation | undefined> {
  const outline = journal.outline()
  const begun = outline.ofType("summary-begun").at(-1)
  const body = begun === undefined ? undefined : (await journal.entries([begun])).get(begun)?.body
  return body?.type === "summary-begun" && isStillWanted(outline, at, body) ? body : undefined
}

/** A summary as it was stored; nothing if it is not one. */
export function readSummary(json: string): Summary | undefined {
  const value = tryParse(json)
  return isSummary(value) ? value : undefined
}

function isSummary(value: unknown): value is Summary {
  return (
    isObject(value) &&
    typeof value.schema === "string" &&
    Array.isArray(value.sections) &&
    value.sections.every(isSection)
  )
}

const isSection = (section: unknown): boolean =>
  isObject(section) &&
  typeof section.name === "string" &&
  Array.isArray(section.lines) &&
  section.lines.every((line) => isObject(line) && typeof line.text === "string" && Array.isArray(line.sources))
