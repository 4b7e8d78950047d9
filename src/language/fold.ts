/** Letters of other scripts that look like Latin ones, paired: a look-alike, then what it passes for. */
const lookAlikes =
  "аaвbсcԁdеeєeһhіiїiјjкkӏlмmнhоoрpԛqгrѕsтtуyѵvԝwхxүyпnԍgαaβbεeηnιiκkνvοoρpσoτtυuχxγyωwμuϲcϳjհhոnսuօoցgքpտsաwɡgɩiılʟlɑaɪiɴnʀrꜱsᴏoᴄcᴅdᴇeᴋkᴍmᴘpᴛtᴜuᴠvᴡwᴢzøođdłlħhŧtƒf"

const latinOf: ReadonlyMap<string, string> = new Map(
  [...lookAlikes].flatMap((sign, at, all) => (at % 2 === 0 ? [[sign, all[at + 1] ?? sign] as const] : [])),
)

/** Cyrillic letters that no Russian word has: in a Latin text they are there to deceive. */
const telltale = /[іїјѕԁԛԝһӏѵүԍє]/

/** The Latin word that a mixed-script or deceiving word passes for. */
export const foldWord = (word: string): string => [...word].map((sign) => latinOf.get(sign) ?? sign).join("")

export const deceives = (word: string): boolean => /[a-z]/.test(word) || telltale.test(word)

const invisible = /^[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u3164\uffa0\u2800]$/u

/** One character as matching sees it: lower case, no accent, no decoration, nothing invisible; tag characters show their letter. */
export function foldCharacter(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  if (code >= 0xe0020 && code <= 0xe007e) return String.fromCodePoint(code - 0xe0000).toLowerCase()
  if (invisible.test(sign) || code >= 0xe0000) return ""
  // Squared, circled-negative and regional letters have no compatibility form in Unicode.
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return String.fromCodePoint(code - 0x1f1e6 + 97)
  if (code >= 0x1f130 && code <= 0x1f189) return String.fromCodePoint(((code - 0x1f130) % 32) + 97)
  if (code >= 0x2018 && code <= 0x201b) return "'"
  if (code >= 0x201c && code <= 0x201f) return '"'
  return sign
    .normalize("NFKD")
    .replace(/[\p{Mn}\p{Cf}]/gu, "")
    .toLowerCase()
}
