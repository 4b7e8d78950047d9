import { expect, test } from "vitest"
import { fc, runs, sampleOf } from "../../test/support/property.ts"
import { callId, type Format, formats, tokens } from "../message/message.ts"
import { readSse, utf8Bytes, utf8Text } from "../wire/sse.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { encodeStream } from "../wire/stream-steps.ts"
import { createGuard } from "./guard.ts"
import { guardSse } from "./guard-stream.ts"

const denyAll = createGuard(["forbid(principal, action, resource);"])
const usage = {
  inputTokens: tokens(3),
  outputTokens: tokens(4),
  cacheReadTokens: tokens(0),
  cacheWriteTokens: tokens(0),
}
const call = (index: number, kind: "function" | "custom"): readonly StreamEvent[] => [
  { type: "part-start", index, part: "tool-call", callId: callId(`id${index}`), tool: "SECRET_TOOL", kind },
  { type: "input-delta", index, text: '{"n":' },
  { type: "input-delta", index, text: '"SECRET_INPUT"}' },
  { type: "part-end", index },
]
const said: readonly StreamEvent[] = [
  { type: "response-start", id: "resp_1", model: "m" },
  { type: "part-start", index: 0, part: "text" },
  { type: "text-delta", index: 0, text: "hi" },
  { type: "part-end", index: 0 },
  ...call(1, "function"),
  ...call(2, "custom"),
  { type: "response-end", stop: "tool-calls", usage },
]

/** Put something else in the place of one value in a frame's JSON. */
function damage(frame: string, where: number, value: unknown): string {
  let seen = 0
  return frame.replace(/\{[^\n\r]*\}/, (text) => {
    const values = [...text.matchAll(/[:,]/g)].length
    return JSON.stringify(JSON.parse(text, (_, inner) => (seen++ === where % (values + 1) ? value : inner))) ?? "null"
  })
}

const junk = fc.constantFrom<unknown>(
  null,
  0,
  1,
  7,
  "x",
  "",
  [],
  {},
  [7],
  [{}],
  { type: "text" },
  { index: 0 },
  undefined,
)

/** Streams with damaged values, repeated and moved frames, joined frames, cuts. */
function streams(format: Format): fc.Arbitrary<string> {
  const frames = encodeStream(format, said).map(({ raw }) => utf8Text(raw))
  const damages = fc.array(fc.tuple(fc.nat(), fc.nat(), junk), { maxLength: 3 })
  return fc.tuple(damages, fc.array(fc.nat(), { maxLength: 10 }), fc.nat(4_000)).map(([places, picks, cut]) => {
    const all = [...frames]
    for (const [which, where, value] of places)
      all[which % all.length] = damage(all[which % all.length] ?? "", where, value)
    const moved = picks.length === 0 ? all : [...all.slice(0, 3), ...picks.map((pick) => all[pick % all.length] ?? "")]
    const text = moved.join("")
    return cut > text.length ? text : text.slice(0, cut)
  })
}

test.each(formats)("%s: however a stream is damaged, nothing of a refused call goes out", async (format) => {
  const property = fc.asyncProperty(streams(format), async (stream) => {
    const out: string[] = []
    for await (const { raw } of guardSse(format, readSse(utf8Bytes(stream)), denyAll)) out.push(utf8Text(raw))
    expect(out.join("").replace(/\[Withheld by policy[^\]]*\]/g, "")).not.toContain("SECRET_TOOL")
  })
  await fc.assert(property, { numRuns: Math.ceil(runs / 4) })
})

const tools: readonly (readonly [tool: string, input: (text: string) => object])[] = [
  ["bash", (command) => ({ command })],
  ["bash", (text) => ({ command: `cat <<EOF\n${text}` })],
  ["python", (code) => ({ code })],
  ["query", (text) => ({ sql: `select ${text}` })],
  ["send_email", (to) => ({ to, body: to })],
  ["read_file", (path) => ({ path })],
  ["fetch", (text) => ({ url: `https://${text}` })],
  ["pay", (amount) => ({ amount })],
]
const pieces = [
  ..." x\n<>|;&$`\"'\\{}()[]#=/*?!@~%,-".split(""),
  ...[
    "$(",
    "<(",
    "<<E\n",
    "a=",
    "../",
    "sh -c '",
    "if ",
    "for x in ",
    "case ",
    "a@b.example,",
    "<a@b.example>",
    "$5 ",
    "thousand ",
  ],
  ...[
    "/*",
    "*/",
    "--",
    "union select ",
    "http://a.example/",
    "%41",
    "\\u0041",
    '{"a":',
    "f'{",
    "os.system(",
    "é",
    "必",
    "\u200b",
  ],
]
const policies = createGuard([
  { template: "email-domains", domains: ["acme.example"] },
  { template: "protected-paths", paths: ["/srv/vault"] },
  { template: "spend-limit", amount: 500, currency: "USD" },
])

test.each(tools)("%s is judged in linear time, whatever stands in its arguments over and over", (tool, input) => {
  const costMs = (piece: string, length: number): number => {
    const call = { tool, input: input(piece.repeat(length / piece.length)) }
    const before = process.threadCpuUsage()
    policies.judge(call)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
  // Eight times the text: quadratic work would take sixty-four times as long.
  const isLinear = (piece: string): boolean => costMs(piece, 24_000) < 24 * costMs(piece, 3_000) + 100
  for (const piece of sampleOf(pieces, 2)) {
    costMs(piece, 2_000)
    // A collection of garbage may fall into one judgment, and not into three.
    expect(isLinear(piece) || isLinear(piece) || isLinear(piece), piece).toBe(true)
  }
})
