import { isObject } from "../../wire/json.ts"

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
export function loginOf(credential: string): string | undefined {
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
