import { expect, test } from "vitest"
import { bodyIn, conversation } from "../../test/support/conversations.ts"
import { fc, runs } from "../../test/support/property.ts"
import { formats, type Transcript } from "../message/message.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { exportSession } from "../store/session-file.ts"
import { importTranscript } from "../transcript/import.ts"
import { readExport } from "./read-export.ts"

/** What a message says, without its id and its place in a request. */
const saidIn = (messages: Transcript): unknown =>
  JSON.parse(
    JSON.stringify(
      messages.map(({ role, parts }) => ({ role, parts })),
      (name, value) => (name === "callId" ? "c" : value),
    ),
  )

test.each(formats)("%s: both exports of a session have the messages that its client sent", async (format) => {
  const property = fc.asyncProperty(conversation, async (said) => {
    const body = bodyIn(format, said)
    const store = createMemoryStore()
    const holdfast = createHoldfast({ store, format })
    const session = holdfast.session("s")
    await session.prepare({ format, body })
    const lines: string[] = []
    for await (const line of exportSession(store, "s")) lines.push(line)
    const history = (await session.history({ limit: 10_000 })).map((entry) => JSON.stringify(entry))
    const [own, listed] = [await readExport(lines.join("\n")), await readExport(`${history.join("\n")}\n`)]
    await holdfast.close()
    const [sent] = importTranscript(body).conversations
    const spoken = (messages: Transcript = []) => saidIn(messages.filter(({ role }) => role !== "system"))
    expect(own).toMatchObject({ kind: "holdfast", conversations: [{ id: "s", format }] })
    expect(spoken(own?.conversations[0]?.messages)).toEqual(spoken(sent?.messages))
    expect(spoken(listed?.conversations[0]?.messages)).toEqual(spoken(sent?.messages))
  })
  await fc.assert(property, { numRuns: Math.ceil(runs / 3) })
})

test("other files are left to the readers of transcripts, and a damaged export is refused with its line", async () => {
  for (const text of ["", "{}", "no JSON", '{"type":"session","id":"of-pi"}', '[{"role":"user","content":"Hello."}]'])
    expect(await readExport(text)).toBeUndefined()
  const header = { type: "session", version: 1, session: "s", agent: "", head: { seq: 1, hash: "h" } }
  await expect(readExport(JSON.stringify(header))).rejects.toMatchObject({ problem: { code: "file-invalid" } })
  const entry = { id: "e1", seq: 1, type: "session-opened" }
  await expect(readExport(`${JSON.stringify(entry)}\nnothing`)).rejects.toMatchObject({
    problem: { code: "file-invalid", line: 2 },
  })
})
