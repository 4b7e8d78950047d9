/** Limit on the values of a label: each value is a series in every scrape and on every server. */
export const maxLabelValues = 100
/** Limit on the length of a value; model and tool names are shorter. */
const maxLabelLength = 128

const otherValue = "other"

// Some parsers treat these as the end of the text or of a line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters on purpose
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

const clean = (text: string): string => text.slice(0, maxLabelLength).toWellFormed().replace(controls, "_")

/** The label value for a name. With `admitted` false, a new name gets `other`. */
export type LabelValues = (name: string, admitted?: boolean) => string

/** External names as label values: cleaned, shortened, and after the first hundred all `other`. */
export function createLabelValues(limit: number = maxLabelValues): LabelValues {
  const known = new Set<string>()
  return (name, admitted = true) => {
    if (name.length <= maxLabelLength && known.has(name)) return name
    const value = clean(name)
    if (known.has(value)) return value
    if (!admitted || known.size >= limit) return otherValue
    known.add(value)
    return value
  }
}
