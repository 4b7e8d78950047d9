import { decodeBase64, decodeHex } from "../language/encoding.ts"
import { maxRuns } from "./limits.ts"

const entityNames: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: " ",
  commat: "@",
  period: ".",
  sol: "/",
  bsol: "\\",
  colon: ":",
  semi: ";",
  lowbar: "_",
  hyphen: "-",
  dash: "-",
  dollar: "$",
  comma: ",",
  lpar: "(",
  rpar: ")",
  num: "#",
  percnt: "%",
  plus: "+",
  equals: "=",
  Tab: "\t",
  NewLine: "\n",
}

const codePoint = (code: number): string =>
  code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ""

const wholeEntity = /&(?:#(\d{1,8})|#x([\da-f]{1,7})|([a-z]{2,8}));/gi
/** Browsers forgive a missing semicolon; it counts only where no entity is whole, so that one written inside another is met first. */
const openEntity = /&(?:#(\d{1,8})|#x([\da-f]{1,7}))/gi

const decodeEntities = (text: string): string =>
  text.replace(text.search(wholeEntity) < 0 ? openEntity : wholeEntity, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return codePoint(Number.parseInt(decimal, 10))
    if (hex !== undefined) return codePoint(Number.parseInt(hex, 16))
    return typeof name === "string" ? (entityNames[name] ?? whole) : whole
  })

const decodePercents = (text: string): string =>
  text.replace(/(?:%[\da-f]{2})+/gi, (run) => decodeHex(run.replaceAll("%", "")))

const decodeEscapes = (text: string): string =>
  text
    .replace(/\\u\{([\da-f]{1,6})\}|\\u([\da-f]{4})|\\U([\da-f]{8})/gi, (_whole, braced, short, long) =>
      codePoint(Number.parseInt(braced ?? short ?? long, 16)),
    )
    .replace(/(?:\\x[\da-f]{2})+/gi, decodeHex)
    .replace(/\\([0-3][0-7]{2})/g, (_whole, octal) => codePoint(Number.parseInt(octal, 8)))

const decodeQuotedPrintable = (text: string): string =>
  text.replace(/=\r?\n/g, "").replace(/(?:=[\dA-F]{2})+/g, (run) => decodeHex(run.replaceAll("=", "")))

/** Each encoding in which single signs of a text may be written, with what gives it away. */
const spellings: readonly (readonly [hint: RegExp, decode: (text: string) => string])[] = [
  [/&(?:#|[a-z]{2,8};)/i, decodeEntities],
  [/%[\da-f]{2}/i, decodePercents],
  [/\\(?:u|x|[0-3][0-7]{2})/i, decodeEscapes],
  [/=(?:3D|40|2E|2F|20|\r?\n)/, decodeQuotedPrintable],
]

/** Text, not the bytes of a picture or of a key; UTF-16 shows as every other sign a zero. */
function readable(decoded: string): string | undefined {
  const text = decoded.includes("\0") ? decoded.replaceAll("\0", "") : decoded
  return text.length >= 6 && !/\ufffd|(?![\t\n\v\f\r])\p{Cc}/u.test(text) ? text : undefined
}

/** From where such signs begin: otherwise each sign of a short word would be tried as a beginning. */
const run = /(?<![A-Za-z\d+/_-])[A-Za-z\d+/_-]{12,}={0,2}/g
const wrapped = /^[A-Za-z\d+/_-]{16,}(?:\s+[A-Za-z\d+/_-]+)+={0,2}\s*$/
const hexRun = /^(?:0x)?(?:[\da-f]{2}){6,}$/i

export type Unfolded = { readonly texts: readonly string[]; readonly tooMany: boolean }

/** What a text says once one encoding of it is undone: as a whole for the spelling of single signs, run by run for base64 and hex. */
export function unfold(text: string): Unfolded {
  const spelled = spellings.reduce((before, [hint, decode]) => (hint.test(before) ? decode(before) : before), text)
  const texts = [spelled]
  const runs = new Set(text.match(run) ?? [])
  if (runs.size > 1 && wrapped.test(text)) runs.add(text.replace(/\s+/g, ""))
  for (const piece of runs) {
    if (texts.length > maxRuns) break
    const hex = hexRun.test(piece) ? readable(decodeHex(piece.replace(/^0x/i, ""))) : undefined
    if (hex !== undefined) texts.push(hex)
    // A word of small letters alone decodes to noise, and no encoder writes one.
    if (piece.length < 12 || /^[a-z_/-]+$/.test(piece)) continue
    const decoded = readable(decodeBase64(piece))
    if (decoded !== undefined) texts.push(decoded)
  }
  return { texts: texts.filter((found) => found !== text), tooMany: texts.length > maxRuns }
}
