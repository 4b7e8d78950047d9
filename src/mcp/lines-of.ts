const lineBreak = 0x0a

/** Lines of a stream of bytes, without blank ones. One that is longer than `maxBytes` is `undefined`, and is never held. */
export async function* linesOf(input: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string | undefined> {
  let pieces: Uint8Array[] = []
  let length = 0
  const add = (piece: Uint8Array): void => {
    length += piece.length
    if (length > maxBytes) pieces = []
    else pieces.push(piece)
  }
  const take = (): string | undefined => {
    const line = length > maxBytes ? undefined : Buffer.concat(pieces).toString("utf8").trim()
    pieces = []
    length = 0
    return line
  }
  for await (const chunk of input) {
    let start = 0
    for (let end = chunk.indexOf(lineBreak); end >= 0; end = chunk.indexOf(lineBreak, start)) {
      add(chunk.subarray(start, end))
      start = end + 1
      const line = take()
      if (line !== "") yield line
    }
    add(chunk.subarray(start))
  }
  const last = take()
  if (last !== "") yield last
}
