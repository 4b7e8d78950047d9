import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { createMcpSource } from "../../src/mcp/source.ts"
import { HoldfastError } from "../../src/message/errors.ts"
import { type Format, formats } from "../../src/message/message.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { openStore } from "../../src/store/open-store.ts"
import type { Store } from "../../src/store/store.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"
import { bodyIn, type ChatMessage } from "../support/conversations.ts"
import { adminToken, startTestGateway, type TestGateway } from "../support/gateway.ts"
import { fc } from "../support/property.ts"
import { wires } from "./wires.ts"

/** Both tenants use the same subjects, so that whatever a word search finds for one could be the other's. */
const subjects = ["harbour crane", "north warehouse", "ferry ticket"] as const
const tenants = [
  { key: "key-of-the-first-tenant-1111", marker: "quokkastone" },
  { key: "key-of-the-second-tenant-2222", marker: "lemurbridge" },
] as const
type Tenant = (typeof tenants)[number]

const doing = fc.constantFrom(
  "state",
  "state",
  "state",
  "read",
  "ask",
  "ask",
  "search",
  "recall",
  "admin",
  "pin",
  "buy",
  "buy",
  "borrow",
  "reread",
)
const operation = fc.record({
  tenant: fc.nat(1),
  bypass: fc.constantFrom(false, false, false, true),
  does: doing,
  format: fc.constantFrom<Format>(...formats),
  subject: fc.constantFrom(...subjects),
  /** Names that both use, or none, in which case the words identify the conversation. */
  session: fc.constantFrom(undefined, "ledger", "ledger-2"),
  agent: fc.constantFrom(undefined, undefined, "clerk"),
  continues: fc.constantFrom(true, true, false),
})
type Operation = typeof operation extends fc.Arbitrary<infer One> ? One : never

type World = {
  readonly gateway: TestGateway
  readonly model: ModelServer
  readonly store: Store
  /** Messages of each tenant, by wire format, session and agent. */
  readonly histories: Map<string, ChatMessage[]>
  readonly sessions: ReadonlyMap<Tenant, Set<string>>
  /** Everything that a tenant received, and everything sent upstream for it. */
  readonly seen: ReadonlyMap<Tenant, string[]>
  /** Ids of the responses that each has received, and what each has bought, in dollars. */
  readonly responses: ReadonlyMap<Tenant, Set<string>>
  readonly bought: Map<Tenant, number>
  count: number
}

const pathOf = (format: Format): string => wires.find(([name]) => name === format)?.[1] ?? ""

/** Long enough that one message is flushed to memory, and two cause a compaction. */
const filler = "The rest of this note says nothing of interest to anybody and is only long. ".repeat(160)

function wordsOf({ does, subject }: Operation, { marker }: Tenant, count: number): string {
  if (does === "read") return `What does the log say of the ${subject} and of mast 3?`
  if (does === "ask") return `What is the access code of the ${subject}, and who has it?`
  if (does === "buy") return `Please buy item ${marker}${count} for the ${subject}.`
  if (does === "pin") return `/pin Never tell anyone about ${marker}${count} of the ${subject}.`
  const fact = `The access code of the ${subject} is ${marker}${count}. We decided to give the ${subject} to ${marker}.`
  return `${fact} ${filler}`
}

/** Returns a tool round whose file is long enough to be cut, with a handle in its place. */
function readRound({ marker }: Tenant, count: number): readonly ChatMessage[] {
  const id = `call_${marker}${String(count).padStart(8, "0")}`
  const call = { name: "read_file", arguments: JSON.stringify({ path: `${marker}/${count}.log` }) }
  const lines = Array.from({ length: 300 }, (_, n) => `line ${n} of ${marker}${count}: nothing of note, mast ${n % 7}`)
  return [
    { role: "user", content: "Read the log." },
    { role: "assistant", content: null, tool_calls: [{ id, type: "function", function: call }] },
    { role: "tool", tool_call_id: id, content: lines.join("\n") },
    { role: "assistant", content: "It is read." },
  ]
}

const priceDollars = 30
/** Limit on all purchases of a tenant: three of them. */
const limitDollars = 100
const guard = createGuard([{ template: "spend-limit", amount: limitDollars, per: "tenant" }])

/** A model that buys when asked to, and tries once in each answer to recall the newest handle that was printed for anyone. */
function stealingScript(): Script {
  let handle = ""
  return ({ body }) => {
    const text = JSON.stringify(body)
    const wish = text.lastIndexOf("Please buy item")
    const isLast = ["was refused", "Noted.", "access code of the", "What does the log"].every(
      (words) => text.lastIndexOf(words) < wish,
    )
    if (wish >= 0 && isLast) return { calls: [{ tool: "buy", input: { item: "crane", price_usd: priceDollars } }] }
    const stolen = handle
    handle = text.match(handles)?.at(-1) ?? handle
    const mentions = text.match(/holdfast_recall/g)?.length ?? 0
    if (mentions !== 1 || stolen === "") return { text: "Noted." }
    return { calls: [{ tool: "holdfast_recall", input: { handle: stolen } }] }
  }
}

const handles = /hf-[1-9]\d*-[0-9a-f]{20}/g

async function say(world: World, tenant: Tenant, operation: Operation): Promise<void> {
  const { format, agent, continues, does } = operation
  const others = tenants.filter((other) => other !== tenant)
  // The name of another tenant's session, as its owner sees it.
  const borrowed = others.flatMap((other) => [...(world.sessions.get(other) ?? [])]).at(world.count % 7)
  const session = does === "borrow" ? borrowed : operation.session
  const place = JSON.stringify([tenant.key, format, session, agent])
  const before = continues ? (world.histories.get(place) ?? []) : []
  const words: ChatMessage = { role: "user", content: wordsOf(operation, tenant, world.count++) }
  const messages = [...before, ...(operation.does === "read" ? readRound(tenant, world.count) : []), words]
  const response = await fetch(`${world.gateway.url}${pathOf(format)}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${tenant.key}`,
      "content-type": "application/json",
      ...(session === undefined ? {} : { "x-holdfast-session": session }),
      ...(agent === undefined ? {} : { "x-holdfast-agent": agent }),
      ...(operation.bypass ? { "x-holdfast-bypass": "1" } : {}),
    },
    body: bodyIn(format, messages),
  })
  const id = response.headers.get("x-holdfast-session")
  if (id !== null) world.sessions.get(tenant)?.add(id)
  const text = await response.text()
  // A name that a tenant used itself is no secret to it; what is returned under it is.
  world.seen.get(tenant)?.push(JSON.stringify([...response.headers]), text)
  expect(response.status).toBe(200)
  for (const [one] of text.matchAll(/\bresp_[\w-]+/g)) world.responses.get(tenant)?.add(one)
  if (does === "buy") {
    const before = world.bought.get(tenant) ?? 0
    const isBought = text.includes('"buy"')
    expect({ tenant, before, isBought }).toEqual({ tenant, before, isBought: before + priceDollars <= limitDollars })
    if (isBought) world.bought.set(tenant, before + priceDollars)
  }
  world.histories.set(place, [...messages, { role: "assistant", content: "Noted." }])
  await world.gateway.holdfast.idle()
}

/** Collects what an MCP client of the tenant sees of each of its sessions, with the memory of the whole agent. */
async function lookOverMcp(world: World, tenant: Tenant, { subject, does }: Operation): Promise<void> {
  const told = world.seen.get(tenant)
  for (const session of world.sessions.get(tenant) ?? []) {
    const source = createMcpSource({ session, memory: "agent" }, async () => world.store)
    if (does === "search")
      for (const text of [subject, "access code", ...tenants.map(({ marker }) => marker)])
        told?.push(JSON.stringify((await source.search({ text })).map(({ score: _, ...hit }) => hit)))
    else
      for (const handle of handlesIn(world))
        told?.push(JSON.stringify(await source.recall(handle).catch((error: unknown) => problemOf(error))))
    told?.push(JSON.stringify(await source.pins()), JSON.stringify(await source.traces(10)))
  }
}

const problemOf = (error: unknown): string => {
  if (error instanceof HoldfastError) return error.problem.code
  throw error
}

/** Returns every handle that was printed for anyone. */
const handlesIn = ({ model }: World): readonly string[] => [
  ...new Set(model.requests.flatMap(({ body }) => Buffer.from(body).toString("utf8").match(handles) ?? [])),
]

/** Tries the operator's endpoints with a tenant's own key, and those that are open to all. */
async function knock({ gateway, seen, sessions }: World, tenant: Tenant): Promise<void> {
  const others = [...sessions].filter(([other]) => other !== tenant).flatMap(([, ids]) => [...ids])
  const paths = ["/admin/sessions", "/admin/traces", "/admin/pins", "/metrics", "/readyz", "/healthz"]
  for (const path of [...paths, ...others.map((id) => `/admin/sessions/${encodeURIComponent(id)}/history?full=1`)]) {
    const response = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${tenant.key}` } })
    if (path.startsWith("/admin")) expect(response.status).not.toBe(200)
    seen.get(tenant)?.push(await response.text())
  }
}

/** Continues from a response of the other tenant, and reads it again, by its id. */
async function reread({ gateway, seen, responses }: World, tenant: Tenant): Promise<void> {
  const others = [...responses].filter(([other]) => other !== tenant).flatMap(([, ids]) => [...ids].slice(-3))
  const headers = { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" }
  for (const id of others) {
    const body = JSON.stringify({ model: "scripted", previous_response_id: id, input: "What is the access code?" })
    const next = await fetch(`${gateway.url}/v1/responses`, { method: "POST", headers, body })
    seen.get(tenant)?.push(await next.text())
    const again = await fetch(`${gateway.url}/v1/responses/${id}`, { headers })
    seen.get(tenant)?.push(await again.text())
  }
}

async function act(world: World, operation: Operation): Promise<void> {
  const tenant = tenants[operation.tenant] ?? tenants[0]
  if (operation.does === "reread") return reread(world, tenant)
  if (operation.does === "admin") return knock(world, tenant)
  if (operation.does === "search" || operation.does === "recall") return lookOverMcp(world, tenant, operation)
  return say(world, tenant, operation)
}

/** Returns what was sent upstream with the tenant's key, and what came back. */
const upstreamOf = ({ model }: World, { key }: Tenant): readonly string[] =>
  model.requests
    .filter(({ headers }) => headers.authorization === `Bearer ${key}`)
    .flatMap(({ body, response, headers }) => [
      Buffer.from(body).toString("utf8"),
      Buffer.from(response.bytes).toString("utf8"),
      JSON.stringify(headers),
    ])

type Outcome = { readonly flushed: number; readonly retrieved: number; readonly handles: number }

async function play(store: Store, operations: readonly Operation[]): Promise<Outcome> {
  const model = await startModelServer({ script: stealingScript() })
  const gateway = await startTestGateway(model.url, {
    store,
    recall: true,
    windowTokens: 4000,
    guard,
    sessions: {
      guard: { guard },
      reserveTokens: 300,
      recall: true,
      memory: { flush: true, retrieve: { budgetTokens: 400 } },
    },
  })
  const empty = <Value>(make: () => Value): Map<Tenant, Value> => new Map(tenants.map((one) => [one, make()]))
  const world: World = {
    ...{ gateway, model, store, histories: new Map(), count: 0 },
    sessions: empty(() => new Set<string>()),
    seen: empty<string[]>(() => []),
    responses: empty(() => new Set<string>()),
    bought: new Map(),
  }
  let flushed = 0
  const stop = gateway.holdfast.subscribe((event) => {
    if (event.type === "memory-flushed") flushed += event.rows
  })
  try {
    for (const one of operations) await act(world, one)
    for (const [at, tenant] of tenants.entries()) {
      const other = tenants[1 - at] ?? tenant
      for (const text of [...(world.seen.get(tenant) ?? []), ...upstreamOf(world, tenant)])
        expect(text.includes(other.marker) ? text : "").toBe("")
    }
    expect(gateway.faults).toEqual([])
    const sent = tenants.flatMap((tenant) => upstreamOf(world, tenant))
    const retrieved = sent.filter((text) => text.includes("RETRIEVED MEMORY")).length
    return { flushed, retrieved, handles: handlesIn(world).length }
  } finally {
    stop()
    await gateway.close()
    await model.close()
  }
}

const runsOfProperty = Math.max(4, Math.round((fc.readConfigureGlobal().numRuns ?? 1000) / 100))

async function playMany(open: () => Promise<Store>, numRuns: number): Promise<Outcome> {
  const all = { flushed: 0, retrieved: 0, handles: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 12, maxLength: 30, size: "max" }), async (operations) => {
      const store = await open()
      const { flushed, retrieved, handles } = await play(store, operations)
      all.flushed += flushed
      all.retrieved += retrieved
      all.handles += handles
      await store.close()
    }),
    // A case takes seconds, so a failing one is reported without shrinking.
    { numRuns, endOnFailure: true },
  )
  return all
}

test("nothing that one tenant says is in anything that another can see, over any door: a store in memory", async () => {
  const { flushed, retrieved, handles } = await playMany(async () => createMemoryStore(), runsOfProperty)
  // The paths were exercised: memory was written and put into requests, and handles were printed.
  expect(flushed).toBeGreaterThan(0)
  expect(retrieved).toBeGreaterThan(runsOfProperty)
  expect(handles).toBeGreaterThan(0)
}, 300_000)

test("nothing that one tenant says is in anything that another can see, over any door: a SQLite file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-tenants-"))
  let opened = 0
  try {
    const outcome = await playMany(() => openStore(join(folder, `${opened++}.db`)), Math.ceil(runsOfProperty / 2))
    expect(outcome.flushed).toBeGreaterThan(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 300_000)

test("the operator's own token opens the admin API for which a tenant's key is nothing", async () => {
  const model = await startModelServer({ script: () => ({ text: "Noted." }) })
  const gateway = await startTestGateway(model.url)
  const status = async (token: string): Promise<number> =>
    (await fetch(`${gateway.url}/admin/sessions`, { headers: { authorization: `Bearer ${token}` } })).status
  expect(await status(tenants[0].key)).toBe(401)
  expect(await status(adminToken)).toBe(200)
  await gateway.close()
  await model.close()
})
