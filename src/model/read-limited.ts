/** Reads the body of a response as text; undefined if it is larger than the limit, beyond which nothing is read. */
export async function readLimited(response: Response, limitBytes: number): Promise<string | undefined> {
  const announced = Number(response.headers.get("content-length") ?? 0)
  if (announced > limitBytes) {
    await response.body?.cancel()
    return undefined
  }
  if (response.body === null) return ""
  const decoder = new TextDecoder()
  const pieces: string[] = []
  let length = 0
  // Leaving the loop cancels the stream, and with it the connection.
  for await (const chunk of response.body) {
    length += chunk.byteLength
    if (length > limitBytes) return undefined
    pieces.push(decoder.decode(chunk, { stream: true }))
  }
  pieces.push(decoder.decode())
  return pieces.join("")
}
