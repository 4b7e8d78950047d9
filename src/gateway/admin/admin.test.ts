import { expect, test } from "vitest"
import { converse, exchange, openAdminHouse, upstream } from "../../../test/fixtures/gateway/admin-house.ts"
import { noonMs } from "../../../test/fixtures/operator/signer.ts"
import { fc, runs } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import type { Store } from "../../store/store.ts"

test("the index lists all routes, and every route exists", async () => {
  const { ask, read, holdfast } = await openAdminHouse()
  await converse(holdfast, "s")
  const { name, version, links } = await read("/admin")
  const { checkpoints } = await holdfast.session("s").overview()
  expect({ name, version }).toEqual({ name: "holdfast", version: "1.2.3" })
  for (const link of Object.values(Object(links)).map(String)) {
    if (link.startsWith("POST")) continue
    const path = link
      .replace(/[? ].*$/, "")
      .replace("{id}", "s")
      .replace("compactions/{entry}", `compactions/${checkpoints[0]?.id}`)
      .replace("entries/{entry}", "entries/e3")
      .replace("{entry}", "e1")
      .replace("{number}", "3")
    const answer = await ask(path)
    // No model was called in it, so there is nothing to replay.
    const expected = path === "/admin/traces/s" ? 404 : path.endsWith("/what-if") ? 400 : 200
    expect([path, answer.status]).toEqual([path, expected])
    await answer.body?.cancel()
  }
})

test("the status shows uptime, requests, the store, and whether the store has everything", async () => {
  const { read } = await openAdminHouse()
  expect(await read("/admin/status")).toEqual({
    version: "1.2.3",
    nowMs: noonMs,
    startedMs: noonMs - 5000,
    uptimeMs: 5000,
    closing: false,
    requestsInFlight: 3,
    store: "memory",
    durability: { durable: true, sessions: 0 },
    operator: { audience: "harbour" },
    approvals: 0,
    streams: 0,
  })
})

test("an unavailable store is shown with its problem until it has everything", async () => {
  const store = createMemoryStore()
  let away = false
  const failing: Store = {
    ...store,
    append: async (session, batch) => {
      if (away) throw new HoldfastError({ code: "store-unavailable", store: "memory", reason: "it is away" })
      return store.append(session, batch)
    },
  }
  const { holdfast, read } = await openAdminHouse({ store: failing })
  const session = holdfast.session("s")
  const body = (...said: readonly string[]) => ({
    model: "any",
    messages: said.map((content) => ({ role: "user", content })),
  })
  await session.prepare({ body: body("one") })
  away = true
  await session.prepare({ body: body("one", "two") })
  expect(await read("/admin/status")).toMatchObject({
    durability: { durable: false, sessions: 1, problem: { code: "store-unavailable", next: expect.any(String) } },
  })
  away = false
  await session.prepare({ body: body("one", "two", "three") })
  expect(await read("/admin/status")).toMatchObject({ durability: { durable: true, sessions: 0 } })
})

test("exchanges are listed in short, newest first, by session, and one in full without the text of its calls", async () => {
  const { recentExchanges, read, ask } = await openAdminHouse()
  const facts = { text: "the words of the call" }
  const verdict = { decision: "deny", reasons: [{ policy: "p", rule: "No.", decision: "deny", facts: {} }], errors: [] }
  const judged = [{ callId: "c", tool: "mail", verdict: { ...verdict, facts }, enforced: true, result: "refused" }]
  recentExchanges.add(exchange("t1", { session: "s" }))
  recentExchanges.add(exchange("t2", { session: "other", problem: { code: "store-closed", store: "memory" } }))
  // The facts of a verdict contain sets and more; one text is enough here.
  recentExchanges.add({ ...exchange("t3", { session: "s" }), ...JSON.parse(JSON.stringify({ judged })) })
  const { traces } = await read("/admin/traces")
  expect(traces).toMatchObject([
    { id: "t3", traceEvents: 1, judged: [{ callId: "c", tool: "mail", decision: "deny", enforced: true }] },
    { id: "t2", problem: { code: "store-closed", sentence: expect.any(String), next: expect.any(String) } },
    { id: "t1" },
  ])
  expect(await read("/admin/traces?session=s&limit=1")).toMatchObject({ traces: [{ id: "t3" }] })
  const whole = await (await ask("/admin/traces/t3")).text()
  expect(JSON.parse(whole)).toMatchObject({
    trace: { trace: [{ type: "history-matched" }], judged: [{ reasons: [{ rule: "No." }], result: "refused" }] },
  })
  expect(whole).not.toContain("the words of the call")
})

test("an upstream is shown with its name, its host, and whose key it uses", async () => {
  const upstreams = [
    upstream,
    { ...upstream, name: "own", models: ["gpt-*"], apiKey: "key", baseUrl: "not an address" },
  ]
  const { read } = await openAdminHouse({ upstreams })
  expect(await read("/admin/upstreams")).toEqual({
    upstreams: [
      { name: "house", families: ["openai"], key: "client's", host: "models.example" },
      { name: "own", families: ["openai"], key: "own", models: ["gpt-*"] },
    ],
  })
})

test("no response contains a key, a header or a password of an upstream, or a token", async () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9_-]{12,60}$/)
  const paths = ["", "/status", "/sessions", "/traces", "/pins", "/audit", "/approvals", "/upstreams", "/nothing"]
  await fc.assert(
    fc.asyncProperty(secret, secret, secret, async (apiKey, header, password) => {
      const own = `${apiKey}${header}`
      const baseUrl = `https://user:${password}@models.example/${password}/v1?key=${password}`
      const upstreams = [{ ...upstream, apiKey, headers: { "x-tenant": header }, baseUrl }]
      const { admin } = await openAdminHouse({ upstreams, token: own })
      for (const path of paths) {
        const request = new Request(`http://h/admin${path}`, { headers: { authorization: `Bearer ${own}` } })
        const answer = await admin(request)
        const told = `${await answer.text()}${JSON.stringify([...answer.headers])}`
        for (const hidden of [apiKey, header, password]) expect(told).not.toContain(hidden)
      }
      admin.close()
    }),
    { numRuns: Math.ceil(runs / 16) },
  )
})

test("a bug is reported to the owner, and the client gets no details", async () => {
  const faults: unknown[] = []
  const status = () => {
    throw new Error("the secret inside")
  }
  const { ask } = await openAdminHouse({ status, onFault: (error) => faults.push(error) })
  const answer = await ask("/admin/status")
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain("secret")
  expect(faults).toHaveLength(1)
})
