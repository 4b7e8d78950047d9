import type { FactKind } from "./fact.ts"

const extensions =
  "c|cc|cpp|cs|css|csv|doc|docx|env|gif|go|gz|h|hpp|html|ini|ipynb|java|jpe?g|jsx?|json|jsonl|kts?|less|lock|log|lua|md|mdx|mjs|cjs|m?tsx?|pdf|php|pl|png|pptx?|proto|ps1|py|pyi|rb|rs|rst|scala|scss|sh|sql|svelte|svg|swift|tar|tex|toml|txt|vue|wasm|xlsx?|xml|ya?ml|zig|zip|cfg|conf|patch|diff|bat|gradle|tf|ex|exs|erl|hs|ml|pony|dart|r|jl"

const currencies = "USD|EUR|GBP|JPY|CNY|RMB|CHF|INR|RUB|KRW|BRL|CAD|AUD|元|円|원|руб|₽|€|£|¥|₹|\\$"
const units = "%|[kMGT]i?B|KB|bytes?|ms|kg|km|mi|lbs?|kWh|MHz|GHz|°C|°F"

/** Letters of scripts that put blanks between words; in the others a run of letters is a sentence. */
const spaced = "\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Greek}"

/** One row for each kind, tried in order on a single word; a word is short, so no row can take long. */
const rows: readonly (readonly [FactKind, RegExp])[] = [
  ["url", /^[a-z][a-z0-9+.-]{1,15}:\/\/[^\s]+$/iu],
  ["date", /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/],
  ["date", /^(?:\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2}\/\d{1,2}\/\d{2}|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]?)$/u],
  ["id", /^(?:\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:\/\d+)?|\+?\d{2,5}(?:-\d{2,5}){2,4})$/],
  ["version", /^(?:[\w.@/-]+(?:@|==|>=|~=))?v?\d+\.\d+(?:\.\d+)+(?:[-+][\w.]+)?$/],
  ["version", /^[\w./-]+(?:@|==|>=|~=)v?\d[\w.]*$/],
  ["email", /^[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u],
  ["hash", /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|0x[0-9a-f]{6,}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,})$/i],
  ["time", /^\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[ap]m|Z|[+-]\d{1,2}(?::?\d{2})?)?$/i],
  ["amount", new RegExp(`^-?(?:(?:${currencies})\\d[\\d,.]*[kKMB]?|\\d[\\d,.]*(?:${currencies}|${units}))$`, "u")],
  [
    "error",
    /^(?:E(?:NO[A-Z]+|CONN[A-Z]+|ADDR[A-Z]+|ACCES|EXIST|PERM|PIPE|TIMEDOUT|ISDIR|AGAIN|INVAL|MFILE|BUSY)|ERR_[A-Z_]+|[A-Z][A-Za-z0-9]*(?:Error|Exception)|(?:TS|CVE-|HTTP_?|ORA-)\d{3,}[\w-]*)$/,
  ],
  ["path", new RegExp(`^[\\p{L}\\p{N}_.@+-]*[\\p{L}\\p{N}_]\\.(?:${extensions})$`, "u")],
  ["path", /^(?:[A-Za-z]:|~|\.{1,2})?(?:\/[\p{L}\p{N}_.@+$%~*=-]+)+\/?$/u],
  ["path", /^(?:[A-Za-z]:|\\|%\w+%|\.{1,2})(?:\\[\p{L}\p{N}_.@+$~-]+)+\\?$/u],
  ["path", /^(?=.*(?:[\d_.-]|\/.*\/|\/$))[\p{L}_.@][\p{L}\p{N}_.@+$~-]*(?:\/[\p{L}\p{N}_.@+$%~*=-]+)+\/?$/u],
  ["path", /^(?=.*(?:[\d_.]|\\.*\\))[\p{L}_.@][\p{L}\p{N}_.-]+(?:\\[\p{L}\p{N}_.-]{2,})+\\?$/u],
  ["number", /^[+-]?\d[\d,.]*$/],
  ["id", new RegExp(`^(?=\\D*\\d)(?=[^${spaced}]*[${spaced}])[#\\d${spaced}][\\d${spaced}_.:-]*[\\d${spaced}]$`, "u")],
  ["id", /^#\d{2,}$/],
  ["identifier", /^[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|->)[\p{L}_$][\p{L}\p{N}_$]*)+$/u],
  ["identifier", /^_*\p{L}[\p{L}\p{N}]*_[\p{L}\p{N}_]+$/u],
  ["identifier", /^\p{L}*\p{Ll}\p{Lu}[\p{L}\p{N}]*$/u],
]

/** Letters with at most the first a capital: a word of some language. */
const plain = /^\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+$/u

/** Words with digits in them that are prose all the same: ordinals, measures, numbered lines, "6-digit". */
const prose = /^\d+[a-z]{1,2}$|^\d+(?:min|hrs?)$|^[a-z]\d$|^\d+-[a-z]+$|^\d+:[^\d]/i

/** What a single word looks like, if it looks like a value at all. */
export function kindOf(word: string): FactKind | undefined {
  if (plain.test(word)) return undefined
  const kind = rows.find(([, shape]) => shape.test(word))?.[0]
  return kind === "id" && prose.test(word) ? undefined : kind
}
