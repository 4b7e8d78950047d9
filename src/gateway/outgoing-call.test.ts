import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startModelServer } from "../../test/model-server/model-server.ts"
import { startTestGateway } from "../../test/support/gateway.ts"
import { openOperator } from "../guard/operator/operator.ts"
import { createHoldfast } from "../session/holdfast.ts"
import type { HistoryEntry } from "../session/inspect.ts"
import { createMemoryStore } from "../store/memory-store.ts"

const turns = 40

const isUsage = ({ type }: HistoryEntry): boolean => type === "usage-reported"

test.each([{ "x-session-id": "quick" }, {}])(
  "a client that never pauses stays in its session: %o",
  { timeout: 60_000 },
  async (named) => {
    const model = await startModelServer({ script: ({ index }) => ({ text: `Step ${index} is done.` }) })
    const gateway = await startTestGateway(model.url)
    const sessions = new Set<string>()
    gateway.holdfast.subscribe(({ session }) => sessions.add(session))
    const messages: object[] = [{ role: "system", content: "You write tests." }]
    for (let turn = 0; turn < turns; turn++) {
      messages.push({ role: "user", content: `Part ${turn}: ${"some words of the matter ".repeat(20)}` })
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer k", ...named },
        body: JSON.stringify({ model: "gpt-5.4", messages }),
      })
      const { choices }: { readonly choices: readonly { readonly message: object }[] } = JSON.parse(await answer.text())
      messages.push(choices[0]?.message ?? {})
    }
    await gateway.close()
    await model.close()
    expect(gateway.faults).toEqual([])
    const later = createHoldfast({ store: gateway.store })
    const usages = await Promise.all(
      [...sessions].map(async (id) => (await later.session(id).history({ limit: 1000 })).filter(isUsage)),
    )
    // A request that the next one contains is stored with it, and so is its usage.
    expect(usages.flat()).toHaveLength(turns)
    expect(gateway.records.filter(({ how }) => how === "at-once").length).toBeGreaterThan(turns / 2)
    expect(sessions.size).toBe(1)
  },
)

/** Hold up everything in this process. */
function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test("a rule that was just given is in the next request, though the process is held up meanwhile", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-fresh-"))
  const directory = join(folder, "policy")
  mkdirSync(directory, { mode: 0o700 })
  const store = createMemoryStore()
  const operator = await openOperator({ store, directory, watch: false })
  const busy = { isOn: false }
  const held: typeof operator = {
    ...operator,
    refresh: async () => {
      if (busy.isOn) block(900)
      return operator.refresh()
    },
  }
  const model = await startModelServer({ script: () => ({ text: "Yes." }) })
  const gateway = await startTestGateway(model.url, { store, operator: held })
  const messages: object[] = []
  const say = async (content: string): Promise<string> => {
    messages.push({ role: "user", content })
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k", "x-session-id": "one" },
      body: JSON.stringify({ model: "gpt-5.4", messages }),
    })
    await answer.text()
    messages.push({ role: "assistant", content: "Yes." })
    return Buffer.from(model.requests.at(-1)?.body ?? []).toString()
  }
  await say("Hello.")
  // The session takes a request in beside those that come: only then is the next one forwarded at once.
  await expect.poll(async () => (await store.sessions()).length).toBe(1)
  await gateway.holdfast.idle()
  await say("And again.")
  expect(gateway.records.at(-1)?.how).toBe("at-once")
  await new Promise((done) => setTimeout(done, 300))
  writeFileSync(join(directory, "rules.md"), "- Never mention the harbour.\n", { mode: 0o600 })
  busy.isOn = true
  expect(await say("Go on.")).toContain("Never mention the harbour.")
  await gateway.close()
  await operator.close()
  await model.close()
  rmSync(folder, { recursive: true })
})
