import { anyOf } from "../../language/word-lists.ts"
import { searches } from "./command-reach.ts"
import { isReader } from "./command-table.ts"
import { isSecretUrl } from "./hosts.ts"
import type { Leaf } from "./leaf.ts"
import type { PathFact } from "./paths.ts"
import words from "./secret-words.json" with { type: "json" }
import { anyWord, fold, runsIn, signSet } from "./words.ts"

/** Pattern between the name of a secret and its value. */
const assignment = `["']?\\s{0,3}(?:[:=]|is\\s{0,3}:|is(?=\\s{1,3}\\S{0,40}\\d))\\s{0,3}["']?`

/** Kinds of secrets with a pattern for each; a text without the `sign` cannot match. */
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
    new RegExp(
      `(?<![A-Za-z])${anyOf(words.namesOfSecrets)}${assignment}(?!${anyOf(words.noSecrets)})(?![\\w.?]+[[(])[^\\s"',;]{6,}`,
      "i",
    ),
  ],
]

const pieces = /(["'`])\s{0,4}\+\s{0,4}["'`]/
/** Matches a password in a sentence: a word of letters and digits right after the word for it. */
const passwordInSentence =
  /\b(?:password|passwort|passwd|pwd|passphrase|kennwort|mot de passe|contrase[nñ]a)[\s:]{1,3}["'`]?(?=\S*\d)(?=\S*[A-Z])(?=\S*[a-z])[^\s"'`,;]{8,}/

const secretKey =
  /(?:^|_)(?:password|passwd|pwd|passphrase|secret|token|api_?key|access_?key|private_?key|client_secret|credentials?|auth)(?:_|$)/

/** Entropy of a word in bits per character: random keys have more than four, names and paths fewer. */
function entropyOf(word: string): number {
  const counts = new Map<string, number>()
  for (const sign of word) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum - (count / word.length) * Math.log2(count / word.length), 0)
}

/** True for a word so random that it is a key; a hash in lower-case hexadecimal is more often a commit. */
const isRandom = (word: string): boolean =>
  /\d/.test(word) && /[A-Z]/.test(word) && /[a-z]/.test(word) && entropyOf(word) > 4.2 && !isOfWords(word)

/** True for a name or path made of words, such as `Featured_log/November_2016`; a key has hardly any in it. */
function isOfWords(name: string): boolean {
  const letters = name.replace(/[^A-Za-z]/g, "").length
  const inWords = (name.match(/[A-Z]?[a-z]{3,}/g) ?? [])
    .filter((word) => /[aeiouy]/i.test(word))
    .reduce((sum, word) => sum + word.length, 0)
  return inWords > 0.6 * letters
}

const keySigns = signSet(/[\w+/=-]/)
/** Minimum and maximum length of a key in characters, and maximum number of long words examined. */
const [minKey, maxKey, maxLongWords] = [32, 200, 200]

const longWordsIn = (text: string): readonly string[] =>
  runsIn(text, keySigns, minKey)
    .filter(({ start, end }) => end - start <= maxKey)
    .slice(0, maxLongWords)
    .map(({ start, end }) => text.slice(start, end))

function kindsIn({ text, field, value }: Leaf): readonly string[] {
  if (text.length < 6 || typeof value !== "string") return []
  // A program may concatenate a key.
  const whole = pieces.test(text) ? text.replace(new RegExp(pieces, "g"), "") : text
  const kinds = shapes
    .filter(([, shape, sign]) => (sign === undefined || whole.includes(sign)) && shape.test(whole))
    .map(([kind]) => kind)
  if (passwordInSentence.test(whole)) kinds.push("password")
  if (secretKey.test(field) && !/\s/.test(text) && text.length >= 8 && entropyOf(text.slice(0, 200)) > 2.5)
    kinds.push("password")
  if (kinds.length === 0 && longWordsIn(text).some(isRandom)) kinds.push("random-key")
  return kinds
}

/** Kinds of secrets whose values a call contains. */
export const secretKinds = (leaves: readonly Leaf[]): ReadonlySet<string> => new Set(leaves.flatMap(kindsIn))

const storeWays = anyOf(
  words.readsOfStores,
  "kubectl (?=.*(?:\\s-o[ =]?(?!name\\b)\\S|--output[ =](?!name\\b)|--template))(?:\\S+ )*get (?:\\S+,)?secrets?\\b",
  `${anyOf(words.hosters)} (?:\\S+ )?(?:env|variables|vars)(?:[: ](?:pull|get|list|ls|download|export))?(?: |$)`,
  `(?!(?:kubectl|oc) )(?:\\S+ ){1,4}${anyOf(words.showing)}[- ](?:\\S+[- ])?${anyOf(words.secretNouns)}(?: |$)`,
)
/** Matches commands that print the content of a store of secrets. */
const secretStores = new RegExp(`^${storeWays}`)
/**
 * True for a sub-command named after a secret: it shows or creates one, whatever the program. Scripts of a project have names of their own.
 */
const showsSecret = (name: string, words: readonly string[]): boolean => {
  if (/^docker-credential-/.test(name)) return true
  if (/^(?:get|read|show|export|reveal|fetch|unprotect|find)-\w*(?:secret|credential|password|vaultkey)/.test(name))
    return true
  if (searches.test(name) || isReader(name)) return false
  const verbs = words.filter((word) => !word.startsWith("-")).slice(0, 2)
  if (/^(?:run|exec|test|build|add|install|x|dlx|start)$/.test(verbs[0] ?? "")) return false
  return verbs.some((word) =>
    /^(?:(?:\w+:)?(?:token|tokens|password|passwords|credentials?)|login:ci)$/.test(fold(word)),
  )
}
/** Path fact that stands for a store of secrets that is not a file. */
export const secretStore: PathFact = { path: "secret-store", access: "read", secret: true, glob: false }

/** True if a command prints the content of a store of secrets. Options may stand before the sub-command: `terraform -chdir=x output`. */
export function opensSecret(name: string, words: readonly string[], line: string): boolean {
  const direct = [
    line,
    line.replace(/^(\S+)(?: --?[\w-]+(?:=\S*)?)+(?= )/, "$1"),
    line.replace(/^(\S+)(?: --?[\w-]+(?:=\S*| (?!-)\S+))+(?= )/, "$1"),
  ]
  // Columns of a list that show only names and dates.
  if (/^(?:kubectl|oc) .*-o[ =]?(?:custom-columns|jsonpath)/.test(line) && !/(?<!meta)data\b/.test(line)) return false
  return anyWord(direct, secretStores) || showsSecret(name, words) || words.some(isSecretUrl)
}

const secretVariable =
  /\$\{?(?!\w*(?:public|_file|_path|_name|_id\b))\w*(?:api_?key|secret|token|passw(?:or)?d|credential|private_?key)\w*\b/i

/** True if a variable for a secret is printed, and not piped to a program or written to a file. */
export const printsSecret = (text: string): boolean =>
  text
    .slice(0, 100_000)
    .split(/[;&\n]+/)
    .some(
      (piece) =>
        /(?:^|[\s("'])(?:echo|printf|print)\s/.test(piece) && !/[|>]/.test(piece) && secretVariable.test(piece),
    )
