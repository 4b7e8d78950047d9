import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { formOf } from "./form.ts"
import {
  compactionItem,
  elementTexts,
  fullHistoryOf,
  type Items,
  markOf,
  packElements,
  type ResponseChain,
} from "./whole.ts"

type Item = { readonly id: string; readonly text: string; readonly isReference: boolean }

/** A conversation whose client sends some responses back as references. */
const items = fc
  .array(fc.record({ said: fc.string({ unit: codePoints }), isReference: fc.boolean(), isReasoning: fc.boolean() }), {
    maxLength: 8,
  })
  .map((all) =>
    all.map(({ said, isReference, isReasoning }, n): Item => {
      const id = `item_${n}`
      const item = isReasoning
        ? { id, type: "reasoning", summary: [{ type: "summary_text", text: said }] }
        : { id, type: "message", role: "assistant", content: [{ type: "output_text", text: said }] }
      return { id, text: JSON.stringify(item), isReference }
    }),
  )

const user = (text: string): string => JSON.stringify({ role: "user", content: text })
const reference = (id: string): string => `{"type": "item_reference",  "id":"${id}"}`
const bodyOf = (elements: readonly string[], more = ""): string =>
  `{"model":"m", "input" : [${elements.join(" , ")}]${more}}`

const findIn = (all: readonly Item[], lost: ReadonlySet<string> = new Set()): Items => ({
  find: (id) => all.find((item) => item.id === id)?.text,
  isLost: (id) => lost.has(id),
})

const sentOf = (form: ReturnType<typeof formOf>): string => {
  if (form.type !== "send") throw new Error("nothing to send")
  return form.body
}

const inputOf = (body: string): readonly string[] => elementTexts(decodeRequest("openai-responses", body))

test("an unchanged request is sent as the client's own text, including its references", () => {
  const property = fc.property(items, (all) => {
    const elements = [user("Begin."), ...all.map(({ id, text, isReference }) => (isReference ? reference(id) : text))]
    const body = bodyOf(elements)
    const whole = fullHistoryOf(decodeRequest("openai-responses", body), undefined, findIn(all))
    expect(inputOf(whole.text)).toEqual([user("Begin."), ...all.map(({ text }) => text)])
    expect(sentOf(formOf(whole, whole.text))).toBe(body)
  })
  fc.assert(property)
})

test("after a change, remaining references stay references, and lost items are written out", () => {
  const property = fc.property(
    items,
    fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
    (all, kept, gone) => {
      const elements = all.map(({ id, text, isReference }) => (isReference ? reference(id) : text))
      const lost = new Set(all.filter((_, n) => gone[n]).map(({ id }) => id))
      const whole = fullHistoryOf(
        decodeRequest("openai-responses", bodyOf([...elements, user("Go on.")])),
        undefined,
        findIn(all, lost),
      )
      const left = all.filter((_, n) => kept[n])
      const wire = bodyOf([user("A digest."), ...left.map(({ text }) => text), user("Go on.")])
      const isReadable = ({ id, text, isReference }: Item): boolean =>
        !(isReference && lost.has(id) && text.includes('"reasoning"'))
      const wanted = left
        .filter(isReadable)
        .map(({ id, text, isReference }) => (isReference && !lost.has(id) ? reference(id) : text))
      expect(inputOf(sentOf(formOf(whole, wire)))).toEqual([user("A digest."), ...wanted, user("Go on.")])
    },
  )
  fc.assert(property)
})

const before = (
  elements: readonly string[],
  upstream: ResponseChain["upstream"] = markOf(elements),
): ResponseChain => ({
  elements,
  upstream,
  logged: true,
})

test("only history that the provider stores is not sent again", () => {
  const property = fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 6 }), fc.string(), (said, news) => {
    const held = said.map(user)
    const body = bodyOf([user(news)], ',"previous_response_id":"resp_1"')
    const request = decodeRequest("openai-responses", body)
    const items = findIn([])
    const same = fullHistoryOf(request, before(held), items)
    expect(inputOf(same.text)).toEqual([...held, user(news)])
    expect(sentOf(formOf(same, same.text))).toBe(body)
    const other = fullHistoryOf(request, before(held, "other"), items)
    expect(sentOf(formOf(other, other.text))).toBe(other.text)
    expect(other.text).not.toContain("previous_response_id")
    const compacted = bodyOf([user("A digest."), user(news)])
    expect(sentOf(formOf(same, compacted))).toBe(compacted)
    const after = fullHistoryOf(request, before(held, markOf([user("A digest.")])), items)
    expect(sentOf(formOf(after, compacted))).toBe(body)
  })
  fc.assert(property)
})

test("the gateway's compaction item is written out, and a provider's is unchanged", () => {
  const own = JSON.stringify(compactionItem(packElements([user("A digest."), user("The last words.")])))
  const theirs = '{"type":"compaction","encrypted_content":"b3BhcXVl"}'
  const whole = fullHistoryOf(
    decodeRequest("openai-responses", bodyOf([theirs, own, user("Go on.")])),
    undefined,
    findIn([]),
  )
  expect(inputOf(sentOf(formOf(whole, whole.text)))).toEqual([
    theirs,
    user("A digest."),
    user("The last words."),
    user("Go on."),
  ])
})

test("added instructions are sent together with the id of the last response", () => {
  const request = decodeRequest(
    "openai-responses",
    '{"model":"m","instructions":"Be brief.","input":"Go on.","previous_response_id":"resp_1"}',
  )
  const whole = fullHistoryOf(request, before([user("Begin.")]), findIn([]))
  const wire = whole.text.replace("Be brief.", "Be brief. And keep the rules.")
  expect(JSON.parse(sentOf(formOf(whole, wire)))).toEqual({
    model: "m",
    instructions: "Be brief. And keep the rules.",
    input: "Go on.",
    previous_response_id: "resp_1",
  })
})

test("a thread is sent as the client's own text as long as that is enough", () => {
  const frame = '{"model":"m","max_tokens":1,"system":"Keep ledgers.","messages":[],"thread":{"type":"create"}}'
  const body =
    '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"Go on."}],"thread":{"type":"continue","previous_message_id":"msg_1"}}'
  const held = [user("Begin."), '{"role":"assistant","content":"Yes."}']
  const chain: ResponseChain = { ...before(held, markOf(held, JSON.stringify(["Keep ledgers.", null]))), frame }
  const whole = fullHistoryOf(decodeRequest("anthropic-messages", body), chain, findIn([]))
  expect(sentOf(formOf(whole, whole.text))).toBe(body)
  expect(formOf(whole, whole.text.replace("Begin.", "A digest."))).toEqual({ type: "unthreadable" })
  expect(formOf(whole, whole.text.replace("Keep ledgers.", "Keep rules."))).toEqual({ type: "unthreadable" })
})
