import { readFileSync, statSync } from "node:fs"
import { systemCode } from "../../message/errors.ts"
import type { SecretRef } from "./config-field.ts"
import { type ConfigFault, type ConfigPlace, faultAt, type Path } from "./fault.ts"
import type { Env } from "./flags.ts"

/** Who knows a secret: clients, who have to send it; the gateway alone; an upstream, as its key or in a header; the store's database. */
export type SecretUse = "client" | "gateway" | "upstream" | "header" | "store"

export type OpenedSecret = { readonly ref: SecretRef; readonly use: SecretUse; readonly value: string }

export type Secrets = {
  /** The secret of a reference; empty, and a fault, if it cannot be had. */
  readonly open: (ref: SecretRef, path: Path, use: SecretUse) => string
  /** All secrets that are missing; no message contains a secret. */
  readonly faults: readonly ConfigFault[]
  readonly opened: readonly OpenedSecret[]
}

/** A secret is a line. */
const maxBytes = 64 * 1024

/** Characters of a token that nobody guesses: 64 bits if they are hexadecimal digits. */
const shortestToken = 16

type Found = { readonly value: string } | { readonly missing: string }

export function createSecrets(env: Env, place: ConfigPlace): Secrets {
  const faults: ConfigFault[] = []
  const opened: OpenedSecret[] = []
  const open: Secrets["open"] = (ref, path, use) => {
    const found = "env" in ref ? inEnv(ref.env, env) : inFile(ref.file)
    // A token is what others have to send to us, so it must not be one that they can guess.
    const isShort = path.at(-1) === "token" && "value" in found && found.value.length < shortestToken
    if ("value" in found && !isShort) {
      opened.push({ ref, use, value: found.value })
      return found.value
    }
    const missing = "missing" in found ? found.missing : shortToken(ref, found.value.length)
    const next = isShort ? "Make one with: openssl rand -hex 32" : nextFor(ref)
    const from = "env" in ref ? ref.from : undefined
    faults.push(
      from === undefined
        ? faultAt(place, path, missing, next)
        : faultAt({ source: from, lineOf: () => undefined }, [], missing, next),
    )
    return ""
  }
  return { open, faults, opened }
}

const shortToken = (ref: SecretRef, length: number): string => {
  const where = "env" in ref ? `the environment variable ${ref.env}` : `the file ${ref.file}`
  return `names ${where}, whose token has ${length} characters, where at least ${shortestToken} were expected`
}

const nextFor = (ref: SecretRef): string =>
  "env" in ref ? `Set ${ref.env}, or name another variable.` : "Check the path and who may read it."

function inEnv(name: string, env: Env): Found {
  const value = (env[name] ?? "").trim()
  if (value === "") return { missing: `names the environment variable ${name}, which is not set` }
  return checkLine(value, `names the environment variable ${name}`)
}

function inFile(path: string): Found {
  const says = `names the file ${path}`
  try {
    const { size } = statSync(path)
    if (size > maxBytes) return { missing: `${says}, which is too large to hold a secret` }
    const value = readFileSync(path, "utf8").trim()
    return value === "" ? { missing: `${says}, which is empty` } : checkLine(value, says)
  } catch (error) {
    const code = systemCode(error) ?? "unknown"
    return { missing: `${says}, which ${code === "ENOENT" ? "is not there" : `cannot be read (${code})`}` }
  }
}

/** Secrets are put into headers and addresses, where a line break would start something else. */
const checkLine = (value: string, says: string): Found =>
  /^[\x21-\x7e\u00a0-\uffff]+$/.test(value) ? { value } : { missing: `${says}, which holds more than one word` }
