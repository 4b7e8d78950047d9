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

/** The environments that a text names. `liveOnly` words of everyday use count in fields that name an environment. */
export function environmentsIn(folded: string, field: boolean): readonly Environment[] {
  const words = wordsOf(folded)
  return names
    .filter(([, name]) =>
      words.some((word, at) => {
        if (!name.test(word) && !name.test(word.replaceAll("0", "o"))) return false
        if (word === "live") return field || words[at + 1] === "db" || words[at + 1] === "database"
        // `non-prod` and `pre-prod` are what they say.
        return !(/^pro?d/.test(word) && /^(?:non|pre|not|no)$/.test(words[at - 1] ?? ""))
      }),
    )
    .map(([environment]) => environment)
}
