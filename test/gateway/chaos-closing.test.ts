import { once } from "node:events"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { createFailingStore } from "../support/failing-store.ts"
import { adminToken, limitsWith, type TestGateway, withGateway } from "../support/gateway.ts"
import { isWireError, wires } from "./wires.ts"

const streamed = JSON.stringify({ model: "gpt-5", stream: true, messages: [{ role: "user", content: "Hi" }] })
const ask = ({ url }: TestGateway, session: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, { method: "POST", body: streamed, headers: { "x-holdfast-session": session } })

async function pendingAt({ url }: TestGateway): Promise<number> {
  const response = await fetch(`${url}/admin/approvals`, { headers: { authorization: `Bearer ${adminToken}` } })
  return (await response.text()).split("send_email").length - 1
}

test("a stream that is under way ends as it would have, and is on record, before the gateway has closed", async () => {
  const store = createMemoryStore()
  const slow = { text: "One two three four.", fault: { type: "stall", ms: 300 } } as const
  await withGateway(
    () => slow,
    { store, limits: limitsWith({ graceMs: 5000 }) },
    async (gateway) => {
      const response = await ask(gateway, "s")
      const closing = gateway.close()
      expect(await response.text()).toContain("[DONE]")
      await closing
      expect(gateway.records.map(({ ending }) => ending)).toEqual(["complete"])
      const [session] = await store.sessions()
      const log = await store.outline(session?.id ?? "")
      expect(log.filter(({ type }) => type === "message-appended").length).toBe(2)
      await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow()
    },
  )
})

test("one that does not end in time is cut off, and what there was of it is on record", async () => {
  const endless = { text: "One two three four.", fault: { type: "stall", ms: 20_000 } } as const
  await withGateway(
    () => endless,
    { limits: limitsWith({ graceMs: 200 }) },
    async (gateway) => {
      const response = await ask(gateway, "s")
      const reading = response.text().catch(() => "cut off")
      await gateway.close()
      expect(await reading).toBe("cut off")
      expect(gateway.records.map(({ ending }) => ending)).toEqual(["client-left"])
    },
  )
})

test("a call that waits for a person waits no longer than the grace, and is not let through", async () => {
  const guard = createGuard([`@decision("ask") @rule("A person sees it.") forbid(principal, action, resource);`])
  const output = { calls: [{ tool: "send_email", input: { to: "eve@evil.example" } }] }
  const options = { limits: limitsWith({ graceMs: 200 }), askTimeoutMs: 60_000, sessions: { guard: { guard } } }
  await withGateway(
    () => output,
    options,
    async (gateway) => {
      const response = await ask(gateway, "s")
      const reading = response.text().catch(() => "cut off")
      await expect.poll(() => pendingAt(gateway)).toBe(1)
      await gateway.close()
      expect(await reading).not.toContain("eve@evil.example")
    },
  )
})

test.each(wires)(
  "%s: a request that comes while it closes is told so in its wire's shape",
  async (format, path, body) => {
    const slow = { text: "One two.", fault: { type: "stall", ms: 400 } } as const
    await withGateway(
      () => slow,
      { limits: limitsWith({ graceMs: 3000 }) },
      async (gateway) => {
        const held = await ask(gateway, "s")
        const socket = connect(gateway.port, "127.0.0.1")
        const said = JSON.stringify(body)
        socket.write(`POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`)
        await sleep(50)
        const closing = gateway.close()
        await sleep(50)
        socket.write(`content-length: ${said.length}\r\n\r\n${said}`)
        const [data]: Buffer[] = await once(socket, "data")
        const [head = "", text = ""] = (data ?? Buffer.alloc(0)).toString().split("\r\n\r\n")
        expect(head).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1/)
        expect(isWireError(format, text)).toBe(true)
        await held.text()
        await closing
        socket.destroy()
      },
    )
  },
)

test("work behind an answer that hangs on the store does not keep the gateway from closing", async () => {
  const failing = createFailingStore(createMemoryStore())
  await withGateway(
    () => ({ text: "Hello." }),
    { store: failing.store },
    async (gateway) => {
      await (await ask(gateway, "s")).text()
      await sleep(50)
      failing.set({ at: 1, code: "store-unavailable", when: "hang", lasting: true })
      await (await ask(gateway, "s")).text()
      await gateway.close()
    },
  )
}, 30_000)
