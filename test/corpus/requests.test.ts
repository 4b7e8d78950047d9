import { describe, expect, test } from "vitest"
import { checkTranscript, groupTurns, pairCalls } from "../../src/message/group.ts"
import { continuation } from "../../src/message/lineage.ts"
import type { ModelRequest, Transcript } from "../../src/message/message.ts"
import { codecs } from "../../src/wire/codecs.ts"
import { decodeNext, decodeRequest } from "../../src/wire/decode.ts"
import { encodeRequest } from "../../src/wire/encode.ts"
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

/** The requests of a recording that carry their own history: counts and what the provider holds aside. */
function histories(requests: (typeof byFile)[number][1]): readonly Transcript[] {
  return requests
    .filter(({ path }) => !path.includes("count_tokens"))
    .map(({ format, text }) => decodeRequest(format, text))
    .filter(({ held, messages }) => held === undefined && messages.length > 0)
    .map(({ messages }) => messages)
}

describe.skipIf(corpus === undefined)(`the turns of one conversation${withoutCorpus}`, () => {
  const plain = byFile.filter(([file]) => !/compact|ctx-error|claude.*long|subagent|opencode|qwen.*resume/.test(file))

  test.each(plain)("%s: each request continues the one before", (_file, requests) => {
    const all = histories(requests)
    for (const [n, messages] of all.slice(1).entries()) {
      const { type } = continuation(all[n] ?? [], messages)
      expect(`request ${n + 2} ${type}`).toBe(`request ${n + 2} continues`)
    }
  })

  const mixed = byFile.filter(
    ([file]) => /subagent|opencode|qwen.*resume/.test(file) && !/compact|ctx-error|limit/.test(file),
  )

  test.each(mixed)("%s: titles and subagents are lineages of their own, and nothing else is", (_file, requests) => {
    const all = histories(requests)
    const started = all.filter((messages, n) => {
      const earlier = all.slice(0, n).map((before) => continuation(before, messages))
      return !earlier.some((one) => one.type === "continues" || (one.type === "diverges" && one.sharedCalls > 0))
    })
    expect(started.length).toBeLessThanOrEqual(3)
  })

  const compacted = byFile.filter(([file]) => /compact|ctx-error|limit/.test(file))

  test.each(compacted)(
    "%s: after the client's own compaction the history goes on from the compacted one",
    (_file, requests) => {
      const all = histories(requests)
      const continued = all.filter((messages, n) =>
        all.slice(0, n).some((before) => continuation(before, messages).type === "continues"),
      )
      // Whatever was rewritten, the turns after it continue what was rewritten: breaks are few.
      expect(all.length - continued.length).toBeLessThanOrEqual(4)
    },
  )
})
