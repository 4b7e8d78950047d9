import { expect, test } from "vitest"
import { tenantOf } from "./tenant-of.ts"

const same: readonly [why: string, tenant: string][] = [
  ["a bearer token", tenantOf({ authorization: "Bearer k-123" })],
  ["whatever the scheme is written like", tenantOf({ authorization: "bearer   k-123" })],
  ["a key of its own header", tenantOf({ "x-api-key": "k-123" })],
  ["of another header", tenantOf({ "x-goog-api-key": " k-123 " })],
  ["of one more", tenantOf({ "api-key": "k-123" })],
  ["in the query", tenantOf({}, "k-123")],
]

test.each(same)("the same key is the same tenant: %s", (_why, tenant) => {
  expect(tenant).toMatch(/^[0-9a-f]{16}$/)
  expect(tenant).toBe(tenantOf({ authorization: "Bearer k-123" }))
})

test("another key is another tenant, and the key is not in its name", () => {
  expect(tenantOf({ "x-api-key": "k-124" })).not.toBe(tenantOf({ "x-api-key": "k-123" }))
  expect(tenantOf({ "x-api-key": "abcd" })).not.toContain("abcd")
})

test("no key at all", () => {
  expect(tenantOf({})).toBe("none")
  expect(tenantOf({ authorization: "Bearer ", "x-api-key": "" })).toBe("none")
})
