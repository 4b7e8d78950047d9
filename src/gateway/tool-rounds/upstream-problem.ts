import type { Problem } from "../../message/errors.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/** Of a body that is no error of a known shape, this much is told. */
const maxTold = 300

/** What an upstream said when it refused a further round. */
export function upstreamProblem(status: number, text: string): Problem {
  const body = tryParse(text)
  const inner = isObject(body) ? body.error : undefined
  const error = isObject(inner) ? inner : {}
  const type = [error.type, error.status, error.code].find((name) => typeof name === "string")
  const message = typeof error.message === "string" ? error.message : text.slice(0, maxTold).toWellFormed()
  return { code: "upstream-error", type: typeof type === "string" ? type : "error", message, status }
}
