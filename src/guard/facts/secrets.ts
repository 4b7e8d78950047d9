import type { Leaf } from "./leaf.ts"
import { runsIn, signSet } from "./words.ts"

/** Kinds of secrets that show by their shape; where a sign is named, a text without it has none of that kind. */
const shapes: readonly (readonly [kind: string, shape: RegExp, sign?: string])[] = [
  ["private-key", /-----BEGIN [A-Z ]{0,30}PRIVATE KEY/, "-----BEGIN"],
  ["aws-key", /\b(?:AKIA|ASIA|AROA|AIDA)[A-Z2-7]{16}\b/],
  ["github-token", /\b(?:gh[pousr]_[A-Za-z\d]{30,}|github_pat_\w{40,})/, "_"],
  ["gitlab-token", /\bglpat-[\w-]{20,}/, "glpat-"],
  ["slack-token", /\bxox[abeprs]-[\w-]{10,}/, "xox"],
  ["model-key", /\bsk-(?:ant-|proj-|or-)?[\w-]{20,}/, "sk-"],
  ["google-key", /\bAIza[\w-]{35}/, "AIza"],
  ["stripe-key", /\b[rs]k_(?:live|test)_[A-Za-z\d]{16,}/, "k_"],
  ["sendgrid-key", /\bSG\.[\w-]{16,}\.[\w-]{16,}/, "SG."],
  ["npm-token", /\bnpm_[A-Za-z\d]{30,}/, "npm_"],
  ["hub-token", /\bhf_[A-Za-z]{30,}/, "hf_"],
  ["json-web-token", /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/, "eyJ"],
  ["connection-string", /\b[a-z][a-z+]{2,20}:\/\/[^\s:/@]{1,100}:[^\s@/]{3,100}@/i, "://"],
  [
    "password",
    /(?<![A-Za-z])(?:password|passwd|pwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token|client[_-]?secret)["']?\s{0,3}(?:[:=]|is\s{0,3}:|is(?=\s{1,3}\S{0,40}\d))\s{0,3}["']?(?!\*|<|\$|\{|x{3}|\.{3}|null|none|true|false|undefined|process|os\.|env)(?![\w.?]+[[(])[^\s"',;]{6,}/i,
  ],
]

const pieces = /(["'`])\s{0,4}\+\s{0,4}["'`]/
/** A password that is told in a sentence: a word of letters and digits right behind the word for it. */
const spoken =
  /\b(?:password|passwort|passwd|pwd|passphrase|kennwort|mot de passe|contrase[nñ]a)[\s:]{1,3}["'`]?(?=\S*\d)(?=\S*[A-Z])(?=\S*[a-z])[^\s"'`,;]{8,}/

const secretKey =
  /(?:^|_)(?:password|passwd|pwd|passphrase|secret|token|api_?key|access_?key|private_?key|client_secret|credentials?|auth)(?:_|$)/

/** Bits of surprise in each sign of a word: random keys have more than four, names and paths fewer. */
function entropyOf(word: string): number {
  const counts = new Map<string, number>()
  for (const sign of word) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum - (count / word.length) * Math.log2(count / word.length), 0)
}

/** Words so long and so random that they are keys; a hash in small hexadecimal digits is more often a commit. */
const isRandom = (word: string): boolean =>
  /\d/.test(word) && /[A-Z]/.test(word) && /[a-z]/.test(word) && entropyOf(word) > 4.2 && !isOfWords(word)

/** Names and paths are put together of words, `Featured_log/November_2016`; a key has hardly any in it. */
function isOfWords(name: string): boolean {
  const letters = name.replace(/[^A-Za-z]/g, "").length
  const inWords = (name.match(/[A-Z]?[a-z]{3,}/g) ?? [])
    .filter((word) => /[aeiouy]/i.test(word))
    .reduce((sum, word) => sum + word.length, 0)
  return inWords > 0.6 * letters
}

const keySigns = signSet(/[\w+/=-]/)
/** A key is so long, and among so many long words one is found. */
const [minKey, maxKey, maxLongWords] = [32, 200, 200]

const longWordsIn = (text: string): readonly string[] =>
  runsIn(text, keySigns, minKey)
    .filter(({ start, end }) => end - start <= maxKey)
    .slice(0, maxLongWords)
    .map(({ start, end }) => text.slice(start, end))

function kindsIn({ text, keys, value }: Leaf): readonly string[] {
  if (text.length < 6 || typeof value !== "string") return []
  // A program may put a key together of pieces.
  const whole = pieces.test(text) ? text.replace(new RegExp(pieces, "g"), "") : text
  const kinds = shapes
    .filter(([, shape, sign]) => (sign === undefined || whole.includes(sign)) && shape.test(whole))
    .map(([kind]) => kind)
  if (spoken.test(whole)) kinds.push("password")
  const key = keys.at(-1) ?? ""
  if (secretKey.test(key) && !/\s/.test(text) && text.length >= 8 && entropyOf(text.slice(0, 200)) > 2.5)
    kinds.push("password")
  if (kinds.length === 0 && longWordsIn(text).some(isRandom)) kinds.push("random-key")
  return kinds
}

/** The kinds of secrets whose very values a call carries. */
export const secretKinds = (leaves: readonly Leaf[]): ReadonlySet<string> => new Set(leaves.flatMap(kindsIn))
