import { expect, test } from "vitest"
import { startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"
import { startTestGateway } from "../support/gateway.ts"

const needle = "row 0137: the harbour crane is due for service on 2027-03-19"
const rows = Array.from({ length: 400 }, (_, n) =>
  n === 137
    ? needle
    : `row ${String(n).padStart(4, "0")}: nothing of note, pressure ${900 + ((n * 37) % 200)}, mast ${n % 7}`,
)

type Chat = { readonly role: string; readonly content: string | null; readonly [name: string]: unknown }

const call = (id: string, path: string): Chat => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path }) } }],
})
const result = (id: string, content: string): Chat => ({ role: "tool", tool_call_id: id, content })

const tools = [{ type: "function", function: { name: "read_file", parameters: { type: "object", properties: {} } } }]

/** Recalls what was cut as soon as it sees a handle, and says what it found. */
const script: Script = ({ body }) => {
  const text = JSON.stringify(body)
  const handle = /\brecall (hf-[\w-]{10,})/.exec(text)?.[1]
  const summary = /\brecall=\\+"(hf-[\w-]{10,})/.exec(text)?.[1]
  const found = /row 0137: the harbour[^"\\]*/.exec(text)?.[0]
  if (found !== undefined) return { text: `It says: ${found}` }
  if (!text.includes("holdfast_recall")) return { text: "I do not know." }
  const input =
    handle === undefined ? { handle: summary, find: "crane service" } : { handle, fromLine: 130, toLine: 140 }
  return { calls: [{ tool: "holdfast_recall", input }] }
}

test.each([false, true])("what was cut is called back by the model within one answer, streamed: %s", async (stream) => {
  const model = await startModelServer({ script, strict: true })
  const sessions = { recall: true, reserveTokens: 500 }
  const gateway = await startTestGateway(model.url, { recall: true, windowTokens: 9000, sessions })
  try {
    const messages: Chat[] = [
      { role: "user", content: "Read both logs." },
      call("call_9f3kd82hs7a1", "a.log"),
      result("call_9f3kd82hs7a1", rows.join("\n")),
      call("call_1b7xq02ms9c4", "b.log"),
      result(
        "call_1b7xq02ms9c4",
        rows
          .filter((row) => row !== needle)
          .slice(0, 60)
          .join("\n"),
      ),
      { role: "assistant", content: "Both are read." },
      { role: "user", content: "Which crane is due for service, and when?" },
    ]
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "gpt-5", stream, tools, messages }),
    })
    const said = await response.text()
    const words = [...said.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join("")
    expect(words).toContain("2027-03-19")
    expect(said).not.toContain("holdfast_recall")
    expect(gateway.records.at(-1)).toMatchObject({ recalls: 1, attempts: 2, ending: "complete", changed: true })
    expect(Buffer.from(model.requests[0]?.body ?? []).toString()).not.toContain(needle)
    expect(gateway.faults).toEqual([])
  } finally {
    await gateway.close()
    await model.close()
  }
})
