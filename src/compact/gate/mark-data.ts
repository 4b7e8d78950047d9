/** Stands for each space in marked data, before each line, and behind each ideographic stop. */
export const dataMark = "^"

const stops = "。！？，、；："

/**
 * Datamarking: the mark runs through the whole text, so that a model can tell at every word that it reads data and not a request.
 * A space becomes the mark, a line starts with it, and an ideographic stop is followed by it; values without spaces stay as they are.
 * A caret of the text gets a backslash, and backslashes right before a mark or caret are doubled. `unmarkData` gives the text back.
 */
export function markData(text: string): string {
  const marked = text.replace(/\\+[ ^]?|[ ^]|[\n。！？，、；：]/g, (match) => {
    if (match === " ") return dataMark
    if (match === "^") return "\\^"
    if (match === "\n" || stops.includes(match)) return `${match}${dataMark}`
    if (match.endsWith(" ")) return `${"\\".repeat(2 * (match.length - 1))}${dataMark}`
    if (match.endsWith("^")) return `${"\\".repeat(2 * (match.length - 1) + 1)}^`
    return match
  })
  return `${dataMark}${marked}`
}

/** The text that was marked, to the letter. */
export function unmarkData(marked: string): string {
  return marked.slice(dataMark.length).replace(/\\+\^?|\^|[\n。！？，、；：]\^?/g, (match) => {
    if (match === "^") return " "
    if (!match.startsWith("\\")) return match.charAt(0)
    if (!match.endsWith("^")) return match
    const slashes = match.length - 1
    return `${"\\".repeat(slashes >> 1)}${slashes % 2 === 0 ? " " : "^"}`
  })
}
