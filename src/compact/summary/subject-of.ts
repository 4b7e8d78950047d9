/** What a line is about, so that a later line about the same takes its place: the code it opens with, or else all of it. */
export function subjectOf(text: string): string {
  const end = text.startsWith("`") ? text.indexOf("`", 1) : -1
  return end < 0 ? text.toLowerCase() : text.slice(0, end + 1)
}

/** Does the line open with a command, a call or a file? */
export const isNamed = (text: string): boolean => text.startsWith("`") && text.indexOf("`", 1) > 0
