import { expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { formats, wireText } from "../message/message.ts"
import { cutOutput, noOutput, readToolOutput } from "./run-calls.ts"

test.each<[output: unknown, text: string]>([
  ["fine", "fine"],
  ["", noOutput],
  [undefined, noOutput],
  [[], noOutput],
  [{ a: 1 }, '{"a":1}'],
  [null, "null"],
  [[{ type: "text", text: "" }], noOutput],
  [[{ type: "text", text: "one" }], "one"],
  [[1, 2], "[1,2]"],
  ["\ud800 half", "\ufffd half"],
])("%j reads as %j", (output, text) => {
  for (const format of formats) expect(readToolOutput(output, format, 1_000)).toEqual([{ type: "text", text }])
})

test("parts in the format's own words go as they are; those of another are the tool's mistake", () => {
  const wire = wireText('{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}')
  const image = { type: "image", media: { held: "inline" }, wire } as const
  expect(readToolOutput([image], "anthropic-messages", 10)).toEqual([image])
  const strange = [{ type: "image", media: { held: "url" } }]
  expect(readToolOutput(strange, "anthropic-messages", 100)).toEqual([{ type: "text", text: JSON.stringify(strange) }])
})

test("a long text keeps its beginning and its end, and says how much is missing", () => {
  const text = `first ${"x".repeat(10_000)} last`
  const cut = cutOutput(text, 200)
  expect(cut).toMatch(/^first x+\n\[9855 characters are not shown\]\nx+ last$/)
  expect(cut.replace(/\n.*\n/, "")).toHaveLength(text.length - 9855)
})

test("for any texts and any limit, a result is no longer than the limit and well formed", () => {
  const words = fc.array(fc.string({ unit: codePoints, maxLength: 300 }), { maxLength: 5 })
  const property = fc.property(
    words,
    fc.integer({ min: 20, max: 400 }),
    fc.constantFrom(...formats),
    (texts, limit, format) => {
      const parts = readToolOutput(
        texts.map((text) => ({ type: "text", text })),
        format,
        limit,
      )
      const all = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
      expect(all.length).toBeLessThanOrEqual(limit)
      expect(all).not.toBe("")
      expect(all.isWellFormed()).toBe(true)
    },
  )
  fc.assert(property)
})

test("an output of megabytes is cut at once", () => {
  const [part] = readToolOutput("\ud83d\ude00".repeat(5_000_000), "openai-chat", 1_001)
  expect(part?.type === "text" && part.text.isWellFormed()).toBe(true)
  expect(part?.type === "text" ? part.text.length : 0).toBeGreaterThan(950)
})
