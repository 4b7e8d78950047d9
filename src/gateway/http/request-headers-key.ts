import type { Family } from "../settings/family.ts"
import type { Upstream } from "../settings/upstream.ts"
import type { HeaderLine } from "./request-headers-lines.ts"

/** By which a client shows who it is, on any of the APIs. */
const credentials: ReadonlySet<string> = new Set(["authorization", "x-api-key", "x-goog-api-key", "api-key"])

export const isCredential = (name: string): boolean => credentials.has(name.toLowerCase())

/** The header that each API takes its key in. */
export const keyLine: Readonly<Record<Family, (key: string) => HeaderLine>> = {
  anthropic: (key) => ["x-api-key", key],
  openai: (key) => ["authorization", `Bearer ${key}`],
  gemini: (key) => ["x-goog-api-key", key],
}

/** Does the upstream bring a credential of its own, so that the client's must not reach it? */
export const hasOwnKey = ({ apiKey, headers }: Pick<Upstream, "apiKey" | "headers">): boolean =>
  apiKey !== undefined || Object.keys(headers ?? {}).some(isCredential)
