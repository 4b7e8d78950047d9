import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { message, text, transcript } from "../../../test/support/transcripts.ts"
import { callId, type Transcript } from "../../message/message.ts"
import { mentionsIn } from "./later-mentions.ts"
import { shortenText, type TextSource } from "./shorten-text.ts"
import type { ToolKind } from "./tool-kind.ts"

const count = (value: string): number => Math.ceil(value.length / 4)
const silent: Transcript = []
const sourceOf = (kind: ToolKind, later: Transcript = silent, focus: readonly string[] = []): TextSource => ({
  ...{ kind, failed: false },
  interest: { mentions: mentionsIn(later), after: -1, focus: new Set(focus) },
})
const shorten = (value: string, budget: number, source: TextSource): string =>
  shortenText(value, { tokens: count(value), budget }, source, count) ?? ""
const numbered = (total: number, make: (n: number) => string): string =>
  Array.from({ length: total }, (_, n) => make(n + 1)).join("\n")

describe("what is kept of a text too long", () => {
  test("a log: its errors with the lines beside them, its warnings, how it ended", () => {
    const log = numbered(400, (n) => {
      if (n === 150) return "src/pay.c:88: error: unknown type name 'amount_t'"
      if (n === 151) return "   88 | amount_t total;"
      if (n === 250) return "warning: unused variable 'x'"
      return n === 400 ? "make exited with code 2" : `  CC obj/file${n}.o`
    })
    const shown = shorten(log, 120, sourceOf("shell"))
    expect(shown).toContain("unknown type name 'amount_t'\n   88 | amount_t total;")
    expect(shown).toContain("unused variable 'x'")
    expect(shown).toContain("make exited with code 2")
    expect(shown).toMatch(/\[… \d+ lines left out\]/)
  })

  test("a test report: what failed with its message, and the tally, rather than what passed", () => {
    const report = numbered(300, (n) => {
      if (n === 140) return "FAILED tests/cart.py::test_total"
      if (n === 141) return "E   assert 41 == 42"
      return n === 300 ? "1 failed, 298 passed in 3.2s" : `tests/cart.py::test_${n} PASSED`
    })
    const shown = shorten(report, 100, sourceOf("test"))
    expect(shown).toContain("FAILED tests/cart.py::test_total\nE   assert 41 == 42")
    expect(shown).toContain("1 failed, 298 passed")
  })

  test("a trace in a log whose lines start with the time", () => {
    const trace =
      'Traceback (most recent call last):\n  File "run.py", line 8, in run\n    go()\nValueError: zone unknown'
    const log = numbered(300, (n) => (n === 120 ? trace : `2026-05-01 12:00:${n % 60} INFO worker ${n} waits`))
    expect(shorten(log, 120, sourceOf("shell"))).toContain(trace)
  })

  test("the same error a thousand times does not crowd out another one", () => {
    const log = numbered(1_000, (n) => (n === 500 ? "fatal: disk is full" : `error: retry ${n} refused`))
    expect(shorten(log, 100, sourceOf("shell"))).toContain("fatal: disk is full")
  })

  test("a diff: files, places and changes rather than what stayed", () => {
    const hunk = (n: number) => `diff --git a/f${n} b/f${n}\n--- a/f${n}\n+++ b/f${n}\n@@ -${n},9 +${n},9 @@\n`
    const diff = numbered(8, (n) => `${hunk(n)}${" same line as ever\n".repeat(12)}-old ${n}\n+new ${n}`)
    const shown = shorten(diff, 270, sourceOf("shell"))
    for (let n = 1; n <= 8; n++) expect(shown).toContain(`@@ -${n},9 +${n},9 @@`)
    for (let n = 1; n <= 8; n++) expect(shown).toContain(`-old ${n}\n+new ${n}`)
  })

  test("a search: one line of every file before a second one of any", () => {
    const found = numbered(200, (n) => `src/file${Math.ceil(n / 20)}.ts:${n}: const total = sum(items, ${n})`)
    const shown = shorten(found, 240, sourceOf("search"))
    for (let n = 1; n <= 10; n++) expect(shown).toContain(`src/file${n}.ts:`)
  })

  test("a file: what opens a function, and the lines that later turns quoted, named or numbered", () => {
    const file = numbered(300, (n) => {
      if (n % 50 === 0) return `${n}\tdef part_${n}(order):`
      return n === 77 ? "77\t    rate = lookup_rate(order.zone)" : `${n}\t    step_${n}()`
    })
    const later = transcript(["assistant", text("`lookup_rate` is wrong, see also line 233")])
    const shown = shorten(file, 120, sourceOf("read", later))
    expect(shown).toContain("rate = lookup_rate")
    expect(shown).toContain("233\t")
    expect(shown).toContain("def part_150(order):")
  })

  test("methods as well as functions", () => {
    const file = numbered(200, (n) =>
      n === 90 ? "  async close(reason: string): Promise<void> {" : `    this.step${n}()`,
    )
    expect(shorten(file, 60, sourceOf("read"))).toContain("async close(reason: string)")
  })

  test("the line that an edit took out", () => {
    const file = numbered(300, (n) => (n === 150 ? "  if (left > right) swap(left, right)" : `  value ${n}`))
    const edit = message("m", "assistant", {
      ...{ type: "tool-call", callId: callId("1"), tool: "edit", kind: "function" },
      input: { old: "  if (left > right) swap(left, right)\n" },
    })
    expect(shorten(file, 60, sourceOf("read", [edit]))).toContain("if (left > right) swap(left, right)")
  })

  test("lines about the focus", () => {
    const page = numbered(200, (n) => (n === 90 ? "Refunds take five days." : `Paragraph ${n} about other things.`))
    expect(shorten(page, 60, sourceOf("web", silent, ["refunds"]))).toContain("Refunds take five days.")
  })

  test("head and tail of what says nothing about itself", () => {
    const shown = shorten(
      numbered(500, (n) => `row ${n}`),
      40,
      sourceOf("other"),
    )
    expect(shown).toMatch(/^row 1\nrow 2\n[\s\S]*\[… \d+ lines left out\]\n[\s\S]*row 500$/)
  })

  test("head and tail of one endless line, whose characters stay whole", () => {
    const shown = shorten("😀".repeat(5_000), 60, sourceOf("web"))
    expect(shown).toMatch(/^(?:😀)+\[… \d+ characters left out\](?:😀)+$/u)
  })

  test("a terminal's last word on a line that it wrote over, without its colours", () => {
    const bar = numbered(60, (n) => `\u001b[31mstep ${n}\u001b[0m 1%\r${"#".repeat(30)} 100%`)
    const shown = shorten(bar, 60, sourceOf("shell"))
    expect(shown).toContain("# 100%")
    for (const sign of ["\r", "\u001b"]) expect(shown).not.toContain(sign)
  })

  test("the middle of a huge text is counted and not read", () => {
    const shown = shorten("a line of it\n".repeat(100_000), 40, sourceOf("shell"))
    const kept = shown.split("\n").filter((line) => !line.startsWith("[…")).length
    expect(Number(/… (\d+) lines/.exec(shown)?.[1]) + kept).toBe(100_001)
  })
})

describe("what is kept of JSON too long", () => {
  test("nothing is lost where leaving out blanks is enough", () => {
    const value = { id: 7, rows: Array.from({ length: 20 }, (_, n) => ({ n, name: `row ${n}` })) }
    const shown = shorten(JSON.stringify(value, null, 8), 180, sourceOf("json"))
    expect(JSON.parse(shown)).toEqual(value)
  })
  test("numbers keep every digit", () => {
    const rows = Array.from({ length: 50 }, () => '{"id": 12345678901234567890, "price": 1.10}')
    expect(shorten(`[${rows.join(", ")}]`, 100, sourceOf("json"))).toContain('{"id":12345678901234567890,"price":1.10}')
  })
  test("a list goes from the middle, and the item that was taken up later stays", () => {
    const rows = Array.from({ length: 60 }, (_, n) => ({ flight: `FX${100 + n}`, from: "OSL", seats: n }))
    const later = transcript(["assistant", text("Booking FX133 from OSL")])
    const shown = shorten(JSON.stringify(rows), 120, sourceOf("json", later))
    expect(JSON.parse(shown)).toContainEqual({ flight: "FX133", from: "OSL", seats: 33 })
    expect(JSON.parse(shown)).toContainEqual({ flight: "FX100", from: "OSL", seats: 0 })
    expect(shown).toMatch(/"\[… \d+ items left out\]"/)
  })
  test("ids outlast the other fields, and what is gone is counted", () => {
    const record = Object.fromEntries(
      Array.from({ length: 80 }, (_, n) => [n === 60 ? "order_id" : `note${n}`, `v${n}`]),
    )
    const shown: unknown = JSON.parse(shorten(JSON.stringify(record), 60, sourceOf("json")))
    expect(shown).toMatchObject({ order_id: "v60", "…": expect.stringMatching(/^\[… \d+ fields left out\]$/) })
  })
  test("a log inside JSON is shortened as a log", () => {
    const output = numbered(300, (n) => (n === 150 ? "error: no such table: orders" : `line ${n} is fine`))
    const shown = shorten(JSON.stringify({ output, code: 1 }), 80, sourceOf("shell"))
    expect(JSON.parse(shown)).toMatchObject({ output: expect.stringContaining("no such table: orders"), code: 1 })
  })
})

test("for any JSON the answer is JSON within the budget", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 20, max: 60 }), (value, budget) => {
      const whole = JSON.stringify([value, value, "[… 3 lines left out]", "x".repeat(400)])
      const shown = shortenText(whole, { tokens: count(whole), budget }, sourceOf("json"), count)
      if (shown === undefined) return
      JSON.parse(shown)
      expect(count(shown)).toBeLessThanOrEqual(budget)
      expect(shown).not.toContain('"[… 3 lines left out]"')
    }),
  )
})

test("for any text the answer is within the budget, and every line of it stood there or says what did not", () => {
  const line = fc.oneof(
    fc.constantFrom("", "error: x", "  at f (a.js:1)", "@@ -1 +1 @@", "a.ts:1: x", "12\tdef f():"),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(line, { minLength: 5, maxLength: 60 }), fc.integer({ min: 16, max: 80 }), (lines, budget) => {
      const whole = lines.join("\n")
      const shown = shortenText(whole, { tokens: count(whole), budget }, sourceOf("other"), count)
      if (shown === undefined || /^\s*[[{]/.test(whole)) return
      expect(count(shown)).toBeLessThanOrEqual(budget)
      const there = new Set(whole.split("\n"))
      let gone = 0
      for (const each of shown.split("\n")) {
        const marker = /^\[… (\d+) lines? left out\]$/.exec(each)
        if (marker !== null) gone += Number(marker[1])
        else expect(there.has(each) || /quoted|characters left out/.test(each)).toBe(true)
      }
      const kept = shown.split("\n").filter((each) => !/^\[… \d+ lines? left out\]$/.test(each)).length
      expect(kept + gone).toBe(whole.split("\n").length)
    }),
  )
})
