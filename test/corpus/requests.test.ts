import { describe, expect, test } from "vitest"
import { checkTranscript } from "../../src/message/check.ts"
import { groupTurns } from "../../src/message/group.ts"
import { continuation } from "../../src/message/lineage.ts"
import { pairCalls } from "../../src/message/pair.ts"
import type { ModelRequest } from "../../src/message/request.ts"
import { codecs } from "../../src/wire/codecs.ts"
import { decodeRequest } from "../../src/wire/decode.ts"
import { encodeRequest } from "../../src/wire/encode.ts"
import { decodeNext } from "../../src/wire/resume.ts"
import { corpus, recordedRequests, withoutCorpus } from "../support/corpus.ts"

const recorded = recordedRequests()
const byFile = [...Map.groupBy(recorded, ({ file }) => file)]

describe.skipIf(corpus === undefined)(`what real agents and SDKs sent${withoutCorpus}`, () => {
  test("is there", () => {
    expect(recorded.length).toBeGreaterThan(400)
  })

  test.each(byFile)("%s comes out as it went in, whole and message by message", (_file, requests) => {
    for (const { format, text } of requests) {
      const request = decodeRequest(format, text)
      expect(encodeRequest(request)).toBe(text)
      expect(
        encodeRequest(request, {
          messages: [...request.messages],
          ...(request.system.length > 0 ? { system: [...request.system] } : {}),
        }),
      ).toBe(text)
      for (const message of request.messages) {
        if (message.wire?.startsWith("{")) expect(codecs[format].writeMessage(message)).toEqual([message.wire])
      }
    }
  })

  test.each(byFile)("%s has every call with its result in one group", (_file, requests) => {
    for (const { format, text } of requests) {
      const { messages, held } = decodeRequest(format, text)
      const groups = groupTurns(messages)
      for (const { call, result } of pairCalls(messages).pairs) {
        expect(groups.some(({ start, end }) => start <= call.message && result.message < end)).toBe(true)
      }
      // Where the provider holds the earlier turns, a result's call is not in the request.
      if (held === undefined) expect(checkTranscript(messages)).toEqual([])
    }
  })

  test.each(byFile)("%s reads the same when read on from the request before", (_file, requests) => {
    let previous: ModelRequest | undefined
    for (const { format, text } of requests) {
      const whole = decodeRequest(format, text)
      if (previous !== undefined && previous.format === format) expect(decodeNext(previous, text)).toEqual(whole)
      previous = whole
    }
  })
})

describe.skipIf(corpus === undefined)(`the turns of one conversation${withoutCorpus}`, () => {
  const basic = byFile.filter(
    ([file]) => !/compact|ctx-error|long|subagent|thread|resp-prev|opencode|resume|manual|cut/.test(file),
  )

  test.each(basic)("%s: each request continues the one before", (_file, requests) => {
    const turns = requests
      .filter(({ path }) => !path.includes("count_tokens"))
      .map(({ format, text }) => decodeRequest(format, text))
    const decoded = turns.filter(({ held }) => held === undefined).map(({ messages }) => messages)
    for (const [n, messages] of decoded.slice(1).entries()) {
      const { type } = continuation(decoded[n] ?? [], messages)
      expect(`request ${n + 2} ${type}`).toBe(`request ${n + 2} continues`)
    }
  })
})
