import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import {
  compactRequest,
  createGuard,
  createHoldfast,
  findRules,
  guardEvents,
  guardResponse,
  guardSse,
  HoldfastError,
  type ModelResponse,
  openOperator,
  scan,
  streamTurn,
  turn,
} from "../src/index.ts"
import {
  createInProcessQueue,
  createMemoryStore,
  openPgBossQueue,
  openPostgresStore,
  openSqliteStore,
  openStore,
} from "../src/store/index.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-options-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Options as plain JavaScript passes them: nobody has looked at their names. */
// biome-ignore lint/suspicious/noExplicitAny: what a user without a compiler writes
const plain = (options: Readonly<Record<string, unknown>>): any => options

const format = "openai-chat"
const body = { model: "gpt-5", messages: [] }
const path = join(folder, "holdfast.db")
const model = { format, baseUrl: "http://127.0.0.1:9", model: "scripted" }
const session = () => createHoldfast({ store: "memory" }).session("one")
const started = { agent: { model }, inputs: "Go." }

const answer = { format, messages: [], stop: "end" } satisfies ModelResponse

type Call = (wrong: Readonly<Record<string, unknown>>) => unknown
type Case = readonly [owner: string, wrong: string, meant: string, call: Call]

const cases: readonly Case[] = [
  ["createHoldfast", "windowToken", "windowTokens", (wrong) => createHoldfast(plain(wrong))],
  ["createHoldfast", "Store", "store", (wrong) => createHoldfast(plain(wrong))],
  ["createHoldfast", "maxWait", "maxWaitMs", (wrong) => createHoldfast(plain(wrong))],
  ["createHoldfast", "policy.compactat", "policy.compactAt", (policy) => createHoldfast(plain({ policy }))],
  ["createHoldfast", "memory.flsh", "memory.flush", (memory) => createHoldfast(plain({ memory }))],
  [
    "createHoldfast",
    "memory.retrieve.budget",
    "memory.retrieve.budgetTokens",
    (retrieve) => createHoldfast(plain({ memory: { retrieve } })),
  ],
  ["createHoldfast", "hooks.afterCompaction", "hooks.afterCompact", (hooks) => createHoldfast(plain({ hooks }))],
  [
    "createHoldfast",
    "guard.aprove",
    "guard.approve",
    (wrong) => createHoldfast(plain({ guard: { guard: createGuard([]), ...wrong } })),
  ],
  [
    "createHoldfast",
    "summarizer.baseURL",
    "summarizer.baseUrl",
    (wrong) => createHoldfast(plain({ summarizer: { format, model: "small", ...wrong } })),
  ],
  ["session", "tennant", "tenant", (wrong) => createHoldfast({ store: "memory" }).session("one", plain(wrong))],
  ["prepare", "maxOutputToken", "maxOutputTokens", (wrong) => session().prepare(plain({ format, body, ...wrong }))],
  ["prepare", "sytem", "system", (wrong) => session().compact(plain({ format, body, ...wrong }))],
  ["append", "formt", "format", (wrong) => session().append([{ role: "user", content: "Hello." }], plain(wrong))],
  ["pin", "scop", "scope", (wrong) => session().pin("No tabs.", plain(wrong))],
  ["pins", "al", "all", (wrong) => session().pins(plain(wrong))],
  ["rules", "al", "all", (wrong) => session().rules(plain(wrong))],
  ["history", "limt", "limit", (wrong) => session().history(plain(wrong))],
  ["fork", "att", "at", (wrong) => session().fork("two", plain(wrong))],
  ["recall", "toline", "toLine", (wrong) => session().recall("hf-1", plain(wrong))],
  ["search", "txt", "text", (wrong) => session().search(plain(wrong))],
  ["compactRequest", "budget", "budgetTokens", (wrong) => compactRequest(body, plain({ format, ...wrong }))],
  ["compactRequest", "pin", "pins", (wrong) => compactRequest(body, plain({ format, ...wrong }))],
  [
    "compactRequest",
    "strategyOptions.keepRound",
    "strategyOptions.keepRounds",
    (strategyOptions) => compactRequest(body, plain({ format, strategyOptions })),
  ],
  [
    "compactRequest",
    "strategyOptions.weights.reductoin",
    "strategyOptions.weights.reduction",
    (weights) => compactRequest(body, plain({ format, strategyOptions: { weights } })),
  ],
  ["createGuard", "onfailure", "onFailure", (wrong) => createGuard([], plain(wrong))],
  ["findRules", "chanel", "channel", (wrong) => findRules("No tabs.", plain({ channel: "user", ...wrong }))],
  ["scan", "chanel", "channel", (wrong) => scan("No tabs.", plain({ channel: "tool", ...wrong }))],
  ["guardSse", "askTimeout", "askTimeoutMs", (wrong) => guardSse(format, [], createGuard([]), plain(wrong))],
  ["guardEvents", "aprove", "approve", (wrong) => guardEvents(format, [], createGuard([]), plain(wrong))],
  ["guardResponse", "mod", "mode", (wrong) => guardResponse(answer, createGuard([]), plain(wrong))],
  ["turn", "tool", "tools", (wrong) => turn(plain({ ...started, ...wrong }))],
  ["turn", "contextbudget", "contextBudget", (wrong) => streamTurn(plain({ ...started, ...wrong })).result],
  [
    "turn",
    "agent.instruction",
    "agent.instructions",
    (wrong) => turn(plain({ ...started, agent: { model, ...wrong } })),
  ],
  [
    "turn",
    "agent.model.baseURL",
    "agent.model.baseUrl",
    (wrong) => turn(plain({ ...started, agent: { model: { ...model, ...wrong } } })),
  ],
  [
    "turn",
    "compactionOptions.strategi",
    "compactionOptions.strategy",
    (compactionOptions) => turn(plain({ ...started, compactionOptions })),
  ],
  ["openOperator", "dir", "directory", (wrong) => openOperator(plain({ store: createMemoryStore(), ...wrong }))],
  ["openStore", "busy", "busyMs", (wrong) => openStore(path, plain(wrong))],
  ["openStore", "busyMS", "busyMs", (wrong) => openStore("memory", plain(wrong))],
  ["openSqliteStore", "durabilty", "durability", (wrong) => openSqliteStore(plain({ path, ...wrong }))],
  [
    "openPostgresStore",
    "shema",
    "schema",
    (wrong) => openPostgresStore(plain({ url: "postgres://127.0.0.1:9", ...wrong })),
  ],
  [
    "openPostgresStore",
    "pool.maxx",
    "pool.max",
    (pool) => openPostgresStore(plain({ url: "postgres://127.0.0.1:9", pool })),
  ],
  ["createMemoryStore", "noww", "now", (wrong) => createMemoryStore(plain(wrong))],
  ["createInProcessQueue", "lease", "leaseMs", (wrong) => createInProcessQueue(createMemoryStore().jobs, plain(wrong))],
  [
    "openPgBossQueue",
    "polMs",
    "pollMs",
    (wrong) => openPgBossQueue(plain({ url: "postgres://127.0.0.1:9", ...wrong })),
  ],
]

async function problemOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (error) {
    if (error instanceof HoldfastError) return error.problem
    throw error
  }
  return "no problem"
}

test.each(cases)("%s refuses %s and names %s", async (owner, wrong, meant, call) => {
  const name = wrong.split(".").at(-1) ?? wrong
  const expected = { code: "option-invalid", option: wrong, expected: meant, found: `no option of ${owner}` }
  expect(await problemOf(() => call({ [name]: 1 }))).toEqual(expected)
})

test.each(cases)("%s takes %s for left out where its value is undefined", async (_owner, wrong, _meant, call) => {
  const name = wrong.split(".").at(-1) ?? wrong
  // Some of these fail for another reason, such as a server that is not there.
  const problem = await problemOf(() => call({ [name]: undefined })).catch(String)
  expect(problem).not.toMatchObject({ option: wrong })
})

test("the names there are, where none is near", async () => {
  const problem = await problemOf(() => createGuard([], plain({ colour: "red" })))
  expect(problem).toMatchObject({ option: "colour", expected: "one of mode, onFailure, matchers, tools, undeclared" })
})

test.each([null, [], "memory", 7])("options that are %j are no options", async (given) => {
  // biome-ignore lint/suspicious/noExplicitAny: what a user without a compiler writes
  const wrong = given as any
  for (const call of [() => createHoldfast(wrong), () => createGuard([], wrong), () => compactRequest(body, wrong)])
    expect(await problemOf(call)).toMatchObject({ code: "option-invalid", expected: "an object with options" })
})
