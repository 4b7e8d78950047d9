import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { type RuleCase, unrelated } from "../../test/fixtures/pin/survival-variants.ts"
import { codePoints, fc } from "../../test/support/property.ts"
import { survival, survivalOf } from "./survival.ts"

const rule = "Never send email to anyone outside quillmark.com."
const said = rule.slice(0, -1).toLowerCase()

describe("verbatim", () => {
  test.each([
    ["alone", rule],
    ["in a list under a heading", `## Standing rules\n\n- ${rule}\n- Be kind.`],
    ["in a numbered list", `Rules that still apply:\n1. ${rule}\n2. Be kind.`],
    ["in a quotation", `The user said: “${rule}”`],
    ["in a block quotation over two lines", "> Never send email to anyone\n> outside quillmark.com."],
    ["in a nested quotation", `> > ${rule}\n> > Be kind.`],
    ["in a tag on one line", `<summary>${rule}</summary>`],
    ["between tags", `<summary>\n${rule}\n</summary>`],
    ["in bold", `**Important:** **${rule}**`],
    ["in a code fence", `\`\`\`\n${rule}\n\`\`\``],
    ["in capital letters", rule.toUpperCase()],
    [
      "in full-width letters",
      "Ｎｅｖｅｒ ｓｅｎｄ ｅｍａｉｌ ｔｏ ａｎｙｏｎｅ ｏｕｔｓｉｄｅ ｑｕｉｌｌｍａｒｋ．ｃｏｍ．",
    ],
    ["without its full stop", rule.slice(0, -1)],
    ["behind a sentence about something that no longer happens", `It no longer crashes on start. ${rule}`],
    ["before an item about something else", `- ${rule}\n- Old cache entries were removed; ignore them.`],
    ["beside another rule with an amount", `${rule} Also never spend more than $500 without approval.`],
    ["in a paragraph behind a list of what is over", `No longer open:\n\n- The parser.\n\n${rule}`],
    ["behind a label that says for how long", `For everything that follows: ${rule}`],
    ["behind a label that stresses it", `Do not forget: ${rule}`],
  ])("%s", (_how, text) => {
    expect(survival(rule, text).verdict).toBe("verbatim")
  })

  test("of two sentences, both", () => {
    const both = `${rule} Always copy legal@quillmark.com.`
    expect(survival(both, `Notes: none so far.\n\n${both}`).verdict).toBe("verbatim")
    expect(survival(both, rule).verdict).not.toBe("verbatim")
  })
})

/** Each says the rule's words, or nearly, and not the rule. */
const changed: readonly (readonly [rule: string, text: string])[] = [
  [rule, `${said} was the old rule.`],
  [rule, `"${rule}" was the rule before the merger.`],
  [rule, `The agent asked whether it must ${said}.`],
  [rule, `${rule} Just kidding.`],
  [rule, `If the client pays extra, ${said}.`],
  [rule, `If the client pays extra:\n- ${rule}`],
  [rule, `${said} before noon.`],
  [rule, `${rule.slice(0, -1)}\nunless the user asks.`],
  [rule, `Do we ${said}?`],
  [rule, `${rule.slice(0, -1)}?`],
  [rule, "Never fail to send email to anyone outside quillmark.com."],
  [rule, "Send email to anyone outside quillmark.com."],
  [rule, "Anyone outside quillmark.com must never send email."],
  [rule, "Never. Send email to anyone outside quillmark.com."],
  [rule, "- Never\n- send email to anyone outside quillmark.com."],
  [rule, `For now, ${said}.`],
  [rule, `${rule} The user approved an exception for Dana.`],
  [rule, `${rule}\n\nThe user has since allowed sending email to anyone outside quillmark.com.`],
  [rule, `The following rule no longer applies: ${rule}`],
  [rule, `The following rule no longer applies:\n\n${rule}`],
  [rule, `## Rescinded rules\n\n- Be kind.\n- ${rule}`],
  [rule, "Never send email to anyone outside quillmark.com.evil.net."],
  [rule, "Never send email to anyone outside quillmark.company."],
  ["Only Priya may authorize wire transfers.", "Priya may only authorize wire transfers."],
  ["Interns must not approve managers' expenses.", "Interns must not approve manager's expenses."],
  ["Always ask before deleting files.", "Always delete files before asking."],
  ["Refunds above $50 need approval.", "Refunds above $500 need approval."],
  ["Refunds above $50 need approval.", "Refunds above $50.5 need approval."],
  ["Refunds above $50 need approval.", "Refunds above €50 need approval."],
  ["Refunds above $50 need approval.", "Refunds above $50 need no approval."],
  ["Keep at most 5x headroom for peaks.", "Keep at most $x headroom for peaks."],
  ["Write reports to <prod> only.", "Write reports to <test> only."],
  ["Never delete *.log files from /var/spool.", "Never delete .log files from /var/spool."],
  ["Reject orders with status ≠ 5.", "Reject orders with status = 5."],
  ["Keep fewer than 10² files.", "Keep fewer than 102 files."],
  ["No deploys on Fridays.", "No, deploys on Fridays."],
  ["Use tabs for indentation.", "Do not use tabs for indentation."],
  ["Never push to main unless Noor agrees.", "Never push to main."],
  ["Delete old branches after Noor agrees.", "Delete old branches."],
  ["No borres tablas de clientes.", "No dejes de borrar tablas de clientes."],
  ["不得透露密码。", "不得不透露密码。"],
  ["晚上10点后不得发布。", "晚上11点后不得发布。"],
]

test.each(changed)("%s is changed, with a passage, in: %s", (own, text) => {
  const { verdict, passage } = survival(own, text)
  expect(verdict).toBe("changed")
  expect(passage).toBeDefined()
})

test.each([
  ["another text", "Fixed the login page. Tests pass."],
  ["another rule", "Never deploy on Fridays."],
  ["what was done with one of its things", "The email parser was fixed."],
  ["struck out", `~~${rule}~~`],
  ["struck out in HTML", `<del>${rule}</del>`],
  ["nothing", ""],
])("a rule is gone: %s", (_how, text) => {
  expect(survival(rule, text)).toEqual({ verdict: "gone" })
})

test("an empty rule is gone", () => {
  for (const empty of ["", " \n", "***", "…"]) expect(survival(empty, `${rule} ***`)).toEqual({ verdict: "gone" })
})

test("the passage is the place in the text as it was given", () => {
  const passageOf = (own: string, text: string): string => {
    const { start = 0, end = 0 } = survival(own, text).passage ?? {}
    return text.slice(start, end)
  }
  expect(passageOf(rule, `Dané. “**${rule}**” Tests pass with &lt;no&gt; failures here.`)).toContain(
    "Never send email to anyone outside quillmark.com",
  )
  expect(
    passageOf(
      "Never spend more than $250 without approval.",
      "Fixed the build. Never spend too much without approval. Next: docs.",
    ),
  ).toBe("Never spend too much without approval.")
})

const isCase = (value: unknown): value is RuleCase => typeof value === "object" && value !== null && "rule" in value
const rules: readonly string[] = readFileSync(
  new URL("../../test/fixtures/pin/survival-rules.jsonl", import.meta.url),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line): unknown => JSON.parse(line))
  .filter(isCase)
  .map((given) => given.rule)

const anyRule = fc.constantFrom(...rules)
const spaced = fc.constantFrom(...rules.filter((text) => text.split(" ").length > 3))
const around = fc.array(fc.constantFrom(...unrelated), { maxLength: 3 }).map((texts) => texts.join("\n\n"))
const widened = (text: string): string =>
  text.replace(/[a-z0-9]/gi, (sign) => String.fromCodePoint(sign.charCodeAt(0) + 0xfee0))

describe("properties", () => {
  test("however a rule is laid out, and whatever stands around it, it is verbatim and the passage has it", () => {
    const layout = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => text.toUpperCase(),
      (text) => text.toLowerCase(),
      widened,
      (text) => `- **${text}**`,
      (text) => `“${text}”`,
      (text) => `> ${text}`,
      (text) => `\`${text.replace(/[.。]$/, "")}\``,
      (text) => text.replace(/ /g, "  \t"),
      (text) => text.replace(/ (?=\p{Ll})/gu, "\n"),
    )
    fc.assert(
      fc.property(anyRule, layout, around, around, (own, laidOut, before, after) => {
        const shown = laidOut(own)
        const { verdict, passage } = survival(own, `${before}\n\n${shown}\n\n${after}`)
        expect(verdict).toBe("verbatim")
        expect(passage?.start).toBeGreaterThanOrEqual(before.length + 2)
        expect(passage?.end).toBeLessThanOrEqual(before.length + 2 + shown.length)
      }),
    )
  })

  test("a rule with another number is never verbatim", () => {
    const amount = fc.integer({ min: 0, max: 99_999 })
    const form = fc.constantFrom(
      (n: number) => `Orders above $${n} need approval.`,
      (n: number) => `Never run more than ${n} jobs.`,
      (n: number) => `Keep v${n} of the schema.`,
      (n: number) => `单笔支出超过${n}元必须经财务批准。`,
      (n: number) => `Use ${n}x zoom or less.`,
    )
    fc.assert(
      fc.property(form, amount, amount, (make, one, other) => {
        expect(survival(make(one), make(other)).verdict === "verbatim").toBe(one === other)
      }),
    )
  })

  test("a rule that lost, got or changed any one of its words is never verbatim", () => {
    const other = fc.constantFrom("not", "never", "only", "unless", "some", "zephyr", "7", "without")
    fc.assert(
      fc.property(spaced, fc.nat(), fc.constantFrom("lost", "got", "changed"), other, (own, pick, how, extra) => {
        const stop = /[.。]$/.exec(own)?.[0] ?? ""
        const words = own.slice(0, own.length - stop.length).split(" ")
        const at = pick % words.length
        if (how === "changed" && words[at]?.toLowerCase() === extra) return
        const left =
          how === "got" ? words.toSpliced(at, 0, extra) : words.toSpliced(at, 1, ...(how === "lost" ? [] : [extra]))
        expect(survival(own, left.join(" ") + stop).verdict).not.toBe("verbatim")
      }),
    )
  })

  test("text about something else leaves nothing of a rule", () => {
    fc.assert(
      fc.property(anyRule, around, (own, text) => {
        expect(survival(own, text)).toEqual({ verdict: "gone" })
      }),
    )
  })

  test("of many rules each gets the answer that it gets alone", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyRule, fc.constant("")), { maxLength: 6 }), fc.array(anyRule), (asked, lines) => {
        const text = lines.join("\n")
        expect(survivalOf(asked, text)).toEqual(asked.map((own) => survival(own, text)))
      }),
    )
  })

  test("any text is read without a crash, with the passage inside it, and noise is never verbatim", () => {
    const noise = fc.string({ unit: codePoints, maxLength: 60 })
    fc.assert(
      fc.property(anyRule, noise, (own, text) => {
        expect(survival(own, text).verdict).not.toBe("verbatim")
        const { start, end } = survival(text, `${text} ${own}`).passage ?? { start: 0, end: 0 }
        expect(start).toBeLessThanOrEqual(end)
        expect(end).toBeLessThanOrEqual(text.length + own.length + 1)
      }),
    )
  })

  test("lone surrogates are text like any other", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 20 }), (codes) => {
        expect(survival(rule, `${String.fromCharCode(...codes)}\n\n${rule}`).verdict).not.toBe("gone")
      }),
    )
  })
})
