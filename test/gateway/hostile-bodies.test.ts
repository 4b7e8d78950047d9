import { connect } from "node:net"
import * as zlib from "node:zlib"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { usualGatewayLimits } from "../../src/gateway/settings/gateway-options.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { codePoints, diagonalOf, fc, runs } from "../support/property.ts"
import { readRaw, statusesIn } from "./raw-request.ts"
import { isWireError, wires } from "./wires.ts"

const mega = 1024 * 1024

let model: ModelServer
let gateway: TestGateway

beforeAll(async () => {
  model = await startModelServer({ script: () => ({ text: "Hello." }) })
  const limits = { ...usualGatewayLimits, graceMs: 500, bodyBytes: 8 * mega, unpackedBytes: 8 * mega }
  gateway = await startTestGateway(model.url, { limits })
})
afterAll(async () => {
  await gateway.close()
  await model.close()
})

type Given = string | Buffer

const send = (path: string, body: Given, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer k", ...headers },
    body: typeof body === "string" ? body : new Uint8Array(body),
  })

/** After each attack an ordinary request is answered, and no error outside of a request occurred. */
afterEach(async () => {
  for (const [, path, body] of wires) {
    const response = await send(path, JSON.stringify(body))
    expect(response.status).toBe(200)
    await response.text()
  }
  expect(gateway.faults).toEqual([])
})

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)

/** Returns a body with the text as the user's message, in the fields of every wire format at once. */
const saying = (text: string): string =>
  `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":${text}}],"input":[{"role":"user","content":${text}}],"contents":[{"role":"user","parts":[{"text":${text}}]}]}`

const odd: readonly (readonly [string, Given])[] = [
  ["nothing", ""],
  ["spaces", "   "],
  ["null", "null"],
  ["an array", "[]"],
  ["a number", "1"],
  ["a text", '"x"'],
  ["half a body", '{"model":"m","messages":[{"role":"us'],
  ["a byte order mark", `\ufeff${saying('"Hi"')}`],
  ["another encoding of text", Buffer.from(saying('"Hi"'), "utf16le")],
  ["bytes that are no UTF-8", Buffer.from(saying('"\xff\xfe\xc0\x80"'), "latin1")],
  ["half characters", saying('"\\ud800 and \\udc00"')],
  ["characters that end texts", saying('"a\\u0000b\\u001f"')],
  ["names of every object", saying('"Hi"').replace("{", '{"__proto__":{"role":"x"},"constructor":{"prototype":{}},')],
  ["names that come twice", saying('"Hi"').replace("{", '{"messages":[],"input":"a","contents":[],"model":"n",')],
  ["numbers beyond numbers", saying('"Hi"').replace("5,", `1e400,"temperature":${"9".repeat(5000)},`)],
  ["5,000 levels where something is said", saying(nested(5000))],
  ["5,000 levels beside it", saying('"Hi"').replace("{", `{"safety_settings":${nested(5000)},`)],
  ["a million elements that are none", `{"model":"m","messages":[${"1,".repeat(mega)}1]}`],
  ["an unpaired call", saying('[{"type":"tool_result","tool_use_id":"x","content":[{"type":"tool_use"}]}]')],
]

const oddOnWires = odd.flatMap(([what, given]) => wires.map(([format, path]) => ({ what, given, format, path })))

test.each(diagonalOf(oddOnWires, wires.length))(
  "$format: $what goes on as it came or is refused, and breaks nothing",
  async ({ given, format, path }) => {
    const before = model.requests.length
    const response = await send(path, given)
    const text = await response.text()
    const sent = model.requests.slice(before)
    if (sent.length > 0) expect(Buffer.from(sent[0]?.body ?? []).equals(Buffer.from(given))).toBe(true)
    else expect([response.status, isWireError(format, text)]).toEqual([400, true])
  },
)

describe.each(wires)("%s", (format, path) => {
  test("more than may be sent is refused with 413 in the wire's shape, whether it says so or not", async () => {
    const large = await send(path, Buffer.alloc(9 * mega, 0x20))
    expect([large.status, large.headers.get("connection")]).toEqual([413, "close"])
    expect(isWireError(format, await large.text())).toBe(true)
    const socket = connect(gateway.port, "127.0.0.1")
    socket.on("error", () => {})
    socket.write(`POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n`)
    const piece = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000, 0x20), Buffer.from("\r\n")])
    const flood = setInterval(() => socket.write(piece), 1)
    const answer = await readRaw(socket)
    clearInterval(flood)
    expect(statusesIn(answer)).toEqual([413])
  })
})

const small = Buffer.from(JSON.stringify(wires[1]?.[2]))
/** Three times the maximum size of an unpacked body. */
const zeros = Buffer.alloc(24 * mega, 0x20)
const quick = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }

const packed: readonly (readonly [string, string, number, () => Buffer])[] = [
  ["gzip", "gzip", 200, () => zlib.gzipSync(small)],
  ["zstd", "zstd", 200, () => zlib.zstdCompressSync(small)],
  ["two layers", "gzip, br", 200, () => zlib.brotliCompressSync(zlib.gzipSync(small))],
  ["three layers", "gzip, gzip, gzip", 400, () => zlib.gzipSync(zlib.gzipSync(zlib.gzipSync(small)))],
  ["a bomb in gzip", "gzip", 413, () => zlib.gzipSync(zeros)],
  ["a bomb in a bomb", "gzip, gzip", 413, () => zlib.gzipSync(zlib.gzipSync(zeros))],
  ["a bomb in deflate", "deflate", 413, () => zlib.deflateSync(zeros)],
  ["a bomb in brotli", "br", 413, () => zlib.brotliCompressSync(zeros, quick)],
  ["a bomb in zstd", "zstd", 413, () => zlib.zstdCompressSync(zeros)],
  ["half a body", "gzip", 400, () => zlib.gzipSync(small).subarray(0, 30)],
  ["a body that is not packed", "gzip", 400, () => small],
  ["a packing that nobody knows", "compress", 400, () => small],
  ["something behind the body", "gzip", 400, () => Buffer.concat([zlib.gzipSync(small), Buffer.from("GET /admin")])],
]

test.each(packed)("packed, %s as %s is answered %i", async (_what, encoding, status, make) => {
  const response = await send("/v1/chat/completions", make(), { "content-encoding": encoding })
  expect(response.status).toBe(status)
  if (status !== 200) expect(isWireError("openai-chat", await response.text())).toBe(true)
})

const names =
  "model max_tokens messages system tools tool_choice stream metadata thinking context_management input instructions previous_response_id conversation store include reasoning contents systemInstruction generationConfig cachedContent role content type text tool_calls tool_call_id function name arguments id call_id parts functionCall functionResponse output source cache_control tool_use_id signature encrypted_content summary".split(
    " ",
  )
const words =
  "user assistant system developer tool model text tool_use tool_result function_call function_call_output message reasoning image thinking compaction item_reference call_1 resp_1".split(
    " ",
  )
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...words),
    fc.string({ unit: codePoints, maxLength: 8 }),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 5 }),
  ),
}))
/** A request that is valid except for one or two of its members. */
const nearly = fc
  .tuple(fc.constantFrom(...wires), fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }), fc.array(value))
  .map(([[format, path, body], over, more]) => {
    const history = ["messages", "input", "contents"].find((name) => name in body) ?? "input"
    const items = [...Object.entries(body).flatMap(([name, held]) => (name === history ? [held].flat() : [])), ...more]
    return { format, path, body: { ...body, [history]: items, ...over } }
  })

test("whatever is in a body, it goes on or is refused in the wire's own shape, and nothing of ours fails", async () => {
  const numRuns = runs // each is a request and its answer
  const property = fc.asyncProperty(nearly, async ({ format, path, body }) => {
    const before = gateway.records.length
    const response = await send(path, JSON.stringify(body), { "content-type": "application/json" })
    const text = await response.text()
    await expect.poll(() => gateway.records.length).toBe(before + 1)
    const { problem, attempts } = gateway.records.at(-1) ?? {}
    if (attempts === 0)
      expect([response.status < 500, isWireError(format, text), problem]).toMatchObject([true, true, {}])
    expect(gateway.faults).toEqual([])
  })
  await fc.assert(property, { numRuns })
})
