import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { requestText } from "../../test/support/requests.ts"
import { saidIn } from "../../test/support/said.ts"
import { goodTranscript } from "../../test/support/transcripts.ts"
import { formats, type Message, messageId, type Part } from "../message/message.ts"
import { decodeRequest } from "../wire/decode.ts"
import { type Conversation, fileKinds } from "./conversation.ts"
import { exportTranscript } from "./export.ts"
import { importTranscript } from "./import.ts"

const words = fc.string({ minLength: 1 })
const empty = { system: [], tools: [], compactions: [], branches: [], notes: [], meta: {} }

/** Any request of any format, as a conversation that came from no file. */
const anyConversation = fc.constantFrom(...formats).chain((format) =>
  requestText(format).map((text): Conversation => {
    const { messages, system } = decodeRequest(format, text)
    return { ...empty, id: "any", format, messages, system: system.filter(({ type }) => type === "text") }
  }),
)

/** A conversation that an agent could have had, in no format yet. */
const goodConversation = goodTranscript.map(
  (messages): Conversation => ({ ...empty, id: "good", format: "anthropic-messages", messages }),
)

const said = ({ system, messages }: Conversation) => {
  const { texts, ...rest } = saidIn(messages)
  const prompt = system.flatMap((part) =>
    part.type === "text" && part.text !== "" ? [["system", part.text] as const] : [],
  )
  return { texts: [...prompt, ...texts], ...rest }
}

const joined = (conversation: Conversation) => {
  const { texts, ...rest } = said(conversation)
  const prompt = texts.filter(([role]) => role === "system").map(([, text]) => text)
  return { texts: texts.filter(([role]) => role !== "system"), prompt: prompt.join("\n\n"), ...rest }
}

/** The message with other words, as a stage would leave it: texts, inputs and results changed, `wire` as it came. */
const withTexts = (message: Message, words: string): Message => ({
  ...message,
  parts: message.parts.map((part): Part => {
    if (part.type === "text") return { ...part, text: words }
    if (part.type === "tool-call") return { ...part, input: { words } }
    return part.type === "tool-result" ? { ...part, content: [{ type: "text", text: words }] } : part
  }),
})

describe.each(fileKinds)("%s, for any conversation", (kind) => {
  const back = (text: string, { format }: Conversation): Conversation => {
    const options = kind === "messages" || kind === "trace" ? { kind, format } : { kind }
    return importTranscript(text, options).conversations[0] as Conversation
  }

  test("what goes out comes back saying the same, and unchanged it goes out as the same text", () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const { text } = exportTranscript(conversation, kind)
        const read = back(text, conversation)
        expect(joined(read)).toEqual(joined(conversation))
        expect(exportTranscript(read, kind).text).toBe(text)
      }),
    )
  })

  test("with messages taken out and put in it says what is left, and keeps the lines of the others", () => {
    fc.assert(
      fc.property(goodConversation, fc.nat(), fc.nat(), fc.string({ minLength: 1 }), (conversation, out, at, words) => {
        fc.pre(conversation.messages.length > 1)
        const { text } = exportTranscript(conversation, kind)
        const read = back(text, conversation)
        const ours: Message = { id: messageId("ours"), role: "user", parts: [{ type: "text", text: words }] }
        const fewer = read.messages.toSpliced(out % read.messages.length, 1)
        const changed = { ...read, messages: fewer.toSpliced(at % (fewer.length + 1), 0, ours) }
        const again = exportTranscript(changed, kind).text
        expect(said(back(again, changed))).toEqual(said(changed))
      }),
    )
  })

  test("with a text changed it says the new one, though the message still carries its old wire", () => {
    fc.assert(
      fc.property(goodConversation, fc.nat(), words, fc.constantFrom(...fileKinds), (conversation, at, words, to) => {
        fc.pre(conversation.messages.length > 0)
        const read = back(exportTranscript(conversation, kind).text, conversation)
        const place = at % read.messages.length
        const messages = read.messages.map((message, n) => (n === place ? withTexts(message, words) : message))
        const changed = { ...read, messages }
        const { conversations } = importTranscript(exportTranscript(changed, to).text, { kind: to })
        expect(said(conversations[0] as Conversation)).toEqual(said(changed))
      }),
    )
  })

  test("with messages added at the end, the text before them stays", () => {
    fc.assert(
      fc.property(goodConversation, fc.string({ minLength: 1 }), (conversation, words) => {
        fc.pre(conversation.messages.length > 0)
        const { text } = exportTranscript(conversation, kind)
        const read = back(text, conversation)
        const ours: Message = { id: messageId("ours"), role: "user", parts: [{ type: "text", text: words }] }
        const longer = { ...read, messages: [...read.messages, ours] }
        const again = exportTranscript(longer, kind).text
        if (read.origin?.type === "lines") expect(again.startsWith(text)).toBe(true)
        expect(said(back(again, longer))).toEqual(said(longer))
      }),
    )
  })
})
