import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { requestText } from "../../test/support/requests.ts"
import { formats, type ModelRequest, messageId } from "../message/message.ts"
import { decodeNext, decodeRequest, resumeRequest } from "./decode.ts"
import { encodeRequest } from "./encode.ts"

describe.each(formats)("%s, for any two requests", (format) => {
  test("reading the later one on from the earlier is reading it whole", () => {
    fc.assert(
      fc.property(requestText(format), requestText(format), (earlier, later) => {
        expect(decodeNext(decodeRequest(format, earlier), later)).toEqual(decodeRequest(format, later))
      }),
    )
  })

  test("a longer history, with other settings around it or not, reads the same, and the old messages are the same objects", () => {
    fc.assert(
      fc.property(requestText(format), requestText(format), fc.boolean(), (earlier, other, settings) => {
        const first = decodeRequest(format, earlier)
        fc.pre(
          first.layout.messages !== undefined && first.messages.every(({ wire }) => wire?.startsWith("{") === true),
        )
        const grown = encodeRequest(first, { messages: [...first.messages, ...decodeRequest(format, other).messages] })
        const text = settings ? `${grown.slice(0, grown.lastIndexOf("}"))},"x_turn":"2"}` : grown
        const next = decodeNext(first, text)
        expect(next).toEqual(decodeRequest(format, text))
        expect(next.messages.slice(0, first.messages.length).every((message, n) => message === first.messages[n])).toBe(
          true,
        )
        expect(decodeNext(next, text).messages).toEqual(next.messages)
      }),
    )
  })

  test("a request that was read from another one is the same as read on from this one", () => {
    fc.assert(
      fc.property(requestText(format), requestText(format), requestText(format), (one, two, news) => {
        const [first, other] = [decodeRequest(format, one), decodeRequest(format, two)]
        fc.pre(first.layout.messages !== undefined && first.messages.every(({ wire }) => wire?.startsWith("{")))
        const grown = encodeRequest(first, { messages: [...first.messages, ...decodeRequest(format, news).messages] })
        // A session calls messages by its own names.
        const named = (request: ModelRequest, name: string): ModelRequest => ({
          ...request,
          messages: request.messages.map((message, n) => ({ ...message, id: messageId(`${name}${n + 7}`) })),
        })
        const before = named(first, "e")
        for (const text of [grown, two]) {
          const wanted = decodeNext(before, text)
          const read = decodeNext(named(text === two ? other : first, "x"), text)
          expect(resumeRequest(before, read)).toEqual(wanted)
        }
        const { messages } = resumeRequest(before, decodeRequest(format, grown))
        expect(before.messages.every((message, n) => message === messages[n])).toBe(true)
      }),
    )
  })

  test("cut off anywhere, both readings give the same answer", () => {
    fc.assert(
      fc.property(requestText(format), fc.nat(), (text, where) => {
        const cut = text.slice(0, where % text.length)
        const answer = (read: () => unknown): unknown => {
          try {
            return read()
          } catch (error) {
            return String(error)
          }
        }
        expect(answer(() => decodeNext(decodeRequest(format, text), cut))).toEqual(
          answer(() => decodeRequest(format, cut)),
        )
      }),
    )
  })
})
