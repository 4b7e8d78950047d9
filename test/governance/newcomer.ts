import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createGuard, createHoldfast, findRules, guardSse, openOperator, openStore } from "holdfast"
import { createKeyPair, signCommand } from "holdfast/operator"
import { survival } from "holdfast/survival"
import { readSse } from "holdfast/wire"

/** What someone tries first, with nothing but the package: everything that comes of it is printed. */

const folder = mkdtempSync(join(tmpdir(), "holdfast-newcomer-"))
const said = "Please book the trip. Never spend more than $500 on one order."
const [rule] = findRules(said, { channel: "user" })
const guard = createGuard([{ template: "spend-limit", amount: 500 }])
const verdict = guard.judge(
  { tool: "buy", input: { item: "ticket", amount: 700, currency: "USD" } },
  { agent: "clerk" },
)

const directory = join(folder, "policy")
mkdirSync(directory, { mode: 0o755 })
writeFileSync(join(directory, "rules.md"), "- Never send mail outside corp.example.\n", { mode: 0o644 })
const store = await openStore(join(folder, "holdfast.db"))
const pair = createKeyPair()
const operator = await openOperator({ store, directory, keys: [pair.publicKey], watch: false })
const issuedAtMs = Date.now()
const accepted = await operator.submit(
  signCommand(pair.privateKey, {
    audience: operator.audience,
    sequence: 1,
    issuedAtMs,
    expiresAtMs: issuedAtMs + 60_000,
    nonce: "the-first-command",
    command: { type: "pin", text: "Never deploy on a Friday." },
  }),
)
const holdfast = createHoldfast({ store, operator, guard: { guard }, format: "openai-chat" })
const session = holdfast.session("first")
await session.append([{ role: "user", content: said }])
const { wire } = await session.prepare({ model: "any" })
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "any", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const call = { name: "buy", arguments: '{"item":"ticket","amount":700,"currency":"USD"}' }
const stream = [
  chunk({ role: "assistant", tool_calls: [{ index: 0, id: "call_1", type: "function", function: call }] }, null),
  chunk({}, "tool_calls"),
  "data: [DONE]\n\n",
].join("")
const guarding = await session.guarding()
let heard = ""
if (guarding !== undefined)
  for await (const { raw } of guardSse(
    "openai-chat",
    readSse(new TextEncoder().encode(stream)),
    guarding.guard,
    guarding,
  ))
    heard += new TextDecoder().decode(raw)
await holdfast.idle()
const history = await session.history()
process.stdout.write(
  JSON.stringify({
    rule,
    kept: survival("Never spend more than $500 on one order.", said),
    lost: survival("Never spend more than $500 on one order.", "The user wants a trip booked."),
    verdict: { decision: verdict.decision, reasons: verdict.reasons },
    accepted: accepted.rule,
    wire,
    heard,
    judged: history.flatMap(({ body }) => (body?.type === "calls-judged" ? body.calls : [])),
  }),
)
await holdfast.close()
await operator.close()
await store.close()
rmSync(folder, { recursive: true, force: true })
