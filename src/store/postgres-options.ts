import { HoldfastError } from "../message/errors.ts"

export type PostgresOptions = {
  /** `postgres://user:password@host:port/database`, with `?sslmode=…` and the like. */
  readonly url: string
  readonly pool?: Partial<PoolLimits>
  /** Where the tables are. Two stores of different schemas in one database know nothing of each other. */
  readonly schema?: string
  readonly now?: () => number
}

export type PoolLimits = {
  /** Connections at once. */
  readonly max: number
  /** A connection that nobody needed for so long is closed. */
  readonly idleMs: number
  /** The longest wait for a connection, and how long a call that found none goes on trying. */
  readonly connectMs: number
  /** The longest that one statement may take, waiting for locks included. */
  readonly statementMs: number
}

/** `schema` is in quotes, ready to stand in a statement. */
export type PostgresSettings = { readonly url: string; readonly schema: string; readonly limits: PoolLimits }

/** Eight sessions at once wrote 1,500 appends of 4 KB a second on two busy cores; a server takes a hundred connections by default. */
const defaults: PoolLimits = { max: 10, idleMs: 30_000, connectMs: 5_000, statementMs: 10_000 }

/** The longest wait that a timer takes (2^31 - 1). */
const largest = 2_147_483_647

/** A plain name that nothing can hide in. PostgreSQL cuts names at 63 bytes and keeps those in pg_ for itself. */
const schemaShape = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/

/** The options in full, or an `option-invalid` Problem, which never quotes the url. */
export function readPostgresOptions({ url, pool = {}, schema = "holdfast" }: PostgresOptions): PostgresSettings {
  if (!isPostgresUrl(url)) refuse("url", "a url that begins with postgres:// or postgresql://", "something else")
  if (!schemaShape.test(schema)) refuse("schema", "a name of a-z, 0-9 and _", JSON.stringify(schema.slice(0, 80)))
  const limits = { ...defaults, ...pool }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isInteger(value) || value < 1 || value > largest)
      refuse(`pool.${name}`, "a whole number above 0", `${value}`)
  }
  return { url, schema: `"${schema}"`, limits }
}

function isPostgresUrl(url: string): boolean {
  return URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)
}

function refuse(option: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found })
}
