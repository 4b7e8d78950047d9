/** One line of a header block; of its name the case counts for nothing, and is kept. */
export type HeaderLine = readonly [name: string, value: string]

/** What concerns one connection alone: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "trailers",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
])

export const isHopByHop = (name: string): boolean =>
  hopByHop.has(name.toLowerCase()) || name.toLowerCase().startsWith("proxy-")

/** Ours, also as servers spell it that take an underscore for a hyphen. */
const isOurs = (name: string): boolean => /^x[-_]holdfast(?:[-_]|$)/i.test(name)

/** May it stand in a header block? Anything else could end the line and begin another. */
export const isSafeLine = ([name, value]: HeaderLine): boolean =>
  /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

/** A flat list of names and values as lines; bytes are read one to a character, as Node writes them. */
export function linesOf(raw: readonly (string | Buffer)[]): readonly HeaderLine[] {
  const lines: HeaderLine[] = []
  for (let n = 0; n + 1 < raw.length; n += 2) lines.push([textOf(raw[n] ?? ""), textOf(raw[n + 1] ?? "")])
  return lines
}

function textOf(piece: string | Buffer): string {
  if (typeof piece !== "string") return piece.toString("latin1")
  return /[^\0-\xff]/.test(piece) ? Buffer.from(piece, "utf8").toString("latin1") : piece
}

/** The lines that are meant for the other end: without those of the connection, those that it names, and our own. */
export function endToEnd(lines: readonly HeaderLine[]): readonly HeaderLine[] {
  const named = new Set(
    lines
      .filter(([name]) => name.toLowerCase() === "connection")
      .flatMap(([, value]) => value.toLowerCase().match(/[^\s,]+/g) ?? []),
  )
  return lines.filter((line) => {
    const [name] = line
    return !isHopByHop(name) && !named.has(name.toLowerCase()) && !isOurs(name) && isSafeLine(line)
  })
}
