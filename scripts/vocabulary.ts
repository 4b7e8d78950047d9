import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import ranks from "gpt-tokenizer/bpeRanks/o200k_base"

/**
 * Writes `src/tokens/generated/o200k.ts` from the public o200k ranks. A token's bytes are never stored: each token is the concatenation of
 * exactly one pair of earlier tokens, so two numbers define it. Same input, same file.
 */
const target = fileURLToPath(new URL("../src/tokens/generated/o200k.ts", import.meta.url))
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const singles = 256

type Token = string | readonly number[]

/** Returns a token's bytes, one per character. */
const bytesOf = (token: Token): string =>
  Buffer.from(typeof token === "string" ? Buffer.from(token, "utf8") : Uint8Array.from(token)).toString("latin1")

const tokens = ranks.map(bytesOf)
const rankOf = new Map(tokens.map((bytes, rank) => [bytes, rank]))

/** Returns the last pair that byte-pair merging joins to get the whole token. */
function lastPair(rank: number): readonly [left: number, right: number] {
  const parts = Array.from(tokens[rank] ?? "")
  while (parts.length > 2) {
    let best = Number.POSITIVE_INFINITY
    let place = -1
    for (let index = 0; index + 1 < parts.length; index++) {
      const found = rankOf.get(`${parts[index]}${parts[index + 1]}`) ?? Number.POSITIVE_INFINITY
      if (found < best) {
        best = found
        place = index
      }
    }
    if (place < 0) throw new Error(`token ${rank} cannot be reached by merging`)
    parts.splice(place, 2, `${parts[place]}${parts[place + 1]}`)
  }
  const [left = "", right = ""] = parts
  const pair: readonly [number, number] = [rankOf.get(left) ?? -1, rankOf.get(right) ?? -1]
  if (Math.min(...pair) < 0 || Math.max(...pair) >= rank) throw new Error(`token ${rank} does not rest on earlier ones`)
  return pair
}

/** Three base64 characters, 18 bits: enough for every rank. */
const digits = (rank: number): string =>
  `${alphabet[rank >> 12] ?? ""}${alphabet[(rank >> 6) & 63] ?? ""}${alphabet[rank & 63] ?? ""}`

function render(): string {
  if (tokens.length > 1 << 18) throw new Error("a rank no longer fits 18 bits")
  const bytes = tokens.slice(0, singles)
  if (bytes.some((token) => token.length !== 1)) throw new Error("the first 256 tokens are not the single bytes")
  const pairs = tokens.slice(singles).map((_token, index) =>
    lastPair(singles + index)
      .map(digits)
      .join(""),
  )
  return [
    "// Written by scripts/vocabulary.ts; do not edit.",
    `export const singleBytes: string = "${Buffer.from(bytes.join(""), "latin1").toString("hex")}"`,
    `export const mergePairs: string =\n  "${pairs.join("")}"`,
    "",
  ].join("\n")
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

const text = render()
if (readIfThere(target) !== text) {
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
}
console.error(`o200k vocabulary: ${tokens.length} tokens, ${(text.length / 1e6).toFixed(2)} MB`)
