import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { plainEvents } from "./deliver.ts"
import { eventsIn } from "./http/relay.ts"

async function told(text: string | Buffer): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const { raw } of plainEvents(eventsIn([Buffer.from(text)], "events"))) pieces.push(raw)
  return Buffer.concat(pieces).toString()
}

test.each([
  "data: 1\n\nevent: a\ndata: 2\nid: 3\nretry: 4\n\n",
  ": a comment\n\ndata: 1\n\n",
  ": a comment\ndata: 1\n\n",
  "data\n\ndata:\n\n",
  "\ufeffdata: 1\r\n\r\ndata: 2\r\rdata: 3\n\n",
  "data: \u2028{\u2029\u0085}\n\n",
])("a valid event is relayed unchanged: %j", async (text) => {
  expect(await told(text)).toBe(text)
})

test.each([
  ['{"choices": []}\n\n', ""],
  ['data: 1\n\n{"choices": []}\n\ndata: 2\n\n', "data: 1\n\ndata: 2\n\n"],
  ["data: 1\nfoo: bar\n\n", ""],
  ["datax: 1\n\n", ""],
  [" data: 1\n\n", ""],
])("an event with a line outside the SSE grammar is dropped: %j", async (text, expected) => {
  expect(await told(text)).toBe(expected)
})

test("for any input, the output is part of it and has only valid lines", async () => {
  const line = fc.oneof(fc.constantFrom("data: 1", "event: a", ": c", "", "", "{", "id", "retry:"), fc.string())
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.constantFrom("\n", "\r", "\r\n"), async (lines, end) => {
      const out = await told(lines.map((one) => `${one}${end}`).join(""))
      const kept = out.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)
      expect(kept.filter((one) => !/^(?:(?:data|event|id|retry)(?::|$)|:|$)/.test(one))).toEqual([])
    }),
  )
})
