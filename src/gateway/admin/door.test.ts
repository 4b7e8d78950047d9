import { expect, test } from "vitest"
import { listed, openAdminHouse, token } from "../../../test/fixtures/gateway/admin-house.ts"
import { fc } from "../../../test/support/property.ts"

const house = await openAdminHouse()
const bearer = { authorization: `Bearer ${token}` }

const paths = [
  "/admin",
  "/admin/status",
  "/admin/sessions",
  "/admin/sessions/s",
  "/admin/sessions/s/history",
  "/admin/sessions/s/entries/e1",
  "/admin/sessions/s/pins",
  "/admin/search?query=noon",
  "/admin/sessions/s/compactions",
  "/admin/sessions/s/verify",
  "/admin/traces",
  "/admin/traces/t",
  "/admin/pins",
  "/admin/audit",
  "/admin/approvals",
  "/admin/upstreams",
  "/admin/events",
  "/admin/nothing",
]

const entering: readonly (readonly [string, number, Readonly<Record<string, string>>])[] = [
  ["without a token", 401, {}],
  ["with another token", 401, { authorization: "Bearer admin-token-0123456788" }],
  ["with an empty token", 401, { authorization: "Bearer " }],
  ["with the token in another scheme", 401, { authorization: `Basic ${token}` }],
  ["with the token in a cookie", 401, { cookie: `token=${token}` }],
  ["with the token of model calls", 401, { "x-holdfast-token": token }],
  ["from a page that is not listed", 403, { ...bearer, origin: "https://evil.example" }],
  ["from a page whose name only begins like a listed one", 403, { ...bearer, origin: `${listed}.evil.example` }],
  ["from a page on another port of this machine", 403, { ...bearer, origin: "http://127.0.0.1:3000" }],
  ["from a page without a name", 403, { ...bearer, origin: "null" }],
  ["from a foreign page that says no origin", 403, { ...bearer, "sec-fetch-site": "cross-site" }],
  ["from a neighbouring page that says no origin", 403, { ...bearer, "sec-fetch-site": "same-site" }],
  ["from a place that nobody has heard of", 403, { ...bearer, "sec-fetch-site": "elsewhere" }],
]

test.each(entering)("requests are refused %s", async (_why, status, headers) => {
  for (const path of paths) {
    const answer = await house.ask(path, { headers })
    expect([path, answer.status]).toEqual([path, status])
    expect(answer.headers.get("access-control-allow-origin")).toBeNull()
    expect(await answer.json()).toEqual({
      error: { code: expect.any(String), sentence: expect.any(String), next: expect.any(String) },
    })
  }
})

test("a token in the query is not accepted", async () => {
  const answer = await house.ask(`/admin/status?token=${token}&access_token=${token}`, { headers: {} })
  expect(answer.status).toBe(401)
  expect(answer.headers.get("www-authenticate")).toBe("Bearer")
})

test.each([
  ["a program", {}],
  ["a page that was typed in", { "sec-fetch-site": "none" }],
  ["the gateway's own page", { "sec-fetch-site": "same-origin", origin: "http://127.0.0.1:4141" }],
  ["a listed page", { "sec-fetch-site": "cross-site", origin: listed }],
])("%s is admitted with the token", async (_who, headers) => {
  expect((await house.ask("/admin/status", { headers: { ...bearer, ...headers } })).status).toBe(200)
})

test("a listed page gets its own origin back, without permission to send cookies", async () => {
  const { headers } = await house.ask("/admin/status", { headers: { ...bearer, origin: listed } })
  expect(headers.get("access-control-allow-origin")).toBe(listed)
  expect(headers.get("access-control-allow-credentials")).toBeNull()
  expect(headers.get("vary")).toContain("Origin")
  expect((await house.ask("/admin/status")).headers.get("access-control-allow-origin")).toBeNull()
})

test("a preflight is answered for a listed page only", async () => {
  const ask = (origin: string) => house.ask("/admin/commands", { method: "OPTIONS", headers: { origin } })
  const { status, headers } = await ask(listed)
  expect(status).toBe(204)
  expect(headers.get("access-control-allow-origin")).toBe(listed)
  expect(headers.get("access-control-allow-headers")).toBe("authorization, content-type, last-event-id")
  expect((await ask("https://evil.example")).status).toBe(403)
})

test("every response, good or bad, forbids caching and framing", async () => {
  const asked = [
    house.ask("/admin"),
    house.ask("/admin/nothing"),
    house.ask("/admin", { headers: {} }),
    house.ask("/admin/sessions/nobody"),
    house.ask("/admin/sessions?limit=x"),
    house.ask("/admin/status", { method: "DELETE" }),
  ]
  for (const { headers } of await Promise.all(asked)) {
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cross-origin-resource-policy": "same-origin",
    })
    expect(headers.get("content-type")).toMatch(/^application\/json/)
    expect(headers.get("set-cookie")).toBeNull()
  }
})

test.each([
  ["without a token", { without: "token" }],
  ["with an empty one", { token: "" }],
] as const)("%s configured nothing is told, and how to set one is", async (_how, changes) => {
  const { ask } = await openAdminHouse(changes)
  for (const path of paths) {
    const answer = await ask(path, { headers: { authorization: "Bearer " } })
    expect(answer.status).toBe(403)
    expect(await answer.text()).toContain("admin.token")
  }
})

test("a path accepts only its own methods", async () => {
  for (const path of paths.filter((one) => one !== "/admin/nothing"))
    for (const method of ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
      const { status, headers } = await house.ask(path, { method })
      expect([path, method, status, headers.get("allow")]).toEqual([path, method, 405, "GET"])
    }
  for (const method of ["GET", "HEAD", "PUT", "DELETE"])
    expect((await house.ask("/admin/commands", { method })).status).toBe(405)
  expect((await house.read("/admin/status")).streams).toBe(0)
})

test.each([
  "/admin/",
  "/admin//status",
  "/admin/status/",
  "/admin/Status",
  "/admin/status%00",
  "/admin/sessions/",
  "/admin/sessions/%2e%2e%2fstatus",
  "/admin/sessions/s%2Fhistory",
  "/admin/sessions/%",
  "/admin/sessions/%ff%fe",
  "/admin/sessions/operator%20log",
  "/admin/sessions/shared%20rules/history",
  "/admin/sessions/s/entries/",
  "/admin/sessions/s/entries/__proto__",
  "/admin/traces/__proto__",
  "/admin/constructor",
])("%s is not found", async (path) => {
  const answer = await house.ask(path)
  expect(answer.status).toBe(404)
  expect(await answer.json()).toHaveProperty("error.next")
  expect((await house.ask(path, { headers: {} })).status).toBe(401)
})

test("no path below /admin, in any spelling, is answered without the token", async () => {
  const piece = fc.constantFrom("admin", "status", "sessions", "..", ".", "%2e%2e", "", "events", "%2f", ";", "s", "@")
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), fc.webQueryParameters(), async (pieces, query) => {
      const { status } = await house.ask(`/admin/${pieces.join("/")}?${query}`, { headers: {} })
      expect(status).toBe(401)
    }),
  )
})
