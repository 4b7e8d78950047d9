/** A text as a literal of Cedar. */
export const cedarString = (text: string): string =>
  `"${text
    .toWellFormed()
    .replace(/[\\"]/g, "\\$&")
    .replace(/\p{Cc}/gu, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`)}"`

/** A text inside a pattern of `like`, where a star would mean anything. */
export const cedarPattern = (text: string): string => cedarString(text).slice(1, -1).replaceAll("*", "\\*")

export const cedarSet = (texts: readonly string[]): string => `[${texts.map(cedarString).join(", ")}]`

/** The line in which a byte of a text stands. */
export function lineAt(text: string, byte: number): number {
  let bytes = 0
  let line = 1
  for (const sign of text) {
    if (bytes >= byte) break
    const code = sign.codePointAt(0) ?? 0
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (sign === "\n") line++
  }
  return line
}
