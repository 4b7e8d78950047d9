import { expect, test } from "vitest"
import { histories, unseen } from "../../test/support/histories.ts"
import { fc } from "../../test/support/property.ts"
import { brokenTranscript, goodTranscript, message, text } from "../../test/support/transcripts.ts"
import { checkTranscript, groupTurns } from "./group.ts"
import { createPerObject, createRecall } from "./recall.ts"

const any = histories(fc.oneof(goodTranscript, brokenTranscript))

test("for any histories that go on from one another, the groups are those of a history that nobody has seen", () => {
  fc.assert(
    fc.property(any, (made) => {
      for (const messages of made) expect(groupTurns(messages)).toEqual(groupTurns(unseen(messages), []))
    }),
  )
})

test("for any histories that go on from one another, the faults are those of a history that nobody has seen", () => {
  fc.assert(
    fc.property(
      any,
      fc.record(
        { adjacent: fc.constantFrom("own" as const, "turn" as const), ended: fc.boolean() },
        { requiredKeys: [] },
      ),
      (made, options) => {
        for (const messages of made)
          expect(checkTranscript(messages, options)).toEqual(checkTranscript(unseen(messages), options))
      },
    ),
  )
})

const [one, two, three] = ["a", "b", "c"].map((id) => message(id, "user", text(id)))
const list = [one, two, three].flatMap((item) => item ?? [])

test("an id of the settled beginning that comes again is told of", () => {
  const long = Array.from({ length: 8 }, (_, n) => message(`m${n}`, n % 2 === 0 ? "user" : "assistant", text("said")))
  expect(checkTranscript(long)).toEqual([])
  const again = [...long, message("m0", "user", text("again"))]
  expect(checkTranscript(again)).toEqual([{ code: "message-id-repeated", messageId: "m0" }])
  expect(checkTranscript([...long, message("m8", "user", text("new"))])).toEqual([])
})

test("what was kept is found for a list that begins alike, with how much they share", () => {
  const recall = createRecall<string>()
  recall.keep(list, "kept")
  expect(recall.find([...list.slice(0, 2), ...unseen(list.slice(2))])).toMatchObject({ made: "kept", common: 2 })
  expect(recall.find([...list, ...unseen(list)])).toMatchObject({ made: "kept", common: 3 })
  expect(recall.find(unseen(list))).toBeUndefined()
  expect(recall.find(list, () => false)).toBeUndefined()
  expect(recall.find([])).toBeUndefined()
})

test("a list that its owner goes on with is kept as it was", () => {
  const recall = createRecall<string>()
  const growing = list.slice(0, 2)
  recall.keep(growing, "two")
  growing.push(...list.slice(2))
  expect(recall.find(growing)).toMatchObject({ made: "two", common: 2 })
})

test("what is made of an object is made once, and again where what is given beside it is another", () => {
  let made = 0
  const lengthOf = createPerObject((item: readonly string[], beside: string): string | undefined => {
    made++
    return item.length === 0 ? undefined : `${item.length} ${beside}`
  })
  const [some, none]: readonly (readonly string[])[] = [["a"], []]
  if (some === undefined || none === undefined) throw new Error("two lists")
  expect([lengthOf(some, "x"), lengthOf(some, "x"), lengthOf(none, "x"), lengthOf(none, "x")]).toEqual([
    "1 x",
    "1 x",
    undefined,
    undefined,
  ])
  expect(made).toBe(2)
  expect(lengthOf(some, "y")).toBe("1 y")
  expect(made).toBe(3)
})
