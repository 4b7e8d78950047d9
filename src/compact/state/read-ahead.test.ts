import { expect, test } from "vitest"
import { bodyIn, conversation } from "../../../test/support/conversations.ts"
import { realTraces, withoutCorpus } from "../../../test/support/corpus.ts"
import { fc, sampleOf } from "../../../test/support/property.ts"
import type { Transcript } from "../../message/message.ts"
import { runSteps } from "../../message/steps.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { notesOf, readAhead } from "./notes.ts"

/** What is read ahead, message by message, gives the very notes that one reading gives. */

const transcriptOf = (body: string): Transcript => decodeRequest("openai-chat", body).messages

function expectSame(body: string, cuts: readonly number[]): void {
  const messages = transcriptOf(body)
  for (const cut of cuts) {
    const some = messages.slice(0, cut)
    runSteps(readAhead(some))
    if (cut % 2 === 0) expect(notesOf(some)).toEqual(notesOf(transcriptOf(body).slice(0, cut)))
  }
  expect(notesOf(messages)).toEqual(notesOf(transcriptOf(body)))
}

test("in pieces of any size", () => {
  fc.assert(
    fc.property(conversation, fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 }), (messages, sizes) => {
      const body = bodyIn("openai-chat", messages)
      let at = 0
      expectSame(
        body,
        sizes.map((size) => (at += size)).filter((cut) => cut <= messages.length),
      )
    }),
  )
})

test.each(sampleOf(realTraces(), 3).map(({ file, id, messages }) => [`${file} ${id}`, messages] as const))(
  `in thirds of a real trace: %s${withoutCorpus}`,
  (_, messages) => {
    const body = JSON.stringify({ messages })
    const third = Math.ceil(messages.length / 3)
    expectSame(
      body,
      [third, third + 1, 2 * third].filter((cut) => cut <= messages.length),
    )
  },
)
