import { describe, expect, test } from "vitest"
import { corpus, linesOf, recordedRequests, withoutCorpus } from "../../test/support/corpus.ts"
import { isLongRun, sampleOf } from "../../test/support/property.ts"
import { saidIn } from "../../test/support/said.ts"
import { formats } from "../message/message.ts"
import { type Conversation, fileKinds } from "./conversation.ts"
import { detectFile } from "./detect.ts"
import { exportTranscript } from "./export.ts"
import { importTranscript } from "./import.ts"

const traces = linesOf("traces")

/** Every fourth trace goes one way of so many in the everyday run, each goes all of them in a long one. */
const tracesFor = (way: number, ways: number): typeof traces =>
  traces.filter((_, n) => isLongRun || n % (4 * ways) === way % ways)

const only = (text: string): Conversation => {
  const { conversations } = importTranscript(text)
  expect(conversations).toHaveLength(1)
  return conversations[0] as Conversation
}

/** With the system prompt as a message, wherever the file keeps it. */
const said = ({ system, messages }: Conversation) => {
  const { texts, ...rest } = saidIn(messages)
  const prompt = system.flatMap((part) => (part.type === "text" ? [["system", part.text] as const] : []))
  return { texts: [...prompt, ...texts], ...rest }
}

describe.skipIf(corpus === undefined)(`every real trace${withoutCorpus}`, () => {
  test("imports, and exports as the very line that it was", () => {
    for (const { line } of sampleOf(traces, 4)) {
      expect(detectFile(line)).toBe("trace")
      expect(exportTranscript(only(line), "trace").text).toBe(`${line}\n`)
    }
  })

  test.each(fileKinds)("goes out as %s and comes back saying the same", (kind) => {
    for (const { line } of tracesFor(fileKinds.indexOf(kind), fileKinds.length)) {
      const trace = only(line)
      const { text, lost } = exportTranscript(trace, kind)
      expect(detectFile(text)).toBe(kind)
      const back = only(text)
      expect(said(back)).toEqual(said(trace))
      expect(lost.every(({ part, reason }) => part === "tool-result" && reason.includes("failed"))).toBe(true)
      expect(exportTranscript(back, kind).text).toBe(text)
    }
  })

  test.each(formats)("goes out as a list and as a line of %s and comes back saying the same", (format) => {
    for (const { line } of tracesFor(formats.indexOf(format), formats.length)) {
      const trace = only(line)
      for (const kind of ["messages", "trace"] as const) {
        const back = only(exportTranscript(trace, kind, { format }).text)
        // Of texts alone Anthropic and OpenAI write the same list.
        const hasCalls = trace.messages.some(({ parts }) => parts.some(({ type }) => type === "tool-call"))
        const alike = hasCalls || format !== "anthropic-messages" ? [format] : [format, "openai-chat"]
        expect(alike).toContain(back.format)
        expect(said(back)).toEqual(said(trace))
      }
    }
  })
})

describe.skipIf(corpus === undefined)(`every recorded request of a real client${withoutCorpus}`, () => {
  // A fragment that is only counted may be a text alone, which every format spells the same; one body names what it goes on from only.
  const bodies = recordedRequests().filter(({ path }) => !/count_tokens|compact/.test(path))

  test("is known for what it is, and goes out as it came in", () => {
    for (const { text, format } of bodies) {
      const conversation = only(text)
      expect(conversation.format).toBe(format)
      expect(exportTranscript(conversation, "messages").text).toBe(text)
    }
  })
})
