import { expect, test } from "vitest"
import { tenantOf } from "./names.ts"

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

test("another key is another tenant, and the tenant's name does not contain the key", () => {
  expect(tenantOf({ "x-api-key": "k-124" })).not.toBe(tenantOf({ "x-api-key": "k-123" }))
  expect(tenantOf({ "x-api-key": "abcd" })).not.toContain("abcd")
})

test("no key at all", () => {
  expect(tenantOf({})).toBe("none")
  expect(tenantOf({ authorization: "Bearer ", "x-api-key": "" })).toBe("none")
})

const jwt = (claims: object, signed: string): string =>
  [{ alg: "RS256" }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".") +
  `.${signed}`
const token = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` })

const refreshed: readonly [whose: string, before: string, after: string][] = [
  ["Anthropic's", "sk-ant-oat01-aaaa", "sk-ant-oat01-bbbb"],
  ["Google's", "ya29.aaaa", "ya29.bbbb"],
  ["GitHub's", "ghu_aaaa", "ghu_bbbb"],
  ["any with a subject", jwt({ iss: "i", sub: "me", exp: 1 }, "aaaa"), jwt({ iss: "i", sub: "me", exp: 2 }, "bbbb")],
]

test.each(refreshed)(
  "a login of %s stays one tenant when its token is refreshed, on a personal gateway",
  (_whose, before, after) => {
    expect(tenantOf(token(after), undefined, true)).toBe(tenantOf(token(before), undefined, true))
    expect(tenantOf(token(after))).not.toBe(tenantOf(token(before)))
  },
)

const apart: readonly [what: string, one: string, other: string][] = [
  ["keys", "sk-ant-api03-aaaa", "sk-ant-api03-bbbb"],
  ["keys of another kind", "sk-proj-aaaa", "sk-proj-bbbb"],
  ["subjects", jwt({ iss: "i", sub: "me" }, "a"), jwt({ iss: "i", sub: "you" }, "a")],
  ["issuers", jwt({ iss: "i", sub: "me" }, "a"), jwt({ iss: "j", sub: "me" }, "a")],
  ["tokens without a subject", jwt({ iss: "i" }, "a"), jwt({ iss: "i" }, "b")],
  ["what only looks like a token", "eyJhh.eyJoo.a", "eyJhh.eyJoo.b"],
]

test.each(apart)("two %s are two tenants on every gateway", (_what, one, other) => {
  for (const isPersonal of [true, false])
    expect(tenantOf(token(one), undefined, isPersonal)).not.toBe(tenantOf(token(other), undefined, isPersonal))
})
