import { expect, test } from "vitest"
import { readFailure } from "./postgres-database.ts"

const failed = (code?: string): Error =>
  Object.assign(new Error("connect to 10.1.2.3 as root with opensesame"), code === undefined ? {} : { code })

const cases: [why: string, code: string | undefined, connected: boolean, problem: string, outcome: string][] = [
  ["nobody listens", "ECONNREFUSED", false, "store-unavailable", "undone"],
  ["the name is unknown", "ENOTFOUND", false, "store-unavailable", "undone"],
  ["the line broke in the middle", "ECONNRESET", true, "store-unavailable", "unknown"],
  ["the line broke while connecting", "ECONNRESET", false, "store-unavailable", "undone"],
  ["the server was told to stop", "57P01", true, "store-unavailable", "unknown"],
  ["the server starts up", "57P03", false, "store-unavailable", "undone"],
  ["too many connections", "53300", false, "store-unavailable", "undone"],
  ["the server has become a copy", "25006", true, "store-unavailable", "undone"],
  ["a wrong password", "28P01", false, "store-unavailable", "final"],
  ["no such database", "3D000", false, "store-unavailable", "final"],
  ["no right to write", "42501", true, "store-unavailable", "final"],
  ["the server has no memory left", "53200", true, "store-unavailable", "final"],
  ["a certificate that nobody signed", "SELF_SIGNED_CERT_IN_CHAIN", false, "store-unavailable", "final"],
  ["no answer, no code", undefined, true, "store-unavailable", "unknown"],
  ["no connection, no code", undefined, false, "store-unavailable", "undone"],
  ["the disk is full", "53100", true, "store-full", "final"],
  ["a lock was not to be had", "55P03", true, "store-locked", "final"],
  ["a statement took too long", "57014", true, "store-locked", "final"],
  ["a deadlock", "40P01", true, "store-locked", "undone"],
  ["a serialization failure", "40001", true, "store-locked", "undone"],
  ["damaged data", "XX001", true, "store-corrupt", "final"],
  ["a damaged index", "XX002", true, "store-corrupt", "final"],
]
test.each(cases)("%s (%s)", (_why, code, connected, problem, outcome) => {
  const failure = readFailure(failed(code), connected, 500)
  expect(failure).toMatchObject({ problem: { code: problem }, outcome })
  expect(JSON.stringify(failure)).not.toMatch(/10\.1\.2\.3|root|opensesame/)
})

test("an invalid code is not shown either", () => {
  const { problem } = readFailure(failed("password opensesame is wrong"), true, 500)
  expect(JSON.stringify(problem)).not.toContain("opensesame")
})
