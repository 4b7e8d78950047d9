import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { compactRequest, HoldfastError, turn } from "../../src/index.ts"
import { formats } from "../../src/message/message.ts"
import { call, lookUp, modelAt, scripted } from "./scripted-turn.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-option-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
writeFileSync(join(folder, "guide.md"), "Look twice.\n")

const stack = {
  folder,
  sections: [{ layer: "base", name: "identity", source: "You are Ada." }],
  documents: ["guide.md"],
} as const

test.each(formats)(
  "%s: a turn without a session has the same stack in each of its calls, read once",
  async (format) => {
    const server = await scripted(({ index }) => (index < 3 ? { calls: [call(`w${index}`)] } : { text: "Done." }))
    const file = join(folder, `${format}.md`)
    writeFileSync(file, "Look twice.\n")
    const run = async (): Promise<string> => {
      writeFileSync(file, "Look away.\n")
      return "looked"
    }
    await turn({
      agent: { model: modelAt(format, server), instructions: "Own." },
      inputs: "Go.",
      tools: [{ ...lookUp, run }],
      stack: { ...stack, documents: [`${format}.md`] },
    })
    const bodies = server.requests.map(({ body }) => Buffer.from(body).toString())
    expect(bodies).toHaveLength(4)
    for (const body of bodies) {
      const places = ["Own.", "You are Ada.", `<document path=\\"${format}.md\\">\\nLook twice.\\n</document>`, "Go."]
      expect(places.map((text) => body.split(text).length)).toEqual([2, 2, 2, 2])
    }
  },
)

test("one request gets the stack and its fingerprints, and has it once also if it is asked about again", async () => {
  const body = {
    model: "gpt-5",
    messages: [
      { role: "system", content: "Own." },
      { role: "user", content: "Hi." },
    ],
  }
  const once = await compactRequest(body, { format: "openai-chat", stack })
  expect(JSON.stringify(once.body).split("You are Ada.")).toHaveLength(2)
  expect(once.report.stack?.layers.map(({ layer }) => layer)).toEqual(["base", "context"])
  const twice = await compactRequest(once.body, { format: "openai-chat", stack })
  expect(twice.body).toBe(once.body)
  expect(body.messages).toHaveLength(2)
})

test("a missing file is the Problem of its section", async () => {
  const asked = compactRequest('{"messages":[]}', { format: "openai-chat", stack: { folder, documents: ["gone.md"] } })
  const refused = await asked.catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(HoldfastError)
  expect(refused).toMatchObject({ problem: { code: "source-unreadable", section: "gone.md" } })
})
