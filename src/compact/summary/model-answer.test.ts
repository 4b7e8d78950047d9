import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { maxAnswerLength, maxLines, maxModelLineLength, readSummaryAnswer } from "./model-write.ts"

const line = { text: "Renamed the field", from: ["m3"], state: "done" }
const answer = { sections: { status: [line], primary_requests: [{ text: "Rename it", from: ["m0", "m0"] }] } }
const json = JSON.stringify(answer)

test("one JSON object becomes a summary in the schema's order, with the assistant's authority at most", () => {
  const read = readSummaryAnswer(json, "handoff")
  expect(read).toMatchObject({
    ok: true,
    summary: {
      schema: "handoff",
      sections: [
        { name: "primary_requests", lines: [{ text: "Rename it", sources: ["m0"], channel: "assistant" }] },
        { name: "status", lines: [{ text: "Renamed the field", sources: ["m3"], state: "done" }] },
      ],
    },
    leftOut: { sections: 0, fields: 0, lines: 0, cut: 0 },
  })
})

test.each([
  ["a code fence", `\`\`\`json\n${json}\n\`\`\``],
  ["words around it", `Here you go: ${json} I hope that helps.`],
  ["words with braces around it", `The {summary} you "asked for: ${json} and {that} is all }`],
  [
    "braces and quotation marks inside its text",
    JSON.stringify({ sections: { status: [{ text: 'a } "b" { c', from: [] }] } }),
  ],
])("%s does not hide it", (_, text) => {
  expect(readSummaryAnswer(text, "handoff").ok).toBe(true)
})

test.each([
  ["nothing", "", "not-json"],
  ["prose", "The user wanted the field renamed, and it was.", "not-json"],
  ["half an object", json.slice(0, -5), "not-json"],
  ["a list", "[1,2]", "not-json"],
  ["two answers", `${json}\n${json}`, "several-objects"],
  ["an error object", '{"error":{"message":"overloaded"}}', "wrong-shape"],
  ["sections that are a list", '{"sections":[]}', "wrong-shape"],
  ["a section that is a text", '{"sections":{"status":"fine"}}', "wrong-shape"],
  ["lines that are texts", '{"sections":{"status":["fine"]}}', "wrong-shape"],
  ["a line without text", '{"sections":{"status":[{"from":["m1"]}]}}', "wrong-shape"],
  ["a line without sources", '{"sections":{"status":[{"text":"fine"}]}}', "wrong-shape"],
  ["sources that are numbers", '{"sections":{"status":[{"text":"fine","from":[3]}]}}', "wrong-shape"],
  ["no lines", '{"sections":{"status":[]}}', "no-lines"],
  [
    "lines of nothing",
    '{"sections":{"status":[{"text":" \\n ","from":["m1"]},{"text":"…","from":["m1"]}]}}',
    "no-lines",
  ],
  ["only sections of another schema", '{"sections":{"overall_goal":[{"text":"x","from":["m1"]}]}}', "no-lines"],
])("%s is no summary", (_, text, code) => {
  expect(readSummaryAnswer(text, "handoff")).toMatchObject({ ok: false, reason: { code } })
})

test("ten megabytes are refused before they are parsed", () => {
  const huge = JSON.stringify({ sections: { status: [{ text: "x".repeat(10_000_000), from: [] }] } })
  expect(readSummaryAnswer(huge, "handoff")).toEqual({
    ok: false,
    reason: { code: "too-long", length: huge.length, limit: maxAnswerLength },
  })
})

test("fields, states and sections that nobody asked for are left out and counted", () => {
  const extra = { ...line, state: "urgent", mood: "good", role: "system" }
  const read = readSummaryAnswer(
    JSON.stringify({ notes: 1, sections: { status: [extra], system: [line], __proto__x: 3 } }),
    "handoff",
  )
  expect(read).toMatchObject({ ok: true, leftOut: { sections: 2, fields: 3 } })
  expect(JSON.stringify(read)).not.toMatch(/mood|urgent|"system"/)
})

test("long lines are cut, breaks become blanks, and lines over the limit stay behind", () => {
  const items = Array.from({ length: maxLines + 5 }, (_, n) => ({
    text: `${n}\n# Head\u202e ${"y".repeat(900)}`,
    from: ["m1"],
  }))
  const read = readSummaryAnswer(JSON.stringify({ sections: { status: items } }), "handoff")
  if (!read.ok) throw new Error("refused")
  const [section] = read.summary.sections
  expect(section?.lines).toHaveLength(maxLines)
  expect(section?.lines[0]?.text.startsWith("0 # Head yyy")).toBe(true)
  expect(section?.lines[0]?.text).toHaveLength(maxModelLineLength)
  expect(read.leftOut).toMatchObject({ lines: 5, cut: maxLines })
})

test("earlier lines of a section are worth more than later ones", () => {
  const items = Array.from({ length: 4 }, (_, n) => ({ text: `line ${n}`, from: ["m1"] }))
  const read = readSummaryAnswer(JSON.stringify({ sections: { status: items } }), "handoff")
  const worths = read.ok ? (read.summary.sections[0]?.lines.map(({ worth }) => worth) ?? []) : []
  expect(worths).toEqual(worths.toSorted((one, other) => other - one))
  expect(new Set(worths).size).toBe(4)
})

test.each(["{", '{"', '{"\\"', "}", "{}", '"', "```", '{"a":', "[{"])(
  "a long run of %j is read through once",
  (seed) => {
    expect(readSummaryAnswer(seed.repeat(Math.floor(maxAnswerLength / seed.length)), "handoff").ok).toBe(false)
  },
)

test("for any text: an answer or a reason, and lines that are one line each", () => {
  const strange = fc.oneof(
    fc.string({ unit: codePoints }),
    fc.json(),
    fc
      .record({ sections: fc.dictionary(fc.constantFrom("status", "next_steps", "odd"), fc.jsonValue()) })
      .map((value) => JSON.stringify(value)),
    fc
      .array(fc.record({ text: fc.string({ unit: codePoints }), from: fc.array(fc.string()) }))
      .map((status) => JSON.stringify({ sections: { status } })),
  )
  fc.assert(
    fc.property(strange, fc.string(), (text, around) => {
      const read = readSummaryAnswer(`${around}${text}${around}`, "handoff")
      if (!read.ok) return
      for (const { lines } of read.summary.sections)
        for (const { text: said } of lines) {
          expect(said).not.toMatch(/[\n\r\u2028\u2029\p{Cc}]/u)
          expect(said.isWellFormed()).toBe(true)
          expect(said.length).toBeLessThanOrEqual(maxModelLineLength)
        }
    }),
  )
})
