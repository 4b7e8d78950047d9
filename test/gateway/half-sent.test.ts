import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { usualGatewayLimits } from "../../src/gateway/settings/gateway-options.ts"
import type { Script } from "../model-server/script.ts"
import { limitsWith, type TestGateway, withGateway } from "../support/gateway.ts"

const hello: Script = () => ({ text: "Hello." })

/** Ways to leave a request incomplete; the last one keeps sending, a byte a second. */
const ways = ["nothing", "head-cut", "body-cut", "drip"] as const
type Way = (typeof ways)[number]

const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
const texts: Readonly<Record<Way, string>> = {
  nothing: "",
  "head-cut": head,
  "body-cut": `${head}content-length: 100000\r\n\r\n{"model":"gpt-5","messages":[`,
  drip: `${head}content-length: 100000\r\n\r\n{`,
}

type Flood = { readonly sockets: readonly Socket[]; readonly open: () => number; readonly end: () => void }

/** Opens this many connections and sends part of a request over each. */
async function flood(port: number, count: number): Promise<Flood> {
  const sockets: Socket[] = []
  for (let n = 0; n < count; n++) {
    const way = ways[n % ways.length] ?? "nothing"
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
    socket.on("error", () => {})
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.once("connect", resolve)
    socket.once("close", () => resolve())
    socket.resume()
    sockets.push(socket)
    await promise
    socket.write(texts[way])
  }
  const dripping = setInterval(() => {
    for (const [n, socket] of sockets.entries()) if (ways[n % ways.length] === "drip") socket.write(" ")
  }, 1000)
  const isOpen = (socket: Socket): boolean => !socket.destroyed && !socket.readableEnded
  return {
    sockets,
    open: () => sockets.filter(isOpen).length,
    end: () => {
      clearInterval(dripping)
      for (const socket of sockets) socket.destroy()
    },
  }
}

const body = (stream: boolean): string =>
  JSON.stringify({ model: "gpt-5", stream, messages: [{ role: "user", content: "Hello?" }] })

/** Sends a request over a separate connection. */
async function ask({ url }: TestGateway, stream = false): Promise<{ readonly status: number; readonly ms: number }> {
  const startMs = performance.now()
  const headers = { connection: "close", "content-type": "application/json" }
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: body(stream), headers })
  await response.text()
  return { status: response.status, ms: performance.now() - startMs }
}

/** More than the maximum number of connections. */
const many = 2100

test("2,100 half-sent requests shut nobody out, and do not fill the memory", { timeout: 60_000 }, async () => {
  await withGateway(hello, {}, async (gateway) => {
    await ask(gateway)
    const before = process.memoryUsage().rss
    const held = await flood(gateway.port, many)
    const answers: Awaited<ReturnType<typeof ask>>[] = []
    for (let n = 0; n < 9; n++) answers.push(await ask(gateway))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const times = answers.map(({ ms }) => ms).sort((one, other) => one - other)
    // The median: single requests on a loaded machine may have waited.
    expect(times[4]).toBeLessThan(1000)
    await sleep(600)
    expect((await ask(gateway)).status).toBe(200)
    // Connections that send slowly were closed down to the limit.
    expect(held.open()).toBeLessThanOrEqual(usualGatewayLimits.halfSentPerAddress)
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6)
    held.end()
  })
})

test("streams under way go on through a flood of half-sent requests", { timeout: 60_000 }, async () => {
  const slow: Script = () => ({ text: "Hello. ".repeat(40), fault: { type: "delay", ms: 1500 } })
  await withGateway(slow, {}, async (gateway) => {
    const streams = Array.from({ length: 50 }, () => ask(gateway, true))
    await sleep(300)
    const held = await flood(gateway.port, many)
    expect((await ask(gateway, true)).status).toBe(200)
    expect((await Promise.all(streams)).map(({ status }) => status)).toEqual(streams.map(() => 200))
    held.end()
  })
})

test("200 programs of this machine that send at once are all served", { timeout: 60_000 }, async () => {
  await withGateway(hello, {}, async (gateway) => {
    const held = await flood(gateway.port, 400)
    await sleep(600)
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(gateway)))
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    held.end()
  })
})

test("a half-sent request is gone after its limit, whether or not its client closes", { timeout: 60_000 }, async () => {
  await withGateway(hello, { limits: limitsWith({ headersMs: 1000, bodyMs: 2000 }) }, async (gateway) => {
    const held = await flood(gateway.port, 200)
    expect(held.open()).toBe(200)
    await sleep(6000)
    expect(held.open()).toBe(0)
    // The server closed them in both directions: writing to them now fails.
    const writable = (): readonly Socket[] => held.sockets.filter(({ destroyed }) => !destroyed)
    const write = (): number => writable().map((socket) => socket.write(" ")).length
    await expect.poll(write).toBe(0)
    held.end()
  })
})
