import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { Channel } from "../../message/message.ts"
import { countO200k } from "../../tokens/o200k.ts"
import { fitSummary, sectionText } from "./digest-text.ts"
import { type Summary, type SummaryLine, schemas } from "./summary.ts"

const line = (text: string, worth: number, channel: Channel = "assistant"): SummaryLine => {
  return { text, sources: [`of ${text.slice(0, 4)}`], channel, worth }
}

const shown = ({ sections }: Summary): readonly string[] =>
  sections.flatMap(({ lines }) => lines.map(({ text }) => text))

const size = ({ schema, sections }: Summary, brief: boolean): number =>
  countO200k(sections.map((section) => sectionText(section, schema, brief)).join(brief ? "\n" : "\n\n"))

const words = fc.array(fc.constantFrom("alpha", "beta", "`src/a.ts`", "错误", "[Done]", "12", "\ud83d\ude00"), {
  minLength: 1,
  maxLength: 30,
})
const anyLine = fc
  .record({ said: words, worth: fc.integer({ min: 1, max: 12 }), own: fc.boolean() })
  .map(({ said, worth, own }): SummaryLine => {
    return { text: said.join(" "), sources: [said.join()], channel: own ? "user" : "assistant", worth }
  })
const summary: fc.Arbitrary<Summary> = fc
  .subarray(schemas.handoff.map(({ name }) => name))
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({ name: fc.constant(name), lines: fc.array(anyLine, { minLength: 1, maxLength: 6 }) }),
      ),
    ),
  )
  .map((sections) => ({ schema: "handoff", sections }))

test("for any summary and budget, what is chosen fits with its headings, keeps its order, and only lines of people are cut", () => {
  fc.assert(
    fc.property(summary, fc.nat(400), fc.boolean(), (whole, budget, brief) => {
      const fitted = fitSummary(whole, budget, { count: countO200k, brief })
      expect(size(fitted, brief)).toBeLessThanOrEqual(budget)
      const rest = whole.sections.flatMap(({ name, lines }) => lines.map((own) => ({ name, own })))
      for (const { name, lines } of fitted.sections) {
        expect(lines.length).toBeGreaterThan(0)
        for (const own of lines) {
          const at = rest.findIndex((one) => one.name === name && isFrom(own, one.own))
          expect(at).toBeGreaterThanOrEqual(0)
          rest.splice(0, at + 1)
        }
      }
    }),
  )
})

const isFrom = (own: SummaryLine, whole: SummaryLine): boolean =>
  own === whole || (whole.channel === "user" && own.text.endsWith("…") && whole.text.startsWith(own.text.slice(0, -1)))

test("with room for all, all of it stands there", () => {
  const whole: Summary = { schema: "handoff", sections: [{ name: "status", lines: [line("one", 1), line("two", 9)] }] }
  expect(fitSummary(whole, 1_000, { count: countO200k })).toEqual(whole)
})

test("with little room the worthier line stands there, and no room gives nothing", () => {
  const whole: Summary = {
    schema: "handoff",
    sections: [{ name: "status", lines: [line("a small thing", 1), line("the great thing", 9)] }],
  }
  expect(shown(fitSummary(whole, 14, { count: countO200k }))).toEqual(["the great thing"])
  expect(fitSummary(whole, 0, { count: countO200k }).sections).toEqual([])
})

test("a long line of the user is cut at its end; any other that does not fit is left out", () => {
  const long = "the user said a lot of things that matter ".repeat(40).trim()
  const of = (channel: Channel): Summary => ({
    schema: "handoff",
    sections: [{ name: "user_messages", lines: [line(long, 8, channel)] }],
  })
  const [cut = ""] = shown(fitSummary(of("user"), 200, { count: countO200k }))
  expect(cut.endsWith("…")).toBe(true)
  expect(long.startsWith(cut.slice(0, -1))).toBe(true)
  expect(cut.length).toBeGreaterThan(60)
  expect(shown(fitSummary(of("assistant"), 200, { count: countO200k }))).toEqual([])
})

test("one crowded section leaves room for the others", () => {
  const crowd = Array.from({ length: 60 }, (_, n) => line(`user message number ${n}`, 8))
  const whole: Summary = {
    schema: "handoff",
    sections: [
      { name: "user_messages", lines: crowd },
      { name: "next_steps", lines: [line("write the tests", 5)] },
    ],
  }
  expect(shown(fitSummary(whole, 150, { count: countO200k }))).toContain("write the tests")
})

test("what a longer line of the same message says is not said again", () => {
  const source = { sources: ["m4"] }
  const whole: Summary = {
    schema: "handoff",
    sections: [
      {
        name: "primary_requests",
        lines: [
          { ...line("Do it. Never push to main.", 9, "user"), ...source },
          { ...line("Never push to main.", 4, "user"), ...source },
        ],
      },
    ],
  }
  expect(shown(fitSummary(whole, 500, { count: countO200k }))).toEqual(["Do it. Never push to main."])
})
