import { expect, test } from "vitest"
import { isLoopback, refuseHost, refuseToken } from "./admission.ts"

const here = { loopback: true, hosts: [], origins: [] }

test.each([
  null,
  "",
  ":80",
  "[::1",
  "[evil.example]",
  "localhost:",
  "localhost:123456",
  "localhost@evil.example",
  "a/b",
])("the Host %j is refused", (header) => {
  expect(refuseHost(header, here)?.status).toBe(403)
})

test.each(["localhost", "localhost.", "127.8.9.1:4142", "[::1]"])("the Host %j means this machine", (header) => {
  expect(refuseHost(header, here)).toBeUndefined()
})

test.each([
  ["localhost", true],
  ["::1", true],
  ["[::1]", true],
  ["127.0.0.1", true],
  ["127.255.0.3", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.evil.example", false],
  ["::ffff:192.168.1.7", false],
  ["10.0.0.1", false],
])("%s is a loopback host: %s", (host, alone) => {
  expect(isLoopback(host)).toBe(alone)
})

test("an empty token is never accepted", () => {
  const guarded = { ...here, token: "0123456789abcdef" }
  for (const header of [null, "", "Bearer", "Bearer ", "Bearer  ", "0123456789abcdef"])
    expect(refuseToken(header, guarded)?.status).toBe(401)
  expect(refuseToken("Bearer 0123456789abcdef", guarded)).toBeUndefined()
})
