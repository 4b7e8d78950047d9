import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { tokens } from "../../message/message.ts"
import { fitStack, stackFloor, stackTokens } from "./fit.ts"
import {
  type Layer,
  layers,
  makeSection,
  makeStack,
  renderStack,
  type Section,
  type Shrink,
  type Stack,
  sectionsOf,
} from "./stack.ts"

/** A token for each character but line ends, so that a section's frame is its heading's letters and no more. */
const count = (text: string) => tokens(text.replaceAll("\n", "").length)
const truncate = (text: string, budget: number): string => {
  let end = 0
  for (let spent = 0; end < text.length && (text[end] === "\n" || spent < budget); end++)
    if (text[end] !== "\n") spent++
  return text.slice(0, end)
}
const by = { text: count, truncate }

const section = (name: string, text: string, shrink: Shrink<string> = { type: "fixed" }, minTokens = 0): Section =>
  makeSection({ layer: "base", name, text, shrink, minTokens: tokens(minTokens), order: 0 })
const textsOf = (stack: Stack) => Object.fromEntries(sectionsOf(stack).map(({ name, text }) => [name, text]))
const fitInto = (budget: number, ...sections: readonly Section[]) => fitStack(makeStack(sections), tokens(budget), by)

const truncating: Shrink<string> = { type: "truncate" }
const dropping: Shrink<string> = { type: "drop" }
const ten = "a".repeat(10)
const hundred = "b".repeat(100)

describe("the sections share what is missing", () => {
  const cases: [why: string, budget: number, sections: readonly Section[], texts: Readonly<Record<string, string>>][] =
    [
      [
        "enough room: nothing gives",
        110,
        [section("a", ten), section("b", hundred, truncating)],
        { a: ten, b: hundred },
      ],
      [
        "one that truncates gives all that is missing",
        70,
        [section("a", ten), section("b", hundred, truncating)],
        { a: ten, b: "b".repeat(60) },
      ],
      [
        "two give in proportion to what they have above their minimums",
        155,
        [section("b", hundred, truncating, 50), section("c", hundred, truncating, 0)],
        { b: "b".repeat(85), c: "b".repeat(70) },
      ],
      [
        "mild pressure: the droppable section stays, another gives",
        90,
        [section("a", ten, dropping), section("b", hundred, truncating)],
        { a: ten, b: "b".repeat(80) },
      ],
      [
        "more than half is missing: the droppable section goes",
        40,
        [section("a", ten, dropping), section("b", hundred, truncating)],
        { a: "", b: "b".repeat(40) },
      ],
      [
        "the variant nearest to its share is said",
        60,
        [section("b", hundred, { type: "swap", variants: ["x".repeat(10), "y".repeat(60)] })],
        { b: "y".repeat(60) },
      ],
      [
        "a variant under the minimum is never said",
        60,
        [section("b", hundred, { type: "swap", variants: ["x".repeat(10), "y".repeat(60)] }, 20)],
        { b: "y".repeat(60) },
      ],
      [
        "a cut falls between lines",
        20,
        [section("b", "0123456789\nabcdefghij\nklm", truncating)],
        { b: "0123456789\nabcdefghij" },
      ],
      [
        "a whole line is not cut for the next one",
        15,
        [section("b", "0123456789\nabcdefghij", truncating)],
        { b: "0123456789" },
      ],
      [
        "unless only part of a line satisfies the minimum",
        15,
        [section("b", "0123456789\nabcdefghij", truncating, 12)],
        { b: "0123456789\nabcde" },
      ],
      [
        "no room for a word: gone, heading too",
        10,
        [section("a", ten), section("b", hundred, truncating)],
        { a: ten, b: "" },
      ],
    ]
  test.each(cases)("%s", (_why, budget, sections, texts) => {
    expect(textsOf(fitInto(budget, ...sections).stack)).toEqual(texts)
  })
})

test("every section that gave says what, how much and why", () => {
  const swapping: Shrink<string> = { type: "swap", variants: ["short"] }
  const whole = [section("a", ten, dropping), section("b", hundred, truncating, 20), section("c", hundred, swapping)]
  const { events, stack } = fitInto(40, section("identity", "I"), ...whole)
  const reason = { type: "stack-over-budget", stackTokens: 211, budgetTokens: 40 }
  expect(events).toEqual([
    { type: "section-dropped", layer: "base", section: "a", fromTokens: 10, toTokens: 0, reason },
    { type: "section-truncated", layer: "base", section: "b", fromTokens: 100, toTokens: 34, reason },
    { type: "section-swapped", layer: "base", section: "c", fromTokens: 100, toTokens: 5, reason },
  ])
  expect(renderStack(stack)).toEqual([{ type: "text", text: `I\n\n${"b".repeat(34)}\n\nshort` }])
})

test("minimums that do not fit are a Problem that names the largest", () => {
  const refused = () => fitInto(60, section("identity", ten), section("b", hundred, truncating, 70))
  expect(refused).toThrow(HoldfastError)
  expect(refused).toThrow(
    '80 tokens, 20 more than the 60 there are; the largest piece is the prompt section "b" (70 tokens)',
  )
})

const anyShrink = fc.oneof(
  fc.constantFrom<Shrink<string>>({ type: "fixed" }, truncating, truncating, dropping),
  fc
    .array(fc.string({ maxLength: 12 }), { maxLength: 3 })
    .map((variants): Shrink<string> => ({ type: "swap", variants })),
)
const anySection = fc
  .record({
    layer: fc.constantFrom<Layer>(...layers),
    text: fc.string({ maxLength: 40, unit: fc.constantFrom("a", "b", " ", "\n") }),
    shrink: anyShrink,
    minTokens: fc.nat(20),
    heading: fc.option(fc.constantFrom("H", "Heading")),
  })
  .map(({ heading, minTokens, shrink, ...rest }) => ({
    ...rest,
    shrink,
    order: 0,
    minTokens: tokens(shrink.type === "drop" ? 0 : minTokens),
    ...(heading === null ? {} : { heading }),
  }))
const anyStack = fc
  .array(anySection, { maxLength: 6 })
  .map((sections) =>
    makeStack([
      section("identity", "I am Ada."),
      ...sections.map((fields, n) => makeSection({ ...fields, name: `s${n}` })),
    ]),
  )
const sizeOf = (stack: Stack, name: string): number =>
  stackTokens(makeStack(sectionsOf(stack).filter((other) => other.name === name)), count)

test("for any stack and budget: it fits or is refused, settles at once, and identity and minimums stand", () => {
  fc.assert(
    fc.property(anyStack, fc.nat(200), (stack, budget) => {
      if (stackFloor(stack, by) > budget) {
        expect(() => fitStack(stack, tokens(budget), by)).toThrow(HoldfastError)
        return
      }
      const fitted = fitStack(stack, tokens(budget), by)
      expect(stackTokens(fitted.stack, count)).toBeLessThanOrEqual(budget)
      expect(fitStack(fitted.stack, tokens(budget), by).stack).toBe(fitted.stack)
      expect(fitStack(stack, tokens(budget), by)).toEqual(fitted)
      if (stackTokens(stack, count) <= budget) expect(fitted.stack).toBe(stack)
      for (const before of sectionsOf(stack)) {
        const after = sectionsOf(fitted.stack).find(({ name }) => name === before.name)
        if (before.shrink.type === "fixed") expect(after).toBe(before)
        expect(count(after?.text ?? "")).toBeGreaterThanOrEqual(Math.min(count(before.text), before.minTokens))
      }
      const changed = sectionsOf(fitted.stack).filter((after) => !sectionsOf(stack).includes(after))
      expect(fitted.events.map((event) => event.section)).toEqual(changed.map(({ name }) => name))
    }),
  )
})

test("for any stack, a larger budget gives no section less", () => {
  fc.assert(
    fc.property(anyStack, fc.nat(100), fc.nat(50), (stack, more, extra) => {
      const budget = stackFloor(stack, by) + more
      const less = fitStack(stack, tokens(budget), by).stack
      const greater = fitStack(stack, tokens(budget + extra), by).stack
      for (const { name } of sectionsOf(stack)) {
        expect(sizeOf(greater, name)).toBeGreaterThanOrEqual(sizeOf(less, name))
      }
    }),
  )
})
