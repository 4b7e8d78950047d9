import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import type { Problem } from "../../message/errors.ts"
import { type Format, formats } from "../../message/message.ts"
import { contextError, statusOf, wireError, wireRefusal } from "./wire-error.ts"

const locked: Problem = { code: "store-locked", store: "sqlite", waitedMs: 5000 }
const message =
  "The sqlite store was locked by another program for more than 5000 ms. Find out who holds it (a backup, a long transaction), or try again."

test.each<[format: Format | undefined, body: object]>([
  ["anthropic-messages", { type: "error", error: { type: "overloaded_error", message } }],
  ["openai-chat", { error: { message, type: "server_error", param: null, code: "store-locked" } }],
  ["openai-responses", { error: { message, type: "server_error", param: null, code: "store-locked" } }],
  ["gemini", { error: { code: 503, message, status: "UNAVAILABLE" } }],
  [undefined, { error: { message, type: "server_error", param: null, code: "store-locked" } }],
])("a problem in the format of %s", (format, body) => {
  const error = wireError(format, locked)
  expect(error.status).toBe(503)
  expect(JSON.parse(error.body)).toEqual(body)
  expect(error.headers).toEqual({ "content-type": "application/json", "retry-after": "1" })
})

test.each<[status: number, anthropic: string, openai: string, code: string | null, gemini: string]>([
  [400, "invalid_request_error", "invalid_request_error", null, "INVALID_ARGUMENT"],
  [401, "authentication_error", "invalid_request_error", "invalid_api_key", "UNAUTHENTICATED"],
  [403, "permission_error", "invalid_request_error", null, "PERMISSION_DENIED"],
  [404, "not_found_error", "invalid_request_error", null, "NOT_FOUND"],
  [405, "invalid_request_error", "invalid_request_error", null, "INVALID_ARGUMENT"],
  [413, "request_too_large", "invalid_request_error", null, "INVALID_ARGUMENT"],
  [429, "rate_limit_error", "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"],
  [500, "api_error", "server_error", null, "INTERNAL"],
  [502, "api_error", "server_error", null, "UNAVAILABLE"],
  [503, "overloaded_error", "server_error", null, "UNAVAILABLE"],
  [504, "timeout_error", "server_error", null, "DEADLINE_EXCEEDED"],
])("status %s has the error name of each provider", (status, anthropic, openai, code, gemini) => {
  const bodyOn = (format: Format) => JSON.parse(wireRefusal(format, { status, message: "No." }).body)
  expect(bodyOn("anthropic-messages")).toEqual({ type: "error", error: { type: anthropic, message: "No." } })
  expect(bodyOn("openai-chat")).toEqual({ error: { message: "No.", type: openai, param: null, code } })
  expect(bodyOn("gemini")).toEqual({ error: { code: status, message: "No.", status: gemini } })
})

test.each<[problem: Problem, status: number, retry: string | undefined, after: string | undefined]>([
  [{ code: "json-invalid", offset: 3, reason: "x" }, 400, "false", undefined],
  [{ code: "session-exists", session: "s" }, 409, "false", undefined],
  [{ code: "package-missing", package: "pg", purpose: "x" }, 500, "false", undefined],
  [{ code: "gateway-fault" }, 500, undefined, undefined],
  [{ code: "gateway-busy", what: "requests", limit: 1 }, 503, undefined, "1"],
  [{ code: "upstream-unreachable", host: "h", reason: "r" }, 502, undefined, undefined],
  [{ code: "upstream-error", type: "t", message: "m" }, 502, undefined, undefined],
  [{ code: "upstream-error", type: "t", message: "m", status: 529 }, 529, undefined, undefined],
  [{ code: "upstream-error", type: "t", message: "m", status: 429 }, 429, undefined, "1"],
  [{ code: "upstream-error", type: "t", message: "m", status: 422 }, 422, "false", undefined],
  [{ code: "upstream-error", type: "t", message: "m", status: 200 }, 502, undefined, undefined],
  [{ code: "access-refused", status: 401, reason: "r" }, 401, "false", undefined],
  [{ code: "access-refused", status: 403, reason: "r" }, 403, "false", undefined],
])("retry headers of %j", (problem, status, retry, after) => {
  const error = wireError("openai-chat", problem)
  expect([error.status, error.headers["x-should-retry"], error.headers["retry-after"]]).toEqual([status, retry, after])
})

test.each(formats)("a context that cannot fit has the message of %s", (format) => {
  const need = { neededTokens: 9, windowTokens: 5 }
  const floor: Problem = { code: "floor-exceeds-window", floorTokens: 9, windowTokens: 5, largest: "tools" }
  const budget: Problem = { code: "budget-impossible", neededTokens: 9, budgetTokens: 5, largest: "tools" }
  expect(wireError(format, floor)).toEqual(contextError(format, need))
  expect(wireError(format, budget)).toEqual(contextError(format, need))
})

test("every problem has an error status", () => {
  expect(Object.values(statusOf).filter((status) => status < 400 || status > 599)).toEqual([])
})

test("for any text, an error is JSON, no header contains a line break, and a long message is cut", () => {
  const text = fc.string({ unit: codePoints })
  fc.assert(
    fc.property(fc.constantFrom(undefined, ...formats), text, fc.integer(), (format, words, status) => {
      const error = wireError(format, { code: "upstream-error", type: words, message: words, status })
      expect(JSON.stringify(JSON.parse(error.body))).toBe(error.body)
      expect(Object.entries(error.headers).flat().join("")).not.toMatch(/[\r\n]/)
      expect(error.status).toBeGreaterThanOrEqual(400)
    }),
  )
  const long = wireError("gemini", { code: "request-invalid", path: "p", expected: "e", found: "x".repeat(5_000_000) })
  expect(long.body.length).toBeLessThan(5000)
})
