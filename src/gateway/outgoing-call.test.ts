import { expect, test } from "vitest"
import { startModelServer } from "../../test/model-server/model-server.ts"
import { startTestGateway } from "../../test/support/gateway.ts"
import { createHoldfast } from "../session/holdfast.ts"
import type { HistoryEntry } from "../session/inspect.ts"

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
