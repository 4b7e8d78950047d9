import { describe, expect, test } from "vitest"
import { isHit, readQuery, searchTerms } from "../../../src/store/search-terms.ts"
import { codePoints, fc } from "../../support/property.ts"
import type { OpenStore } from "./describe-store.ts"
import { clerk, row } from "./example-rows.ts"

const clock = (): number => 5000
const numRuns = Math.ceil((fc.readConfigureGlobal().numRuns ?? 100) / 10)

const rows = [
  "The customer wants the parcel sent to Hamburg before Friday",
  "Sent before: one parcel. Friday the customer moved away from Hamburg",
  "Write to anna.larsen+orders@post.example.org about W2378156, not W2378157",
  "See src/store/sqlite-log.ts, C:\\Work\\notes.txt and https://host.example.org:8080/a/b?c=d#e",
  "max_page_count is read in readEntries and XMLHttpRequest, --dry-run in kebab-case-name",
  "Die Größe der Lieferung nach Münster änderte sich, die Straße auch",
  "会议改到星期三下午，请通知北京办公室",
  "東京オフィスの担当者はカタカナで書いてください",
  "서울에서 만나기로 했습니다",
  "ประชุมที่กรุงเทพวันพุธ",
  "Встреча в Киеве, Ёлка, naïve café, ΟΔΟΣ, İstanbul",
  "NEAR the end AND OR NOT; a* b:c ^d {e} (f) 'g' \"h",
  "Paid $1,234.56 on 2026-11-15 at 14:30, version v2.10.3, 50 %",
]

const cases: [query: string, numbers: number[]][] = [
  ["parcel Friday", [0, 1]],
  ["friday PARCEL hamburg", [0, 1]],
  ['"parcel sent"', [0]],
  ['"before Friday" customer', [0]],
  ['"sent parcel"', []],
  ["parcel Berlin", [0, 1]],
  ["parce", []],
  ["W2378156", [2]],
  ["w2378156", [2]],
  ["W237815", []],
  ["anna.larsen+orders@post.example.org", [2]],
  ["larsen@post.example.org", []],
  ["Which customers moved?", [0, 1]],
  ["sending parcels", [0, 1]],
  ["Who wrote about orders?", [2]],
  ["Lieferungen", [5]],
  ["会议在哪里", [6]],
  ["東京オフィスの人は誰ですか", [7]],
  ["서울에서는 언제", [8]],
  ["о встречах", [10]],
  ["versions and percentages", [12]],
  ["src/store/sqlite-log.ts", [3]],
  ["sqlite-log.ts", [3]],
  ["store/other.ts", []],
  ["C:\\Work\\notes.txt", [3]],
  ["https://host.example.org:8080/a/b?c=d#e", [3]],
  ["max_page_count", [4]],
  ["page_max", []],
  ["readEntries", [4]],
  ["readentries xmlhttprequest", [4]],
  ["--dry-run", [4]],
  ["kebab-case-name", [4]],
  ["größe", [5]],
  ["GRÖSSE", [5]],
  ["Gro\u0308ße münster", [5]],
  ["strasse", [5]],
  ["星期三", [6]],
  ["北京 会议", [6]],
  ["京", [6, 7]],
  ["北三", []],
  ["東京", [7]],
  ["オフィス", [7]],
  ["ｵﾌｨｽ", [7]],
  ["担当者", [7]],
  ["서울", [8]],
  ["กรุงเทพ", [9]],
  ["киеве", [10]],
  ["елка CAFÉ naive", [10]],
  ["οδος istanbul", [10]],
  ["NEAR", [11]],
  ["NEAR(end, 2)", []],
  ["AND", [3, 4, 11]],
  ["end AND parcel", [0, 1, 11]],
  ["NOT the", [0, 1, 2, 3, 11]],
  ["parcel OR W2378156", [0, 1, 2]],
  ["-parcel", [0, 1]],
  ["parc*", []],
  ["text:parcel", []],
  ["terms : parcel", [0, 1]],
  ["b:c", [3, 11]],
  ["^parcel", [0, 1]],
  ["{e} (f)", [11]],
  ["parcel & !customer", [0, 1]],
  ["parcel | customer", [0, 1]],
  ["parcel <-> customer", [0, 1]],
  ["customer:*", [0, 1]],
  ['"parcel', [0, 1]],
  ['parcel"', [0, 1]],
  ['"parcel sent" "', [0]],
  ['""parcel""', [0, 1]],
  ["'; DROP TABLE memory; --", []],
  ["\0parcel\0", [0, 1]],
  ["parcel \ud800", [0, 1]],
  ["$1,234.56", [12]],
  ["2026-11-15 14:30", [12]],
  ["v2.10.3", [12]],
  ["v2.10", [12]],
  ["v2.1", []],
]

/**
 * The contract of searching by words: every query is plain text, in any language; any word of it is enough, in any form; identifiers are
 * matched whole.
 */
export function describeMemoryWords(open: OpenStore): void {
  describe("words", () => {
    test("each question finds the rows that have its words; one without a word finds the newest", async () => {
      const { store } = await open(clock)
      await store.memory.write(rows.map((line, at) => row(at, line)))
      for (const [text, numbers] of cases) {
        const found = (await store.memory.search({ ...clerk, text })).map(({ row }) => row.id).toSorted()
        expect({ text, found }).toEqual({ text, found: numbers.map((at) => `m${at}`).toSorted() })
      }
      for (const text of ["", " ", "\n", "***", '"', '"" ""', "-", "、。", "()", "\0", "\ud800", "👍"]) {
        const found = (await store.memory.search({ ...clerk, text, limit: 3 })).map(({ row }) => row.id)
        expect({ text, found }).toEqual({ text, found: ["m12", "m11", "m10"] })
      }
    })

    test("a question in plain words: the row with most of what it asks for comes first", async () => {
      const { store } = await open(clock)
      const told = [
        "The user decided to refund order W100 to the gift card",
        "Order W100 was shipped to Anna Larsen in Oslo",
        "Tests of the parser fail on Windows: line endings",
        "Die Erstattung wurde auf die Karte gebucht",
        "Order W200 was cancelled by the customer",
        "decision: use PostgreSQL for sessions, because replicas share them",
      ]
      await store.memory.write(told.map((line, at) => row(at, line)))
      const best = async (text: string) => (await store.memory.search({ ...clerk, text }))[0]?.row.id
      expect(await best("What did we decide about refunding order W100?")).toBe("m0")
      expect(await best("where did the shipment for Anna go")).toBe("m1")
      expect(await best("why are the parser's tests failing?")).toBe("m2")
      expect(await best("Wohin wurde die Rückerstattung gebucht, auf welche Karten?")).toBe("m3")
      expect(await best("which orders did customers cancel")).toBe("m4")
      expect(await best("which database was decided for the replicas")).toBe("m5")
      expect(await store.memory.search({ ...clerk, text: "weather in Lisbon" })).toEqual([])
    })

    test("of words that are found too often the row that has several is not lost among the newest", async () => {
      const { store } = await open(clock)
      const rows = Array.from({ length: 500 }, (_, at) =>
        row(at, at === 3 ? "alpha and beta" : at % 2 ? "alpha" : "beta"),
      )
      await store.memory.write(rows)
      const hits = await store.memory.search({ ...clerk, text: "alpha or beta or gamma" })
      expect(hits[0]?.row.id).toBe("m3")
    })

    test("any rows and any question: found is what has the words, whatever else stands there", async () => {
      const { store } = await open(clock)
      const word = fc.constantFrom(
        "ab",
        "AND",
        "NEAR",
        "müde",
        "東京",
        "京都",
        "x_y",
        "W12",
        '"',
        "*",
        "a-b",
        ":",
        "\0",
        "OR",
      )
      const line = fc
        .array(fc.oneof({ weight: 6, arbitrary: word }, fc.string({ unit: codePoints, maxLength: 3 })), {
          maxLength: 8,
        })
        .chain((words) => fc.constantFrom(" ", "", ", ").map((gap) => words.join(gap)))
      let run = 0
      const property = fc.asyncProperty(fc.array(line, { maxLength: 5 }), line, async (lines, text) => {
        run += 1
        const agent = `agent ${run}`
        await store.memory.write(lines.map((one, at) => row(at, one, { agent, session: `s${run}` })))
        const hits = await store.memory.search({ tenant: "", agent, text })
        const expected = lines.flatMap((one, at) => (isHit(searchTerms(one), readQuery(text)) ? [`m${at}`] : []))
        expect(hits.map(({ row }) => row.id).toSorted()).toEqual(expected.toSorted())
      })
      await fc.assert(property, { numRuns })
    })
  })
}
