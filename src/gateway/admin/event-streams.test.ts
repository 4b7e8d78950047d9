import { connect } from "node:net"
import { serve } from "@hono/node-server"
import { expect, test } from "vitest"
import { type AdminHouse, exchange, openAdminHouse, token } from "../../../test/fixtures/gateway/admin-house.ts"
import { fc } from "../../../test/support/property.ts"
import { createEventStreams, createFeed, maxStreams, maxWaitingBytes } from "./event-streams.ts"

type Event = { readonly id?: string; readonly name?: string; readonly data?: string }

/** The events of a stream, one by one; comments have neither name nor data. */
function readerOf(body: ReadableStream<Uint8Array> | null) {
  const reader = (body ?? new ReadableStream<Uint8Array>()).getReader()
  const decoder = new TextDecoder()
  let text = ""
  const next = async (): Promise<Event | undefined> => {
    for (;;) {
      const end = text.indexOf("\n\n")
      if (end >= 0) {
        const block = text.slice(0, end).split("\n")
        text = text.slice(end + 2)
        const field = (name: string) => block.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        const [id, name, data] = [field("id"), field("event"), field("data")]
        return Object.fromEntries(Object.entries({ id, name, data }).filter(([, value]) => value !== undefined))
      }
      const { done, value } = await reader.read()
      if (done) return undefined
      text += decoder.decode(value, { stream: true })
    }
  }
  const take = async (count: number): Promise<readonly Event[]> => {
    const events: Event[] = []
    while (events.length < count) {
      const event = await next()
      if (event === undefined) break
      if (event.data !== undefined) events.push(event)
    }
    return events
  }
  return { next, take, cancel: () => reader.cancel() }
}

const open = async ({ ask }: AdminHouse, path = "/admin/events", lastId?: string) => {
  const last = lastId === undefined ? {} : { "last-event-id": lastId }
  const answer = await ask(path, { headers: { authorization: `Bearer ${token}`, ...last } })
  return { answer, ...readerOf(answer.body) }
}

const typeOf = ({ name, data }: Event): string => `${name} ${JSON.parse(data ?? "{}").type}`
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))
const never = new AbortController().signal
const verdict = JSON.parse('{"decision":"ask","reasons":[],"errors":[],"facts":{}}')

test("events are sent as they happen, in order, each with its own id", async () => {
  const house = await openAdminHouse()
  const { answer, take, next } = await open(house)
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
  expect(answer.headers.get("cache-control")).toBe("no-store")
  expect((await next())?.data).toBeUndefined()
  await house.holdfast.session("s").append([{ role: "user", content: "Good morning." }])
  house.recentExchanges.add(exchange("t1", { session: "s" }))
  house.approvals.ask({ session: "s", tenant: "t", trace: "t1", call: { tool: "buy", input: {} }, verdict }, never)
  const id = house.approvals.pending()[0]?.id ?? ""
  await house.command(house.signer.sign({ type: "refuse", call: id }))
  const events = await take(5)
  expect(events.map(typeOf)).toEqual([
    "session entries-appended",
    "exchange exchange-ended",
    "approval approval-asked",
    "approval approval-settled",
    "operator command-accepted",
  ])
  expect(new Set(events.map((event) => event.id)).size).toBe(5)
  house.admin.close()
})

test("a reader of one session gets only its events", async () => {
  const house = await openAdminHouse()
  const { take } = await open(house, "/admin/events?session=s")
  house.recentExchanges.add(exchange("t1", { session: "other" }))
  await house.command(house.signer.sign({ type: "pin", text: "Never pay." }))
  house.recentExchanges.add(exchange("t2"))
  house.recentExchanges.add(exchange("t3", { session: "s" }))
  house.admin.close()
  expect((await take(9)).map(({ data }) => JSON.parse(data ?? "{}").id)).toEqual(["t3"])
})

test("a disconnected reader resumes with the next event", async () => {
  const house = await openAdminHouse()
  const first = await open(house)
  for (let n = 1; n <= 8; n++) house.recentExchanges.add(exchange(`t${n}`))
  const all = await first.take(8)
  for (const [n, { id }] of all.entries()) {
    const again = await open(house, "/admin/events", id)
    const rest = all.slice(n + 1)
    expect(await again.take(rest.length)).toEqual(rest)
    await again.cancel()
  }
  house.admin.close()
})

test.each(["another-7", "", "nonsense", "feed-", "feed-99999", "feed-1e3", "feed--1", "feed-0"])(
  "a reader with the unknown id %j gets a gap event and all kept events",
  async (lastId) => {
    const house = await openAdminHouse({ newId: () => "feed" })
    for (let n = 1; n <= 1005; n++) house.recentExchanges.add(exchange(`t${n}`))
    const { take } = await open(house, "/admin/events", lastId)
    house.admin.close()
    const [gap, ...rest] = await take(1001)
    expect(gap).toMatchObject({ name: "gap", data: '{"type":"events-lost","kept":1000}' })
    expect(rest.slice(0, 1).map(({ data }) => JSON.parse(data ?? "{}").id)).toEqual(["t6"])
  },
)

test("a reader gets keep-alive comments with its position", async () => {
  const house = await openAdminHouse({ keepAliveMs: 5, newId: () => "feed" })
  const { next, cancel } = await open(house)
  house.recentExchanges.add(exchange("t1"))
  await next()
  expect(await next()).toMatchObject({ id: "feed-1", name: "exchange" })
  expect(await next()).toEqual({ id: "feed-1" })
  await cancel()
  house.admin.close()
})

test("the number of readers is limited, and a slot is free when one leaves", async () => {
  const house = await openAdminHouse()
  const opened = []
  for (let n = 0; n < maxStreams; n++) opened.push(await open(house))
  expect((await house.read("/admin/status")).streams).toBe(maxStreams)
  const { answer } = await open(house)
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"])
  await opened[3]?.cancel()
  expect((await open(house)).answer.status).toBe(200)
  house.admin.close()
  expect(await opened[0]?.next()).toBeDefined()
  expect(await opened[0]?.next()).toBeUndefined()
  expect((await open(house)).answer.status).toBe(503)
})

test("a reader that does not keep up is disconnected, nothing is stored for it, and others continue", async () => {
  const feed = createFeed("feed", 1000)
  const streams = createEventStreams(feed, 1_000_000)
  const slow = streams.open({ signal: never })
  const quick = streams.open({ signal: never })?.getReader()
  const text = "x".repeat(9000)
  let published = 0
  for (; published < 300 && streams.count() === 2; published++) {
    feed.publish("session", "s", { text })
    await quick?.read()
  }
  expect(published * text.length).toBeGreaterThan(maxWaitingBytes - 2 * text.length)
  expect(published * text.length).toBeLessThan(maxWaitingBytes + 20 * text.length)
  await expect(slow?.getReader().read()).rejects.toThrow("did not keep up")
  feed.publish("session", "s", { last: true })
  const decoder = new TextDecoder()
  let heard = ""
  while (!heard.includes("last")) heard += decoder.decode((await quick?.read())?.value)
  streams.close()
})

test("a reader whose next event is lost is disconnected", async () => {
  const feed = createFeed("feed", 10)
  const streams = createEventStreams(feed, 1_000_000)
  const slow = streams.open({ signal: never })
  await pause()
  for (let n = 0; n <= 10; n++) feed.publish("session", "s", { n })
  expect(streams.count()).toBe(0)
  await expect(slow?.getReader().read()).rejects.toThrow("did not keep up")
  streams.close()
})

test("a reader that reads nothing is disconnected", async () => {
  const feed = createFeed("feed")
  const streams = createEventStreams(feed, 1)
  streams.open({ signal: never })
  while (streams.count() > 0) await pause()
  streams.close()
})

test("for any order of events, reads and reconnects, a reader gets each event once and in order", async () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant("publish" as const), session: fc.constantFrom("s", "other") }),
    fc.record({ type: fc.constant("again" as const) }),
    fc.record({ type: fc.constant("read" as const) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, filtered) => {
      const feed = createFeed("feed")
      const streams = createEventStreams(feed, 1_000_000)
      const session = filtered ? { session: "s" } : {}
      const expected: number[] = []
      const got: number[] = []
      let lastId = feed.idOf(0)
      let reader = readerOf(streams.open({ signal: never, lastId, ...session }) ?? null)
      const read = async (): Promise<void> => {
        const event = await reader.next()
        lastId = event?.id ?? lastId
        if (event?.data !== undefined) got.push(JSON.parse(event.data).n)
      }
      let published = 0
      for (const one of steps) {
        if (one.type === "publish") {
          published += 1
          feed.publish("session", one.session, { n: published })
          if (!filtered || one.session === "s") expected.push(published)
        } else if (one.type === "again") {
          await reader.cancel()
          reader = readerOf(streams.open({ signal: never, lastId, ...session }) ?? null)
        } else if (got.length < expected.length) await read()
      }
      while (got.length < expected.length) await read()
      expect(got).toEqual(expected)
      streams.close()
    }),
  )
})

/** The admin API on a loopback port. */
async function listen({ admin }: AdminHouse) {
  const { promise: listening, resolve } = Promise.withResolvers<number>()
  const server = serve({ fetch: admin, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port))
  const port = await listening
  const close = (): Promise<void> => {
    admin.close()
    return new Promise((end) => server.close(() => end()))
  }
  return { port, close }
}

test("over a real connection events arrive as they happen, and a client that leaves frees its slot", async () => {
  const house = await openAdminHouse()
  const { port, close } = await listen(house)
  const leave = new AbortController()
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`http://127.0.0.1:${port}/admin/events`, { headers, signal: leave.signal })
  const { next, take } = readerOf(answer.body)
  await next()
  house.recentExchanges.add(exchange("t1"))
  expect((await take(1)).map(typeOf)).toEqual(["exchange exchange-ended"])
  expect((await house.read("/admin/status")).streams).toBe(1)
  leave.abort()
  while ((await house.read("/admin/status")).streams !== 0) await pause()
  await close()
})

test("over a real connection a client that does not read is disconnected, and the next one is served", async () => {
  const house = await openAdminHouse()
  const { port, close } = await listen(house)
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => {})
  socket.pause()
  socket.write(`GET /admin/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  const streams = async (): Promise<unknown> => (await house.read("/admin/status")).streams
  while ((await streams()) !== 1) await pause()
  const big = exchange("t", { agent: "x".repeat(500), model: "y".repeat(500), path: "z".repeat(500) })
  // The operating system buffers some megabytes for a client that does not read.
  for (let n = 0; n < 50_000 && (await streams()) === 1; n++)
    for (let m = 0; m < 50; m++) house.recentExchanges.add(big)
  expect(await streams()).toBe(0)
  const next = await fetch(`http://127.0.0.1:${port}/admin/status`, { headers: { authorization: `Bearer ${token}` } })
  expect(next.status).toBe(200)
  socket.destroy()
  await close()
})
