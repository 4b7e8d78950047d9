import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { openAdminHouse, token } from "../../../test/fixtures/gateway/admin-house.ts"
import { audience, createSigner, noonMs } from "../../../test/fixtures/operator/signer.ts"
import { openOperator } from "../../guard/operator/operator.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { approvalsFromOperator, createApprovals } from "./approvals.ts"

const noPaying =
  '@rule("No paying.") forbid(principal, action, resource) when { context.actions.contains("purchase") };'

const call = { tool: "buy", input: { item: "boat" } }
const facts = { decision: "ask", reasons: [], errors: [] } as const
const never = new AbortController().signal

const asked = (session: string) => ({
  session,
  tenant: "t",
  trace: "x",
  call,
  verdict: JSON.parse(JSON.stringify({ ...facts, facts: {} })),
})

test("a signed command is executed, and the response shows what is in force and its source", async () => {
  const { command, signer, read } = await openAdminHouse()
  const pin = { type: "pin", text: "Never pay.", agent: "clerk", expiresAtMs: noonMs + 1000 } as const
  const answer = await command(signer.sign(pin))
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({
    accepted: { type: "command-accepted", key: signer.pair.fingerprint, command: pin },
    rule: "c2",
    standing: { audience, rules: [{ id: "c2", text: "Never pay.", by: "command", expiresAtMs: noonMs + 1000 }] },
  })
  await command(signer.sign({ type: "add-policy", name: "pay", policy: noPaying }))
  expect(await read("/admin/pins")).toMatchObject({
    rules: [{ id: "c2", source: signer.pair.fingerprint }],
    policies: [{ name: "pay", text: noPaying, by: "command", command: "c3" }],
    judging: [{ id: "pay", source: "pay", line: 1, decision: "deny", rule: "No paying." }],
  })
})

test("a rule from a file is shown with its file, and cannot be withdrawn here", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-admin-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, "rules.md"), "- Never sell a boat.\n")
  writeFileSync(join(directory, "pay.cedar"), noPaying)
  const signer = createSigner()
  const keys = [signer.pair.publicKey]
  const operator = await openOperator({
    store: createMemoryStore(),
    directory,
    keys,
    audience,
    now: () => noonMs,
    watch: false,
  })
  const { read, command } = await openAdminHouse({ operator })
  const { rules, policies } = await read("/admin/pins")
  expect(rules).toMatchObject([{ text: "Never sell a boat.", by: "file", source: "rules.md" }])
  expect(policies).toMatchObject([{ name: "pay.cedar", by: "file" }])
  const answer = await command(signer.sign({ type: "unpin", rule: Object(rules)[0].id }))
  expect(answer.status).toBe(409)
})

test("the audit log is listed page by page", async () => {
  const { command, signer, read } = await openAdminHouse()
  for (let n = 0; n < 4; n++) await command(signer.sign({ type: "pin", text: `Rule ${n}.` }))
  const first = await read("/admin/audit?limit=3")
  const second = await read(String(first.next))
  const lines = [first, second].flatMap((page) => Object(page.lines).map(({ number }: { number: number }) => number))
  expect(lines).toEqual([1, 2, 3, 4, 5])
  expect(second).not.toHaveProperty("next")
})

test("a refused command states the reason, with its own status", async () => {
  const { command, signer } = await openAdminHouse()
  const pin = { type: "pin", text: "Never pay." } as const
  const good = signer.sign(pin)
  const refused: readonly (readonly [string, string, number])[] = [
    ["malformed", "hf1.nothing", 400],
    ["key-unknown", createSigner().sign(pin), 403],
    ["signature-wrong", `${good.slice(0, -8)}AAAAAAAA`, 403],
    ["audience-wrong", signer.sign(pin, { audience: "elsewhere" }), 403],
    ["expired", signer.sign(pin, { issuedAtMs: noonMs - 2000, expiresAtMs: noonMs - 1000 }), 409],
    ["impossible", signer.sign({ type: "unpin", rule: "c99" }), 409],
  ]
  for (const [reason, text, status] of refused) {
    const answer = await command(text)
    expect([reason, answer.status]).toEqual([reason, status])
    const { error } = Object(await answer.json())
    expect(error).toMatchObject({ code: "command-refused", next: expect.any(String) })
    expect(error.sentence).toContain(`(${reason})`)
  }
  expect((await command(good)).status).toBe(200)
  expect((await command(good)).status).toBe(409)
})

test.each([
  ["text/plain", 415],
  ["application/x-www-form-urlencoded", 415],
  ["multipart/form-data; boundary=x", 415],
  ["application/jsonp", 415],
  ["text/plain; application/json", 415],
  ["", 415],
  ["application/json", 200],
  ["application/json; charset=utf-8", 200],
  ["Application/JSON ;charset=utf-8", 200],
])("a command sent as %j: %i", async (type, status) => {
  const { ask, signer } = await openAdminHouse()
  const body = JSON.stringify({ command: signer.sign({ type: "pin", text: "Never pay." }) })
  const headers = { authorization: `Bearer ${token}`, "content-type": type }
  const answer = await ask("/admin/commands", { method: "POST", headers, body: new TextEncoder().encode(body) })
  expect(answer.status).toBe(status)
})

test.each([
  ["nothing", "", 400],
  ["no JSON", "hf1.a.b.c", 400],
  ["half of it", '{"command": "hf1', 400],
  ["a list", '["hf1.a"]', 400],
  ["null", "null", 400],
  ["a number", '{"command": 7}', 400],
  ["another name", '{"commands": "hf1.a"}', 400],
  ["something beside it", '{"command": "hf1.a", "force": true}', 400],
  ["a name of the prototype", '{"__proto__": {"command": "hf1.a"}}', 400],
  ["too much", JSON.stringify({ command: "x".repeat(64 * 1024) }), 413],
])("a body with %s is refused", async (_what, body, status) => {
  const { ask } = await openAdminHouse()
  // Sent as a stream without a content length; a stated length would not be trusted either.
  const stream = new Blob([body]).stream()
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": "5" }
  const request = { method: "POST", headers, body: stream, duplex: "half" } as const
  const answer = await ask("/admin/commands", request)
  expect(answer.status).toBe(status)
  const code = status === 413 ? "body-too-large" : "request-invalid"
  expect(await answer.json()).toMatchObject({ error: { code, sentence: expect.any(String) } })
})

test("a valid command without the token, or from a foreign page, changes nothing", async () => {
  const { ask, signer, operator } = await openAdminHouse()
  const body = JSON.stringify({ command: signer.sign({ type: "pin", text: "Never pay." }) })
  const json = { "content-type": "application/json" }
  const bearer = { ...json, authorization: `Bearer ${token}` }
  for (const headers of [
    json,
    { ...json, authorization: "Bearer wrong" },
    { ...bearer, origin: "https://evil.example" },
    { ...bearer, "sec-fetch-site": "cross-site" },
  ])
    expect([401, 403]).toContain((await ask("/admin/commands", { method: "POST", headers, body })).status)
  expect(operator.standing().rules).toEqual([])
})

test("a person decides by a signed command, and the response says that the call waited here", async () => {
  const { approvals, command, signer, read } = await openAdminHouse()
  const [yes, no] = [approvals.ask(asked("s"), never), approvals.ask(asked("s"), never)]
  const { approvals: waiting } = await read("/admin/approvals")
  expect(waiting).toMatchObject([{ tool: "buy", input: '{"item":"boat"}' }, { tool: "buy" }])
  const [first, second] = approvals.pending().map(({ id }) => id)
  const answer = await command(signer.sign({ type: "approve", call: first ?? "" }))
  expect(await answer.json()).toMatchObject({ approval: { id: first, waitedHere: true } })
  await command(signer.sign({ type: "refuse", call: second ?? "" }))
  expect(await Promise.all([yes, no])).toEqual([true, false])
  expect(await read("/admin/approvals")).toMatchObject({
    approvals: [],
    settled: [
      { outcome: "refused", tool: "buy" },
      { outcome: "approved", tool: "buy" },
    ],
  })
  expect((await command(signer.sign({ type: "approve", call: second ?? "" }))).status).toBe(409)
})

test("a decision submitted to another replica settles the call where it waits", async () => {
  const { store, command, signer } = await openAdminHouse()
  const keys = [signer.pair.publicKey]
  const elsewhere = await openOperator({ store, keys, audience, now: () => noonMs, watch: false })
  const approvals = createApprovals()
  const stop = approvalsFromOperator(elsewhere, approvals)
  const said = approvals.ask(asked("s"), never)
  const id = approvals.pending()[0]?.id ?? ""
  const answer = await command(signer.sign({ type: "approve", call: id }))
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ approval: { id, waitedHere: false } })
  expect(approvals.pending()).toHaveLength(1)
  await elsewhere.refresh()
  expect(await said).toBe(true)
  stop()
})

test("without an operator channel there are no rules and no commands", async () => {
  const { ask, command } = await openAdminHouse({ without: "operator" })
  for (const path of ["/admin/pins", "/admin/audit"]) expect((await ask(path)).status).toBe(404)
  expect(await (await command("hf1.a.b.c")).json()).toMatchObject({ error: { code: "operator-missing" } })
  expect((await ask("/admin/status")).status).toBe(200)
})
