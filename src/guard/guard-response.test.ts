import { describe, expect, test } from "vitest"
import type { Format } from "../message/message.ts"
import { decodeResponse } from "../wire/decode.ts"
import { createGuard, type Guard } from "./guard.ts"
import { guardResponse } from "./guard-response.ts"
import { deniedResults, type GuardUse } from "./judge-call.ts"

const guard = createGuard([
  { template: "email-domains", domains: ["acme.example"] },
  `@decision("ask") @rule("Deletions are approved.") forbid(principal, action == Holdfast::Action::"delete", resource);`,
])
const bad = { to: "eve@evil.example", body: "hi" }
const good = { to: "ann@acme.example", body: "hi" }

/** An answer with two calls, in each format. */
const answers: Readonly<Record<Format, (one: object, other: object) => unknown>> = {
  "anthropic-messages": (one, other) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [
      { type: "text", text: "Sending." },
      { type: "tool_use", id: "a", name: "send_email", input: one },
      { type: "tool_use", id: "b", name: "send_email", input: other },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 2 },
  }),
  "openai-chat": (one, other) => ({
    id: "c1",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Sending.",
          tool_calls: [one, other].map((input, n) => ({
            id: "ab"[n],
            type: "function",
            function: { name: "send_email", arguments: JSON.stringify(input) },
          })),
        },
        finish_reason: "tool_calls",
      },
    ],
  }),
  "openai-responses": (one, other) => ({
    id: "resp_1",
    status: "completed",
    output: [
      { type: "message", id: "m1", role: "assistant", content: [{ type: "output_text", text: "Sending." }] },
      ...[one, other].map((input, n) => ({
        type: "function_call",
        id: `fc${n}`,
        call_id: "ab"[n],
        name: "send_email",
        arguments: JSON.stringify(input),
      })),
    ],
  }),
  gemini: (one, other) => ({
    responseId: "r",
    candidates: [
      {
        content: {
          role: "model",
          parts: [
            { text: "Sending." },
            ...[one, other].map((args, n) => ({ functionCall: { id: "ab"[n], name: "send_email", args } })),
          ],
        },
        finishReason: "STOP",
      },
    ],
  }),
}
const formats: readonly Format[] = ["anthropic-messages", "openai-chat", "openai-responses", "gemini"]

const decoded = (format: Format, body: unknown) => decodeResponse(format, JSON.stringify(body))
const run = (format: Format, body: unknown, use: GuardUse = {}, by: Guard = guard) =>
  guardResponse(decoded(format, body), by, use)
const partsOf = ({ messages }: ReturnType<typeof decoded>) => messages.flatMap(({ parts }) => parts)

describe.each(formats)("%s", (format) => {
  test("what is allowed is the very object that came in", async () => {
    const response = decoded(format, answers[format](good, good))
    const { response: out, judged } = await guardResponse(response, guard)
    expect(out).toBe(response)
    expect(judged.map(({ verdict, enforced }) => [verdict.decision, enforced])).toEqual([
      ["allow", true],
      ["allow", true],
    ])
  })
  test("a refused call is taken out, a text says so, and the other call stays", async () => {
    const before = decoded(format, answers[format](bad, good))
    const { response, judged } = await guardResponse(before, guard)
    expect(judged.map(({ callId, result }) => [callId, result !== undefined])).toEqual([
      ["a", true],
      ["b", false],
    ])
    const again = decodeResponse(format, response.wire ?? "")
    for (const answer of [response, again]) {
      expect(partsOf(answer).flatMap((part) => (part.type === "tool-call" ? part.callId : []))).toEqual(["b"])
      const words = partsOf(answer).flatMap((part) => (part.type === "text" ? part.text : []))
      expect(words.join(" ")).toContain("Sending.")
      expect(words.join(" ")).toContain("Withheld by policy")
      expect(words.join(" ")).toContain("evil.example")
      expect(answer.stop).toBe("tool-calls")
    }
    const [first] = deniedResults(judged, before)
    expect(first).toMatchObject({ type: "tool-result", callId: "a", failed: true, tool: "send_email" })
    expect(deniedResults(judged, before)).toHaveLength(1)
  })
  test("with no call left the answer has ended", async () => {
    const { response } = await run(format, answers[format](bad, bad))
    const again = decodeResponse(format, response.wire ?? "")
    for (const answer of [response, again]) {
      expect(partsOf(answer).some(({ type }) => type === "tool-call")).toBe(false)
      expect(answer.stop).toBe("end")
    }
    expect(response.wire).not.toContain('"eve@')
  })
  test("who only observes changes nothing and hears the same", async () => {
    const response = decoded(format, answers[format](bad, good))
    const { response: out, judged } = await guardResponse(response, guard, { mode: "observe" })
    expect(out).toBe(response)
    expect(judged.map(({ verdict, enforced, result }) => [verdict.decision, enforced, result])).toEqual([
      ["deny", false, undefined],
      ["allow", false, undefined],
    ])
  })
})

describe("calls that a person decides on", () => {
  const body = {
    role: "assistant",
    content: [{ type: "tool_use", id: "a", name: "delete_note", input: { id: 7 } }],
    stop_reason: "tool_use",
  }
  const outcome = async (use: GuardUse) => {
    const { response, judged } = await run("anthropic-messages", body, use)
    return [response.stop, judged[0]?.approved, judged[0]?.verdict.reasons.at(-1)?.facts.why]
  }
  test("approved, the call goes out", async () => {
    expect(await outcome({ approve: async () => true })).toEqual(["tool-calls", true, undefined])
  })
  const refusals: readonly (readonly [string, GuardUse, RegExp])[] = [
    ["not approved", { approve: async () => false }, /not approved/],
    ["nobody to ask", {}, /nobody to ask/],
    ["an approver that throws", { approve: () => Promise.reject(new Error("down")) }, /down/],
    ["an approver that says something else", { approve: () => JSON.parse('"yes"') }, /not approved/],
    ["an approver that never answers", { approve: () => new Promise(() => {}), askTimeoutMs: 5 }, /within 5 ms/],
  ]
  test.each(refusals)("%s: the call is withheld", async (_why, use, why) => {
    const [stop, approved, told] = await outcome(use)
    expect([stop, approved]).toEqual(["end", false])
    expect(String(told)).toMatch(why)
  })
})

describe("fails closed", () => {
  test("a guard that throws", async () => {
    const broken: Guard = {
      policies: [],
      judge: () => {
        throw new Error("no engine")
      },
    }
    const { response, judged } = await run("openai-chat", answers["openai-chat"](good, good), {}, broken)
    expect(response.stop).toBe("end")
    expect(judged[0]?.verdict.errors[0]).toContain("no engine")
  })
  test("arguments that are cut", async () => {
    const body = {
      choices: [
        {
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: '{"a":"b' } }],
          },
          finish_reason: "length",
        },
      ],
    }
    const { response } = await run("openai-chat", body)
    expect(partsOf(response).map(({ type }) => type)).toEqual(["text"])
    expect(response.stop).toBe("length")
  })
  test("a mode that is none", async () => {
    await expect(run("gemini", answers.gemini(bad, bad), JSON.parse('{"mode":"enforced"}'))).rejects.toThrow()
  })
})

/** Items and blocks beside the ordinary calls: what becomes of them when they do what a policy forbids. */
const shapes: readonly (readonly [string, Format, unknown, "withheld" | "told" | "nothing"])[] = [
  [
    "a shell call",
    "openai-responses",
    { output: [{ type: "local_shell_call", call_id: "a", action: { type: "exec", command: ["rm", "notes"] } }] },
    "withheld",
  ],
  [
    "a shell call without an id",
    "openai-responses",
    { output: [{ type: "shell_call", action: { commands: ["rm notes"] } }] },
    "withheld",
  ],
  [
    "a request for approval",
    "openai-responses",
    { output: [{ type: "mcp_approval_request", id: "a", name: "delete_note", arguments: "{}", server_label: "s" }] },
    "withheld",
  ],
  [
    "a custom tool",
    "openai-responses",
    { output: [{ type: "custom_tool_call", call_id: "a", name: "shell", input: "rm notes" }] },
    "withheld",
  ],
  [
    "an MCP call that the provider ran",
    "openai-responses",
    { output: [{ type: "mcp_call", id: "a", name: "delete_note", arguments: "{}", server_label: "s" }] },
    "told",
  ],
  [
    "an interpreter of the provider's",
    "openai-responses",
    { output: [{ type: "code_interpreter_call", id: "a", code: "import os\nos.remove('notes')" }] },
    "told",
  ],
  [
    "an item of an unknown type",
    "openai-responses",
    { output: [{ type: "delete_action", id: "a", name: "delete_note", payload: {} }] },
    "withheld",
  ],
  ["a compaction", "openai-responses", { output: [{ type: "compaction", encrypted_content: "x" }] }, "nothing"],
  [
    "a server's tool",
    "anthropic-messages",
    { content: [{ type: "server_tool_use", id: "a", name: "bash_code_execution", input: { command: "rm notes" } }] },
    "told",
  ],
  [
    "a block of an unknown type",
    "anthropic-messages",
    { content: [{ type: "tool_use_v2", id: "a", name: "delete_note", input: {} }] },
    "withheld",
  ],
  [
    "an unknown block that is no call",
    "anthropic-messages",
    { content: [{ type: "delete_marker", at: 3 }] },
    "nothing",
  ],
  [
    "a call beside a text in one part",
    "gemini",
    { candidates: [{ content: { parts: [{ text: "x", functionCall: { name: "delete_note", args: {} } }] } }] },
    "withheld",
  ],
  [
    "a call in a part of an unknown kind",
    "gemini",
    { candidates: [{ content: { parts: [{ toolCall: { name: "delete_note", args: {} } }] } }] },
    "withheld",
  ],
  [
    "a call in the second candidate",
    "gemini",
    {
      candidates: [
        { content: { parts: [{ text: "x" }] } },
        { content: { parts: [{ functionCall: { name: "delete_note", args: {} } }] } },
      ],
    },
    "withheld",
  ],
  [
    "a call in the second choice",
    "openai-chat",
    {
      choices: [
        { message: { role: "assistant", content: "x" } },
        {
          message: { role: "assistant", tool_calls: [{ id: "a", function: { name: "delete_note", arguments: "{}" } }] },
        },
      ],
    },
    "withheld",
  ],
  [
    "the function call of old",
    "openai-chat",
    {
      choices: [
        { message: { role: "assistant", content: null, function_call: { name: "delete_note", arguments: "{}" } } },
      ],
    },
    "withheld",
  ],
]

describe("calls of other shapes", () => {
  const strict = createGuard([`forbid(principal, action == Holdfast::Action::"delete", resource);`])
  test.each(shapes)("%s", async (_why, format, body, outcome) => {
    const before = decoded(format, body)
    const { response, judged } = await guardResponse(before, strict)
    if (outcome === "nothing") expect(judged).toEqual([])
    else expect(judged).toMatchObject([{ verdict: { decision: "deny" }, enforced: outcome === "withheld" }])
    if (outcome === "withheld") {
      expect(response.wire).not.toMatch(/"delete_note"|rm notes|"rm"/)
      expect(partsOf(decodeResponse(format, response.wire ?? "")).every(({ type }) => type === "text")).toBe(true)
    } else expect(response).toBe(before)
  })
})
