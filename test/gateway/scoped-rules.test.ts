import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { tenantOf } from "../../src/gateway/identity/names.ts"
import { openOperator } from "../../src/guard/operator/operator.ts"
import { type Format, formats } from "../../src/message/message.ts"
import { openStore } from "../../src/store/open-store.ts"
import { holdfast as runCommand } from "../fixtures/cli/command-line.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import type { Output } from "../model-server/script.ts"
import { bodyIn, type ChatMessage } from "../support/conversations.ts"
import { startTestGateway, type TestGateway } from "../support/gateway.ts"
import { fc, runs } from "../support/property.ts"
import { wires } from "./wires.ts"

const endings: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

type Place = {
  readonly gateway: TestGateway
  readonly model: ModelServer
  /** Runs the program on the gateway's store, as an operator does while it serves. */
  readonly command: (argv: readonly string[], stdin?: string) => Promise<void>
}

/** Starts a gateway on a store in a file, with a policy directory in which the operator's key is trusted. */
async function open(output: Output = { text: "Noted." }, after: Output = { text: "Then not." }): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-scoped-"))
  endings.push(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, "hf.db")
  const key = join(folder, "operator.key")
  const run = async (argv: readonly string[], stdin = ""): Promise<void> => {
    const { exit, stderr } = await runCommand(argv, { env: { HOLDFAST_DATA: data }, dateMs: Date.now, stdin })
    expect({ argv, exit, stderr }).toEqual({ argv, exit: 0, stderr: "" })
  }
  await run(["keys", "new", key])
  await run(["keys", "trust", join(folder, "operator.pub")])
  const store = await openStore(data)
  endings.push(() => store.close())
  const operator = await openOperator({ store, directory: join(folder, "policy"), watch: false })
  endings.push(() => operator.close())
  const model = await startModelServer({ script: ({ rounds }) => (rounds === 0 ? output : after) })
  endings.push(model.close)
  const gateway = await startTestGateway(model.url, { store, operator })
  endings.push(gateway.close)
  const command: Place["command"] = async (argv, stdin) => {
    await run([...argv, "--key", key], stdin)
    // A gateway that watches its operator does this by itself, within a second.
    await operator.refresh()
  }
  return { gateway, model, command }
}

type Caller = { readonly agent?: string; readonly session?: string; readonly key?: string; readonly bypass?: boolean }

const headersOf = ({ agent, session, key = "k", bypass }: Caller): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
  ...(agent === undefined ? {} : { "x-holdfast-agent": agent }),
  ...(session === undefined ? {} : { "x-holdfast-session": session }),
  ...(bypass === true ? { "x-holdfast-bypass": "1" } : {}),
})

type Heard = { readonly status: number; readonly session: string; readonly text: string; readonly sent: string }

/** Makes one call, and returns what was sent upstream for it. */
async function say(
  { gateway, model }: Place,
  caller: Caller,
  format: Format = "openai-chat",
  more: readonly ChatMessage[] = [],
): Promise<Heard> {
  const before = model.requests.length
  const response = await fetch(`${gateway.url}${wires.find(([name]) => name === format)?.[1]}`, {
    method: "POST",
    headers: headersOf(caller),
    body: bodyIn(format, [{ role: "user", content: `Hello from ${JSON.stringify(caller)} on ${format}.` }, ...more]),
  })
  const text = await response.text()
  const [first] = model.requests.slice(before)
  expect(Object.keys(first?.headers ?? {}).filter((name) => name.startsWith("x-holdfast"))).toEqual([])
  return {
    status: response.status,
    session: response.headers.get("x-holdfast-session") ?? "",
    text,
    sent: Buffer.from(first?.body ?? []).toString("utf8"),
  }
}

const rule = "Never touch the orchid ledger."
const fingerprint = tenantOf({ authorization: "Bearer k" })

const others: readonly Caller[] = [
  {},
  { agent: "clerk2" },
  { agent: "Clerk" },
  { agent: "default" },
  { session: "clerk" },
  { session: "talk", agent: "builder" },
]

describe("a rule for an agent", () => {
  test.each(formats)("%s: is in every request of that agent and in no other's", async (format) => {
    const place = await open()
    await place.command(["pin", rule, "--agent", "clerk"])
    for (const caller of [{ agent: "clerk" }, { agent: "clerk", session: "talk" }, { agent: "clerk", key: "other" }])
      expect((await say(place, caller, format)).sent).toContain(rule)
    for (const caller of others) expect((await say(place, caller, format)).sent).not.toContain(rule)
    // It also applies to words that another agent said first.
    expect((await say(place, { agent: "clerk", bypass: true }, format)).sent).toContain(rule)
  })
})

describe("a rule for a session", () => {
  test.each(formats)("%s: is in every request of that session and in no other's", async (format) => {
    const place = await open()
    const { session } = await say(place, { session: "ledger-talk" }, format)
    expect(session.startsWith(`${fingerprint}.ledger-talk`)).toBe(true)
    await place.command(["pin", rule, "--session", session])
    expect((await say(place, { session: "ledger-talk" }, format)).sent).toContain(rule)
    expect((await say(place, { session: "ledger-talk", bypass: true }, format)).sent).toContain(rule)
    for (const caller of [...others, { session: "ledger-talk-2" }, { session: "ledger-talk", key: "other" }])
      expect((await say(place, caller, format)).sent).not.toContain(rule)
  })

  test("may name it as its client does, and binds its side calls and subagents too", async () => {
    const place = await open()
    await place.command(["pin", rule, "--session", "ledger-talk"])
    for (const caller of [{}, { agent: "clerk" }, { key: "other" }])
      expect((await say(place, { ...caller, session: "ledger-talk" })).sent).toContain(rule)
    for (const caller of others) expect((await say(place, caller)).sent).not.toContain(rule)
  })

  test("of a conversation without a name holds in that conversation alone", async () => {
    const place = await open()
    const first = await say(place, { key: "one-key" })
    const second = await say(place, { key: "another-key" })
    const goOn = [{ role: "assistant", content: "Noted." } as const, { role: "user", content: "Go on." } as const]
    await place.command(["pin", rule, "--session", first.session])
    const third = await say(place, { key: "one-key" }, "openai-chat", goOn)
    expect(third).toMatchObject({ session: first.session, sent: expect.stringContaining(rule) })
    expect((await say(place, { key: "another-key" }, "openai-chat", goOn)).sent).not.toContain(rule)
    expect(second.session).not.toBe(first.session)
  })
})

const deleting: Output = { text: "Deleting.", calls: [{ tool: "delete_file", input: { path: "orchid.txt" } }] }

async function addPolicy({ command }: Place, head: string): Promise<void> {
  const policy = `@rule("No orchid is deleted.") forbid(${head}, action, resource) when { context.actions.contains("delete") };`
  await command(["policy", "add", "orchid", "-"], policy)
}

const isDenied = ({ text }: Heard): boolean => !text.includes("orchid.txt")

describe("a policy whose principal is an agent", () => {
  test.each(formats)("%s: denies the calls of that agent and of no other", async (format) => {
    const place = await open(deleting)
    await addPolicy(place, 'principal == Holdfast::Agent::"clerk"')
    expect(isDenied(await say(place, { agent: "clerk" }, format))).toBe(true)
    expect(isDenied(await say(place, { agent: "clerk", session: "talk" }, format))).toBe(true)
    expect(isDenied(await say(place, { agent: "clerk", bypass: true }, format))).toBe(true)
    for (const caller of others) expect(isDenied(await say(place, caller, format))).toBe(false)
  })
})

describe("a policy whose principal is in a session", () => {
  test.each(formats)("%s: denies the calls of that session and of no other", async (format) => {
    const place = await open(deleting)
    const { session } = await say(place, { session: "ledger-talk" }, format)
    await addPolicy(place, `principal in Holdfast::Session::"${session}"`)
    expect(isDenied(await say(place, { session: "ledger-talk" }, format))).toBe(true)
    expect(isDenied(await say(place, { session: "ledger-talk", bypass: true }, format))).toBe(true)
    for (const caller of [...others, { session: "ledger-talk-2" }, { session: "ledger-talk", key: "other" }])
      expect(isDenied(await say(place, caller, format))).toBe(false)
  })

  test("may name an agent and a session together", async () => {
    const place = await open(deleting)
    await addPolicy(place, 'principal is Holdfast::Agent in Holdfast::Session::"ledger-talk"')
    expect(isDenied(await say(place, { agent: "clerk", session: "ledger-talk" }))).toBe(true)
    expect(isDenied(await say(place, { agent: "clerk", session: "talk" }))).toBe(false)
  })
})

describe("the agent's name", () => {
  test("is kept with the session, and its conversations are not those of another", async () => {
    const place = await open()
    const [clerk, other] = [await say(place, { agent: "clerk" }), await say(place, {})]
    expect(clerk.session).not.toBe(other.session)
    // The first request of a session is forwarded before the session stores it.
    const stored = (id: string) => expect.poll(() => place.gateway.store.session(id))
    await stored(clerk.session).toMatchObject({ tenant: fingerprint, agent: "clerk" })
    await stored(other.session).toMatchObject({ tenant: fingerprint, agent: "default" })
  })

  test("is refused with a sentence where it cannot be one, and nothing goes upstream", async () => {
    const place = await open()
    const odd = fc.oneof(
      fc.constantFrom("-clerk", "a\u200bb", "clerk;admin", "a\u202eb", "{x}", '"clerk"', "a".repeat(201), " ", "😀"),
      fc.string({ minLength: 1, maxLength: 8 }).map((text) => `clerk<${text}`),
    )
    await fc.assert(
      fc.asyncProperty(odd, async (name) => {
        const value = Buffer.from(name, "utf8").toString("latin1")
        // biome-ignore lint/suspicious/noControlCharactersInRegex: what fetch itself refuses to send is left out
        fc.pre(!/[\0-\x1f\x7f]/.test(value))
        const response = await fetch(`${place.gateway.url}/v1/chat/completions`, {
          method: "POST",
          headers: { ...headersOf({}), "x-holdfast-agent": value },
          body: bodyIn("openai-chat", [{ role: "user", content: "Hello." }]),
        })
        expect(response.status).toBe(400)
        expect(await response.text()).toContain("x-holdfast-agent")
      }),
      { numRuns: Math.ceil(runs / 2) },
    )
    expect(place.model.requests).toEqual([])
  })
})
