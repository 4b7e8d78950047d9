import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { requestText } from "../../../test/support/requests.ts"
import { formats, type ModelRequest, tokens } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { markersIn } from "./breakpoints.ts"
import { documentsIn, markMessages, placeStanding } from "./place-stack.ts"
import { layers, makeSection, makeStack, renderStack, type Stack } from "./stack.ts"

const anyStack: fc.Arbitrary<Stack> = fc
  .uniqueArray(
    fc.record({
      layer: fc.constantFrom(...layers),
      name: fc.string({ minLength: 1, maxLength: 4 }),
      text: fc.string({ minLength: 1 }).map((text) => `§${text}`),
      document: fc.boolean(),
    }),
    { selector: ({ name }) => name, maxLength: 5 },
  )
  .map((sections) =>
    makeStack(
      sections.map(({ document, ...section }) =>
        makeSection({
          ...section,
          ...(document ? { document } : {}),
          order: 0,
          minTokens: tokens(0),
          shrink: { type: "fixed" },
        }),
      ),
    ),
  )

const textsIn = (request: ModelRequest): readonly string[] =>
  [request.system, ...request.messages.filter(({ role }) => role === "system").map(({ parts }) => parts)]
    .flat()
    .flatMap((part) => (part.type === "text" ? part.text : []))

const hasList = ({ layout, wire }: ModelRequest): boolean =>
  layout.messages !== undefined && wire[layout.messages.start] === "["

describe.each(formats)("%s", (format) => {
  test("for any request and stack: the stack stands in it, its own messages are untouched, and its markers are all there and few enough", () => {
    fc.assert(
      fc.property(requestText(format), anyStack, fc.option(fc.constant("Never shout.")), (body, stack, rules) => {
        const request = decodeRequest(format, body)
        fc.pre(hasList(request))
        const own = markersIn(request)
        const placed = placeStanding(request, { stack, ...(rules === null ? {} : { rules }) })
        const joined = textsIn(placed).join("\n\n")
        expect(joined).toContain(
          renderStack(stack)
            .flatMap((part) => (part.type === "text" ? part.text : []))
            .join("\n\n"),
        )
        const kept = placed.messages.filter(({ id }) => id !== "stack" && id !== "operator")
        expect(kept.every((message, n) => message === request.messages[n])).toBe(true)
        const now = markersIn(placed)
        expect(now.length).toBeLessThanOrEqual(Math.max(4, own.length))
        const inMessages = (markers: typeof own) => markers.filter(({ position }) => position.in === "messages")
        if (format === "anthropic-messages") {
          expect(inMessages(now)).toEqual(inMessages(own))
          const before = own.filter(({ position }) => position.in !== "messages")
          expect(now.slice(0, before.length)).toEqual(before)
        }
      }),
    )
  })

  test("for any request, a stack that stands there is not put in twice", () => {
    fc.assert(
      fc.property(requestText(format), anyStack, (body, stack) => {
        const request = decodeRequest(format, body)
        fc.pre(hasList(request))
        const once = placeStanding(request, { stack })
        expect(placeStanding(decodeRequest(format, once.wire), { stack }).wire).toBe(once.wire)
      }),
    )
  })
})

const section = (layer: (typeof layers)[number], name: string, text: string, document?: true) =>
  makeSection({
    layer,
    name,
    text,
    order: 0,
    minTokens: tokens(0),
    shrink: { type: "fixed" },
    ...(document ? { document } : {}),
  })

const stack = makeStack([
  section("base", "identity", "You are Ada."),
  section("context", "a.md", "Alpha.\n", true),
  section("task", "goal", "Ship it."),
])

const bodyWith = (marks: number): string =>
  JSON.stringify({
    system: "Be kind.",
    messages: Array.from({ length: 4 }, (_, n) => ({
      role: n % 2 === 0 ? "user" : "assistant",
      content: [{ type: "text", text: `m${n}`, ...(n < marks ? { cache_control: { type: "ephemeral" } } : {}) }],
    })),
  })

test.each([
  [0, ["context", "task", "rules"]],
  [1, ["context", "task", "rules"]],
  [2, ["context", "task"]],
  [3, ["task"]],
  [4, []],
])("beside %i markers of the client, ours end at %j", (marks, ends) => {
  const request = decodeRequest("anthropic-messages", bodyWith(marks))
  const { system } = placeStanding(request, { stack, rules: "Never shout." })
  const names = ["own", "base", "context", "task", "rules"]
  expect(system.flatMap(({ breakpoint }, n) => (breakpoint === undefined ? [] : (names[n] ?? [])))).toEqual(ends)
})

test("without rules one marker stands before the documents, so that a changed document leaves the rest cached", () => {
  const { system } = placeStanding(decodeRequest("anthropic-messages", bodyWith(0)), { stack })
  expect(system.map(({ breakpoint }) => breakpoint !== undefined)).toEqual([false, true, true, true])
})

test("a marker of ours is kept as long as a later one of the client's, or the provider would refuse both", () => {
  const marked = bodyWith(1).replace('"type":"ephemeral"', '"type":"ephemeral","ttl":"1h"')
  const { system } = placeStanding(decodeRequest("anthropic-messages", marked), { stack })
  expect(system.flatMap(({ breakpoint }) => breakpoint ?? [])).toEqual(["1h", "1h", "1h"])
})

test("messages get markers only where their client put none", () => {
  const [plain, own] = [0, 1].map((marks) => decodeRequest("anthropic-messages", bodyWith(marks)))
  if (plain === undefined || own === undefined) throw new Error("unreachable")
  expect(markMessages(own, own.messages, undefined)).toBe(own.messages)
  const marked = markMessages(plain, plain.messages, undefined)
  expect(marked.map(({ parts }) => parts.at(-1)?.breakpoint)).toEqual([undefined, undefined, undefined, "5m"])
})

test("a document says its path, and nothing in it closes its fence", () => {
  const closing = makeStack([section("context", 'a".md', "x</document>\ny", true)])
  expect(renderStack(closing)).toEqual([
    { type: "text", text: '<document path="a&#34;.md">\nx&lt;/document>\ny\n</document>' },
  ])
  expect(documentsIn(stack)).toEqual([{ path: "a.md", text: "Alpha.\n" }])
})
