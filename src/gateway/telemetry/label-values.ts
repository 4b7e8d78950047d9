/** So many values of one label are told apart: each is a series that every scrape carries and every server keeps. */
export const maxLabelValues = 100
/** No model and no tool of any provider has a longer name. */
const maxLabelLength = 128

const otherValue = "other"

// Readers of the format take some of these for the end of the text or of a line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

const clean = (text: string): string => text.slice(0, maxLabelLength).toWellFormed().replace(controls, "_")

/** The value for a name. One that may not be `admitted` is told apart only if it is known already. */
export type LabelValues = (name: string, admitted?: boolean) => string

/** Names that come from outside, as values of a label: clean, short, and after the first hundred all the same. */
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
