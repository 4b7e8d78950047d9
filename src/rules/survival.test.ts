import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type RuleCase, unrelated, variantsOf } from "../../test/fixtures/pin/survival-variants.ts"
import { fc } from "../../test/support/property.ts"
import { type SurvivalVerdict, survival } from "./survival.ts"

const rule = "Never send email to anyone outside quillmark.com."
const said = rule.slice(0, -1).toLowerCase()

describe("a rule that still stands", () => {
  test.each([
    ["word for word", rule],
    ["in a list under a heading", `## Standing rules\n\n- ${rule}\n- Be kind.`],
    ["after a sentence about something that no longer happens", `The parser was fixed. It no longer crashes. ${rule}`],
    ["before an item that tells to ignore something else", `- ${rule}\n- Old cache entries were removed; ignore them.`],
    ["told as the user's wish", `The user insists that the agent must ${said}.`],
    ["beside another rule with another amount", `${rule} Also never spend more than $500 without approval.`],
  ])("%s", (_how, text) => {
    expect(survival(rule, text).verdict).toMatch(/^(?:preserved|paraphrased)$/)
  })

  test("beside the same cap for something else", () => {
    const own = "Never spend more than $100 on software."
    expect(survival(own, `Never spend more than $500 on travel. ${own}`).verdict).toBe("preserved")
  })

  test.each([
    ["an amount in words", "Keep every order below $100.", "Every order must stay under one hundred dollars."],
    ["a time of day", "No meetings after 3pm.", "Never hold meetings after 15:00."],
    ["a cap for a prohibition", "Never use more than 8 workers.", "Use at most eight workers."],
  ])("with %s said otherwise", (_how, own, text) => {
    expect(survival(own, text).verdict).toMatch(/^(?:preserved|paraphrased|weakened)$/)
    expect(survival(own, text).changes).not.toContain("value")
  })
})

/** Each is a way to say the rule's words without the rule. */
const takenBack: readonly (readonly [rule: string, text: string])[] = [
  [rule, `${said} was the old rule.`],
  [rule, `The agent asked whether it must ${said}.`],
  [rule, `${rule} Just kidding.`],
  [rule, `If the client pays extra, ${said}.`],
  [rule, `${said} before noon.`],
  [rule, `Do we ${said}?`],
  [rule, "Never fail to send email to anyone outside quillmark.com."],
  [rule, "Never refuse to send email to anyone outside quillmark.com."],
  [rule, "Anyone outside quillmark.com must never send email."],
  [rule, "The agent never sent email to anyone outside quillmark.com."],
  [rule, "Never. Send email to anyone outside quillmark.com."],
  [rule, `For now, ${said}.`],
  [rule, `${rule} The user approved an exception for Dana.`],
  [rule, `${rule}\n\nThe user has since allowed sending email to anyone outside quillmark.com.`],
  [rule, "Never send email to anyone outside quillmark.com.evil.net."],
  [rule, "Email may only be sent to quillmark.com addresses and to gmail.com."],
  ["Only Priya may authorize wire transfers.", "Priya may only authorize wire transfers."],
  ["Interns must not approve managers' expenses.", "Managers must not approve interns' expenses."],
  ["Always ask before deleting files.", "Always delete files before asking."],
  ["Refunds above $50 need approval.", "Refunds below $50 need approval."],
  ["Answer within two hours.", "Answer after two hours."],
  ["Always use HTTPS.", "Always use HTTP."],
  ["No deploys on Fridays.", "No, deploys on Fridays."],
  ["Invoices go to Lena and receipts go to Omar.", "Invoices go to Omar and receipts go to Lena."],
  ["Never restart the primary node without paging Olga.", "Never page Olga without restarting the primary node."],
  ["No borres tablas.", "No dejes de borrar tablas."],
  ["Copia los datos de pruebas a producción.", "Copia los datos de producción a pruebas."],
  ["不得透露密码。", "不得不透露密码。"],
  ["不要把数据从测试环境复制到生产环境。", "不要把数据从生产环境复制到测试环境。"],
  ["晚上10点后不得发布。", "晚上10点前不得发布。"],
]

test.each(takenBack)("%s is not certified by: %s", (own, text) => {
  expect(survival(own, text).verdict).toMatch(/^(?:weakened|contradicted|dropped)$/)
})

test("across languages a rule is weakened at best, and it says so", () => {
  const found = survival("No desactives el registro de auditoría.", "Do not disable audit logging.")
  expect(found.verdict).toBe("weakened")
  expect(found.changes).toContain("language")
})

test("a lost value is named, and the place is that of the passage", () => {
  const text = "Fixed the build. Never spend too much without approval. Next: docs."
  const found = survival("Never spend more than $250 without approval.", text)
  expect(found.verdict).toBe("weakened")
  expect(found.missing).toContain("250 usd")
  expect(text.slice(found.place?.start, found.place?.end)).toBe("Never spend too much without approval")
})

test("a rule of two sentences is weakened when one of them is gone", () => {
  expect(survival(`${rule} Always copy legal@quillmark.com.`, rule).verdict).toBe("weakened")
})

test("what is too long to be read to the end is never certified", () => {
  const found = survival(rule, `${rule} ${"word ".repeat(60_000)}`)
  expect(found).toMatchObject({ verdict: "weakened", changes: ["unread"] })
})

test("nothing is certified of an empty rule or in an empty text", () => {
  expect(survival("", rule).verdict).toBe("dropped")
  expect(survival(rule, "").verdict).toBe("dropped")
})

const isCase = (value: unknown): value is RuleCase => typeof value === "object" && value !== null && "rule" in value
const cases = readFileSync(join(import.meta.dirname, "../../test/fixtures/pin/survival-rules.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line): unknown => JSON.parse(line))
  .filter(isCase)

const ranks: Readonly<Record<SurvivalVerdict, number>> = {
  preserved: 4,
  paraphrased: 3,
  weakened: 2,
  contradicted: 1,
  dropped: 0,
}

/** Words that no rule and no table has. */
const filler = fc
  .array(fc.constantFrom("lorem", "ipsum", "dolor", "amet", "tempor", "velit", "quorum", "zephyr"), {
    minLength: 2,
    maxLength: 9,
  })
  .map((words) => `${words.join(" ")}.`)
const around = fc
  .array(fc.oneof(filler, fc.constantFrom(...unrelated)), { maxLength: 4 })
  .map((texts) => texts.join("\n\n"))

describe("properties", () => {
  test("unrelated text never lifts a verdict above what the passage gives alone, and without the passage the rule is dropped", () => {
    fc.assert(
      fc.property(fc.constantFrom(...cases), fc.nat(), around, around, (given, pick, before, after) => {
        const variants = variantsOf(given, []).filter(
          ({ how }) => how === "written" || how === "framed" || how === "verbatim",
        )
        const { text } = variants[pick % variants.length] ?? { text: given.rule }
        const alone = survival(given.rule, text).verdict
        const within = survival(given.rule, `${before}\n\n${text}\n\n${after}`).verdict
        expect(ranks[within]).toBeLessThanOrEqual(ranks[alone])
        expect(survival(given.rule, `${before}\n\n${after}`).verdict).toBe("dropped")
      }),
    )
  })

  test("any text is judged without a crash, the same way twice, with its place inside the text, and noise certifies nothing", () => {
    fc.assert(
      fc.property(fc.constantFrom(...cases), fc.string({ unit: "binary", maxLength: 60 }), (given, noise) => {
        const found = survival(given.rule, noise)
        expect(found).toEqual(survival(given.rule, noise))
        expect(found.verdict).toMatch(/^(?:dropped|weakened|contradicted)$/)
        const { start, end } = survival(noise, `${noise} ${given.rule}`).place ?? { start: 0, end: 0 }
        expect(start).toBeLessThanOrEqual(end)
        expect(end).toBeLessThanOrEqual(noise.length + given.rule.length + 1)
      }),
    )
  })

  test("lone surrogates are text like any other", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 20 }), (codes) => {
        expect(survival(rule, `${String.fromCharCode(...codes)} ${rule}`).verdict).not.toBe("dropped")
      }),
    )
  })
})
