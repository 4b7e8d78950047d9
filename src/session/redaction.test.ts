import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../test/support/conversations.ts"
import { babble, completion, toolRound, userSays } from "../../test/support/scripted-session.ts"
import { formats } from "../message/message.ts"
import { openStore } from "../store/open-store.ts"
import { createHoldfast, type Holdfast } from "./holdfast.ts"

const dirs: string[] = []
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})
const folder = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-"))
  dirs.push(dir)
  return dir
}

/** All bytes of a store on disk: tables, indexes, the write-ahead log. */
const bytesIn = (dir: string): string =>
  readdirSync(dir)
    .map((file) => readFileSync(join(dir, file)).toString("latin1"))
    .join("\n")

/** Everything read from a store's sessions: a file may store texts compressed. */
async function toldBy(dir: string): Promise<string> {
  const store = await openStore(join(dir, "holdfast.db"))
  const told: unknown[] = [await store.jobs.list()]
  for (const { id } of await store.sessions()) {
    const { payloads, summaries, memory } = await store.holdings(id)
    told.push(await store.read(id), [...(await store.payloads(id, payloads))])
    for (const key of summaries) told.push(await store.getSummary(id, key))
    for (const { id: row, ...owner } of memory) told.push(await store.memory.get(owner, [row]))
  }
  await store.close()
  return JSON.stringify(told)
}

const format = "openai-chat"
const secret = (n: number): string => `tok_${String(n).padStart(3, "0")}SECRETvalue`
const pattern = /tok_\d{3}SECRET\w+/
const anySecret = /tok_\d{3}SECRET/

const open = (dir: string): Holdfast =>
  createHoldfast({
    store: join(dir, "holdfast.db"),
    format,
    windowTokens: 6000,
    reserveTokens: 200,
    recall: true,
    redact: [pattern],
    summarizer: async ({ text }) =>
      `## Status\n- Order A-1 is done with ${anySecret.exec(text)?.[0] ?? secret(77)}value.`,
    memory: { retrieve: { budgetTokens: 200 } },
  })

/** Places for a secret: in text, in arguments of any name, in results, in nested JSON, as a name. */
const said = (n: number): readonly object[] => [
  { role: "user", content: `${userSays(n).content} The password is ${secret(n)}.` },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      {
        id: `login_${n}`,
        type: "function",
        function: {
          name: "login",
          arguments: JSON.stringify({ key: secret(n), secret: secret(n), type: secret(n), [secret(n)]: "as a name" }),
        },
      },
    ],
  },
  {
    role: "tool",
    tool_call_id: `login_${n}`,
    content: `${JSON.stringify({ role: secret(n), inner: JSON.stringify({ hash: secret(n) }) })}\n${babble(n, 400)} ${secret(n)}`,
  },
  ...toolRound(n, 60),
]

test("a secret that matches a pattern is nowhere on disk, while the live process still sends it", async () => {
  const dir = folder()
  const holdfast = open(dir)
  const session = holdfast.session("s")
  let compactions = 0
  for (let n = 1; n <= 9; n++) {
    await session.append(said(n))
    const { wire, trace, receipt } = await session.prepare()
    expect(wire).toContain(secret(n))
    compactions += trace.filter(({ type }) => type === "checkpoint-installed").length
    const answer = { role: "assistant", content: `Logged in with ${secret(n)}.` }
    await session.record(completion(answer, receipt.contextTokens))
    await holdfast.idle()
  }
  expect(compactions).toBeGreaterThan(0)
  await session.pin(`Never say ${secret(50)} aloud.`)
  await session.compact({ focus: `what ${secret(51)} opens` })
  const client = holdfast.session("client")
  const history = [...said(1), { role: "assistant", content: "Fine." }, ...said(2)]
  await client.prepare({ body: { model: "any", messages: history } })
  await client.prepare({ body: { model: "any", messages: [...history.slice(0, 6), userSays(60)] } })
  await holdfast.idle()
  expect(bytesIn(dir)).toContain("[redacted]")
  expect(anySecret.exec(bytesIn(dir))?.[0]).toBeUndefined()
  await session.verify()
  await holdfast.close()
  expect(anySecret.exec(bytesIn(dir))?.[0]).toBeUndefined()
  expect(await toldBy(dir)).toContain("[redacted]")
  expect(anySecret.exec(await toldBy(dir))?.[0]).toBeUndefined()
})

test.each(formats)(
  "arguments and results of %s contain no secret, whatever their members are called",
  async (format) => {
    const dir = folder()
    const holdfast = open(dir)
    const input = {
      key: secret(1),
      secret: secret(2),
      type: secret(3),
      format: secret(4),
      [secret(5)]: { hash: [secret(6)] },
    }
    const chat: readonly ChatMessage[] = [
      { role: "user", content: "Log in." },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "login", arguments: JSON.stringify(input) } }],
      },
      { role: "tool", tool_call_id: "c1", content: JSON.stringify({ role: secret(7), wire: secret(8) }) },
    ]
    const session = holdfast.session("s")
    const { wire } = await session.prepare({ format, body: bodyIn(format, chat) })
    for (let n = 1; n <= 8; n++) expect(wire).toContain(secret(n))
    await session.compact()
    await holdfast.idle()
    await holdfast.close()
    expect(anySecret.exec(await toldBy(dir))?.[0]).toBeUndefined()
  },
)

test("a client's history is recognised after a restart, though its stored text is redacted", async () => {
  const dir = folder()
  const first = open(dir)
  const history = [...said(1), { role: "assistant", content: "Fine." }]
  await first.session("s").prepare({ body: { model: "any", messages: history } })
  await first.close()
  const second = open(dir)
  const body = JSON.stringify({ model: "any", messages: [...history, userSays(2)] })
  const { wire, trace } = await second.session("s").prepare({ body })
  expect(trace).toContainEqual({ type: "history-matched", known: history.length, added: 1 })
  expect(wire).toBe(body)
  await second.close()
})
