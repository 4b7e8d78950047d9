import { describe, expect, test } from "vitest"
import { field, type Json, listAt, parseJson } from "../../test/model-server/json.ts"
import { decodeResponse } from "../wire/decode.ts"
import { readSse, utf8Bytes } from "../wire/sse.ts"
import { createGuard } from "./guard.ts"
import { guardResponse } from "./guard-response.ts"
import { guardSse } from "./guard-stream.ts"

const guard = createGuard([
  `@rule("No evil.") forbid(principal, action, resource) when { context.tool like "*evil*" };`,
])

const call = (name: string, thoughtSignature?: string): Json => ({
  functionCall: { name, args: { at: 1.5 } },
  ...(thoughtSignature === undefined ? {} : { thoughtSignature }),
})
const chunk = (parts: readonly Json[], finishReason?: string): object => ({
  candidates: [
    { content: { parts, role: "model" }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
})

const partsIn = (body: string): readonly Json[] =>
  listAt(field(listAt(parseJson(body), "candidates")[0] ?? null, "content"), "parts")

async function whole(parts: readonly Json[]): Promise<readonly Json[]> {
  const answer = decodeResponse("gemini", JSON.stringify(chunk(parts, "STOP")))
  const { response } = await guardResponse(answer, guard)
  return partsIn(response.wire ?? "{}")
}

/** In one chunk, or each part in a chunk of its own. */
async function streamed(parts: readonly Json[], together: boolean): Promise<readonly Json[]> {
  const chunks = together
    ? [chunk(parts, "STOP")]
    : [...parts.map((part) => chunk([part])), chunk([{ text: "" }], "STOP")]
  const stream = chunks.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join("")
  const out: Json[] = []
  for await (const { data } of guardSse("gemini", readSse(utf8Bytes(stream)), guard)) out.push(...partsIn(data))
  return out
}

const ways: readonly [way: string, guarded: (parts: readonly Json[]) => Promise<readonly Json[]>][] = [
  ["whole", whole],
  ["streamed in one chunk", (parts) => streamed(parts, true)],
  ["streamed in several", (parts) => streamed(parts, false)],
]

const calls = (parts: readonly Json[]): readonly Json[] => parts.filter((part) => field(part, "functionCall") !== null)

describe.each(ways)("an answer of Gemini's, %s", (_way, guarded) => {
  test("the call behind a withheld one bears its seal", async () => {
    const left = calls(await guarded([call("evil", "seal one"), call("good"), call("better")]))
    expect(left).toEqual([call("good", "seal one"), call("better")])
  })

  test("so it does behind two withheld ones", async () => {
    expect(calls(await guarded([call("evil", "seal one"), call("evil"), call("good")]))).toEqual([
      call("good", "seal one"),
    ])
  })

  test("a call that has a seal keeps it, and the one before it too", async () => {
    const parts = [call("good", "seal one"), call("evil", "seal two"), call("better", "seal three")]
    expect(calls(await guarded(parts))).toEqual([parts[0], parts[2]])
  })

  test("with nothing withheld nothing is moved", async () => {
    const parts = [call("good", "seal one"), call("better")]
    expect(calls(await guarded(parts))).toEqual(parts)
  })
})
