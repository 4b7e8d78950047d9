const plain = /^(?!@)[\p{L}\p{N}_@./:+#$€£¥₹%~\\=&?-]*[\p{L}\p{N}_@./+#$€£¥₹%~\\=&?-]$/u

/** Can the value stand among our signs as it is, and be told from them again? */
export const isPlain = (value: string): boolean => plain.test(value)

/** A value to the letter: as it is if nothing in it could be read as ours, otherwise between backticks, more of them than stand in a row inside. */
export function quoteValue(value: string): string {
  if (isPlain(value)) return value
  const longest = Math.max(0, ...[...value.matchAll(/`+/g)].map(([run]) => run.length))
  const mark = "`".repeat(longest + 1)
  return longest > 0 ? `${mark} ${value} ${mark}` : `${mark}${value}${mark}`
}
