import type { Format } from "../src/message/message.ts"
import { decodeNext, decodeRequest } from "../src/wire/decode.ts"
import { encodeRequest } from "../src/wire/encode.ts"
import { conditionsNow } from "./conditions.ts"

/**
 * Reading and writing a request compared with a bare JSON.parse and JSON.stringify of the same text, in one run: unchanged, with one
 * message changed, and continued from the previous request, as a gateway sees the growing history of a conversation.
 */
export type Options = { readonly quick?: boolean }

type Row = {
  readonly format: Format
  readonly kilobytes: number
  readonly messages: number
  readonly parseMs: number
  readonly parseStringifyMs: number
  readonly decodeMs: number
  readonly decodeEncodeMs: number
  readonly decodeChangeEncodeMs: number
  readonly resumeMs: number
}
type Report = { readonly conditions: Readonly<Record<string, string | number>>; readonly rows: readonly Row[] }

const words =
  "the file has a test that reads the log and checks every line of the output for an error message before it goes on".split(
    " ",
  )

/** Returns a text of about that many characters: prose, code and log lines, with the escapes that real tool output is full of. */
function filler(length: number, seed: number): string {
  const lines: string[] = []
  for (let size = 0, n = seed; size < length; n++) {
    const said = Array.from({ length: 9 }, (_, at) => words[(n * 7 + at * 3) % words.length]).join(" ")
    const line =
      n % 3 === 0
        ? `\tif (value === "${said}") return ${n}`
        : n % 3 === 1
          ? `2026-01-01T00:00:${n % 60} [info] ${said}`
          : said
    lines.push(line)
    size += line.length
  }
  return lines.join("\n")
}

/** Returns a request with tool rounds as a coding agent has them: a call, a result of four kilobytes, and a short remark on it. */
function requestText(format: "anthropic-messages" | "openai-chat", rounds: number): string {
  const tools = Array.from({ length: 12 }, (_, n) => ({
    name: `tool_${n}`,
    description: filler(1500, n),
    input_schema: { type: "object" },
  }))
  const history = Array.from({ length: rounds }, (_, n) => {
    const input = { path: `src/file-${n}.ts`, offset: n }
    if (format === "openai-chat") {
      return [
        {
          role: "assistant",
          content: filler(300, n),
          tool_calls: [
            { id: `call_${n}`, type: "function", function: { name: "read", arguments: JSON.stringify(input) } },
          ],
        },
        { role: "tool", tool_call_id: `call_${n}`, content: filler(4000, n) },
      ]
    }
    return [
      {
        role: "assistant",
        content: [
          { type: "text", text: filler(300, n) },
          { type: "tool_use", id: `toolu_${n}`, name: "read", input },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${n}`, content: filler(4000, n) }] },
    ]
  }).flat()
  const goal = { role: "user", content: filler(600, 1) }
  if (format === "openai-chat")
    return JSON.stringify({
      model: "m",
      messages: [{ role: "system", content: filler(20_000, 2) }, goal, ...history],
      tools,
    })
  return JSON.stringify({
    model: "m",
    messages: [goal, ...history],
    system: [{ type: "text", text: filler(20_000, 2) }],
    tools,
    max_tokens: 32_000,
    stream: true,
  })
}

/** Median of many runs after a warm-up; each run gets a fresh copy of the text, as each request does. */
function medianMs(text: string, runs: number, work: (text: string) => unknown): number {
  const times: number[] = []
  for (let n = 0; n < runs + 5; n++) {
    const fresh = Buffer.from(text).toString()
    const start = performance.now()
    work(fresh)
    if (n >= 5) times.push(performance.now() - start)
  }
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN
}

function measure(format: "anthropic-messages" | "openai-chat", rounds: number, runs: number): Row {
  const text = requestText(format, rounds)
  const previous = decodeRequest(format, requestText(format, rounds - 1))
  const { messages } = decodeRequest(format, text)
  return {
    format,
    kilobytes: Math.round(text.length / 1024),
    messages: messages.length,
    parseMs: medianMs(text, runs, (fresh) => JSON.parse(fresh)),
    parseStringifyMs: medianMs(text, runs, (fresh) => JSON.stringify(JSON.parse(fresh))),
    decodeMs: medianMs(text, runs, (fresh) => decodeRequest(format, fresh)),
    decodeEncodeMs: medianMs(text, runs, (fresh) => encodeRequest(decodeRequest(format, fresh))),
    decodeChangeEncodeMs: medianMs(text, runs, (fresh) => {
      const request = decodeRequest(format, fresh)
      return encodeRequest(request, {
        messages: request.messages.with(3, {
          ...request.messages[3],
          parts: [{ type: "text", text: "shorter" }],
        } as (typeof messages)[number]),
      })
    }),
    resumeMs: medianMs(text, runs, (fresh) => encodeRequest(decodeNext(previous, fresh))),
  }
}

export async function run({ quick = false }: Options = {}): Promise<Report> {
  const runs = quick ? 11 : 41
  const rows: Row[] = []
  for (const format of ["anthropic-messages", "openai-chat"] as const) {
    for (const rounds of [9, 90, 900]) {
      console.error(`  wire: ${format}, ${rounds} tool rounds`)
      rows.push(measure(format, rounds, runs))
    }
  }
  const conditions = { ...conditionsNow(), runs }
  return { conditions, rows }
}

const ms = (value: number): string => value.toFixed(value < 1 ? 3 : 2)
const times = (one: number, other: number): string => `${(one / other).toFixed(one / other < 1 ? 2 : 1)}x`
const speed = ({ kilobytes }: Row, value: number): string => `${(kilobytes / 1024 / (value / 1000)).toFixed(0)} MB/s`

export function print({ conditions, rows }: Report): void {
  console.log(
    `wire: reading and writing requests (${Object.entries(conditions)
      .map(([key, value]) => `${key} ${value}`)
      .join(", ")}; medians)`,
  )
  for (const row of rows) {
    const { parseStringifyMs: bare } = row
    console.log(`\n  ${row.format}, ${row.kilobytes} kB, ${row.messages} messages`)
    console.log(`    JSON.parse                          ${ms(row.parseMs)} ms   ${speed(row, row.parseMs)}`)
    console.log(`    JSON.parse + JSON.stringify         ${ms(bare)} ms   ${speed(row, bare)}`)
    console.log(
      `    decode                              ${ms(row.decodeMs)} ms   ${speed(row, row.decodeMs)}   ${times(row.decodeMs, row.parseMs)} JSON.parse`,
    )
    console.log(
      `    decode + encode, unchanged          ${ms(row.decodeEncodeMs)} ms   ${speed(row, row.decodeEncodeMs)}   ${times(row.decodeEncodeMs, bare)} the bare pair`,
    )
    console.log(
      `    decode + encode, a message changed  ${ms(row.decodeChangeEncodeMs)} ms   ${speed(row, row.decodeChangeEncodeMs)}   ${times(row.decodeChangeEncodeMs, bare)} the bare pair`,
    )
    console.log(
      `    read on from the request before     ${ms(row.resumeMs)} ms   ${speed(row, row.resumeMs)}   ${times(row.resumeMs, bare)} the bare pair`,
    )
  }
}
