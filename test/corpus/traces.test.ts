import { describe, expect, test } from "vitest"
import { checkTranscript, groupTurns } from "../../src/message/group.ts"
import { repair, replayRepair } from "../../src/message/repair.ts"
import { decodeRequest } from "../../src/wire/decode.ts"
import { encodeRequest } from "../../src/wire/encode.ts"
import { corpus, realTraces, withoutCorpus } from "../support/corpus.ts"

const traces = realTraces().map((trace) => ({
  ...trace,
  text: JSON.stringify({ model: "any", messages: trace.messages }),
}))

describe.skipIf(corpus === undefined)(`real traces${withoutCorpus}`, () => {
  test("are there", () => {
    expect(traces.length).toBeGreaterThan(130)
  })

  test.each(traces.map(({ id, text }) => [id, text]))("%s decodes, groups and comes out as it went in", (_id, text) => {
    const request = decodeRequest("openai-chat", text)
    expect(encodeRequest(request, { messages: [...request.messages] })).toBe(text)
    const groups = groupTurns(request.messages)
    expect(groups.at(-1)?.end).toBe(request.messages.length)
  })

  test("their natural orphans are named and repaired, and the repaired request is one that any provider takes", () => {
    const broken = traces.filter(
      ({ text }) => checkTranscript(decodeRequest("openai-chat", text).messages, { ended: true }).length > 0,
    )
    const codes = new Set(
      broken.flatMap(({ text }) =>
        checkTranscript(decodeRequest("openai-chat", text).messages, { ended: true }).map(({ code }) => code),
      ),
    )
    expect([...codes]).toEqual(expect.arrayContaining(["call-without-result", "call-id-repeated", "message-empty"]))
    for (const { text } of broken) {
      const request = decodeRequest("openai-chat", text)
      const { messages, events } = repair(request.messages, { ended: true, adjacent: "own" })
      expect(replayRepair(request.messages, events)).toEqual(messages)
      const again = decodeRequest("openai-chat", encodeRequest(request, { messages }))
      expect(checkTranscript(again.messages, { adjacent: "own", ended: true })).toEqual([])
    }
  })
})
