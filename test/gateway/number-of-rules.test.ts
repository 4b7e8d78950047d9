import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { openOperator } from "../../src/guard/operator/operator.ts"
import { createHoldfast } from "../../src/session/holdfast.ts"
import { openStore } from "../../src/store/open-store.ts"
import { isObject } from "../../src/wire/json.ts"
import { holdfast as runCommand } from "../fixtures/cli/command-line.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { adminToken, startTestGateway, type TestGateway } from "../support/gateway.ts"
import { fc, runs } from "../support/property.ts"

const endings: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

type Count = { readonly rules: number; readonly operatorRules: number }
type Place = { readonly folder: string; readonly data: string; readonly ask: Ask; readonly gateway: TestGateway }
type Ask = (
  content: string,
  agent?: string,
) => Promise<{ readonly session: string; readonly receipt: Count | undefined }>

const conversation = "7b1e0f0a-0000-4000-8000-000000000001"
const tools = [{ name: "send_email", description: "Send a mail.", input_schema: { type: "object" } }]

/** A gateway on a store in a file, with rules of the operator for all, for one agent and for a session that is not there. */
async function open(folder: string): Promise<Place> {
  const data = join(folder, "hf.db")
  const store = await openStore(data)
  endings.push(() => store.close())
  const operator = await openOperator({ store, directory: join(folder, "policy"), watch: false })
  endings.push(() => operator.close())
  const model = await startModelServer({ script: () => ({ text: "Noted." }) })
  endings.push(model.close)
  const gateway = await startTestGateway(model.url, { store, operator })
  endings.push(gateway.close)
  const history = new Map<string, object[]>()
  const ask: Ask = async (content, agent = "main") => {
    const messages = history.get(agent) ?? []
    history.set(agent, messages)
    messages.push({ role: "user", content })
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: {
        ...{ "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" },
        "x-claude-code-session-id": conversation,
        ...(agent === "main" ? {} : { "x-claude-code-agent-id": agent }),
      },
      body: JSON.stringify({
        model: "claude-sonnet-4-5",
        max_tokens: 100,
        system: `You are ${agent}.`,
        messages,
        tools,
      }),
    })
    await answer.text()
    messages.push({ role: "assistant", content: "Noted." })
    await gateway.holdfast.idle()
    const line = answer.headers.get("x-holdfast-receipt") ?? ""
    const figure = (name: string): number => Number(new RegExp(`(?:^|; )${name}=(\\d+)`).exec(line)?.[1])
    return {
      session: answer.headers.get("x-holdfast-session") ?? "",
      receipt: { rules: figure("rules"), operatorRules: figure("operator-rules") },
    }
  }
  return { folder, data, ask, gateway }
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-number-"))
  endings.push(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "policy"))
  writeFileSync(join(folder, "policy", "house.md"), "- Never sell a boat.\n- Answer in English.\n")
  writeFileSync(join(folder, "policy", "mine.md"), "---\nsession: elsewhere\n---\n- Never rent out a pier.\n")
  return folder
}

const countIn = (told: unknown): Count => {
  const { rules, operatorRules } = isObject(told) ? told : {}
  return { rules: Number(rules), operatorRules: Number(operatorRules) }
}

/** What each door says of a session. */
async function doorsOf({ gateway, data }: Place, session: string): Promise<Readonly<Record<string, Count>>> {
  const read = async (path: string): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await fetch(`${gateway.url}/admin/${path}`, { headers: { authorization: `Bearer ${adminToken}` } })
    return JSON.parse(await answer.text())
  }
  const command = async (...argv: readonly string[]): Promise<Readonly<Record<string, unknown>>> => {
    const env = { HOLDFAST_DATA: data }
    const { exit, stdout, stderr } = await runCommand([...argv, "--json"], { env, dateMs: Date.now })
    expect({ argv, exit, stderr }).toEqual({ argv, exit: 0, stderr: "" })
    return JSON.parse(stdout)
  }
  const isOperators = (one: unknown): boolean => isObject(one) && one.by === "operator"
  const ofList = (list: unknown): Count =>
    Array.isArray(list) ? { rules: list.length, operatorRules: list.filter(isOperators).length } : countIn(undefined)
  const id = encodeURIComponent(session)
  const list = await read("sessions")
  const listed = Array.isArray(list.sessions) ? list.sessions.filter(isObject) : []
  const rows = await read(`rows?ids=${id}`)
  const { pins, ...counted } = await read(`sessions/${id}/pins`)
  const rules = await command("rules", "list", session)
  return {
    list: countIn(listed.find((row) => row.id === session)),
    row: countIn(Array.isArray(rows.sessions) ? rows.sessions[0] : undefined),
    pins: ofList(pins),
    counted: countIn(counted),
    library: ofList(await gateway.holdfast.session(session).pins()),
    command: ofList(rules.rules),
    commandCounted: { rules: Number(rules.inForce), operatorRules: Number(rules.operatorRules) },
    shown: ofList((await command("sessions", "show", session)).pins),
  }
}

/** What totals and `status` say of all sessions. */
async function sumsOf({ gateway, data }: Place): Promise<readonly Count[]> {
  const bearer = { headers: { authorization: `Bearer ${adminToken}` } }
  const { rules } = JSON.parse(await (await fetch(`${gateway.url}/admin/totals`, bearer)).text())
  const { stdout } = await runCommand(["status", "--json"], { env: { HOLDFAST_DATA: data }, dateMs: Date.now })
  const { tally } = JSON.parse(stdout)
  return [{ rules: rules.inForce, operatorRules: rules.operator }, countIn(tally)]
}

const expectAll = (doors: Readonly<Record<string, Count>>, count: Count): void =>
  expect(doors).toEqual(Object.fromEntries(Object.keys(doors).map((door) => [door, count])))

test("every door has the same number of rules: superseded, withdrawn, demoted, inherited, shared and the operator's", async () => {
  const folder = makeFolder()
  const place = await open(folder)
  const { holdfast } = place.gateway
  const first = await place.ask("Never e-mail anyone outside northwind.test. Look into the invoices.")
  expect(first.receipt).toEqual({ rules: 3, operatorRules: 2 })
  await place.ask("Refunds above 100 euros need my approval. Always use metric units in tables.")
  // Supersedes the rule of the message before.
  await place.ask("From now on, refunds above 300 euros need my approval. Never deploy on Fridays.")
  const main = holdfast.session(first.session)
  await main.unpin("metric units")
  await main.demote("Fridays")
  await main.pin("Answer each ticket within a day.", { scope: "project" })
  await main.pin("Sign as Ann.")
  const told = (await main.pins({ all: true })).map(({ state }) => state)
  expect(told).toEqual(expect.arrayContaining(["superseded", "withdrawn", "in-force"]))
  const count = { rules: (await main.pins()).length, operatorRules: 2 }
  expect((await place.ask("Go on.")).receipt).toEqual(count)
  // What was said of e-mail, the newer limit, the demoted one, the shared one and the pinned one.
  expect(count.rules).toBe(7)
  expectAll(await doorsOf(place, first.session), count)

  const below = await place.ask("Find the invoices of May.", "explorer")
  // Three that the user said or pinned there, the shared one, and the operator's.
  const ofAgent = { rules: 6, operatorRules: 2 }
  expect(below.receipt).toEqual(ofAgent)
  const doors = await doorsOf(place, below.session)
  expectAll(doors, ofAgent)
  for (const sum of await sumsOf(place)) expect(sum).toEqual({ rules: 13, operatorRules: 4 })

  for (const end of endings.splice(1).reverse()) await end()
  const again = await open(folder)
  for (const [id, rules] of [
    [first.session, count],
    [below.session, ofAgent],
  ] as const) {
    const { library: _, ...read } = await doorsOf(again, id)
    expectAll(read, rules)
  }
  for (const sum of await sumsOf(again)) expect(sum).toEqual({ rules: 13, operatorRules: 4 })
  // What changes in the conversation changes in its subagent's row.
  await again.gateway.holdfast.session(first.session).unpin("Sign as Ann.")
  const { library: _, ...after } = await doorsOf(again, below.session)
  expectAll(after, { rules: 5, operatorRules: 2 })
  expect(again.gateway.faults).toEqual([])
})

const texts = ["Never push to main.", "Always write tests.", "Never sell.", "Use tabs.", "From now on, use spaces."]
const act = fc.oneof(
  fc.record({ type: fc.constant("say" as const), n: fc.nat(texts.length - 1) }),
  fc.record({ type: fc.constant("pin" as const), n: fc.nat(texts.length - 1) }),
  fc.record({ type: fc.constant("share" as const), n: fc.nat(texts.length - 1) }),
  fc.record({ type: fc.constantFrom("unpin" as const, "demote" as const), n: fc.nat(9) }),
)

test("for any acts, the count of a stored session is that of its list, which is what the session itself says", async () => {
  const property = fc.asyncProperty(fc.array(act, { maxLength: 8 }), async (acts) => {
    let nowMs = 1e12
    const holdfast = createHoldfast({ store: "memory", format: "openai-chat", now: () => nowMs })
    const session = holdfast.session("s")
    await session.append([{ role: "user", content: "Good morning." }])
    for (const { type, n } of acts) {
      nowMs += 2000
      const text = texts[n] ?? ""
      if (type === "say") await session.append([{ role: "user", content: text }])
      if (type === "pin") await session.pin(text, { expiresAtMs: nowMs + 3000 })
      if (type === "share") await session.pin(text, { scope: "agent" })
      const own = (await session.pins()).filter(({ scope }) => type === "unpin" || scope === "session")
      const meant = own[n % Math.max(1, own.length)]
      if (meant !== undefined && (type === "unpin" || type === "demote")) await session[type](meant.id)
      nowMs += 2000
      const [row] = await holdfast.sessions()
      if (row === undefined) throw new Error("the session is stored")
      const { rules } = await holdfast.storedRules.count(row)
      expect(rules).toBe((await session.pins()).length)
      expect(await holdfast.storedRules.list(row)).toEqual(await session.rules())
    }
    await holdfast.close()
  })
  await fc.assert(property, { numRuns: runs })
})

test("a thousand sessions are counted again without their logs being read again", async () => {
  const store = await openStore("memory")
  let read = 0
  const counting = {
    ...store,
    outline: (...args: Parameters<typeof store.outline>) => {
      read += 1
      return store.outline(...args)
    },
  }
  const holdfast = createHoldfast({ store: counting, format: "openai-chat" })
  for (let n = 0; n < 1000; n++)
    await holdfast.session(`s${n}`).append([{ role: "user", content: `Never open gate ${n}.` }])
  const sum = async (): Promise<number> => {
    let rules = 0
    for (const row of await holdfast.sessions()) rules += (await holdfast.storedRules.count(row)).rules
    return rules
  }
  expect(await sum()).toBe(1000)
  read = 0
  expect(await sum()).toBe(1000)
  expect(read).toBeLessThan(10)
  await holdfast.session("s7").pin("Ask first.")
  read = 0
  expect(await sum()).toBe(1001)
  expect(read).toBeLessThan(10)
  await holdfast.close()
})
