import { expect, test } from "vitest"
import { startModelServer } from "../../test/model-server/model-server.ts"
import { startTestGateway } from "../../test/support/gateway.ts"
import { defaultPolicy } from "../compact/plan/policy.ts"
import type { Receipt } from "../session/history/prepared.ts"
import { decodeRequest } from "../wire/decode.ts"
import { bodyFor, commonPrefix, continueFastPath, type FastPath, fastPathOf } from "./fast-path/fast-path.ts"

const said = (texts: readonly string[]): Buffer =>
  Buffer.from(
    JSON.stringify({
      model: "m",
      messages: texts.map((content, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content })),
      stream: true,
    }),
  )
const receipt: Receipt = {
  session: "s",
  entry: "e12",
  stackTokens: 0,
  contextTokens: 100,
  windowTokens: 10_000,
  compactAtTokens: 8000,
  compactUnreadAtTokens: 8000,
  stableTokens: 0,
  changed: true,
  durable: true,
  rules: 0,
  operatorRules: 0,
  checkpoint: "e9",
}
type Made = { readonly body: Buffer; readonly sent: Buffer; readonly rules?: readonly string[] }
const fastPathFor = ({ body, sent, rules = [] }: Made): FastPath =>
  fastPathOf({
    session: "s",
    isNamed: false,
    bytes: body,
    sent,
    request: decodeRequest("openai-chat", body.toString()),
    receipt,
    changed: true,
    rules,
  })
const history = ["go", "ö old", "old", "more", "now", "yes", "on", "right"]
const short = [history[0] ?? "", "[left out: ö]", ...history.slice(4)]

test("the next turn is sent with the same compacted prefix, and the rest unchanged", () => {
  const fastPath = fastPathFor({ body: said(history), sent: said(short) })
  const next = continueFastPath(fastPath, said([...history, "and ü?"]), defaultPolicy)
  expect(next === undefined ? "" : bodyFor(next).toString()).toBe(said([...short, "and ü?"]).toString())
})

test("a body that was changed to its end must be prepared by the session", () => {
  const fastPath = fastPathFor({ body: said(history), sent: said([...short, "[rules]"]) })
  expect(fastPath.plain).toBe(false)
})

test("a rule in the compacted prefix is always sent; a rule after it must be in the next body", () => {
  const fastPath = fastPathFor({ body: said(history), sent: said(short), rules: ["left out", "right"] })
  expect(fastPath.needles.map(({ bytes }) => bytes.toString())).toEqual(["right"])
  expect(continueFastPath(fastPath, said([...history.slice(0, -1), "wrong"]), defaultPolicy)).toBeUndefined()
  expect(continueFastPath(fastPath, said([...history, "next"]), defaultPolicy)).toBeDefined()
})

const windowTokens = 12_000
const turns = 60

test("requests are forwarded at once while a compaction is in force", {
  timeout: 60_000,
}, async () => {
  const model = await startModelServer({
    script: ({ index }) => ({ text: `Step ${index} is done.` }),
    strict: true,
    windowTokens,
  })
  const gateway = await startTestGateway(model.url, { windowTokens, sessions: { windowTokens } })
  const messages: object[] = [{ role: "system", content: "You write tests." }]
  for (let turn = 0; turn < turns; turn++) {
    messages.push({ role: "user", content: `Grüße, part ${turn}: ${"some words of the matter ".repeat(40)}` })
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k", "x-session-id": "spliced" },
      body: JSON.stringify({ model: "gpt-5.4", messages }),
    })
    expect(answer.status).toBe(200)
    const { choices }: { readonly choices: readonly { readonly message: object }[] } = JSON.parse(await answer.text())
    messages.push(choices[0]?.message ?? {})
    // A client that pauses before its next request finds that the session has stored the last one.
    await gateway.holdfast.idle()
    await new Promise((resolve) => setTimeout(resolve, 15))
  }
  await gateway.close()
  await model.close()
  const bodies = model.requests.map(({ body }) => Buffer.from(body))
  const broken = bodies.filter((body, n) => {
    const before = bodies[n - 1]
    return before !== undefined && commonPrefix(before, body) < before.length - 2
  })
  const compactions = new Set(gateway.records.flatMap(({ receipt }) => receipt?.checkpoint ?? [])).size
  const spliced = gateway.records.filter(({ how, changed }) => how === "at-once" && changed)
  expect(gateway.faults).toEqual([])
  expect(spliced.length).toBeGreaterThan(0)
  expect(compactions).toBeGreaterThan(1)
  expect(broken.length).toBeLessThanOrEqual(compactions + 1)
})
