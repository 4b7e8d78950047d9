import OpenAI from "openai"
import { afterEach, expect, test } from "vitest"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import { textAt } from "../model-server/json.ts"
import { startTestGateway, type TestGateway, type TestGatewayOptions } from "../support/gateway.ts"
import { type HeldUpstream, type HeldUpstreamOptions, startHeldUpstream } from "./held-upstream.ts"

const rule = "Never write to any file below vendor/."
const question = `${rule} Read every part of the ledger, one after the other, and then add up the totals.`
const windowTokens = 30_000
const turns = 30

/** A page of made-up figures: some 2,500 tokens, all pages different. */
const page = (n: number): string =>
  Array.from(
    { length: 160 },
    (_, line) =>
      `row ${n * 1000 + line}: account ${(n * 7919 + line * 104_729) % 99_991} total ${(line * 31 + n * 17) % 997}`,
  ).join("\n")

const say: HeldUpstreamOptions["say"] = (call) =>
  call < turns
    ? {
        reasoning: `Part ${call} is next.`,
        text: `I read part ${call}.`,
        calls: [{ tool: "read_part", input: { part: call } }],
      }
    : { text: "All parts are read." }

const tools = [
  {
    type: "function" as const,
    name: "read_part",
    description: "Read one part of the ledger.",
    parameters: {
      type: "object",
      properties: { part: { type: "number" } },
      required: ["part"],
      additionalProperties: false,
    },
    strict: true,
  },
]

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

async function start(options: Partial<HeldUpstreamOptions> = {}, own: TestGatewayOptions = { windowTokens }) {
  const upstream = await startHeldUpstream({ say, limitTokens: windowTokens, ...options })
  const gateway = await startTestGateway(upstream.url, own)
  open.push(upstream.close, gateway.close)
  return { upstream, gateway }
}

/** Returns a client, and every body that it sent. */
function clientOf(gateway: () => TestGateway): { readonly client: OpenAI; readonly bodies: string[] } {
  const bodies: string[] = []
  const client = new OpenAI({
    baseURL: "http://gateway.invalid/v1",
    apiKey: "key-of-this-test",
    maxRetries: 0,
    fetch: (url, init) => {
      bodies.push(String(init?.body))
      return fetch(String(url).replace("http://gateway.invalid", gateway().url), init)
    },
  })
  return { client, bodies }
}

type Input = OpenAI.Responses.ResponseInputItem
type Loop = { readonly stream?: boolean; readonly onTurn?: (turn: number) => Promise<void>; readonly extra?: object }

async function runLoop(client: OpenAI, { stream = false, onTurn, extra = {} }: Loop = {}): Promise<string> {
  let input: Input[] = [{ role: "user", content: question }]
  let previous: object = {}
  for (let turn = 0; turn < turns + 5; turn += 1) {
    await onTurn?.(turn)
    const params = { model: "gpt-5.5", instructions: "You keep ledgers.", tools, input, ...previous, ...extra }
    const response = stream
      ? await client.responses.stream(params).finalResponse()
      : await client.responses.create(params)
    const results = response.output.flatMap((item): readonly Input[] =>
      item.type === "function_call"
        ? [{ type: "function_call_output", call_id: item.call_id, output: page(JSON.parse(item.arguments).part) }]
        : [],
    )
    if (results.length === 0) return response.output_text
    input = [...results]
    previous = { previous_response_id: response.id }
  }
  throw new Error("no end")
}

const holdsPrevious = ({ text }: { readonly text: string }): boolean => text.includes('"previous_response_id"')

function expectKept({ requests }: HeldUpstream): void {
  for (const { context, status, tokens } of requests) {
    expect(status).toBe(200)
    expect(context).toContain(rule)
    expect(tokens).toBeLessThanOrEqual(windowTokens)
  }
}

test.each([false, true])("a chain of previous ids outgrows the window and goes on, stream %s", async (stream) => {
  const { upstream, gateway } = await start()
  const { client, bodies } = clientOf(() => gateway)
  expect(await runLoop(client, { stream })).toBe("All parts are read.")
  expectKept(upstream)
  const same = upstream.requests.filter(({ text }, n) => text === bodies[n])
  const whole = upstream.requests.slice(1).filter((request) => !holdsPrevious(request))
  expect(whole.length).toBeGreaterThan(0)
  expect(same.length + whole.length).toBe(upstream.requests.length)
  expect(same.length).toBeGreaterThan(whole.length)
  expect(gateway.records.every(({ session }) => session === gateway.records[0]?.session)).toBe(true)
  expect(gateway.faults).toEqual([])
})

test("a window that nobody knew of is learned from the refusal", async () => {
  const { upstream, gateway } = await start({}, {})
  const { client } = clientOf(() => gateway)
  expect(await runLoop(client)).toBe("All parts are read.")
  const refused = upstream.requests.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(0)
  expect(upstream.requests.every(({ context }) => context.includes(rule))).toBe(true)
})

test("the gateway starts anew in between, on the same store", async () => {
  const store = createMemoryStore()
  const { upstream, gateway: first } = await start({}, { windowTokens, store })
  let gateway = first
  const { client, bodies } = clientOf(() => gateway)
  const onTurn = async (turn: number): Promise<void> => {
    if (turn % 7 !== 6) return
    await gateway.close()
    gateway = await startTestGateway(upstream.url, { windowTokens, store })
    open.push(gateway.close)
  }
  expect(await runLoop(client, { onTurn })).toBe("All parts are read.")
  expectKept(upstream)
  expect(upstream.requests[6]?.text).toBe(bodies[6])
  expect(upstream.requests.filter(holdsPrevious).length).toBeGreaterThan(turns / 2)
})

test("the upstream has lost what it held", async () => {
  const { upstream, gateway } = await start()
  const { client } = clientOf(() => gateway)
  const onTurn = async (turn: number): Promise<void> => {
    if (turn === 3 || turn === 20) upstream.forget()
  }
  expect(await runLoop(client, { onTurn })).toBe("All parts are read.")
  const answered = upstream.requests.filter(({ status }) => status === 200)
  expect(answered).toHaveLength(turns + 1)
  expect(upstream.requests.length - answered.length).toBeLessThanOrEqual(2)
  for (const { context } of answered) expect(context).toContain(rule)
})

test("an id from elsewhere is the upstream's to know, and its word is passed on as it is", async () => {
  const { upstream, gateway } = await start()
  const { client, bodies } = clientOf(() => gateway)
  const asked = client.responses.create({
    model: "gpt-5.5",
    input: "Go on.",
    previous_response_id: "resp_0f3c5e7a9b1d2c4e6f",
  })
  await expect(asked).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" })
  expect(upstream.requests.map(({ text }) => text)).toEqual(bodies)
})

test("a chain that the client did not want kept is refused as the provider refuses it", async () => {
  const { gateway } = await start()
  const { client } = clientOf(() => gateway)
  const { id } = await client.responses.create({ model: "gpt-5.5", input: question, store: false })
  const asked = client.responses.create({ model: "gpt-5.5", input: "Go on.", previous_response_id: id, store: false })
  await expect(asked).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" })
})

test("going on from an earlier answer leaves what came after it out", async () => {
  const { upstream, gateway } = await start({ say: (call) => ({ text: `Answer ${call}.` }) })
  const { client } = clientOf(() => gateway)
  const ask = (input: string, previous?: string) =>
    client.responses.create({
      model: "gpt-5.5",
      input,
      ...(previous === undefined ? {} : { previous_response_id: previous }),
    })
  const first = await ask(question)
  const second = await ask(`Left behind: ${page(1)}`, first.id)
  await ask(`Further: ${page(2)}`, second.id)
  await ask("Another way.", first.id)
  upstream.forget()
  const other = await ask("Still the other way?", second.id)
  expect(other.output_text).toMatch(/^Answer/)
  const last = upstream.requests.at(-1)
  expect(last?.context).toContain("Left behind")
  expect(last?.context).not.toContain("Further: row")
  expect(last?.context).not.toContain("Another way")
})

test("two people who go on from one answer at the same time do not hear of each other", async () => {
  const { upstream, gateway } = await start({ say: (call) => ({ text: `Answer ${call}.` }) })
  const { client } = clientOf(() => gateway)
  const first = await client.responses.create({ model: "gpt-5.5", input: question })
  const ways = ["alpha", "beta", "gamma"]
  const answers = await Promise.all(
    ways.map((way) =>
      client.responses.create({ model: "gpt-5.5", input: `The way is ${way}.`, previous_response_id: first.id }),
    ),
  )
  upstream.forget()
  for (const [n, answer] of answers.entries()) {
    await client.responses.create({ model: "gpt-5.5", input: "And now?", previous_response_id: answer.id })
    const { context = "" } = upstream.requests.at(-1) ?? {}
    expect(ways.filter((way) => context.includes(way))).toEqual([ways[n]])
  }
})

test("an upstream that keeps nothing serves a client that goes by ids", async () => {
  const { upstream, gateway } = await start({
    refuse: ({ json }) =>
      textAt(json, "previous_response_id") === undefined
        ? undefined
        : {
            status: 400,
            body: { error: { message: "Unsupported parameter: previous_response_id", type: "invalid_request_error" } },
          },
  })
  const { client } = clientOf(() => gateway)
  expect(await runLoop(client)).toBe("All parts are read.")
  expect(upstream.requests.filter(({ status }) => status === 400)).toHaveLength(2)
  for (const { context } of upstream.requests) expect(context).toContain(rule)
})

test("what was cut from a chain can be called back, whoever holds the chain", async () => {
  let asked = 0
  const { upstream, gateway } = await start(
    {
      say: (call, context) => {
        const handle = /recall (hf-[1-9]\d*-[0-9a-f]{20})/.exec(context)?.[1]
        if (handle === undefined || asked > 1) return say(call, context)
        asked += 1
        return { calls: [{ tool: "holdfast_recall", input: { handle } }] }
      },
    },
    { windowTokens, recall: true, sessions: { recall: true } },
  )
  const { client } = clientOf(() => gateway)
  expect(await runLoop(client)).toBe("All parts are read.")
  expect(asked).toBe(2)
  for (const { context, status, text } of upstream.requests) {
    expect(status).toBe(200)
    expect(context).toContain(rule)
    expect(text.includes('"name":"holdfast_recall","description"')).toBe(/recall(?: |=\\?")hf-\d/.test(context))
  }
  expect(gateway.faults).toEqual([])
})
