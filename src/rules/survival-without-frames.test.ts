import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import type { RuleCase } from "../../test/fixtures/pin/survival-variants.ts"
import { fc } from "../../test/support/property.ts"
import { survival, withoutFrames } from "./survival.ts"

const isCase = (value: unknown): value is RuleCase => typeof value === "object" && value !== null && "rule" in value
const rules: readonly string[] = readFileSync(
  new URL("../../test/fixtures/pin/survival-rules.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line): unknown => JSON.parse(line))
  .filter(isCase)
  .map(({ rule }) => rule)

const pins = (...lines: readonly string[]): string => `<pins by="holdfast">\n${lines.join("\n")}\n</pins>`
const stand = "These rules stand, whatever else of the conversation is left out:"

describe("what stands around a rule and takes nothing from it", () => {
  test.each([
    ["our own fence", (rule: string) => pins(stand, `- ${rule}`)],
    ["a topic that it stood under", (rule: string) => pins(stand, `- (Care desk) ${rule}`)],
    ["everything that comes", (rule: string) => `For all that follows: ${rule}`],
    ["the session as a whole", (rule: string) => `Please bear this in mind for the entire conversation: ${rule}`],
    ["a lead over a list", (rule: string) => `This applies throughout the project:\n- ${rule}\n- Be kind.`],
    ["a lead behind another sentence", (rule: string) => `The build is green. From now on: ${rule}`],
    ["a lead on a line of its own text", (rule: string) => `Moved the shop to a new host\nFrom now on: ${rule}`],
    ["Spanish", (rule: string) => `Recuerda esto durante toda la conversación: ${rule}`],
    ["German", (rule: string) => `Das gilt für das ganze Gespräch: ${rule}`],
    ["Chinese", (rule: string) => `请在整个项目期间牢记：${rule}`],
  ])("%s", (_how, around) => {
    expect(rules.filter((rule) => survival(rule, around(rule)).verdict !== "preserved")).toEqual([])
  })

  test("a rule that was pinned with its lead stands where it stands without it, and the other way round", () => {
    const rule = "Never lend the fleet cards to guests."
    const whole = `For everything that follows: ${rule}`
    expect(survival(whole, rule).verdict).toBe("preserved")
    expect(survival(whole, `- ${whole}`).verdict).toBe("preserved")
    expect(survival(rule, whole).verdict).toBe("preserved")
  })
})

describe("what looks like a harmless frame and is none", () => {
  test.each([
    ["another heading in the fence", (rule: string) => pins("These rules stood until Monday:", `- ${rule}`)],
    ["our heading with more in it", (rule: string) => pins(`${stand.slice(0, -1)}, if time allows:`, `- ${rule}`)],
    ["a context that takes it back", (rule: string) => pins(stand, `- (no longer valid) ${rule}`)],
    ["a context that narrows it", (rule: string) => pins(stand, `- (at weekends) ${rule}`)],
    ["a context that says who said so", (rule: string) => pins(stand, `- (Ben said) ${rule}`)],
    ["a context that makes it an example", (rule: string) => pins(stand, `- (example) ${rule}`)],
    ["a line over the fence", (rule: string) => `Forget the following:\n${pins(stand, `- ${rule}`)}`],
    ["a line behind the fence", (rule: string) => `${pins(stand, `- ${rule}`)}\nThese rules no longer apply.`],
    ["our heading outside a fence", (rule: string) => `These rules stand no more:\n- ${rule}`],
    ["a day", (rule: string) => `For the rest of the day: ${rule}`],
    ["an end", (rule: string) => `Until the end of the session: ${rule}`],
    ["a time before", (rule: string) => `Before the end of the whole session: ${rule}`],
    ["a time behind", (rule: string) => `After the whole session: ${rule}`],
    ["a part", (rule: string) => `For some of the whole session: ${rule}`],
    ["a denial", (rule: string) => `This does not hold for the whole session: ${rule}`],
    ["an end by other words", (rule: string) => `This is over from now on: ${rule}`],
    ["a possibility", (rule: string) => `This could hold for the whole session: ${rule}`],
    ["hearsay", (rule: string) => `They say this holds for the whole session: ${rule}`],
    ["a denial in Spanish", (rule: string) => `Esto no vale para toda la sesión: ${rule}`],
    ["an end in Spanish", (rule: string) => `Hasta el final de la sesión: ${rule}`],
    ["a denial in German", (rule: string) => `Das gilt nicht für die ganze Sitzung: ${rule}`],
    ["a denial in Chinese", (rule: string) => `在整个会话中都不适用：${rule}`],
    ["a day in Chinese", (rule: string) => `今天的整个会话中请遵守：${rule}`],
  ])("%s", (_how, around) => {
    const certified = rules.filter((rule) => /^(?:preserved|paraphrased)$/.test(survival(rule, around(rule)).verdict))
    expect(certified).toEqual([])
  })
})

test("places stay what they were, whatever the text", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 20 }),
    fc.constantFrom('<pins by="holdfast">', "</pins>", stand, "\n- (topic) ", "\n", "For everything that follows: "),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join("")
      const bare = withoutFrames(text)
      expect(bare).toHaveLength(text.length)
      expect(bare.split("\n")).toHaveLength(text.split("\n").length)
    }),
  )
})
