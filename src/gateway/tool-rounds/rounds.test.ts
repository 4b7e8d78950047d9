import { describe, expect, test } from "vitest"
import { type Heard, hear } from "../../../test/fixtures/gateway/hear.ts"
import { type Played, type Plot, play } from "../../../test/fixtures/gateway/play.ts"
import type { Output } from "../../../test/model-server/script.ts"
import { turnsOf } from "../../../test/support/property.ts"
import { type Format, formats } from "../../message/message.ts"
import { recallName } from "./recall-tool.ts"
import { besideText, usedUpText } from "./round.ts"

const recalling = (handle: string) => ({ tool: recallName, input: { handle } })
const reading = { tool: "read_file", input: { path: "a" } }
const shelling = { tool: "bad_shell", input: { path: "b" } }

const ends: Readonly<Record<Format, readonly [calls: string, end: string]>> = {
  "anthropic-messages": ["tool_use", "end_turn"],
  "openai-chat": ["tool_calls", "stop"],
  "openai-responses": ["completed", "completed"],
  gemini: ["STOP", "STOP"],
}

const readCall = `read_file {"path":"a"}`
const ours = /\[Withheld by policy[^\]]*\]/

type Told = {
  readonly why: string
  readonly says: Plot["says"]
  readonly more?: Partial<Plot>
  /** Texts in order; each format joins them in its own way. */
  readonly texts: readonly (string | RegExp)[]
  readonly calls: readonly string[]
  readonly requests: number
  readonly recalls: number
  readonly denied: number
}

const cases: readonly Told[] = [
  {
    why: "one recall, then words",
    says: [{ text: "One moment.", calls: [recalling("hf-1")] }, { text: "It says so." }],
    texts: ["One moment.", "It says so."],
    calls: [],
    requests: 2,
    recalls: 1,
    denied: 0,
  },
  {
    why: "a recall without a word before it, then a call of the client's",
    says: [{ calls: [recalling("hf-1")] }, { text: "So I read on.", calls: [reading] }],
    texts: ["So I read on."],
    calls: [readCall],
    requests: 2,
    recalls: 1,
    denied: 0,
  },
  {
    why: "two recalls at once, then one more, then words",
    says: [
      { calls: [recalling("hf-1"), recalling("hf-2")] },
      { reasoning: "Not enough.", calls: [recalling("hf-3")] },
      { text: "Done." },
    ],
    texts: ["Done."],
    calls: [],
    requests: 3,
    recalls: 3,
    denied: 0,
  },
  {
    why: "a recall beside a call of the client's is not run, and says so",
    says: [{ text: "Both.", calls: [recalling("hf-1"), reading] }],
    texts: ["Both.", besideText],
    calls: [readCall],
    requests: 1,
    recalls: 0,
    denied: 0,
  },
  {
    why: "a recall beside a call that is judged and allowed: nobody judges the recall",
    says: [{ calls: [recalling("hf-1"), reading] }],
    more: { guarded: true },
    texts: [besideText],
    calls: [readCall],
    requests: 1,
    recalls: 0,
    denied: 0,
  },
  {
    why: "a recall beside one call that is refused and one that is allowed",
    says: [{ calls: [shelling, recalling("hf-1"), reading] }],
    more: { guarded: true },
    texts: [ours, besideText],
    calls: [readCall],
    requests: 1,
    recalls: 0,
    denied: 0,
  },
  {
    why: "a recall behind a call of the client's is not run either",
    says: [{ calls: [reading, recalling("hf-1")] }],
    texts: [besideText],
    calls: [readCall],
    requests: 1,
    recalls: 0,
    denied: 0,
  },
  {
    why: "a call is refused, and the model goes on with words",
    says: [{ text: "I try.", calls: [shelling] }, { text: "Then not." }],
    more: { guarded: true },
    texts: ["I try.", ours, "Then not."],
    calls: [],
    requests: 2,
    recalls: 0,
    denied: 1,
  },
  {
    why: "a call is refused, and the model goes on with one that is allowed",
    says: [{ calls: [shelling] }, { calls: [reading] }],
    more: { guarded: true },
    texts: [ours],
    calls: [readCall],
    requests: 2,
    recalls: 0,
    denied: 1,
  },
  {
    why: "one call is refused and one allowed: the client runs that one first",
    says: [{ calls: [shelling, reading] }],
    more: { guarded: true },
    texts: [ours],
    calls: [readCall],
    requests: 1,
    recalls: 0,
    denied: 0,
  },
  {
    why: "a refused call and a recall, both are answered",
    says: [{ calls: [recalling("hf-1"), shelling] }, { text: "Fine." }],
    more: { guarded: true },
    texts: [ours, "Fine."],
    calls: [],
    requests: 2,
    recalls: 1,
    denied: 1,
  },
  {
    why: "the rounds are used up",
    says: [{ calls: [recalling("hf-1")] }, { text: "And again.", calls: [recalling("hf-2")] }],
    more: { maxRounds: 1 },
    texts: ["And again.", usedUpText],
    calls: [],
    requests: 2,
    recalls: 1,
    denied: 0,
  },
]

/** Separate blocks give separate texts; in formats with one text, each round is a paragraph of it. */
function expectTexts(format: Format, heard: Heard, texts: Told["texts"]): void {
  let at = 0
  for (const text of texts) {
    const found = typeof text === "string" ? heard.text.indexOf(text, at) : heard.text.slice(at).search(text) + at
    expect(found, `${text} in ${heard.text}`).toBeGreaterThanOrEqual(at)
    at = found + (typeof text === "string" ? text.length : 1)
  }
  const bare = texts.reduce<string>((left, text) => left.replace(text, ""), heard.text)
  expect(bare.replace(/[|\n]/g, ""), format).toBe("")
}

const heardOf = (format: Format, stream: boolean, { bytes }: Played): Promise<Heard> => hear(format, { bytes, stream })

const modes = formats.flatMap((format) => [[format, "streamed", true] as const, [format, "whole", false] as const])

describe.each(modes)("%s, %s", (format, _how, stream) => {
  const isMine = turnsOf(formats.indexOf(format) + (stream ? 0 : formats.length), modes.length, 2)

  test.each(cases.filter(isMine))("$why", async ({ says, more, texts, calls, requests, recalls, denied }) => {
    const played = await play({ format, stream, says, ...more })
    const heard = await heardOf(format, stream, played)
    expectTexts(format, heard, texts)
    expect(heard.calls.map((call) => call.replaceAll(": ", ":"))).toEqual(calls)
    expect(heard.stop).toBe(ends[format][calls.length > 0 ? 0 : 1])
    expect(played.bodies).toHaveLength(requests)
    expect(played.rounds).toHaveLength(requests)
    expect(played.recalled).toHaveLength(recalls)
    const sum = (name: "recalls" | "denied") => played.rounds.reduce((all, round) => all + round[name], 0)
    expect([sum("recalls"), sum("denied")]).toEqual([recalls, denied])
    expect(played.judged.every(({ tool }) => tool !== recallName)).toBe(true)
  })

  if (isMine())
    test("without recalls and refusals, the output is the input", async () => {
      const says: Output = { reasoning: "Hm.", text: "Here.", calls: [reading] }
      const played = await play({ format, stream, says: [says], guarded: true })
      expect(Buffer.from(played.bytes).toString()).toBe(Buffer.from(played.came).toString())
      expect(played.bodies).toHaveLength(1)
    })

  if (isMine())
    test("thinking keeps its signatures, in both rounds and in the second request", async () => {
      const says = [
        { reasoning: "First thought.", calls: [recalling("hf-1")] },
        { reasoning: "Second thought.", text: "Done." },
      ]
      const played = await play({ format, stream, says })
      const heard = await heardOf(format, stream, played)
      // In this format the signature of a thought is in the call, which the client does not get.
      if (format !== "openai-chat") expect(heard.seals).toHaveLength(format === "gemini" ? 1 : 2)
      // The model refuses altered thoughts, so the second round succeeds only with the first one unchanged.
      expectTexts(format, heard, ["Done."])
      const [firstSeal = "thoughtSignature"] = format === "gemini" ? [] : heard.seals
      if (format !== "openai-chat") expect(played.bodies[1]).toContain(firstSeal)
    })

  if (isMine())
    test("usage is that of all rounds, those that the client does not see included", async () => {
      const says = [
        { calls: [recalling("hf-1")], usage: { outputTokens: 111 } },
        { text: "Done.", usage: { outputTokens: 222, reasoningTokens: 0 } },
      ]
      const heard = await heardOf(format, stream, await play({ format, stream, says }))
      expect(heard.outputTokens).toBe(333)
    })
})

test("OpenAI Responses: a streamed response keeps its first id, a whole one has the last id", async () => {
  const says = [{ text: "One moment.", calls: [recalling("hf-1")] }, { text: "Done." }]
  for (const stream of [true, false]) {
    const played = await play({ format: "openai-responses", stream, says, fields: { store: true } })
    const { id } = await heardOf("openai-responses", stream, played)
    expect(id).toBe(played.rounds[stream ? 0 : 1]?.id)
    expect(played.rounds[0]?.id).not.toBe(played.rounds[1]?.id)
  }
})

test("Gemini as an array: the rounds are one array, and an untouched response is unchanged", async () => {
  const plot = { format: "gemini", stream: true, array: true } as const
  const joined = await play({ ...plot, says: [{ text: "One moment.", calls: [recalling("hf-1")] }, { text: "Done." }] })
  const list: unknown = JSON.parse(Buffer.from(joined.bytes).toString())
  expect(JSON.stringify(list)).toContain("Done.")
  expect(Array.isArray(list) && list.length).toBeGreaterThan(1)
  const failed = await play({ ...plot, says: [{ calls: [recalling("hf-1")] }, { fault: { type: "http-500" } }] })
  expect(JSON.stringify(JSON.parse(Buffer.from(failed.bytes).toString()))).toContain('"error"')
  const cut = await play({
    ...plot,
    says: [{ calls: [recalling("hf-1")] }, { text: "Well.", fault: { type: "cut-mid" } }],
  })
  expect(JSON.stringify(JSON.parse(Buffer.from(cut.bytes).toString()))).toContain('"error"')
  const same = await play({ ...plot, says: [{ text: "Hello.", calls: [reading] }], guarded: true })
  expect(Buffer.from(same.bytes).toString()).toBe(Buffer.from(same.came).toString())
})

test.each(formats)("%s: a response that ran out of tokens gets no further round", async (format) => {
  for (const stream of [true, false]) {
    const says: Output = { text: "Cut.", calls: [recalling("hf-1")], stop: "length" }
    const played = await play({ format, stream, says: [says] })
    expect(played.bodies).toHaveLength(1)
    expectTexts(format, await heardOf(format, stream, played), ["Cut.", usedUpText])
  }
})

describe.each(formats)("%s: a later round fails", (format) => {
  const first: Output = { text: "One moment.", calls: [recalling("hf-1")] }
  const faults: readonly (readonly [why: string, second: Output])[] = [
    ["with status 500", { fault: { type: "http-500" } }],
    ["before its first word", { text: "Here it comes.", fault: { type: "cut-early" } }],
    ["in the middle of a call", { text: "Here.", calls: [reading], fault: { type: "cut-mid" } }],
    ["with an error in its stream", { text: "Here it comes.", fault: { type: "in-stream-error" } }],
  ]
  test.each(faults)("%s: earlier text stays, and the client gets an error", async (_why, second) => {
    const played = await play({ format, stream: true, says: [first, second] })
    const out = Buffer.from(played.bytes).toString()
    expect(out).toContain("One mom")
    expect(out).toMatch(/"error"/)
    expect(out).not.toMatch(/[^\n]data: \{"error/)
    await expect(heardOf(format, true, played)).rejects.toThrow()
  })

  test("whole: the client gets the refusal", async () => {
    const { status, bytes } = await play({ format, stream: false, says: [first, { fault: { type: "http-500" } }] })
    expect(status).toBe(500)
    expect(Buffer.from(bytes).toString()).toContain("error")
  })
})
