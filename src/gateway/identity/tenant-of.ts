import { digest } from "./digest.ts"
import type { Headers } from "./identity.ts"

/** Whose requests have no credential at all. */
export const nobody = "none"

/** Headers that carry nothing but a key. */
const keyHeaders = ["x-api-key", "x-goog-api-key", "api-key"]

/** Who sends a request: a fingerprint of its credential, by whatever header or query it came. The same key is the same tenant. */
export function tenantOf(headers: Headers, queryKey?: string): string {
  const authorization = headers.authorization?.trim().replace(/^(?:bearer|basic|token)$|^[a-z][a-z\d-]{0,40}\s+/i, "")
  const key = [authorization, ...keyHeaders.map((name) => headers[name]?.trim()), queryKey?.trim()].find(
    (value) => value !== undefined && value !== "",
  )
  return key === undefined ? nobody : digest("holdfast tenant", key).slice(0, 16)
}
