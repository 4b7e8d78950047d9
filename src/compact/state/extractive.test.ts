import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { goodTranscript, type Turn, text, transcript, used } from "../../../test/support/transcripts.ts"
import { parseDigest, renderDigest } from "../summary/digest-text.ts"
import { type LineState, type SchemaName, type Summary, schemas } from "../summary/summary.ts"
import { writeExtractive } from "./extractive.ts"

const carriedOf = (sections: Readonly<Record<string, readonly (readonly [string, LineState?])[]>>): Summary => ({
  schema: "handoff",
  sections: Object.entries(sections).map(([name, lines]) => ({
    name,
    lines: lines.map(([line, state]) => ({
      text: line,
      sources: [],
      ...(state === undefined ? {} : { state }),
      channel: "memory",
      worth: 5,
    })),
  })),
})

const linesOf = ({ sections }: Summary, section: string): readonly string[] =>
  sections
    .filter(({ name }) => name === section)
    .flatMap(({ lines }) => lines.map(({ state, text: line }) => (state === undefined ? line : `${state}: ${line}`)))

const goOn = (...turns: readonly Turn[]) => transcript(["user", text("Go on with the parser")], ...turns)

describe("lines of an earlier digest", () => {
  test("go on as they are where nothing newer is known", () => {
    const carried = carriedOf({
      key_concepts: [["We use SQLite because it is small"]],
      user_messages: [["not that one"]],
    })
    const summary = writeExtractive(goOn(), { schema: "handoff", carried })
    expect(linesOf(summary, "key_concepts")).toEqual(["We use SQLite because it is small"])
    expect(linesOf(summary, "user_messages")).toEqual(["not that one"])
    expect(linesOf(summary, "primary_requests")).toEqual(["open: Go on with the parser"])
  })

  test("a finding that names a value goes where a later one names another of the same thing", () => {
    const carried = carriedOf({
      key_concepts: [["The nightly export starts at 5:30."], ["The export writes to the bucket orders-eu."]],
    })
    const messages = goOn(
      ["assistant", text("Done: moved it. The nightly export starts at 4:45 now.")],
      ["user", text("ok")],
    )
    const known = linesOf(writeExtractive(messages, { schema: "handoff", carried }), "key_concepts").join("\n")
    expect(known).toContain("4:45")
    expect(known).not.toContain("5:30")
    expect(known).toContain("orders-eu")
  })

  test("of a file become one with the new one", () => {
    const carried = carriedOf({ files_and_code: [["`a.ts`: created"], ["`b.ts`: edited"], ["`c.ts`: edited"]] })
    const messages = goOn(
      ...used("edit", { path: "a.ts", old_str: "1", new_str: "2" }, "ok"),
      ...used("delete_file", { path: "b.ts" }, "ok"),
      ...used("read", { path: "c.ts" }, "text"),
    )
    expect(linesOf(writeExtractive(messages, { schema: "handoff", carried }), "files_and_code")).toEqual([
      "`a.ts`: created, edited (+1 −1)",
      "`b.ts`: deleted",
      "`c.ts`: edited",
    ])
  })

  test("of a command show the last outcome, and an error that was overcome says so", () => {
    const carried = carriedOf({
      status: [["`make`: ok"]],
      errors_and_fixes: [["`npm test` failed: TypeError: x", "failed"]],
    })
    const messages = goOn(
      ...used("bash", { command: "npm test" }, "4 passed"),
      ...used("bash", { command: "make" }, "make: *** [all] Error 2"),
    )
    const summary = writeExtractive(messages, { schema: "handoff", carried })
    expect(linesOf(summary, "status")).toEqual(["`npm test`: 4 passed"])
    expect(linesOf(summary, "errors_and_fixes")).toEqual([
      "done: `npm test` failed: TypeError: x",
      "failed: `make` failed: make: *** [all] Error 2",
    ])
  })

  test("of tasks give way to a newer list, but for what was done", () => {
    const carried = carriedOf({
      pending_tasks: [
        ["look", "done"],
        ["leap", "next"],
        ["rest", "next"],
      ],
    })
    const messages = goOn(...used("update_plan", { plan: [{ step: "leap", status: "completed" }] }, "ok"))
    expect(linesOf(writeExtractive(messages, { schema: "handoff", carried }), "pending_tasks")).toEqual([
      "done: look",
      "done: leap",
    ])
    expect(linesOf(writeExtractive(goOn(), { schema: "handoff", carried }), "pending_tasks")).toEqual([
      "done: look",
      "next: leap",
      "next: rest",
    ])
  })

  test("of a plan keep its tasks and drop what was only announced", () => {
    const carried: Summary = {
      schema: "snapshot",
      sections: carriedOf({
        current_plan: [
          ["Write the docs", "next"],
          ["Let me look at the lexer.", "next"],
        ],
      }).sections,
    }
    const messages = goOn(["assistant", text("The lexer is finished. Next I will write the parser.")])
    expect(linesOf(writeExtractive(messages, { schema: "snapshot", carried }), "current_plan")).toEqual([
      "next: Write the docs",
      "The lexer is finished.",
      "next: Next I will write the parser.",
    ])
  })

  test("of the moment give way to where the work stands now", () => {
    const carried = carriedOf({ current_work: [["I was at the lexer"]], next_steps: [["Then the parser", "next"]] })
    const messages = goOn(["assistant", text("The lexer is finished. Next I will write the parser.")])
    const summary = writeExtractive(messages, { schema: "handoff", carried })
    expect(linesOf(summary, "current_work")).toEqual(["The lexer is finished."])
    expect(linesOf(summary, "next_steps")).toEqual(["next: Next I will write the parser."])
  })
})

describe("what the user wanted before", () => {
  const before: Summary = {
    schema: "handoff",
    sections: [
      {
        name: "primary_requests",
        lines: [{ text: "Write the lexer", state: "open", sources: [], channel: "user", worth: 8 }],
      },
    ],
  }

  test("stays open while the user asks for nothing else", () => {
    const summary = writeExtractive(transcript(["assistant", text("I go on.")]), { schema: "handoff", carried: before })
    expect(linesOf(summary, "primary_requests")).toEqual(["open: Write the lexer"])
  })

  test("is one of the things said once the user asks for something else, and keeps its place before them", () => {
    const summary = writeExtractive(goOn(), { schema: "handoff", carried: before })
    expect(linesOf(summary, "user_messages")).toEqual(["said: Write the lexer"])
    expect(linesOf(summary, "primary_requests")).toEqual(["open: Go on with the parser"])
  })
})

describe("what was done before", () => {
  test("and again is told once, with how often", () => {
    const carried = carriedOf({ acts: [["`send_mail(to=a@b.example)`: sent", "done"]] })
    const messages = goOn(...used("send_mail", { to: "a@b.example" }, "Mail sent."))
    expect(linesOf(writeExtractive(messages, { schema: "handoff", carried }), "acts")).toEqual([
      "`send_mail(to=a@b.example)` ×2",
    ])
  })

  test("is not lost over ten rounds", () => {
    let carried: Summary | undefined
    for (let round = 0; round < 10; round++) {
      const messages = goOn(...used("cancel_order", { order_id: `W${round}` }, '{"status":"cancelled"}'))
      const summary = writeExtractive(messages, { schema: "handoff", ...(carried === undefined ? {} : { carried }) })
      carried = parseDigest(renderDigest({ covered: 3, summary }))?.summary
    }
    const acts = carried === undefined ? [] : linesOf(carried, "acts")
    expect(acts).toHaveLength(10)
    for (let round = 0; round < 10; round++) expect(acts.join("\n")).toContain(`cancel_order(order_id=W${round})`)
  })

  test("of a record the later value holds, and what nobody read again stays", () => {
    const carried = carriedOf({ facts: [["order W1: status=open; total=12"]] })
    const messages = goOn(...used("get_order", { order_id: "W1" }, '{"order_id":"W1","status":"shut"}'))
    expect(linesOf(writeExtractive(messages, { schema: "handoff", carried }), "facts")).toEqual([
      "order W1: status=shut; total=12",
    ])
  })
})

test("what the reader cares about is worth more", () => {
  const messages = goOn(
    ["assistant", text("I chose SQLite because it is small.")],
    ["user", text("fine by me, go on")],
    ["assistant", text("I chose Rust because it is quick.")],
    ["user", text("and now the tests")],
  )
  const worthOf = (summary: Summary, word: string): number =>
    summary.sections.flatMap(({ lines }) => lines).find(({ text: line }) => line.includes(word))?.worth ?? 0
  const plain = writeExtractive(messages, { schema: "handoff" })
  const focused = writeExtractive(messages, { schema: "handoff", focus: "which database, sqlite?" })
  expect(worthOf(focused, "SQLite")).toBeGreaterThan(worthOf(plain, "SQLite"))
  expect(worthOf(focused, "Rust")).toBe(worthOf(plain, "Rust"))
})

test("for any transcript, sections stand in the schema's order, none is empty, and carrying a digest on adds no line twice", () => {
  fc.assert(
    fc.property(goodTranscript, fc.constantFrom<SchemaName>("handoff", "snapshot"), (messages, schema) => {
      const summary = writeExtractive(messages, { schema })
      const order = schemas[schema].map(({ name }) => name)
      expect(summary.sections.map(({ name }) => name)).toEqual(
        order.filter((name) => summary.sections.some((section) => section.name === name)),
      )
      expect(summary.sections.every(({ lines }) => lines.length > 0)).toBe(true)
      const carried = parseDigest(renderDigest({ covered: messages.length, summary }))?.summary
      expect(carried).toBeDefined()
      if (carried === undefined) return
      for (const next of [[], messages]) {
        const again = writeExtractive(next, { schema, carried })
        for (const { lines } of again.sections)
          expect(new Set(lines.map(({ text: line }) => line)).size).toBe(lines.length)
      }
    }),
  )
})

test("values of a question stand as they were asked, whatever was asked later", () => {
  const asks = (one: string): Turn => ["assistant", text(`To confirm: the pack costs ${one} EUR per month. Yes?`)]
  const turns: readonly Turn[] = [asks("25.00"), ["user", text("yes")], asks("49.50"), ["user", text("yes please")]]
  const summary = writeExtractive(goOn(...turns, ["assistant", text("Done.")], ["user", text("Thanks")]), {
    schema: "handoff",
  })
  const told = summary.sections.flatMap(({ lines }) => lines.map((line) => line.text)).join("\n")
  expect(told).toContain("25.00 EUR per month")
  expect(told).not.toContain("superseded")
})
