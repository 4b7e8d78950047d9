import { digest } from "./digest.ts"
import type { Headers } from "./identity.ts"
import { loginOf } from "./login-of.ts"

/** Whose requests have no credential at all. */
export const nobody = "none"

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
