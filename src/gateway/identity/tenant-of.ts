import { isObject } from "../../wire/json.ts"
import { digest } from "./digest.ts"
import type { Headers } from "./identity.ts"

/** Whose requests have no credential at all. */
const nobody = "none"

/** Headers that carry nothing but a key. */
const keyHeaders = ["x-api-key", "x-goog-api-key", "api-key"]

/**
 * Who sends a request: a fingerprint of its credential, by whatever header or query it came. The same key is the same tenant. Where a
 * gateway is one person's own, so is the same login, whose tokens are new every few hours.
 */
export function tenantOf(headers: Headers, queryKey?: string, isPersonal = false): string {
  const authorization = headers.authorization?.trim().replace(/^(?:bearer|basic|token)$|^[a-z][a-z\d-]{0,40}\s+/i, "")
  const key = [authorization, ...keyHeaders.map((name) => headers[name]?.trim()), queryKey?.trim()].find(
    (value) => value !== undefined && value !== "",
  )
  if (key === undefined) return nobody
  const login = isPersonal ? loginOf(key) : undefined
  return (login === undefined ? digest("holdfast tenant", key) : digest("holdfast login", login)).slice(0, 16)
}

/** Tokens that programs get for a login, by how they begin, and whose login that is. A new one comes every few hours. */
const logins: readonly (readonly [begins: RegExp, whose: string])[] = [
  [/^sk-ant-oat/, "anthropic"],
  [/^ya29\./, "google"],
  [/^gh[ou]_/, "github"],
]

/**
 * What stays of a credential that is refreshed: the login that it stands for. Nothing for a key, which is the same for as long as it is
 * used. None of it is proven before the upstream has seen it, so it tells apart logins of one person and not people.
 */
function loginOf(credential: string): string | undefined {
  const whose = logins.find(([begins]) => begins.test(credential))?.[1]
  return whose ?? subjectOf(credential)
}

/** No token of this kind is longer. */
const maxLength = 20_000

/** The issuer and subject of a JSON Web Token. */
function subjectOf(credential: string): string | undefined {
  const claims = /^eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+$/.exec(credential.length > maxLength ? "" : credential)?.[1]
  if (claims === undefined) return undefined
  try {
    const read: unknown = JSON.parse(Buffer.from(claims, "base64url").toString("utf8"))
    if (!isObject(read) || typeof read.sub !== "string" || read.sub === "") return undefined
    return JSON.stringify([typeof read.iss === "string" ? read.iss : "", read.sub])
  } catch {
    return undefined
  }
}
