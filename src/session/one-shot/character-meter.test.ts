import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { call, result, text, transcript } from "../../../test/support/transcripts.ts"
import { tokens, wireText } from "../../message/message.ts"
import { charactersPerToken, createCharacterMeter } from "./character-meter.ts"

const meter = createCharacterMeter("gpt-5")

test("characters are UTF-16 code units of the text that the model reads, including system and tools", () => {
  const messages = transcript(["user", text("héé 👩‍💻")], ["assistant", call("c1")], ["user", result("c1", "abc")])
  const request = { system: [text("be brief")], tools: [{ name: "read", wire: wireText('{"name":"read"}') }], messages }
  const said = ["héé 👩‍💻", "read", '{"path":"c1"}', "abc", "be brief", '{"name":"read"}']
  expect(meter.characters(request)).toBe(said.join("").length)
})

test("an image counts as the characters of its tokens", () => {
  const image = { type: "image", media: { held: "inline", width: 512, height: 512 } } as const
  expect(meter.part(image)).toBeGreaterThan(50)
})

test("any text of n tokens has at most 4 n characters", () => {
  const property = fc.property(fc.array(fc.string({ unit: codePoints })), (texts) => {
    const messages = transcript(...texts.map((one) => ["user", text(one)] as const))
    const request = { system: [], tools: [], messages }
    const counted = meter.request(request)
    expect(meter.characters(request)).toBeLessThanOrEqual(counted * charactersPerToken)
    expect(counted).toBeLessThanOrEqual(Math.ceil(meter.characters(request) / charactersPerToken) + texts.length)
  })
  fc.assert(property)
})

test("for any text and budget, the truncated text fits, is a prefix, and ends between code points", () => {
  const property = fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (whole, budget) => {
    const cut = meter.truncate(whole, tokens(budget))
    expect(whole.startsWith(cut)).toBe(true)
    expect(meter.text(cut)).toBeLessThanOrEqual(budget)
    expect(cut.isWellFormed()).toBe(true)
    expect(whole.length - cut.length === 0 || cut.length >= budget * charactersPerToken - 1).toBe(true)
  })
  fc.assert(property)
})
