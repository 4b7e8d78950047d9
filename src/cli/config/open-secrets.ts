import { readFileSync, statSync } from "node:fs"
import { systemCode } from "../../message/errors.ts"
import type { SecretRef } from "./config-field.ts"
import { type ConfigFault, type ConfigPlace, faultAt, type Path } from "./fault.ts"
import type { Env } from "./flags.ts"

/** The use of a secret: sent by clients, only used by the gateway, an upstream's key or header, or the store's database. */
export type SecretUse = "client" | "gateway" | "upstream" | "header" | "store"

export type OpenedSecret = { readonly ref: SecretRef; readonly use: SecretUse; readonly value: string }

export type Secrets = {
  /** Reads the secret of a reference; empty, with a fault, if that fails. */
  readonly open: (ref: SecretRef, path: Path, use: SecretUse) => string
  /** All secrets that are missing; no message contains a secret. */
  readonly faults: readonly ConfigFault[]
  readonly opened: readonly OpenedSecret[]
}

/** Limit on the size of a secret's file; a secret is a line. */
const maxBytes = 64 * 1024

/** Minimum length of a token, so that it cannot be guessed: 64 bits if its characters are hexadecimal digits. */
const minTokenLength = 16

type SecretResult = { readonly value: string } | { readonly missing: string }

export function createSecrets(env: Env, place: ConfigPlace): Secrets {
  const faults: ConfigFault[] = []
  const opened: OpenedSecret[] = []
  const open: Secrets["open"] = (ref, path, use) => {
    const found = "env" in ref ? inEnv(ref.env, env) : inFile(ref.file)
    // Clients authenticate with a token, so it must not be guessable.
    const isShort = path.at(-1) === "token" && "value" in found && found.value.length < minTokenLength
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
  return `names ${where}, whose token has ${length} characters, where at least ${minTokenLength} were expected`
}

const nextFor = (ref: SecretRef): string =>
  "env" in ref ? `Set ${ref.env}, or name another variable.` : "Check the path and who may read it."

function inEnv(name: string, env: Env): SecretResult {
  const value = (env[name] ?? "").trim()
  if (value === "") return { missing: `names the environment variable ${name}, which is not set` }
  return checkLine(value, `names the environment variable ${name}`)
}

function inFile(path: string): SecretResult {
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

/** Refuses secrets with spaces or line breaks: they are put into headers and addresses. */
const checkLine = (value: string, says: string): SecretResult =>
  /^[\x21-\x7e\u00a0-\uffff]+$/.test(value) ? { value } : { missing: `${says}, which holds more than one word` }
