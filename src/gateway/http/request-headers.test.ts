import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { ApiFamily } from "../../message/message.ts"
import { usualTimes } from "../settings/gateway-options.ts"
import type { Upstream } from "../settings/upstream.ts"
import { forwardedHeaders, holdfastHeaders } from "./headers.ts"

const upstream = (more: Partial<Upstream> = {}): Upstream => ({
  name: "up",
  families: ["openai"],
  baseUrl: "https://host",
  ...usualTimes,
  ...more,
})

test("client headers are forwarded in their spelling, order and number", () => {
  const raw = [
    "X-Api-Key",
    "k",
    "anthropic-beta",
    "a",
    "Anthropic-Beta",
    "b",
    "Via",
    "1.1 proxy",
    "Accept-Encoding",
    "br",
  ]
  expect(forwardedHeaders(raw, upstream())).toEqual(raw)
})

test.each([
  "Host",
  "Content-Length",
  "Expect",
  "Cookie",
  "Origin",
  "Connection",
  "Keep-Alive",
  "Proxy-Authorization",
  "Proxy-Connection",
  "TE",
  "Trailer",
  "Transfer-Encoding",
  "Upgrade",
  "X-Holdfast-Token",
  "x-HOLDFAST-session",
  "x_holdfast_token",
])("%s is not forwarded", (name) => {
  expect(forwardedHeaders([name, "x", "accept", "y"], upstream())).toEqual(["accept", "y"])
})

test("headers listed in Connection are not forwarded", () => {
  const raw = ["X-One", "1", "Connection", "close, x-one", "connection", "X-Two", "X-Two", "2", "X-Three", "3"]
  expect(forwardedHeaders(raw, upstream())).toEqual(["X-Three", "3"])
})

test.each<[family: ApiFamily, line: readonly string[]]>([
  ["anthropic", ["x-api-key", "ours"]],
  ["openai", ["authorization", "Bearer ours"]],
  ["gemini", ["x-goog-api-key", "ours"]],
])("an upstream's own key replaces every credential of the client: %s", (family, line) => {
  const raw = ["Authorization", "Bearer t", "X-Api-Key", "t", "x-goog-api-key", "t", "api-key", "t", "accept", "*/*"]
  const own = upstream({ apiKey: "ours", families: ["anthropic", "openai", "gemini"] })
  expect(forwardedHeaders(raw, own, family)).toEqual(["accept", "*/*", ...line])
})

test("a key without a family is sent in the headers of all APIs of the upstream", () => {
  const own = upstream({ apiKey: "ours", families: ["anthropic", "openai"] })
  expect(forwardedHeaders([], own)).toEqual(["x-api-key", "ours", "authorization", "Bearer ours"])
})

test("an upstream's own headers override the client's, and a credential among them removes the client's", () => {
  const own = upstream({ headers: { "Api-Key": "ours", "X-Team": "a" } })
  expect(forwardedHeaders(["x-team", "b", "Authorization", "Bearer t", "accept", "c"], own)).toEqual([
    ...["accept", "c"],
    ...["Api-Key", "ours", "X-Team", "a"],
  ])
})

test("a key with a line break is a problem that does not repeat the key", () => {
  const send = () => forwardedHeaders([], upstream({ apiKey: "secret\r\nx: y" }))
  expect(send).toThrow(/upstream up/)
  expect(send).not.toThrow(/secret/)
})

test("for any headers, no connection header and no header of ours is forwarded, and no value contains a line break", () => {
  const name = fc.oneof(
    fc.constantFrom("Connection", "TE", "x-holdfast-a", "X-Holdfast-B", "Upgrade", "proxy-x", "Cookie", "x-a", "X-B"),
    fc.string({ maxLength: 5 }),
  )
  const value = fc.oneof(fc.constantFrom("x-a", "X-B, close", "a\r\nx: y", "\0", "ü", "\u2028", "日本"), fc.string())
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), fc.option(fc.constant("k")), (lines, key) => {
      const named = lines
        .filter(([one]) => one.toLowerCase() === "connection")
        .flatMap(([, options]) => options.split(","))
      const dropped = new Set(named.map((option) => option.trim().toLowerCase()))
      const sent = forwardedHeaders(lines.flat(), upstream(key === null ? {} : { apiKey: key }))
      for (let n = 0; n < sent.length; n += 2) {
        const lower = sent[n]?.toLowerCase() ?? ""
        expect(lower).not.toMatch(/^(?:x-holdfast|proxy-|(?:connection|te|upgrade|cookie)$)/)
        if (lower !== "authorization") expect(dropped.has(lower)).toBe(false)
        expect(`${sent[n]}${sent[n + 1]}`).not.toMatch(/[\r\n\0]/)
      }
    }),
  )
})

test("our own headers are read", () => {
  const headers = {
    "x-holdfast-session": " s1 ",
    "x-holdfast-agent": "a",
    "x-holdfast-bypass": "TRUE",
    "x-holdfast-focus": Buffer.from("die Größe", "utf8").toString("latin1"),
    "x-holdfast-token": "t",
  }
  expect(holdfastHeaders(headers)).toEqual({ session: "s1", agent: "a", bypass: true, focus: "die Größe", token: "t" })
  expect(holdfastHeaders({ "x-holdfast-bypass": "0" })).toEqual({ bypass: false })
  expect(holdfastHeaders({ "x-holdfast-focus": "f".repeat(500) })).toEqual({ bypass: false, focus: "f".repeat(500) })
})

test.each<[name: string, value: string | string[]]>([
  ["x-holdfast-session", ""],
  ["x-holdfast-session", "  "],
  ["x-holdfast-session", "s".repeat(201)],
  ["x-holdfast-session", "secret\tvalue"],
  ["x-holdfast-session", "secret\u0085value"],
  ["x-holdfast-session", ["secret", "b"]],
  ["x-holdfast-agent", "secret\u2028value"],
  ["x-holdfast-focus", "f".repeat(501)],
  ["x-holdfast-token", ""],
  ["x-holdfast-bypass", "secret"],
  ["x-holdfast-bypass", ""],
])("%s must not be empty, too long, repeated or unprintable (%#)", (name, value) => {
  const read = () => holdfastHeaders({ [name]: value })
  expect(read).toThrow(new RegExp(`^The option ${name} is `))
  expect(read).not.toThrow(/secret/)
})
