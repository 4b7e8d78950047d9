import { expect, test } from "vitest"
import { createAgent } from "../../bench/cache-agent.ts"
import { formats } from "../../src/message/message.ts"
import { field, parseJson } from "../model-server/json.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { startTestGateway } from "../support/gateway.ts"

const own = { system: "Own system part.", tools: [{ name: "read_file", description: "Reads." }], goal: "Begin." }

/** This provider's tokens are shorter than our count assumes. */
const bytesPerToken = 2.2

test.each(formats)(
  "%s: a count is calibrated only by the usage of the request that was counted, also while compactions are made beside requests",
  async (format) => {
    const model = await startModelServer({
      script: ({ index, body }) => ({
        ...(index % 3 === 2 ? { text: "Done." } : { calls: [{ tool: "read_file", input: { path: `a${index}` } }] }),
        usage: { inputTokens: Math.round(JSON.stringify(body).length / bytesPerToken) },
      }),
    })
    const gateway = await startTestGateway(model.url, { windowTokens: 9000 })
    const agent = createAgent(format, own)
    const headers = { "content-type": "application/json", authorization: "Bearer x", "x-session-id": "one" }
    for (let turn = 0; turn < 40; turn++) {
      const answer = await fetch(`${gateway.url}${agent.path}`, { method: "POST", headers, body: agent.body() })
      agent.take(parseJson(await answer.text()), `result ${turn} of the work, `.repeat(100 + (turn % 7) * 20), "Go on.")
    }
    await gateway.close()
    await model.close()
    const [row] = await gateway.store.sessions()
    const entries = (await gateway.store.read(row?.id ?? expect.fail())).map(({ body }) => parseJson(body))
    const pairs = entries.flatMap((entry) => {
      const [counted, used] = [field(entry, "estimatedTokens"), field(field(entry, "usage"), "inputTokens")]
      return typeof counted === "number" && typeof used === "number" && counted > 0 ? [{ counted, used }] : []
    })
    expect(gateway.records.some(({ how }) => how === "at-once")).toBe(true)
    expect(entries.some((entry) => field(entry, "type") === "checkpoint-installed")).toBe(true)
    expect(pairs.length).toBeGreaterThan(5)
    const ratios = pairs.filter(({ counted }) => counted > 1000).map(({ counted, used }) => used / counted)
    expect(Math.max(...ratios) / Math.min(...ratios), ratios.join(", ")).toBeLessThan(1.6)
  },
)
