import { HoldfastError } from "../message/errors.ts"

/** Far above any line of ours; a file without line ends must not be read into memory as one. */
const maxLineBytes = 256_000_000

const lineEnd = 0x0a

/** The lines of a text in UTF-8, one at a time. Only a line feed ends one: other line ends may stand in JSON. */
export async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let pieces: Uint8Array[] = []
  let bytes = 0
  let number = 1
  for await (const chunk of chunks) {
    let at = 0
    for (let end = chunk.indexOf(lineEnd); end >= 0; end = chunk.indexOf(lineEnd, at)) {
      yield decode([...pieces, chunk.subarray(at, end)], number)
      pieces = []
      bytes = 0
      number += 1
      at = end + 1
    }
    const rest = chunk.subarray(at)
    bytes += rest.length
    if (bytes > maxLineBytes) throw invalid(number, `a line of at most ${maxLineBytes} bytes`, "a longer one")
    if (rest.length > 0) pieces.push(rest)
  }
  if (pieces.length > 0) yield decode(pieces, number)
}

function decode(pieces: readonly Uint8Array[], number: number): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces))
  } catch {
    throw invalid(number, "text in UTF-8", "other bytes")
  }
}

const invalid = (line: number, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "file-invalid", line, expected, found })
