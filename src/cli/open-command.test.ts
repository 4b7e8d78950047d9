import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { startGateway } from "../gateway/gateway.ts"
import { type Gateway, usualGatewayLimits } from "../gateway/settings/gateway-options.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { createMemoryStore } from "../store/memory-store.ts"

const token = "a-token-that-is-kept-beside-the-store"
const folder = mkdtempSync(join(tmpdir(), "holdfast-open-"))
const store = createMemoryStore()
const sessions = createHoldfast({ store })
let gateway: Gateway

beforeAll(async () => {
  writeFileSync(join(folder, "admin-token"), `${token}\n`)
  chmodSync(join(folder, "admin-token"), 0o600)
  gateway = await startGateway({
    ...{
      host: "127.0.0.1",
      port: 0,
      allowedHosts: [],
      allowedOrigins: [],
      tenants: "one",
      recall: false,
      version: "0",
    },
    ...{ limits: usualGatewayLimits, admin: { token, origins: [] }, askTimeoutMs: 1000, keepAliveMs: 15_000 },
    ...{ upstreams: [], holdfast: sessions, store, now: Date.now, onFault: () => {} },
  })
})
afterAll(async () => {
  await gateway.close()
  await sessions.close()
  rmSync(folder, { recursive: true, force: true })
})

const open = (port: number, data: string, ...argv: readonly string[]) =>
  holdfast(["open", "--print", "--port", String(port), "--data", data, ...argv])

test("it prints a link with a code that signs in at the gateway, each time another", async () => {
  const first = await open(gateway.port, join(folder, "holdfast.db"))
  const again = await open(gateway.port, join(folder, "holdfast.db"))
  expect(first).toMatchObject({ exit: 0 })
  expect(first.stdout).toMatch(new RegExp(`^${gateway.url}/inspector#code=[\\w-]{20,}\\n$`))
  expect(again.stdout).not.toBe(first.stdout)
  expect(first.stdout).not.toContain(token)
})

test("where no gateway answers, or none was ever started with the store, it says so and what to do", async () => {
  expect(await open(1, join(folder, "holdfast.db"))).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/does not answer[\s\S]*holdfast serve/),
  })
  expect(await open(gateway.port, join(folder, "elsewhere", "holdfast.db"))).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining("no gateway has been started with this store"),
  })
})

test("a gateway of another store is told from one that is down", async () => {
  const other = mkdtempSync(join(tmpdir(), "holdfast-open-"))
  writeFileSync(join(other, "admin-token"), "another-token-of-another-store\n", { mode: 0o600 })
  expect(await open(gateway.port, join(other, "holdfast.db"))).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining("has another admin token"),
  })
  rmSync(other, { recursive: true, force: true })
})

test("without pages the gateway says that they are not in this build, and a page that is not there is not sent upstream", async () => {
  const answer = await fetch(`${gateway.url}/`)
  expect(answer.status).toBe(503)
  expect(await answer.text()).toContain("npm run build")
  expect((await fetch(`${gateway.url}/inspector/assets/nothing.js`)).status).toBe(404)
  expect((await fetch(`${gateway.url}/inspector`, { method: "POST" })).status).toBe(405)
})
