import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { message, text } from "../../../test/support/transcripts.ts"
import { type Breakpoint, callId, messageId, type Part, type Tool, tokens, wireText } from "../../message/message.ts"
import {
  applyBreakpoints,
  type BreakpointOptions,
  markersIn,
  type Position,
  placeBreakpoints,
  type RequestPieces,
} from "./breakpoints.ts"

const marked = (value: string, breakpoint: Breakpoint = "5m"): Part => ({ type: "text", text: value, breakpoint })
const thinking: Part = { type: "reasoning", text: "hm", signature: "s" }
const tool = (name: string, more: Partial<Tool> = {}): Tool => ({ name, wire: wireText(`{"name":"${name}"}`), ...more })
const deferred = tool("late", { wire: wireText('{"name":"late","defer_loading": true}') })

const plain: RequestPieces = {
  tools: [tool("a")],
  system: [text("be good")],
  messages: [
    message("0", "user", text("go")),
    message("1", "assistant", thinking, text("ok")),
    message("2", "user", text("on"), text(" ")),
  ],
}
/** As Claude Code marks: two in the system part, one at the end. */
const threeMarked: RequestPieces = {
  tools: [tool("a")],
  system: [text("billing"), marked("who"), marked("how")],
  messages: [
    message("0", "user", text("go")),
    message("1", "assistant", text("ok")),
    message("2", "user", marked("on")),
  ],
}
const short = ({ in: where, ...rest }: Position): string => `${where}.${Object.values(rest).join(".")}`
const outline = (pieces: RequestPieces, options?: BreakpointOptions): readonly string[] =>
  placeBreakpoints("anthropic-messages", pieces, options).placed.map(
    ({ position, ttl, reason }) => `${short(position)} ${ttl} ${reason}`,
  )

describe("where the markers stand", () => {
  const cases: [why: string, pieces: RequestPieces, options: BreakpointOptions, plan: readonly string[]][] = [
    [
      "a client that marks nothing: the end of the stack and the newest words",
      plain,
      {},
      ["system.0 5m stack-end", "messages.2.0 5m newest-turn"],
    ],
    [
      "after a compaction its end as well",
      plain,
      { compactionEnd: messageId("0") },
      ["system.0 5m stack-end", "messages.0.0 5m compaction-end", "messages.2.0 5m newest-turn"],
    ],
    [
      "three are the client's: one is free, for the compaction",
      threeMarked,
      { compactionEnd: messageId("0") },
      ["system.1 5m client", "system.2 5m client", "messages.0.0 5m compaction-end", "messages.2.0 5m client"],
    ],
    [
      "three are the client's and good: nothing to add",
      threeMarked,
      {},
      ["system.1 5m client", "system.2 5m client", "messages.2.0 5m client"],
    ],
    ["only what is asked for", plain, { prefer: ["newest-turn"] }, ["messages.2.0 5m newest-turn"]],
    [
      "without a system part the stack ends with the last tool that is loaded",
      { ...plain, system: [], tools: [tool("a"), deferred] },
      { prefer: ["stack-end"] },
      ["tools.0 5m stack-end"],
    ],
    [
      "thinking and empty texts carry none",
      { ...plain, messages: [message("1", "assistant", text("ok"), thinking, text(""))] },
      { prefer: ["newest-turn"] },
      ["messages.0.0 5m newest-turn"],
    ],
    ["nothing to mark: no markers", { tools: [], system: [], messages: [] }, {}, []],
    [
      "one hour for ours before one hour of the client's",
      { ...plain, messages: [message("0", "user", marked("go", "1h"))] },
      {},
      ["system.0 1h stack-end", "messages.0.0 1h client"],
    ],
    [
      "no hour after five minutes",
      { ...plain, system: [marked("be good")] },
      { ttl: "1h" },
      ["system.0 5m client", "messages.2.0 5m newest-turn"],
    ],
    ["an hour that is asked for", plain, { ttl: "1h" }, ["system.0 1h stack-end", "messages.2.0 1h newest-turn"]],
  ]
  test.each(cases)("%s", (_why, pieces, options, plan) => {
    expect(outline(pieces, options)).toEqual(plan)
  })

  test("a long turn keeps the end of the one before in reach", () => {
    const long = Array.from({ length: 21 }, (_, n) => message(`l${n}`, "user", text("result")))
    const pieces = { ...plain, messages: [...plain.messages, ...long] }
    const previousEnd = messageId("2")
    expect(outline(pieces, { previousEnd })).toContain("messages.2.0 5m previous-turn")
    expect(outline({ ...plain, messages: [...plain.messages, ...long.slice(1)] }, { previousEnd })).toHaveLength(2)
  })

  test("a prefix shorter than the model caches is not marked, and the plan says so", () => {
    const plan = placeBreakpoints("anthropic-messages", plain, {
      minPrefixTokens: tokens(1024),
      prefixTokens: (position) => tokens(position.in === "system" ? 1000 : 2000),
    })
    expect(plan.placed).toMatchObject([{ reason: "newest-turn" }])
    expect(plan.refused).toEqual([
      { position: { in: "system", part: 0 }, wanted: "stack-end", reason: "below-minimum" },
    ])
  })

  test("an end of the stack that cannot be marked is refused", () => {
    const stackEnd: Position = { in: "messages", message: 1, part: 0 }
    const plan = placeBreakpoints("anthropic-messages", plain, { stackEnd, prefer: ["stack-end"] })
    expect(plan).toEqual({
      placed: [],
      refused: [{ position: stackEnd, wanted: "stack-end", reason: "not-cacheable" }],
    })
  })

  test("a client's marker on thinking is taken off; one inside a result stays", () => {
    const result: Part = { type: "tool-result", callId: callId("c"), kind: "function", content: [marked("out")] }
    const pieces = {
      ...plain,
      messages: [message("0", "assistant", { ...thinking, breakpoint: "5m" } as const), message("1", "user", result)],
    }
    const plan = placeBreakpoints("anthropic-messages", pieces, { prefer: [] })
    expect(plan.placed.map(({ position }) => short(position))).toEqual(["messages.1.0.0"])
    expect(plan.refused).toMatchObject([{ wanted: "client", reason: "not-cacheable" }])
    const applied = applyBreakpoints(pieces, plan)
    expect(markersIn(applied)).toEqual([{ position: { in: "messages", message: 1, part: 0, inner: 0 }, ttl: "5m" }])
    expect(applied.messages[1]).toBe(pieces.messages[1])
  })

  test("a client that sends too many is told", () => {
    const system = Array.from({ length: 5 }, (_, n) => marked(`part ${n}`))
    expect(() => placeBreakpoints("anthropic-messages", { ...plain, system })).toThrow("carries 5 cache breakpoints")
  })

  test.each(["openai-chat", "openai-responses", "gemini"] as const)(
    "%s finds prefixes itself: nothing to place",
    (format) => {
      const plan = placeBreakpoints(format, threeMarked, { compactionEnd: messageId("0") })
      expect(applyBreakpoints(threeMarked, plan)).toBe(threeMarked)
      expect(placeBreakpoints(format, plain).placed).toEqual([])
    },
  )
})

const anyTtl = fc.option(fc.constantFrom<Breakpoint>("5m", "1h"), { nil: undefined })
const anyPart = fc
  .record({ part: fc.constantFrom(text("a"), text("b"), text(""), thinking), breakpoint: anyTtl, mark: fc.nat(5) })
  .map(({ part, breakpoint, mark }): Part => (mark > 0 || breakpoint === undefined ? part : { ...part, breakpoint }))
const anyPieces: fc.Arbitrary<RequestPieces> = fc.record({
  tools: fc.array(fc.constantFrom(tool("a"), deferred), { maxLength: 2 }),
  system: fc.array(anyPart, { maxLength: 3 }),
  messages: fc
    .array(fc.array(anyPart, { maxLength: 3 }), { maxLength: 6 })
    .map((all) => all.map((parts, n) => message(`m${n}`, n % 2 === 0 ? "user" : "assistant", ...parts))),
})
const anyOptions = fc.record({
  compaction: fc.nat(6),
  previous: fc.nat(6),
  ttl: fc.constantFrom<Breakpoint>("5m", "1h"),
})
const good = (pieces: RequestPieces): boolean => markersIn(pieces).length <= 4

test("for any pieces: at most four, hours first, on what can be cached; to plan again changes nothing", () => {
  fc.assert(
    fc.property(anyPieces.filter(good), anyOptions, (pieces, { compaction, previous, ttl }) => {
      const options = { compactionEnd: messageId(`m${compaction}`), previousEnd: messageId(`m${previous}`), ttl }
      const plan = placeBreakpoints("anthropic-messages", pieces, options)
      const applied = applyBreakpoints(pieces, plan)
      const markers = markersIn(applied)
      expect(markers).toEqual(plan.placed.map(({ position, ttl: kept }) => ({ position, ttl: kept })))
      expect(markers.length).toBeLessThanOrEqual(4)
      const lengths = markers.map((marker) => marker.ttl)
      expect(lengths).toEqual(lengths.toSorted())
      for (const { parts } of applied.messages) {
        for (const part of parts)
          if (part.breakpoint !== undefined) expect(part).toMatchObject({ type: "text", text: /./ })
      }
      const again = placeBreakpoints("anthropic-messages", applied, options)
      expect(applyBreakpoints(applied, again)).toBe(applied)
    }),
  )
})

test("while the messages grow and the client marks as before, the markers in the stack stand still", () => {
  const client = fc.record({ stack: anyPieces, first: fc.nat(3), more: fc.nat(9), markNewest: fc.boolean() })
  fc.assert(
    fc.property(client, ({ stack, first, more, markNewest }) => {
      const grown = (length: number): RequestPieces => ({
        ...stack,
        messages: Array.from({ length }, (_, n) =>
          message(`m${n}`, "user", markNewest && n === length - 1 ? marked("go") : text("go")),
        ),
      })
      const inStack = (length: number) =>
        placeBreakpoints("anthropic-messages", grown(length), { compactionEnd: messageId("m0") }).placed.filter(
          ({ position }) => position.in !== "messages",
        )
      fc.pre(good(grown(1)))
      expect(inStack(1 + first + more)).toEqual(inStack(1 + first))
    }),
  )
})
