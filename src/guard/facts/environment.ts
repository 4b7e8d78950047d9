import { wordsOf } from "./words.ts"

/** Where a call acts. */
export type Environment = "production" | "staging" | "development"

const names: readonly (readonly [Environment, RegExp])[] = [
  [
    "production",
    /^(?:prod|production|prd|produktion|produccion|producao)(?:\d+|db|env|data|database|cluster|server|sql|us|eu|primary|main)?$|^(?:live|mainnet|prodlike)$/,
  ],
  ["staging", /^(?:staging|stage|stg|preprod|uat|qa|preview|canary|sandbox|demo)(?:\d+|db|env)?$/],
  ["development", /^(?:dev|devel|development|test|tests|testing|local|localhost|scratch|tmp|temp|ci)(?:\d+|db|env)?$/],
]

/** Words repeat from call to call; strange ones do not, so only so many are remembered. */
const known = new Map<string, Environment | undefined>()
const maxKnown = 5_000

/** The environment that a word is a name of. */
function environmentOf(word: string): Environment | undefined {
  if (known.has(word)) return known.get(word)
  const spelled = word.replaceAll("0", "o")
  const found = names.find(([, name]) => name.test(word) || name.test(spelled))?.[0]
  if (known.size < maxKnown && word.length <= 32) known.set(word, found)
  return found
}

/** The environments that a text names. `liveOnly` words of everyday use count in fields that name an environment. */
export function environmentsIn(folded: string, field: boolean): readonly Environment[] {
  const words = wordsOf(folded)
  const found = new Set<Environment>()
  for (const [at, word] of words.entries()) {
    const environment = environmentOf(word)
    if (environment === undefined || found.has(environment)) continue
    if (word === "live" && !field && words[at + 1] !== "db" && words[at + 1] !== "database") continue
    // `non-prod` and `pre-prod` are what they say.
    if (/^pro?d/.test(word) && /^(?:non|pre|not|no)$/.test(words[at - 1] ?? "")) continue
    found.add(environment)
  }
  return [...found]
}
