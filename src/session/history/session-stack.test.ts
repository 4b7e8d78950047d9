import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { HoldfastError } from "../../message/errors.ts"
import { formats, textOf } from "../../message/message.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { createHoldfast, type Holdfast } from "../holdfast.ts"
import type { Session } from "../session.ts"
import type { StackOptions } from "../stack/stack-options.ts"
import type { HoldfastOptions } from "../state/options.ts"
import type { Prepared } from "./prepared.ts"

const root = mkdtempSync(join(tmpdir(), "holdfast-stack-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let folders = 0
/** A folder with these files. */
function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = join(root, String(++folders))
  mkdirSync(join(folder, "docs"), { recursive: true })
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  return folder
}

const usual = { "AGENTS.md": "Use npm.\n", "docs/style.md": "Write plainly.\n", "docs/schema.md": "users(id)\n" }
const stackIn = (folder: string, more: StackOptions = {}): StackOptions => ({
  folder,
  sections: [{ layer: "base", name: "identity", source: "You are Ada." }],
  documents: ["AGENTS.md", "docs/*.md"],
  ...more,
})

const open = (stack: HoldfastOptions["stack"], more: HoldfastOptions = {}): Holdfast =>
  createHoldfast({
    store: "memory",
    format: "openai-chat",
    model: "gpt-4o",
    windowTokens: 6000,
    reserveTokens: 500,
    ...(stack === undefined ? {} : { stack }),
    ...more,
  })

const words = "lorem ipsum dolor sit amet consectetur ".repeat(20)
let said = 0
/** One more exchange, and the call after it. */
async function goOn(session: Session, stack?: StackOptions): Promise<Prepared> {
  said += 1
  const [answer, ask] = [`Answer ${said}. ${words}`, `Question ${said}. ${words}`]
  await session.append([
    { role: "assistant", content: answer },
    { role: "user", content: ask },
  ])
  return session.prepare({ system: "Own system.", ...(stack === undefined ? {} : { stack }) })
}
async function begin(holdfast: Holdfast, id = "one"): Promise<[Session, Prepared]> {
  const session = holdfast.session(id)
  await session.append([{ role: "user", content: "Begin." }])
  return [session, await session.prepare({ system: "Own system." })]
}
const systemOf = ({ context: { messages, system } }: Prepared): string =>
  [...system, ...messages.filter(({ role }) => role === "system").flatMap(({ parts }) => parts)].map(textOf).join("\n")
const types = ({ trace }: Prepared): readonly string[] => trace.map(({ type }) => type)
const isCompacted = (prepared: Prepared): boolean => types(prepared).includes("checkpoint-installed")

describe("a file that changes in the middle of a session", () => {
  test("is traced by its section, waits while the cached prefix is kept, and is installed once, with the next compaction", async () => {
    const folder = folderWith(usual)
    const holdfast = open(stackIn(folder))
    const [session, first] = await begin(holdfast)
    expect(systemOf(first)).toContain("Write plainly.")
    writeFileSync(join(folder, "docs/style.md"), "Write tersely.\n")
    const calls: Prepared[] = []
    for (let n = 0; n < 40; n++) calls.push(await goOn(session))
    const told = calls.flatMap(({ trace }) => trace.filter(({ type }) => type === "stack-changed"))
    expect(told).toMatchObject([
      { changes: [{ type: "section-changed", layer: "context", section: "docs/style.md" }], effect: "at-compaction" },
    ])
    const swapped = calls.findIndex(isCompacted)
    expect(swapped).toBeGreaterThan(1)
    const before = calls.slice(0, swapped)
    expect(new Set([first, ...before].map(systemOf)).size).toBe(1)
    expect(before.every(({ receipt }) => receipt.stack?.waiting !== undefined)).toBe(true)
    for (const [n, { receipt }] of before.entries())
      expect(receipt.stableTokens, `call ${n} extends the one before`).toBeGreaterThan(0)
    const after = calls.slice(swapped)
    expect(new Set(after.map(systemOf)).size).toBe(1)
    expect(after.map(systemOf)[0]).toContain("Write tersely.")
    expect(after.every(({ receipt }) => receipt.stack?.waiting === undefined)).toBe(true)
    const installed = calls.flatMap(({ trace }) => trace.filter(({ type }) => type === "stack-installed"))
    expect(installed).toMatchObject([{ reason: "compaction", hash: after[0]?.receipt.stack?.hash }])
    expect(after.filter(isCompacted).length).toBeGreaterThan(1)
    await holdfast.close()
  })

  test("takes effect with the next call if `changes` is `now`", async () => {
    const folder = folderWith(usual)
    const holdfast = open(stackIn(folder, { changes: "now" }))
    const [session] = await begin(holdfast)
    writeFileSync(join(folder, "AGENTS.md"), "Use pnpm.\n")
    const next = await goOn(session)
    expect(systemOf(next)).toContain("Use pnpm.")
    expect(types(next)).toEqual(expect.arrayContaining(["stack-changed", "stack-installed"]))
    expect(next.receipt.stack?.changes).toBe("now")
    await holdfast.close()
  })

  test("is in force at once in a new session", async () => {
    const folder = folderWith(usual)
    const holdfast = open(stackIn(folder))
    await begin(holdfast)
    writeFileSync(join(folder, "AGENTS.md"), "Use pnpm.\n")
    const [, other] = await begin(holdfast, "two")
    expect(systemOf(other)).toContain("Use pnpm.")
    await holdfast.close()
  })

  test("and cannot be read leaves the stack unchanged, and is reported once", async () => {
    const folder = folderWith(usual)
    const holdfast = open(stackIn(folder))
    const [session, first] = await begin(holdfast)
    rmSync(join(folder, "AGENTS.md"))
    const calls = [await goOn(session), await goOn(session)]
    expect(calls.map(systemOf)).toEqual([systemOf(first), systemOf(first)])
    expect(calls.flatMap(types).filter((type) => type === "stack-refused")).toHaveLength(1)
    await holdfast.close()
  })
})

test("a restarted process and another replica send the same bytes, whatever the sources contain by then", async () => {
  const folder = folderWith(usual)
  const store = createMemoryStore()
  const one = open(stackIn(folder), { store })
  const [session, first] = await begin(one)
  writeFileSync(join(folder, "AGENTS.md"), "Use pnpm.\n")
  for (const stack of [stackIn(folder), undefined]) {
    const other = open(stack, { store })
    const there = await goOn(other.session("one"))
    expect(systemOf(there)).toBe(systemOf(first))
    expect(there.receipt.stack?.hash).toBe(first.receipt.stack?.hash)
    await other.close()
  }
  expect(systemOf(await goOn(session))).toBe(systemOf(first))
  await one.close()
})

test("a stack whose stored text was redacted is read from its sources again, with the same bytes", async () => {
  const folder = folderWith({ ...usual, "AGENTS.md": "The key is sk-1234567890.\n" })
  const store = createMemoryStore()
  const more = { store, redact: [/sk-\d+/g] }
  const one = open(stackIn(folder), more)
  const [, first] = await begin(one)
  await one.close()
  const other = open(stackIn(folder), more)
  const there = await goOn(other.session("one"))
  expect(systemOf(there)).toBe(systemOf(first))
  await other.close()
})

test("a task's inputs come with the call, and another task changes only its layer", async () => {
  const sections = [
    { layer: "base", name: "identity", source: "You are Ada." },
    { layer: "task", name: "goal", source: ({ goal }: { readonly goal: string }) => `Goal: ${goal}` },
  ] as const
  const holdfast = open({ sections, inputs: { goal: "ship" } })
  const [session, first] = await begin(holdfast)
  expect(systemOf(first)).toContain("Goal: ship")
  const next = await goOn(session, { inputs: { goal: "test" }, changes: "now" })
  expect(systemOf(next)).toContain("Goal: test")
  const [before, after] = [first, next].map(
    ({ receipt }) => new Map(receipt.stack?.layers.map(({ layer, hash }) => [layer, hash])),
  )
  expect(before?.get("base")).toBe(after?.get("base"))
  expect(before?.get("task")).not.toBe(after?.get("task"))
  await holdfast.close()
})

test("a stack that is too large is shortened by the sections' shares, and the trace says which and why", async () => {
  const long = Array.from({ length: 400 }, (_, n) => `Line ${n} of a long guide.`).join("\n")
  const folder = folderWith({ ...usual, "docs/style.md": long })
  const holdfast = open(stackIn(folder, { maxTokens: 1000 }))
  const [session, first] = await begin(holdfast)
  expect(first.trace.filter(({ type }) => type === "section-truncated")).toMatchObject([
    { section: "docs/style.md", reason: { type: "stack-over-budget", budgetTokens: 1000 } },
  ])
  expect(systemOf(first)).toContain('<document path="docs/style.md" shows="beginning">')
  expect(systemOf(first)).toContain("You are Ada.")
  expect(systemOf(await goOn(session))).toBe(systemOf(first))
  await holdfast.close()
})

test("a stack that leaves no room is a Problem with its sizes at the first call", async () => {
  const source = "You are Ada, and there is much to say of you. ".repeat(1000)
  const holdfast = open([{ layer: "base", name: "identity", source }])
  const session = holdfast.session("one")
  await session.append([{ role: "user", content: "Begin." }])
  const refused = await session.prepare().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(HoldfastError)
  expect(refused).toMatchObject({ problem: { code: "floor-exceeds-window", windowTokens: 6000 } })
  expect(String(refused)).toMatch(/the prompt stack \d+, the latest user message \d+, the output reserve 500/)
  await holdfast.close()
})

test("a tool result that repeats a document of the stack becomes a reference at a compaction, not before it is read", async () => {
  const guide = Array.from({ length: 60 }, (_, n) => `Line ${n} of the guide says something of its own.`).join("\n")
  const folder = folderWith({ ...usual, "docs/style.md": guide })
  const holdfast = open(stackIn(folder), { windowTokens: 8000 })
  const session = holdfast.session("one")
  const call = { id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"docs/style.md"}' } }
  await session.append(
    [
      { role: "user", content: "Read the guide." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: guide },
    ],
    { format: "openai-chat" },
  )
  const unread = await session.prepare()
  expect(unread.wire.split("Line 59 of the guide")).toHaveLength(3)
  await session.append([
    { role: "assistant", content: "I read it." },
    { role: "user", content: "Go on." },
  ])
  await session.compact()
  const after = await session.prepare()
  expect(after.wire.split("Line 59 of the guide")).toHaveLength(2)
  await holdfast.close()
})

test.each(formats)("%s: the stack is between the client's system part and the operator's rules", async (format) => {
  const holdfast = createHoldfast({
    store: "memory",
    format,
    pins: ["Never delete data."],
    stack: [
      { layer: "task", name: "goal", source: "Ship it." },
      { layer: "base", name: "identity", source: "You are Ada." },
    ],
  })
  const session = holdfast.session("one")
  await session.append([
    format === "gemini" ? { role: "user", parts: [{ text: "Begin." }] } : { role: "user", content: "Begin." },
  ])
  const { wire } = await session.prepare({ system: "Own system." })
  const places = ["Own system.", "You are Ada.", "Ship it.", "Never delete data."].map((text) => wire.indexOf(text))
  expect(places.every((at) => at > 0)).toBe(true)
  expect(places.toSorted((one, other) => one - other)).toEqual(places)
  await holdfast.close()
})

test.each([
  [2, undefined],
  [20, "1h"],
])(
  "with calls %i minutes apart, a stack that is installed anew is kept for the time that is cheaper",
  async (apartMin, ttl) => {
    let nowMs = 1_800_000_000_000
    const folder = folderWith(usual)
    const holdfast = open(stackIn(folder, { changes: "now" }), {
      format: "anthropic-messages",
      model: "claude-sonnet-4-5",
      windowTokens: 100_000,
      now: () => nowMs,
    })
    const [session] = await begin(holdfast)
    for (let n = 0; n < 5; n++) {
      nowMs += apartMin * 60_000
      await goOn(session)
    }
    writeFileSync(join(folder, "docs/style.md"), `Write tersely ${apartMin}.\n`)
    nowMs += apartMin * 60_000
    const { wire } = await goOn(session)
    const { system }: { readonly system: readonly { readonly cache_control?: object }[] } = JSON.parse(wire)
    const marks = system.flatMap(({ cache_control }) => cache_control ?? [])
    expect(marks.length).toBeGreaterThan(0)
    for (const mark of marks) expect(mark).toEqual({ type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) })
  },
)
