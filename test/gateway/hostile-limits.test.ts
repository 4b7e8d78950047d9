import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { openOperator } from "../../src/guard/operator/operator.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import type { Script } from "../model-server/script.ts"
import { adminToken, limitsWith, type TestGateway, withGateway } from "../support/gateway.ts"
import { readRaw } from "./raw-request.ts"
import { isWireError, wires } from "./wires.ts"

const hello: Script = () => ({ text: "Hello." })

const send = ({ url }: TestGateway, [, path, body]: (typeof wires)[number], headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body), headers })

test("one request more than are worked on is told to come again, and the next one after them is served", async () => {
  const slow: Script = () => ({ text: "Hello.", fault: { type: "delay", ms: 400 } })
  await withGateway(slow, { limits: limitsWith({ requests: 2 }) }, async (gateway) => {
    const [first, ...others] = wires
    if (first === undefined) throw new Error("no wire")
    const busy = [send(gateway, first), send(gateway, first)]
    await new Promise((resolve) => setTimeout(resolve, 100))
    for (const wire of others) {
      const turnedAway = await send(gateway, wire)
      expect([turnedAway.status, turnedAway.headers.get("retry-after")]).toEqual([503, "1"])
      expect(isWireError(wire[0], await turnedAway.text())).toBe(true)
    }
    expect((await Promise.all(busy)).map(({ status }) => status)).toEqual([200, 200])
    expect((await send(gateway, first)).status).toBe(200)
  })
})

test("connections beyond the limit are not taken while all others wait for their answer, and those that end make room", async () => {
  let asked = 0
  const slow: Script = () => {
    asked++
    return { text: "Hello.", fault: { type: "delay", ms: 3000 } }
  }
  await withGateway(slow, { limits: limitsWith({ connections: 3 }) }, async (gateway) => {
    const [wire] = wires
    if (wire === undefined) throw new Error("no wire")
    const busy = Array.from({ length: 3 }, () => send(gateway, wire, { connection: "close" }))
    await expect.poll(() => asked, { timeout: 20_000 }).toBe(3)
    const one = connect(gateway.port, "127.0.0.1")
    one.write("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    expect(await readRaw(one)).toEqual({ text: "", isClosed: true })
    for (const answer of busy) expect((await answer).status).toBe(200)
    await expect.poll(async () => (await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  })
})

test("an idle connection and a half-sent request give way to a new connection", async () => {
  await withGateway(hello, { limits: limitsWith({ connections: 3 }) }, async ({ port }) => {
    const held: Socket[] = []
    for (let n = 0; n < 3; n++) {
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => {})
      await new Promise((resolve) => socket.once("connect", resolve))
      held.push(socket)
    }
    held[0]?.write("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
    for (let n = 0; n < 5; n++) {
      const one = connect(port, "127.0.0.1")
      one.write("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
      expect((await readRaw(one)).text).toContain("200 OK")
    }
    for (const socket of held) socket.destroy()
  })
})

test("sessions beyond a tenant's limit are not begun: the request goes on as it came, and others are not concerned", async () => {
  await withGateway(hello, { limits: limitsWith({ newSessions: 2 }) }, async (gateway) => {
    const [wire] = wires
    if (wire === undefined) throw new Error("no wire")
    const named = async (key: string, session: string) => {
      const response = await send(gateway, wire, { "x-api-key": key, "x-holdfast-session": session })
      await response.text()
      return [response.status, response.headers.get("x-holdfast-session") === null ? "none" : "in a session"]
    }
    expect(await named("one", "a")).toEqual([200, "in a session"])
    expect(await named("one", "b")).toEqual([200, "in a session"])
    expect(await named("one", "c")).toEqual([200, "none"])
    expect(await named("one", "c")).toEqual([200, "none"])
    expect(await named("one", "a")).toEqual([200, "in a session"])
    expect(await named("two", "c")).toEqual([200, "in a session"])
    expect(gateway.records.map(({ how }) => how)).toContain("passed")
    expect((await gateway.holdfast.sessions()).length).toBe(3)
  })
})

test("a history of more pieces than a session takes goes on as it came", async () => {
  await withGateway(hello, {}, async (gateway) => {
    const messages = Array.from({ length: 10_001 }, () => ({ role: "user", content: "a" }))
    const response = await send(gateway, ["openai-chat", "/v1/chat/completions", { model: "gpt-5", messages }])
    await response.text()
    expect(response.status).toBe(200)
    expect(gateway.records[0]).toMatchObject({ how: "passed", problem: { code: "request-invalid" } })
  })
})

describe("a body that is larger than any model takes", () => {
  const content = "a".repeat(33 * 1024 * 1024)
  const wire = [
    "openai-chat",
    "/v1/chat/completions",
    { model: "gpt-5", messages: [{ role: "user", content }] },
  ] as const
  const script: Script = ({ body }) => ({ text: `It has ${JSON.stringify(body).length}.` })

  test("goes on as it came", async () => {
    await withGateway(script, {}, async (gateway) => {
      const response = await send(gateway, wire)
      expect(await response.text()).toContain(`It has ${JSON.stringify(wire[2]).length}.`)
      expect(gateway.records[0]).toMatchObject({ how: "passed", changed: false, problem: { code: "body-too-large" } })
    })
  })

  test("is refused where it would have to carry an operator's rule", async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-rules-"))
    writeFileSync(join(directory, "rules.md"), "- Never speak of prices.\n", { mode: 0o644 })
    const store = createMemoryStore()
    const operator = await openOperator({ store, directory, watch: false })
    await withGateway(script, { store, operator }, async (gateway) => {
      const response = await send(gateway, wire)
      expect(response.status).toBe(413)
      expect(isWireError(wire[0], await response.text())).toBe(true)
    }).finally(() => rmSync(directory, { recursive: true }))
  })
})

test("watchers beyond the limit are turned away, and those that leave make room", async () => {
  await withGateway(hello, {}, async ({ url }) => {
    const watch = async (): Promise<AbortController | number> => {
      const stop = new AbortController()
      const headers = { authorization: `Bearer ${adminToken}` }
      const response = await fetch(`${url}/admin/events`, { headers, signal: stop.signal })
      return response.status === 200 ? stop : response.status
    }
    const watching = await Promise.all(Array.from({ length: 50 }, watch))
    expect(watching.filter((one) => typeof one === "number")).toEqual([])
    expect(await watch()).toBe(503)
    for (const one of watching) if (typeof one !== "number") one.abort()
    await expect.poll(async () => typeof (await watch())).toBe("object")
  })
})
