import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import type { Channel } from "../message/message.ts"
import { createMeter } from "../tokens/meter.ts"
import { composeDigest } from "./compose-digest.ts"
import { joinExcerpt } from "./digest-candidates.ts"
import { readRecord } from "./state/records.ts"
import { parseDigest } from "./summary/digest-text.ts"
import {
  factsSection,
  type LineState,
  type SchemaName,
  type Summary,
  type SummaryLine,
  schemas,
} from "./summary/summary.ts"

const meter = createMeter({ model: "gpt-4o" })

const line = (text: string, worth: number, channel: Channel = "assistant", state?: LineState): SummaryLine => {
  return { text, sources: [`of ${text}`], channel, worth, ...(state === undefined ? {} : { state }) }
}

const compose = (summary: Summary, budgetTokens: number, shown: readonly string[] = []) =>
  composeDigest(
    { notes: [], summary, covered: 0 },
    { budgetTokens, covered: 9, shown: new Set(shown), stands: () => false, meter, arguments: new Set() },
  )

const linesIn = (composed: ReturnType<typeof compose>, section: string): readonly string[] =>
  composed?.digest.summary.sections.find(({ name }) => name === section)?.lines.map(({ text }) => text) ?? []

const handoff = (sections: Readonly<Record<string, readonly SummaryLine[]>>): Summary => ({
  schema: "handoff",
  sections: schemas.handoff.flatMap(({ name }) =>
    sections[name] === undefined ? [] : [{ name, lines: sections[name] }],
  ),
})

const records = (count: number): readonly SummaryLine[] =>
  Array.from({ length: count }, (_, n) =>
    line(
      `order W${n}77${n}: status=pending; total=${n * 11}.50; address=${n} Elm Street; sku=SKU-${n}a${n}b`,
      4,
      "tool",
    ),
  )

test("an excerpt that goes on where the beginning of a message breaks off fills the gap, and others stand behind it", () => {
  const ends = "Morning. SIEM-88213 just paged me, [… 202 characters] never bundle them."
  const excerpt = "… SIEM-88213 just paged me, FIN-WS-0147, something beaconing."
  expect(joinExcerpt(ends, excerpt)).toBe(
    "Morning. SIEM-88213 just paged me, FIN-WS-0147, something beaconing. [… 168 characters] never bundle them.",
  )
  expect(joinExcerpt(ends, "… Port 8443 is open. … Port 80 is not.")).toBe(
    `${ends} … Port 8443 is open. … Port 80 is not.`,
  )
  expect(
    joinExcerpt(
      "HM-4 is next. one thing: [… 60 characters] alone in that hour.",
      "… one thing: Odd runs a job on 10.20.2.5 from 12:00 to 13:00, leave it alone in that hour.",
    ),
  ).toBe("HM-4 is next. one thing: Odd runs a job on 10.20.2.5 from 12:00 to 13:00, leave it alone in that hour.")
})

test("values and what was found stand in the order in which they were said", () => {
  const said = [line("“The flat at 12 Elm Street costs 980 euro a month.”", 4), line("The cellar is damp.", 6)]
  const told = compose(handoff({ key_concepts: [...said, line("“The flat costs 940 euro a month now.”", 4)] }), 400)
  expect(linesIn(told, "key_concepts")).toEqual([
    "“The flat at 12 Elm Street costs 980 euro a month.”",
    "The cellar is damp.",
    "“The flat costs 940 euro a month now.”",
  ])
})

test("what was done behind the user's latest words stands apart from what was done before them", () => {
  const acts = [line("`pay(order=7)`: paid", 10), line("`send(mail=3)`: sent", 10)]
  const source = { stands: () => false, meter, arguments: new Set<string>() }
  const needs = {
    budgetTokens: 400,
    covered: 9,
    shown: new Set<string>(),
    behind: new Set(["of `send(mail=3)`: sent"]),
  }
  const composed = composeDigest({ notes: [], summary: handoff({ acts }), covered: 0 }, { ...source, ...needs })
  expect(linesIn(composed, "acts")).toEqual(["`pay(order=7)`: paid"])
  expect(linesIn(composed, "acts_since")).toEqual(["`send(mail=3)`: sent"])
})

test("of an attempt that failed the reason stands there before all arguments do", () => {
  const call = `book(user=mia_3668, from=JFK, to=SEA, cabin=economy, flights=[HAT136, HAT039], bags=3, notes=${"window seat, ".repeat(12)})`
  const failed = line(`\`${call}\` failed: the card was declined`, 7, "tool", "failed")
  const requests = [line("Book the flight to Seattle for me, please.", 8, "user", "open")]
  const composed = compose(handoff({ primary_requests: requests, errors_and_fixes: [failed] }), 110)
  expect(linesIn(composed, "errors_and_fixes").join()).toMatch(
    /^`book\(user=mia_3668.*…\)?` failed: the card was declined$/,
  )
})

test("of an edit that the user rejected the rejection stands there before what was to change", () => {
  const text =
    "changing `manuscript/response.md` (+7: Response to the reviewers JAE-2026-00341, Reviewer 1, Reviewer 2, Answers and thanks) failed: rejected by the user: shorter"
  const rejected = line(text, 7, "tool", "failed")
  const requests = [line("Write the response to the reviewers, please.", 8, "user", "open")]
  const composed = compose(handoff({ primary_requests: requests, errors_and_fixes: [rejected] }), 84)
  expect(linesIn(composed, "errors_and_fixes").join()).toMatch(
    /^changing `manuscript\/response.md` failed: rejected by the user/,
  )
})

test("words in a script without blanks are cut between its signs: beginning and end stay", () => {
  const said = `[内線201] ${"今日の予約を確認してください、患者さんは三人です、".repeat(8)}電話番号は045-550-1100です。`
  const summary = handoff({ user_messages: [line(said, 6, "user", "said")] })
  const [cut = ""] = linesIn(compose(summary, 150), "user_messages")
  expect(cut).toMatch(/^\[内線201\] 今日の予約.* \[… \d+ characters\] .+です。$/)
})

test("a line that was cut is printed as it is held, in any script", () => {
  const word = fc.constantFrom("予約を", "変更、", "はい。", "ok", "order 77", " ", "\u3000", "ราคา", "045-550", "! ")
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 90 }), fc.integer({ min: 60, max: 300 }), (words, budget) => {
      const composed = compose(handoff({ user_messages: [line(`a ${words.join("")}b`, 6, "user", "said")] }), budget)
      for (const text of linesIn(composed, "user_messages")) expect(composed?.text).toContain(`${text}\n`)
    }),
  )
})

describe("what gives way first", () => {
  const acts = Array.from({ length: 12 }, (_, n) =>
    line(`\`cancel_order(order_id=W${n}000)\`: cancelled`, 10, "assistant", "done"),
  )
  const said = Array.from({ length: 12 }, (_, n) =>
    line(`Please look at order number ${n} as well, it is late.`, 6, "user", "said"),
  )
  const summary = handoff({
    primary_requests: [line("Cancel what is late.", 8, "user", "open")],
    user_messages: said,
    acts,
    current_work: [line("Waiting for the warehouse.", 7)],
    key_concepts: Array.from({ length: 20 }, (_, n) =>
      line(`The warehouse number ${n} is closed on Mondays because of the tide.`, 5),
    ),
    facts: records(40),
  })

  test("is never an act: they all stand there before any value does", () => {
    for (const budget of [300, 500, 800, 1500]) {
      const composed = compose(summary, budget)
      const count = linesIn(composed, "acts").length
      if (linesIn(composed, factsSection).length > 0) expect(count).toBe(acts.length)
    }
    expect(linesIn(compose(summary, 700), "acts")).toHaveLength(12)
  })

  test("is neither what the user wants nor where it stopped", () => {
    for (const budget of [120, 200, 400]) {
      const composed = compose(summary, budget)
      expect(linesIn(composed, "primary_requests")).toEqual(["Cancel what is late."])
      expect(linesIn(composed, "current_work")).toEqual(["Waiting for the warehouse."])
    }
  })

  const long = Array.from({ length: 60 }, (_, n) =>
    line(
      `Please look at order number ${n} as well, it is late and the customer of street ${n} has called twice.`,
      6,
      "user",
      "said",
    ),
  )
  test("values take at most about a quarter of a digest of pages while the user's words need the room", () => {
    const composed = compose(
      {
        ...summary,
        sections: summary.sections.map((one) => (one.name === "user_messages" ? { ...one, lines: long } : one)),
      },
      2000,
    )
    const facts = linesIn(composed, factsSection).join("\n")
    expect(facts).not.toBe("")
    expect(meter.text(facts)).toBeLessThanOrEqual(0.3 * 2000)
  })

  test("values take more than a quarter only where every act and every word of the user stands", () => {
    let most = 0
    for (const budget of [300, 500, 800, 1200, 2000, 3000]) {
      const composed = compose(summary, budget)
      const share = meter.text(linesIn(composed, factsSection).join("\n")) / budget
      most = Math.max(most, share)
      if (share <= 0.3) continue
      expect(linesIn(composed, "acts")).toHaveLength(acts.length)
      expect(linesIn(composed, "user_messages")).toHaveLength(said.length)
    }
    expect(most).toBeGreaterThan(0.3)
  })
})

test("a message of the user that is too long keeps its beginning and its end", () => {
  const text = `Please repair the login. ${"It has been slow for a while now. ".repeat(60)}Do not touch billing.`
  const composed = compose(handoff({ user_messages: [line(text, 6, "user", "said")] }), 300)
  const [cut = ""] = linesIn(composed, "user_messages")
  expect(cut.startsWith("Please repair the login.")).toBe(true)
  expect(cut.endsWith("Do not touch billing.")).toBe(true)
  expect(cut).toMatch(/\[… \d+ characters\]/)
})

test("a value stands in the line of its owner, and one that is in sight is not said again", () => {
  const summary = handoff({ facts: [line("user mia_3668: email=mia@example.org; dob=1990-04-05", 6, "tool")] })
  expect(linesIn(compose(summary, 400), factsSection)).toEqual(["user mia_3668: email=mia@example.org; dob=1990-04-05"])
  const seen = composeDigest(
    { notes: [], summary, covered: 0 },
    {
      ...{ budgetTokens: 400, covered: 9, shown: new Set<string>(), meter, arguments: new Set<string>() },
      stands: (value) => value === "1990-04-05",
    },
  )
  expect(linesIn(seen, factsSection)).toEqual(["user mia_3668: email=mia@example.org"])
})

test("what rests on messages that are in sight alone is not said", () => {
  const summary = handoff({ acts: [line("seen", 8, "assistant", "done"), line("unseen", 8, "assistant", "done")] })
  expect(linesIn(compose(summary, 400, ["of seen"]), "acts")).toEqual(["unseen"])
})

const anyLine = (section: string): fc.Arbitrary<SummaryLine> =>
  fc
    .record({
      words: fc.array(
        fc.constantFrom("alpha", "`src/a.ts`", "错误", "[Done]", "12", "a=1; b=2", "\n", "\ud83d\ude00"),
        {
          minLength: 1,
          maxLength: 40,
        },
      ),
      worth: fc.integer({ min: 1, max: 12 }),
      own: fc.boolean(),
      state: fc.constantFrom<LineState | undefined>("open", "done", "failed", "said", undefined),
    })
    .map(({ words, worth, own, state }) => {
      const text = words.join(" ").trim()
      const said =
        section === factsSection ? `thing ${words.length}: ${text.replace(/\s+/g, " ")}=1` : text.replace(/\s+/g, " ")
      return line(own ? text : said, worth, own ? "user" : "assistant", state)
    })

const anySummary: fc.Arbitrary<Summary> = fc.constantFrom<SchemaName>("handoff", "snapshot").chain((schema) =>
  fc
    .subarray(schemas[schema].map(({ name }) => name))
    .chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc.record({ name: fc.constant(name), lines: fc.array(anyLine(name), { minLength: 1, maxLength: 6 }) }),
        ),
      ),
    )
    .map((sections) => ({ schema, sections })),
)

test("for any lines and any budget a digest fits, reads back, and stands in the schema's order", () => {
  fc.assert(
    fc.property(anySummary, fc.nat(1200), (summary, budget) => {
      const composed = compose(summary, budget)
      if (composed === undefined) return
      expect(composed.tokens).toBeLessThanOrEqual(budget)
      expect(composed.tokens).toBe(meter.text(composed.text))
      expect(parseDigest(composed.text)).toBeDefined()
      const order = schemas[summary.schema].map(({ name }) => name)
      const names = composed.digest.summary.sections.map(({ name }) => name)
      expect(names).toEqual(order.filter((name) => names.includes(name)))
    }),
  )
})

test("for any lines and two budgets, the larger one tells every line and value that the smaller one tells", () => {
  fc.assert(
    fc.property(anySummary, fc.nat(1200), fc.nat(400), (summary, budget, further) => {
      const [smaller, larger] = [compose(summary, budget), compose(summary, budget + further)]
      for (const { name, lines } of smaller?.digest.summary.sections ?? []) {
        const told = linesIn(larger, name)
        for (const { text } of lines.filter((one) => !/…/.test(one.text))) {
          // Of a record a larger budget may tell more fields.
          const record = name === factsSection ? readRecord(text) : undefined
          const own = told.filter((one) => record === undefined || one.startsWith(`${record.name}: `)).join("\n")
          const parts = record === undefined ? [text] : text.slice(record.name.length + 2).split("; ")
          for (const part of parts) expect(own).toContain(part)
        }
      }
    }),
  )
})

test("where there is little room, what the user called off or forbade stands before what is done with", () => {
  const said = [
    line(
      "The list for today: rotate the key, move both nodes, and build the panel that Hanna asked for.",
      9,
      "user",
      "open",
    ),
    line(
      "Good catch, thanks for looking. Leave the old key active. I will tell you when the freeze is over.",
      7,
      "user",
      "said",
    ),
    line("Test it once more, then go on with the nodes as you said.", 7, "user", "done"),
    line(
      "Right, that fits my plans very well indeed. The panel: forget it, Hanna made one herself.",
      7,
      "user",
      "said",
    ),
    line("The upload of the report went to the wrong folder yesterday evening.", 7, "user", "said"),
  ]
  const acts = Array.from({ length: 40 }, (_, n) => line(`\`restart(service=s-${n}, region=eu-${n})\`: ok`, 10))
  const told = linesIn(
    compose(handoff({ primary_requests: said.slice(0, 1), user_messages: said.slice(1), acts }), 480),
    "user_messages",
  ).join("\n")
  expect(told).toContain("Leave the old key active.")
  expect(told).toContain("The panel: forget it, Hanna made one herself.")
})

test("command lines are told in few words before any takes more, so that files have room", () => {
  const acts = Array.from({ length: 20 }, (_, n) =>
    line(
      `\`git commit -qam 'feat(part-${n}): the rows of part ${n} are read once and kept with their names'\`: commit a${n}b7c${n}d`,
      10,
    ),
  )
  const files = Array.from({ length: 12 }, (_, n) =>
    line(`\`src/part-${n}/rows.ts\`: created (+${n}0: rows, names, kept)`, 6),
  )
  const composed = compose(handoff({ acts, files_and_code: files }), 1000)
  expect(linesIn(composed, "acts")).toHaveLength(20)
  expect(linesIn(composed, "files_and_code").length).toBeGreaterThan(9)
})
