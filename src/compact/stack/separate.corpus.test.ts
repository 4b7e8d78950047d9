import { describe, expect, test } from "vitest"
import { corpus, recordedRequests, withoutCorpus } from "../../../test/support/corpus.ts"
import { continuation } from "../../message/lineage.ts"
import type { ModelRequest } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { applyBreakpoints, markersIn, placeBreakpoints } from "./breakpoints.ts"
import { rejoin } from "./rejoin.ts"
import { documentName, separate, stackFingerprint } from "./separate.ts"

describe.skipIf(corpus === undefined)(`recorded requests of real clients${withoutCorpus}`, () => {
  const requests = recordedRequests()
    .filter(({ path }) => !path.includes("count_tokens"))
    .map(({ file, format, text }) => ({ file, request: decodeRequest(format, text) }))

  test("every one is the same text when separated and put together", () => {
    for (const { request } of requests) {
      const separation = separate(request)
      const { messages } = rejoin(separation, [...separation.conversation])
      expect(encodeRequest(request, { messages })).toBe(request.wire)
    }
  })

  test("over consecutive requests of one conversation the fingerprint stays", () => {
    let pairs = 0
    for (const [n, { file, request }] of requests.entries()) {
      const before = requests[n - 1]
      if (before?.file !== file || !continues(before.request, request)) continue
      pairs++
      expect(stackFingerprint(request), file).toBe(stackFingerprint(before.request))
    }
    expect(pairs).toBeGreaterThan(150)
  })

  test("the goal of every conversation stays in it, and no document does before the first answer", () => {
    for (const { file, request } of requests) {
      const { conversation } = separate(request)
      const answer = conversation.findIndex(({ role }) => role === "assistant")
      const opening = (answer < 0 ? conversation : conversation.slice(0, answer)).filter(({ role }) => role === "user")
      const parts = opening.flatMap((message) => message.parts)
      if (request.messages[0]?.role !== "assistant" && request.messages.length > 0) {
        expect(parts.length, file).toBeGreaterThan(0)
      }
      expect(
        parts.filter((part) => part.type === "text" && documentName(part.text) !== undefined),
        file,
      ).toEqual([])
    }
  })

  test("what agents of the terminal put before the goal is found in every one of their conversations", () => {
    for (const { file, request } of requests) {
      if (!/^(?:claude-code|codex|gemini-cli|qwen-code)/.test(file)) continue
      const goal = request.messages.findIndex(
        ({ role, parts }) => role === "user" && parts.some((part) => part.type === "text" && goals.has(part.text)),
      )
      if (goal < 0 || request.messages.slice(0, goal).some(({ role }) => role === "assistant")) continue
      expect(separate(request).infrastructure.documents.length, file).toBeGreaterThan(0)
    }
  })

  test("no client's markers are lost or moved, and with ours there are never more than four", () => {
    for (const { file, request } of requests) {
      const plan = placeBreakpoints(request.format, request)
      const { placed } = plan
      const marked = applyBreakpoints(request, plan)
      const kept = placeBreakpoints(request.format, request, { prefer: [] })
      expect(applyBreakpoints(request, kept), file).toBe(request)
      expect(placed.length, file).toBeLessThanOrEqual(request.format === "anthropic-messages" ? 4 : kept.placed.length)
      if (request.format === "anthropic-messages" && marked.tools === request.tools) {
        const { system, messages } = marked
        const sent = decodeRequest(request.format, encodeRequest(request, { system, messages }))
        expect(markersIn(sent), file).toEqual(placed.map(({ position, ttl }) => ({ position, ttl })))
      }
      expect(placeBreakpoints(request.format, marked).placed.map(({ position }) => position)).toEqual(
        placed.map(({ position }) => position),
      )
    }
  })
})

const goals: ReadonlySet<string> = new Set([
  "Add a subtract function to add.js",
  "First prompt",
  "Read all parts",
  "Add",
])

/** The same conversation, a little later: the same history and the same tools, and as much of it. */
const continues = (before: ModelRequest, after: ModelRequest): boolean =>
  before.messages.length > 0 &&
  before.held === undefined &&
  after.held === undefined &&
  before.tools.length === after.tools.length &&
  continuation(before.messages, after.messages).type === "continues"
