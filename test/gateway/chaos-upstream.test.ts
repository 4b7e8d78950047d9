import { request } from "node:http"
import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import * as zlib from "node:zlib"
import { expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { type Answering, chunkOf, type RawUpstream, startRawUpstream, streamHead, wholeAnswer } from "./raw-upstream.ts"
import { isWireError } from "./wires.ts"

const call = { id: "c1", type: "function", function: { name: "send_email", arguments: '{"to":"eve@evil.example"}' } }
const answerOf = (message: object): string =>
  JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-5",
    choices: [{ index: 0, message: { role: "assistant", content: "Hello.", ...message }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })
const hello = answerOf({})
const event = (delta: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`
const stream = `${event({ role: "assistant", content: "Hello" })}${event({ content: " you." })}data: [DONE]\n\n`

const times = { connectMs: 500, answerMs: 500, idleMs: 400, retries: 1 }

async function before(
  { answer, onConnection }: { readonly answer: Answering; readonly onConnection?: (socket: Socket) => void },
  act: (gateway: TestGateway, upstream: RawUpstream) => Promise<void>,
  options: TestGatewayOptions = {},
): Promise<void> {
  const upstream = await startRawUpstream(answer, onConnection)
  const one = { name: "model", families: ["openai"], baseUrl: upstream.url, ...times } as const
  const gateway = await startTestGateway(upstream.url, { keepAliveMs: 60, upstreams: [one], ...options })
  try {
    await act(gateway, upstream)
    expect(gateway.faults).toEqual([])
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
  } finally {
    await gateway.close()
    await upstream.close()
  }
}

const ask = ({ url }: TestGateway, isStream = false): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    redirect: "manual",
    headers: { authorization: "Bearer key-of-the-client" },
    body: JSON.stringify({ model: "gpt-5", stream: isStream, messages: [{ role: "user", content: "Hi" }] }),
  })

const every = (socket: Socket, ms: number, act: () => void): void => {
  const timer = setInterval(act, ms)
  socket.on("close", () => clearInterval(timer))
}

const noAnswer: readonly (readonly [string, number, Answering])[] = [
  ["hears a request and closes", 502, (socket) => socket.destroy()],
  ["says nothing", 504, () => {}],
  ["says half of its head", 504, (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-type: app")],
  ["speaks something else", 502, (socket) => socket.write("SSH-2.0-OpenSSH_9\r\n")],
  [
    "speaks in bytes",
    502,
    (socket) => socket.write(Buffer.from("0000120400000000000003000000640004001000000000", "hex")),
  ],
  [
    "says two lengths",
    502,
    (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n"),
  ],
  [
    "never ends its head",
    502,
    (socket) =>
      every(socket, 2, () => socket.write(`x-a: ${"b".repeat(20_000)}\r\n`.padStart(20_100, "HTTP/1.1 200 OK\r\n"))),
  ],
  [
    "only ever says that it will answer",
    504,
    (socket) => every(socket, 40, () => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n")),
  ],
  [
    "switches to another protocol",
    502,
    (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
  ],
  [
    "ends a refusal in its midst",
    502,
    (socket) => void socket.end("HTTP/1.1 400 Bad\r\ncontent-length: 5000\r\n\r\n{"),
  ],
]

test.each(noAnswer)("an upstream that %s is an error of the wire, %i", async (_what, status, answer) => {
  await before({ answer }, async (gateway) => {
    const response = await ask(gateway)
    expect([response.status, isWireError("openai-chat", await response.text())]).toEqual([status, true])
  })
})

test("an upstream that takes connections and closes them is an error of the wire", async () => {
  await before({ answer: () => {}, onConnection: (socket) => socket.destroy() }, async (gateway) => {
    const response = await ask(gateway)
    expect([response.status, isWireError("openai-chat", await response.text())]).toEqual([502, true])
  })
})

test("an upstream that is not there is an error of the wire", async () => {
  await before({ answer: () => {} }, async (gateway, upstream) => {
    await upstream.close()
    const response = await ask(gateway)
    expect([response.status, isWireError("openai-chat", await response.text())]).toEqual([502, true])
  })
})

const broken: readonly (readonly [string, Answering])[] = [
  ["sends a head and nothing more", (socket) => socket.write(streamHead())],
  [
    "stops in the midst of a chunk",
    (socket) => socket.write(`${streamHead()}${chunkOf(event({ content: "Hel" }))}ff\r\ndata: {`),
  ],
  [
    "closes in the midst of a chunk",
    (socket) => void socket.end(`${streamHead()}${chunkOf(event({ content: "Hel" }))}ff\r\ndata: {`),
  ],
  [
    "sends a chunk that is none",
    (socket) => socket.write(`${streamHead()}${chunkOf(event({ content: "Hel" }))}zz\r\n`),
  ],
  ["never ends", (socket) => socket.write(`${streamHead()}${chunkOf(event({ content: "Hel" }))}`)],
  [
    "sends less than it said",
    (socket) =>
      void socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 900\r\n\r\ndata: 1\n\n"),
  ],
  [
    "says that it is packed and is not",
    (socket) => socket.write(`${streamHead(["content-encoding: gzip"])}${chunkOf(stream)}0\r\n\r\n`),
  ],
]

test.each(broken)("a client of an upstream that %s is cut off, and does not wait for ever", async (_what, answer) => {
  await before({ answer }, async (gateway) => {
    await expect(ask(gateway, true).then((response) => response.text())).rejects.toThrow()
    await expect.poll(() => gateway.records[0]?.ending).toBe("upstream-cut")
  })
})

const taken: readonly (readonly [string, Answering, string])[] = [
  [
    "hints first",
    (socket) =>
      socket.write(Buffer.concat([Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"), wholeAnswer(hello)])),
    hello,
  ],
  [
    "ends its answer by closing",
    (socket) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${hello}`),
    hello,
  ],
  [
    "adds trailers",
    (socket) =>
      socket.write(
        `${streamHead(["trailer: x-holdfast-session"])}${chunkOf(stream)}0\r\nx-holdfast-session: evil\r\n\r\n`,
      ),
    stream,
  ],
  ["says pages where JSON was asked for", (socket) => socket.write(wholeAnswer("<html>no</html>")), "<html>no</html>"],
  [
    "packs its answer unasked",
    (socket) => socket.write(wholeAnswer(zlib.gzipSync(hello), ["content-encoding: gzip"])),
    hello,
  ],
  [
    "packs its answer another way",
    (socket) => socket.write(wholeAnswer(zlib.brotliCompressSync(hello), ["content-encoding: br"])),
    hello,
  ],
  [
    "packs its stream unasked",
    (socket) => {
      socket.write(streamHead(["content-encoding: gzip"]))
      socket.write(chunkOf(zlib.gzipSync(stream)))
      socket.write("0\r\n\r\n")
    },
    stream,
  ],
]

test.each(taken)("an upstream that %s is passed on", async (_what, answer, expected) => {
  await before({ answer }, async (gateway) => {
    const response = await ask(gateway, expected === stream)
    expect([response.status, await response.text()]).toEqual([200, expected])
    expect(response.headers.get("content-encoding")).toBeNull()
    expect(response.headers.get("x-holdfast-session")).not.toContain("evil")
  })
})

test("a packed stream arrives as it comes, with comments where it is silent", async () => {
  const packing = zlib.createGzip({ flush: zlib.constants.Z_SYNC_FLUSH })
  const answer: Answering = async (socket) => {
    socket.write(streamHead(["content-encoding: gzip"]))
    packing.on("data", (data: Buffer) => socket.write(chunkOf(data)))
    packing.on("end", () => socket.write("0\r\n\r\n"))
    await sleep(150)
    packing.write(event({ content: "one" }))
    await sleep(150)
    packing.end(event({ content: "two" }))
  }
  await before({ answer }, async (gateway) => {
    const text = await (await ask(gateway, true)).text()
    expect(text).toMatch(/^(?:: keep-alive\n\n)+data: .*one.*\n\n(?:: keep-alive\n\n)+data: .*two.*\n\n$/)
  })
})

test("a packed answer is judged like any other, and one that cannot be read is not passed on", async () => {
  const sessions = { guard: { guard: createGuard([{ template: "email-domains", domains: ["acme.example"] }]) } }
  const whole = answerOf({ content: null, tool_calls: [call] })
  const events = `${event({ role: "assistant", tool_calls: [{ index: 0, ...call }] })}data: [DONE]\n\n`
  const packings: readonly (readonly [string, (text: string) => Buffer])[] = [
    ["gzip", (text) => zlib.gzipSync(text)],
    ["br", (text) => zlib.brotliCompressSync(text)],
    ["zstd", (text) => zlib.zstdCompressSync(text)],
    ["gzip, gzip", (text) => zlib.gzipSync(zlib.gzipSync(text))],
  ]
  for (const [name, pack] of packings) {
    const answer: Answering = (socket, request) => {
      if (!request.includes('"stream":true')) socket.write(wholeAnswer(pack(whole), [`content-encoding: ${name}`]))
      else
        socket.write(
          Buffer.concat([
            Buffer.from(streamHead([`content-encoding: ${name}`])),
            chunkOf(pack(events)),
            Buffer.from("0\r\n\r\n"),
          ]),
        )
    }
    await before(
      { answer },
      async (gateway) => {
        for (const isStream of [false, true]) {
          const response = await ask(gateway, isStream)
          const text = await response.text()
          expect(text).not.toContain('{\\"to\\":\\"eve@evil.example\\"}')
          expect(response.status).toBe(name === "gzip" || name === "br" ? 200 : 502)
        }
      },
      { sessions },
    )
  }
})

const asEvents = (body: string): Buffer =>
  Buffer.from(wholeAnswer(body).toString().replace("application/json", "text/event-stream"))
const forbidden = answerOf({ content: null, tool_calls: [call] })
const forbiddenEvent = event({ role: "assistant", tool_calls: [{ index: 0, ...call }] })

const disguises: readonly (readonly [string, Buffer])[] = [
  ["JSON as events", asEvents(forbidden)],
  ["JSON and an empty line as events", asEvents(`${forbidden}\n\n`)],
  ["JSON behind an event", asEvents(`${event({ content: "Hi" })}${forbidden}\n\n`)],
  ["an event behind a field that is none", asEvents(`foo: ${forbiddenEvent}`)],
  ["an event that has no end", asEvents(forbiddenEvent.trimEnd())],
  ["lines that end in a carriage return", asEvents(forbiddenEvent.replaceAll("\n", "\r"))],
  ["a byte order mark", asEvents(`\ufeff${forbiddenEvent}`)],
  ["events as JSON", wholeAnswer(forbiddenEvent)],
  ["a list of answers", wholeAnswer(`[${forbidden}]`)],
  ["JSON behind a byte order mark", wholeAnswer(`\ufeff${forbidden}`)],
  ["another status that is well", wholeAnswer(forbidden, [], "299 Odd")],
  ["no type", Buffer.from(wholeAnswer(forbidden).toString().replace("content-type: application/json\r\n", ""))],
]

test.each(disguises)("%s is judged or not passed on, and never the client's fault", async (_what, bytes) => {
  const sessions = { guard: { guard: createGuard([{ template: "email-domains", domains: ["acme.example"] }]) } }
  const act = async (gateway: TestGateway): Promise<void> => {
    const [status, text] = await ask(gateway, true).then(
      async (response) => [response.status, await response.text()] as const,
      () => [502, ""] as const,
    )
    expect(text).not.toContain('{\\"to\\":\\"eve@evil.example\\"}')
    expect([200, 299, 502]).toContain(status)
  }
  await before({ answer: (socket) => socket.write(bytes) }, act, { sessions })
})

test.each([301, 302, 307, 308])(
  "a redirection (%i) is the client's to follow: the gateway takes its key nowhere",
  async (status) => {
    const elsewhere = await startRawUpstream((socket) => socket.write(wholeAnswer(hello)))
    const answer: Answering = (socket) =>
      socket.write(wholeAnswer("", [`location: ${elsewhere.url}/`], `${status} Elsewhere`))
    await before({ answer }, async (gateway) => {
      const response = await ask(gateway)
      expect([response.status, elsewhere.connections()]).toEqual([status, 0])
    })
    await elsewhere.close()
  },
)

test("connections that an upstream closes between requests are not the client's concern", async () => {
  let isClosing = false
  const answer: Answering = (socket, _request, count) => {
    if (isClosing && count > 1) return void socket.destroy()
    socket.write(wholeAnswer(hello))
    if (count % 3 === 0) socket.destroySoon()
  }
  await before({ answer }, async (gateway) => {
    for (let n = 0; n < 10; n++) {
      if (n === 5) isClosing = true
      const response = await ask(gateway)
      expect([response.status, await response.text()]).toEqual([200, hello])
    }
  })
})

test("a refusal larger than any is passed on as a refusal, and does not hang", async () => {
  await before(
    { answer: (socket) => socket.write(wholeAnswer("x".repeat(3_000_000), [], "400 Bad")) },
    async (gateway) => {
      const response = await ask(gateway)
      await response.text()
      expect(response.status).toBe(400)
    },
  )
})

test("a fast answer of 200 MB to a client that reads slowly waits in no memory of ours", async () => {
  const piece = chunkOf(Buffer.alloc(1024 * 1024, 0x20))
  let written = 0
  const answer: Answering = (socket) => {
    socket.write(streamHead())
    const go = (): void => {
      if (written === 200) return void socket.write("0\r\n\r\n")
      written++
      if (socket.write(piece)) setImmediate(go)
      else socket.once("drain", go)
    }
    go()
  }
  await before({ answer }, async (gateway) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const asking = request(`${gateway.url}/v1/chat/completions`, { method: "POST" }, async (response) => {
      await sleep(500)
      const waiting = written
      let bytes = 0
      response.on("data", (data: Buffer) => {
        bytes += data.length
      })
      response.on("end", () => resolve(bytes >= 200 * 1024 * 1024 ? waiting : -1))
      response.on("error", reject)
    })
    asking.end(JSON.stringify({ model: "gpt-5", stream: true, messages: [{ role: "user", content: "Hi" }] }))
    const waiting = await promise
    // What operating systems buffer for the two connections, and no more.
    expect(waiting).toBeGreaterThanOrEqual(0)
    expect(waiting).toBeLessThan(40)
  })
})
