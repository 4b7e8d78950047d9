import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { demoWindowTokens, startDemoModel } from "../../src/cli/demo/demo-model.ts"
import { demoGuard, demoUpstream } from "../../src/cli/demo/play-demo.ts"
import { runDemo } from "../../src/cli/demo/run-demo.ts"
import { startGateway } from "../../src/gateway/gateway.ts"
import { usualGatewayLimits, usualTimes } from "../../src/gateway/settings/gateway-options.ts"
import { openOperator } from "../../src/guard/operator/operator.ts"
import { tokens } from "../../src/message/message.ts"
import { runSteps } from "../../src/message/steps.ts"
import { createHoldfast, type Holdfast } from "../../src/session/holdfast.ts"
import { chainEntries } from "../../src/session/log/chain.ts"
import type { EntryBody } from "../../src/session/log/entry.ts"
import { openStore } from "../../src/store/open-store.ts"
import type { Store } from "../../src/store/store.ts"
import { startModelServer } from "../model-server/model-server.ts"
import type { Output, Turn } from "../model-server/script.ts"

const adminToken = "admin-token-of-the-inspector-test"
export const pricedModel = "claude-sonnet-4-5"

/** A real gateway with sessions in it, and what a page needs to be opened. */
export type InspectedGateway = {
  readonly url: string
  readonly store: Store
  readonly holdfast: Holdfast
  /** The folder whose keys the operator trusts. */
  readonly keys: string
  readonly demoSession: string
  /** The two sizes of each compaction, as the engine said them when it made it. */
  readonly compacted: readonly (readonly [before: number, after: number])[]
  /** A link that signs in once. */
  readonly link: () => Promise<string>
  readonly bearer: Readonly<Record<string, string>>
  readonly admin: (path: string) => Promise<Readonly<Record<string, unknown>>>
  /** One request of an agent, in a conversation of that name. */
  readonly ask: (conversation: string, messages: readonly object[]) => Promise<Response>
  readonly close: () => Promise<void>
}

const refundPolicy = `@rule("Refunds above $500 need a supervisor. Never refund more than the customer was charged.")
@decision("ask")
forbid(principal, action, resource == Holdfast::Tool::"issue_refund");
`

/** Answers as its last message asks: a call of a tool that has to be approved, or some words. */
function answerTo({ body }: Pick<Turn, "body">): Output {
  const text = JSON.stringify(body)
  if (/amounts back today/.test(text) && !/tool_result/.test(text))
    return { text: "I will refund both.", calls: [{ tool: "issue_refund", input: refund }] }
  return { text: "Done." }
}

const refund = {
  reservation_id: "M05KNL",
  amount: 1284,
  payment_method: "credit_card_4421",
  reason: "duplicate charge",
}

type Opening = {
  /** A PostgreSQL that other replicas use as well; a file of its own without. */
  readonly databaseUrl?: string
  /** A folder of policies and keys that other replicas use as well. */
  readonly policy?: string
  readonly demo?: boolean
}

export async function openInspectedGateway({
  databaseUrl,
  policy,
  demo: plays = true,
}: Opening = {}): Promise<InspectedGateway> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-inspector-"))
  const directory = policy ?? join(folder, "policy")
  const keys = join(directory, "keys")
  await mkdir(keys, { recursive: true })
  await writeFile(join(directory, "refunds.cedar"), refundPolicy)
  const store = await openStore(databaseUrl ?? join(folder, "holdfast.db"))
  const operator = await openOperator({ store, directory, audience: "inspector-test" })
  const holdfast = createHoldfast({ store, operator, guard: { guard: demoGuard() } })
  const compacted: (readonly [number, number])[] = []
  holdfast.subscribe((event) => {
    if (event.type === "compaction-installed") compacted.push([event.beforeTokens, event.afterTokens])
  })
  const [demo, model] = [await startDemoModel(), await startModelServer({ script: answerTo })]
  const gateway = await startGateway({
    ...{
      host: "127.0.0.1",
      port: 0,
      allowedHosts: [],
      allowedOrigins: [],
      tenants: "one",
      recall: false,
      version: "0.1.0",
    },
    ...{
      limits: usualGatewayLimits,
      admin: { token: adminToken, origins: [] },
      askTimeoutMs: 120_000,
      keepAliveMs: 15_000,
    },
    inspector: resolve(import.meta.dirname, "../../dist/inspector"),
    upstreams: [
      { ...demoUpstream(demo.url), windowTokens: demoWindowTokens },
      { name: "model", families: ["anthropic"], baseUrl: model.url, ...usualTimes },
    ],
    ...{ holdfast, store, operator, now: Date.now },
    onFault: (error) => {
      throw error
    },
  })
  const { signal } = new AbortController()
  const played = plays
    ? await runDemo({
        ...{ url: gateway.url, holdfast, sent: demo.last, write: async () => {}, signal },
        ...{ colour: false, columns: 200, pace: "none" },
      })
    : { session: "" }
  const bearer = { authorization: `Bearer ${adminToken}` }
  return {
    url: gateway.url,
    store,
    holdfast,
    keys,
    demoSession: `one.${played.session}`,
    link: async () => {
      const answer = await fetch(`${gateway.url}/admin/sign-in-codes`, { method: "POST", headers: bearer })
      const { code }: { readonly code: string } = JSON.parse(await answer.text())
      return `${gateway.url}/inspector#code=${code}`
    },
    bearer,
    compacted,
    admin: async (path) => JSON.parse(await (await fetch(`${gateway.url}/admin/${path}`, { headers: bearer })).text()),
    ask: (conversation, messages) =>
      fetch(`${gateway.url}/v1/messages`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-api-key": "of-no-use",
          "anthropic-version": "2023-06-01",
          "user-agent": "claude-cli/2.1.0 (external, cli)",
          "x-holdfast-session": conversation,
        },
        body: JSON.stringify({ model: pricedModel, max_tokens: 1000, messages, tools: [refundTool] }),
      }),
    close: async () => {
      await gateway.close()
      await holdfast.close()
      await operator.close()
      await demo.close()
      await model.close()
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const refundTool = { name: "issue_refund", description: "Refund a booking.", input_schema: { type: "object" } }

/** A long session written straight into the store: `turns` calls of a model with a known price, compacted every hundred. */
export async function writeLongSession(store: Store, id: string, turns: number): Promise<void> {
  const bodies: EntryBody[] = [{ type: "session-opened", agent: "builder", secret: "0".repeat(32) }]
  let parent = 0
  const say = (role: "user" | "assistant", text: string): void => {
    bodies.push({
      type: "message-appended",
      parent,
      key: `k${bodies.length}`,
      message: { message: { role, parts: [{ type: "text", text }] } },
    })
    parent = bodies.length
  }
  let [context, base] = [20_000, 0]
  for (let turn = 1; turn <= turns; turn++) {
    say("user", turn === 1 ? "Port the importer, one table at a time." : `Table ${turn}, please.`)
    say("assistant", `Table ${turn} is ported: ${turn * 17} rows.`)
    const usage = {
      inputTokens: tokens(context),
      outputTokens: tokens(200),
      cacheReadTokens: tokens(turn === 1 ? 0 : context - 1200),
      cacheWriteTokens: tokens(1200),
    }
    bodies.push({ type: "usage-reported", model: pricedModel, estimatedTokens: context, usage })
    context += 1200
    if (turn % 100 !== 0) continue
    const sizes = { beforeTokens: context, afterTokens: 24_000 }
    bodies.push({
      type: "checkpoint-installed",
      node: parent,
      base,
      items: [],
      standing: [],
      remedy: "summary",
      ...sizes,
      trace: "[]",
    })
    base = bodies.length
    context = 24_000
  }
  const step = 5000
  let head = { seq: 0, hash: "" }
  for (let from = 0; from < bodies.length; from += step) {
    const { entries, payloads } = runSteps(chainEntries(head, bodies.slice(from, from + step), Date.now()))
    await store.append(id, { after: head.seq, entries, payloads, tenant: "one", agent: "builder" })
    head = { seq: entries.at(-1)?.seq ?? 0, hash: entries.at(-1)?.hash ?? "" }
  }
}
