import { expect, test } from "vitest"
import { createWorld, lettersOf } from "../../../test/fixtures/gateway/world.ts"
import { corpus, linesOf, recordedRequests, withoutCorpus } from "../../../test/support/corpus.ts"
import { sampleOf } from "../../../test/support/property.ts"
import { type Message, type ModelRequest, messageId, type Transcript } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { isObject } from "../../wire/json.ts"
import type { ResponseOutcome } from "./answered-writes.ts"
import { type Headers, identityOf } from "./identity.ts"
import { anchorsOf, contentKey, tenantOf, toolNames } from "./names.ts"

type Played = { readonly headers: Headers; readonly request: ModelRequest }

/** Recorded requests of real clients, in order. Token counting requests are not part of a conversation. */
function recordings(): ReadonlyMap<string, readonly Played[]> {
  const lines = linesOf("requests")
  const played = recordedRequests().flatMap(({ file, path, format, text }, n) => {
    if (path.includes("count_tokens")) return []
    const recorded: unknown = JSON.parse(lines[n]?.line ?? "{}")
    const headers = isObject(recorded) && isObject(recorded.headers) ? recorded.headers : {}
    const texts = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name.toLowerCase(), value] as const] : [],
    )
    return [{ file, headers: Object.fromEntries(texts), request: decodeRequest(format, text) }]
  })
  return Map.groupBy(played, ({ file }) => file.replace(".jsonl.gz", ""))
}

const keysOf = (messages: Transcript): readonly string[] => messages.map(contentKey).filter((key) => key !== "")
const startsWith = (keys: readonly string[], start: readonly string[]): boolean =>
  start.every((key, n) => keys[n] === key)
const opening = ({ messages }: ModelRequest): Message | undefined => messages.find(({ role }) => role === "user")

type Outcome = { readonly answer: readonly Message[]; readonly seen: ResponseOutcome }

/**
 * The recordings have no responses, so they are derived from later requests. A repeated request got no response. The calls of a stateful
 * response are those whose results follow. Otherwise the response is the messages after this request in a later one; or, if the client
 * rewrote its history, the new content of the next request of the same kind: a call, an item, or its first text. The response to a request
 * without tools may be an assistant message of the next request: then it was a summary.
 */
function outcomeOf(requests: readonly ModelRequest[], n: number): Outcome {
  const [request, next] = [requests[n], requests[n + 1]]
  if (request === undefined || next === undefined) return { answer: [said("All done, as you asked.")], seen: {} }
  const mine = keysOf(request.messages)
  if (keysOf(next.messages).join() === mine.join()) return { answer: [], seen: { isCut: true } }
  if (next.held?.id !== undefined) return { answer: callsBehind(next), seen: { responseId: next.held.id } }
  const later = requests.slice(n + 1)
  const further = later.find(
    ({ messages }) => messages.length > request.messages.length && startsWith(keysOf(messages), mine),
  )
  if (further !== undefined) return { answer: firstAnswer(further.messages.slice(request.messages.length)), seen: {} }
  const tools = toolNames(request).join()
  const [summary] = tools === "" ? wordsNewIn(next, requests.slice(0, n + 1)) : []
  if (summary !== undefined) return { answer: [summary], seen: {} }
  const alike = later.find((other) => toolNames(other).join() === tools) ?? next
  const known = new Set(requests.slice(0, n + 1).flatMap(({ messages }) => messages.flatMap(anchorsOf)))
  const canBe = ({ role, parts }: Message): boolean =>
    role === "assistant" && (tools !== "" || parts.every(({ type }) => type !== "tool-call"))
  const news = alike.messages.filter((one) => canBe(one) && anchorsOf(one).some((id) => !known.has(id)))
  if (news.length > 0) return { answer: news.slice(0, 1), seen: {} }
  const [before, after] = [opening(request), opening(alike)]
  const isRetold = before !== undefined && after !== undefined && contentKey(before) !== contentKey(after)
  return { answer: isRetold ? [{ ...after, role: "assistant" }] : [], seen: { isCut: !isRetold } }
}

const wordsNewIn = ({ messages }: ModelRequest, before: readonly ModelRequest[]): readonly Message[] => {
  const known = new Set(before.flatMap((request) => keysOf(request.messages)))
  return messages.filter(
    (one) => one.role === "assistant" && one.parts.every(({ type }) => type === "text") && !known.has(contentKey(one)),
  )
}

const said = (text: string): Message => ({ id: messageId("a"), role: "assistant", parts: [{ type: "text", text }] })

const firstAnswer = (rest: Transcript): Transcript => {
  const end = rest.findIndex(({ role }) => role !== "assistant")
  return end < 0 ? rest : rest.slice(0, end)
}

const callsBehind = ({ messages }: ModelRequest): readonly Message[] => [
  {
    ...said("I look."),
    parts: messages.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.type === "tool-result"
          ? [{ type: "tool-call", callId: part.callId, tool: "bash", kind: "function", input: {} } as const]
          : [],
      ),
    ),
  },
]

/** The expected sessions of recordings that are not a single conversation. */
const parted: Readonly<Record<string, string>> = {
  // A subagent with a mark.
  "claude-code-2.1.325.subagent": "ABBA",
  // First a title request, later a summary with other instructions; the request that continues from it is the conversation.
  "opencode-1.18.18.anthropic-basic": "ABBBB",
  "opencode-1.18.18.anthropic-ctx-error": "ABBBCBB",
  "opencode-1.18.18.anthropic-resume": "ABBBB",
  "opencode-1.18.18.anthropic-thinking": "ABBBB",
  "opencode-1.18.18.chat-autocompact": "ABBCBBB",
  "opencode-1.18.18.chat-basic": "ABBBB",
  "opencode-1.18.18.chat-long-context-limit": "ABBBBBBBBBBBBBCB",
  "opencode-1.18.18.chat-subagent": "ABCCB",
  "opencode-1.18.18.responses-basic": "ABBBB",
  "opencode-1.18.18.responses-thinking": "ABBBB",
  // A summary of the conversation as text, without an id.
  "pi-0.87.1.anthropic-ctx-error": "AAABAA",
  "pi-0.87.1.chat-autocompact": "AABAAA",
  // A summary of an older part of the conversation, with other instructions and without tools.
  "qwen-code-0.24.4.chat-ctx-error": "AAAABAA",
  // A subagent without a mark.
  "qwen-code-0.24.4.chat-subagent": "AABBA",
}

type Player = { readonly isRestarted?: boolean }

async function play(played: readonly Played[], { isRestarted = false }: Player = {}) {
  const world = createWorld()
  const requests = played.map(({ request }) => request)
  const sessions: string[] = []
  for (const [n, { headers, request }] of played.entries()) {
    const assignment = await world.assign(tenantOf(headers), identityOf(headers, request), request)
    sessions.push(assignment.session)
    expect(assignment.fork).toBeUndefined()
    const { answer, seen } = outcomeOf(requests, n)
    await world.answered(assignment, request, answer, seen)
    if (isRestarted) world.restart()
  }
  return lettersOf(sessions)
}

test.skipIf(corpus === undefined)(`every recording is told apart as its client meant it${withoutCorpus}`, async () => {
  const found: Record<string, string> = {}
  for (const [file, played] of recordings()) {
    const letters = await play(played)
    if (/[^A]/.test(letters)) found[file] = letters
  }
  expect(found).toEqual(parted)
})

test.skipIf(corpus === undefined)(
  `and so it is by a process that is started anew for each${withoutCorpus}`,
  async () => {
    for (const [file, played] of sampleOf([...recordings()], 3)) {
      expect([file, await play(played, { isRestarted: true })]).toEqual([file, await play(played)])
    }
  },
)

test.skipIf(corpus === undefined)(`all recordings of one key at once share no session${withoutCorpus}`, async () => {
  const world = createWorld()
  const bySession = new Map<string, Set<string>>()
  const all = [...recordings()]
  const longest = Math.max(...all.map(([, played]) => played.length))
  for (let n = 0; n < longest; n++) {
    for (const [file, played] of all) {
      const one = played[n]
      if (one === undefined) continue
      const { answer, seen } = outcomeOf(
        played.map(({ request }) => request),
        n,
      )
      const { session } = await world.exchange(identityOf(one.headers, one.request), one.request, answer, seen)
      // A refused request may be repeated by any client with the same words.
      if (answer.length > 0) bySession.set(session, (bySession.get(session) ?? new Set()).add(file))
    }
  }
  const shared = [...bySession.values()].filter((files) => files.size > 1).map((files) => [...files].sort())
  expect(shared).toEqual([])
})
