const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/** The value of each character of the alphabet, 255 for any other. */
const sextets: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code)
  const value = sign === "-" ? 62 : sign === "_" ? 63 : alphabet.indexOf(sign)
  return value < 0 ? 255 : value
})

const nibbles: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(value) ? 255 : value
})

/** Decodes bytes as UTF-8; invalid ones become the replacement character, which no readable text has. */
function textOfBytes(bytes: readonly number[]): string {
  const characters: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0
    if (lead < 0x80) {
      characters.push(String.fromCharCode(lead))
      at++
      continue
    }
    const more = lead < 0x80 ? 0 : lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : -1
    const tail = bytes.slice(at + 1, at + 1 + Math.max(0, more))
    const whole = more >= 0 && tail.length === more && tail.every((byte) => (byte & 0xc0) === 0x80)
    const code = tail.reduce((sum, byte) => (sum << 6) | (byte & 0x3f), more <= 0 ? lead : lead & (0x3f >> more))
    characters.push(whole && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd")
    at += whole ? more + 1 : 1
  }
  return characters.join("")
}

/** ASCII characters that occur in prose or in another encoded blob. */
const proseCharacters: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Number(/[\w+/= \n.,!?:;'"-]/.test(String.fromCharCode(code))),
)
/** Maximum share of other bytes in readable text. */
const maxOtherShare = 0.15

/** Buffer for the decoded bytes, reused. */
let buffer = new Uint8Array(256)

/**
 * True if a run of base64 or hex digits certainly holds no text, without decoding it to a string. Names and paths in code look like base64,
 * and most of them are ruled out here. Bytes beyond ASCII count as text if they form a character.
 */
export function isNoise(blob: string, isHex: boolean): boolean {
  const [values, width] = isHex ? [nibbles, 4] : [sextets, 6]
  if (buffer.length < blob.length) buffer = new Uint8Array(2 * blob.length)
  let [held, bits, bytes] = [0, 0, 0]
  for (let at = 0; at < blob.length; at++) {
    const value = values[blob.charCodeAt(at)] ?? 255
    if (value === 255) continue
    held = ((held << width) | value) & 0xffff
    bits += width
    if (bits < 8) continue
    bits -= 8
    buffer[bytes++] = (held >> bits) & 0xff
  }
  let odd = 0
  for (let at = 0; at < bytes; ) {
    const length = characterLength(buffer, bytes, at)
    if (length === 0 || (length === 1 && proseCharacters[buffer[at] ?? 0] === 0)) odd++
    at += Math.max(1, length)
  }
  return odd > bytes * maxOtherShare + 1e-9
}

/** Returns the length in bytes of the UTF-8 character at an offset, or 0 if there is none. */
function characterLength(bytes: Uint8Array, count: number, at: number): number {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return 1
  const more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : -1
  if (more < 0 || at + more >= count) return 0
  for (let next = 1; next <= more; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0
  return more + 1
}

export function decodeBase64(blob: string): string {
  const bytes: number[] = []
  let held = 0
  let bits = 0
  for (let at = 0; at < blob.length; at++) {
    const value = sextets[blob.charCodeAt(at)] ?? 255
    if (value === 255) continue
    held = ((held << 6) | value) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes.push((held >> bits) & 0xff)
    }
  }
  return textOfBytes(bytes)
}

export function decodeHex(blob: string): string {
  const pairs = blob.replace(/\\x|[^\da-f]/gi, "").match(/../g) ?? []
  return textOfBytes(pairs.map((pair) => Number.parseInt(pair, 16)))
}

/** Decodes a URL; each value of a query is put on its own line, as the server reads it. */
export function decodeUrl(blob: string): string {
  return blob
    .replaceAll("+", " ")
    .replace(/[?&=]/g, "\n")
    .replace(/(?:%[\da-f]{2})+/gi, (run) =>
      textOfBytes((run.match(/[\da-f]{2}/gi) ?? []).map((pair) => Number.parseInt(pair, 16))),
    )
}

/** Decodes ROT13, which shifts each letter by thirteen. */
export const rotate = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= "Z" ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base)
  })

/** Decodes percent-escapes; returns the text unchanged if that fails. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
