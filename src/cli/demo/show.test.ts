import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { box, compactionBox, contextBar, findRule, readWithheld } from "./show.ts"

const plain = { width: 60, bold: (text: string) => text, dim: (text: string) => text }

test("a bar is as wide as it is told, whatever it shows", () => {
  const any = fc.integer({ min: -10, max: 40_000 })
  fc.assert(
    fc.property(any, any, any, fc.integer({ min: 1, max: 60 }), (tokens, cacheReadTokens, windowTokens, width) => {
      const { cached, fresh, free } = contextBar({ tokens, cacheReadTokens, windowTokens }, width)
      expect((cached + fresh + free).length).toBe(width)
      if (tokens > 0) expect((cached + fresh).length).toBeGreaterThan(0)
    }),
  )
})

test("every line of a box is as wide as the screen", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom("why", "kept", ""), fc.lorem({ maxCount: 40 }))), (rows) => {
      expect(box("title", rows, plain).map((line) => line.length)).toEqual(
        box("title", rows, plain).map(() => plain.width),
      )
    }),
  )
})

describe("a rule in a request", () => {
  const rule = 'Never "quote" outside.'
  const message = (content: unknown) => ({ role: "user", content })
  test.each<[string, unknown, string | undefined]>([
    ["in the system part as text", { system: `Be kind. ${rule}`, messages: [] }, "the system part"],
    [
      "in a block of a message",
      { messages: [message("hi"), message([{ type: "text", text: `- ${rule}` }])] },
      "message 2 of 2",
    ],
    ["in other words", { messages: [message('Never "quote" outside of it.')] }, undefined],
    ["in a tool's result alone", { messages: [message([{ type: "tool_result", content: rule }])] }, undefined],
    ["nowhere", { messages: 7 }, undefined],
  ])("%s", (_why, body, place) => {
    expect(findRule(JSON.stringify(body), rule)).toBe(place)
  })
  test("in no request at all, or in half of one", () => {
    expect([findRule(undefined, rule), findRule('{"messages":[', rule), findRule("7", rule)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe("the box of a compaction", () => {
  const planned = (...reasons: readonly object[]): string =>
    JSON.stringify([{ type: "plan-made", plan: { reasons }, sizes: { windowTokens: 1200, reserveTokens: 200 } }])
  const text = (trace: string, place?: string, logMessages = 5): string => {
    const shown = [8, 9, 10].map((entry) => ({ type: "shown", entry }) as const)
    const sizes = { node: 10, base: 0, standing: [], remedy: "micro", beforeTokens: 9000, afterTokens: 4000 }
    return compactionBox(
      {
        title: "compaction 1",
        body: { type: "checkpoint-installed", ...sizes, items: shown, trace },
        ...{ rule: "No mail.", place, latestWhole: false, value: "LOT-1", agentMessages: 5, logMessages },
      },
      { ...plain, width: 100 },
    ).join("\n")
  }
  test("says why, as far as the log does", () => {
    const filled = { trigger: "window-share", value: 850, limit: 800 }
    expect(text(planned(filled))).toContain("filled 85 % of its room; past 80 %")
    expect(text(planned(filled, { trigger: "provider-refused" }))).toContain(
      "the model refused the request as too long",
    )
    expect(text("")).toContain("the plan asked for it")
  })
  test("says what is not so, rather than nothing", () => {
    expect(text("")).toContain('MISSING from this request: "No mail."')
    expect(text("", "message 1 of 4")).toContain("word for word in this very request, in message 1 of 4")
    expect(text("", undefined, 4)).toContain("the log has 4 of 5 messages")
    expect(text("")).toContain("3 messages verbatim")
    expect(text("")).not.toMatch(/latest words|summarized|values|shortened/)
  })
})

test("the guard's words are read, and nobody else's are taken for them", () => {
  const words = `On it.\n[Withheld by policy: "tern_send_email" was not run, by the operator's rule: No mail (the call has "b.example"). Ask the user.]`
  expect(readWithheld(words)).toEqual({ tool: "tern_send_email", rule: "No mail.", met: '"b.example"' })
  expect(readWithheld("The policy withheld it.")).toBeUndefined()
})
