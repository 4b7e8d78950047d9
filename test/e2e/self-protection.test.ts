import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Anthropic from "@anthropic-ai/sdk"
import OpenAI from "openai"
import { afterAll, beforeAll, expect, test } from "vitest"
import { isObject } from "../../src/wire/json.ts"
import {
  fill,
  harmlessCalls,
  harmlessCommands,
  hostileCalls,
  hostileCommands,
  type Setting,
} from "../fixtures/guard/calls.ts"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { main } from "../support/programs.ts"
import { sampleOf } from "../support/property.ts"
import { type ServeProcess, startServe } from "../support/serve-process.ts"

let model: ModelServer
let serve: ServeProcess
let setting: Setting
const folders: string[] = []

/** What the model says next: the call that the test wants, once. */
let next: { readonly tool: string; readonly input: unknown } | undefined

const token = "an-admin-token-of-this-test"

beforeAll(async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), "hf-self-")))
  folders.push(home)
  const folder = join(home, "shop")
  const rules = join(home, "elsewhere", "rules")
  await mkdir(folder)
  await mkdir(rules, { recursive: true, mode: 0o700 })
  await writeFile(join(rules, "rules.md"), "- Be kind.\n", { mode: 0o600 })
  await writeFile(join(folder, "holdfast.config.yaml"), "admin:\n  token: { env: HOLDFAST_ADMIN_TOKEN }\n")
  model = await startModelServer({
    script: () => {
      const call = next
      next = undefined
      return call === undefined ? { text: "Then I leave it." } : { text: "Now.", calls: [call] }
    },
  })
  serve = await startServe(folder, ["--upstream", model.url, "--policy", rules, "--data", ".holdfast"], {
    HOME: home,
    HOLDFAST_ADMIN_TOKEN: token,
  })
  setting = {
    ...{ folder, home, rules, token, name: "shop", pid: serve.pid, port: Number(new URL(serve.url).port) },
    script: main,
    started: "serve",
    program: join(home, "not-installed"),
  }
}, 60_000)

afterAll(async () => {
  await serve.stop()
  await model.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

type Heard = { readonly text: string; readonly inputs: readonly unknown[] }

const ask = { role: "user", content: "Go." } as const

/** What a vendor's own client gets to see: streamed by one wire, whole by another. */
const clients: readonly (() => Promise<Heard>)[] = [
  async () => {
    const client = new Anthropic({ apiKey: "none", baseURL: serve.url, maxRetries: 0 })
    const { content } = await client.messages
      .stream({ model: "scripted", max_tokens: 99, messages: [ask] })
      .finalMessage()
    return {
      text: content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n"),
      inputs: content.flatMap((block) => (block.type === "tool_use" ? [block.input] : [])),
    }
  },
  async () => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${serve.url}/v1`, maxRetries: 0 })
    const { choices } = await client.chat.completions.create({ model: "scripted", messages: [ask] })
    const calls = choices[0]?.message.tool_calls ?? []
    return {
      text: choices[0]?.message.content ?? "",
      inputs: calls.flatMap((call) => (call.type === "function" ? [JSON.parse(call.function.arguments)] : [])),
    }
  },
]

async function hear(tool: string, input: unknown, at: number): Promise<Heard> {
  next = { tool, input: JSON.parse(fill(JSON.stringify(input), setting)) }
  return (clients[at % clients.length] ?? clients[0] ?? expect.fail())()
}

type Case = readonly [tool: string, input: unknown]
const commandCase = (command: string): Case => ["bash", { command }]
/** Only where the package is installed is its folder its own. */
const isHere = ([, input]: Case): boolean => isObject(input) && !JSON.stringify(input).includes("{program}")
/** The everyday run sends every fourth of them; all are judged without a gateway in `src/guard/self/self-protection.test.ts`. */
const hostile = [...hostileCommands.map(commandCase), ...hostileCalls].filter(isHere)
const harmless = [...harmlessCommands.map(commandCase), ...harmlessCalls].filter(isHere)

test("a running gateway denies every call that would touch it, with a sentence for the user", {
  timeout: 300_000,
}, async () => {
  expect(hostile.length).toBeGreaterThan(120)
  for (const [at, [tool, input]] of sampleOf(hostile, 4).entries()) {
    const heard = await hear(tool, input, at)
    expect([tool, input, heard.inputs]).toEqual([tool, input, []])
    expect(heard.text).toContain("An agent may not touch the Holdfast gateway that guards it.")
    expect(heard.text).toContain("ask the person who runs Holdfast")
  }
  expect(serve.hasEnded()).toBe(false)
})

test("it lets every other call through, as it came", { timeout: 300_000 }, async () => {
  expect(harmless.length).toBeGreaterThan(100)
  for (const [at, [tool, input]] of sampleOf(harmless, 4).entries()) {
    const heard = await hear(tool, input, at)
    expect([tool, heard.text, heard.inputs]).toEqual([tool, "Now.", [JSON.parse(fill(JSON.stringify(input), setting))]])
  }
})

test.each([true, false])(
  "an answer without a call is the bytes that came, streamed: %s",
  { timeout: 60_000 },
  async (stream) => {
    const answer = await fetch(`${serve.url}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "none" },
      body: JSON.stringify({ model: "scripted", max_tokens: 99, stream, messages: [ask] }),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const came = model.requests.at(-1)?.response
    expect(bytes.toString()).toBe(Buffer.from(came?.bytes ?? []).toString())
    if (!stream) expect(answer.headers.get("content-length")).toBe(String(bytes.length))
  },
)

test("a request that passes its session by is judged all the same", { timeout: 60_000 }, async () => {
  next = { tool: "bash", input: { command: "rm -rf .holdfast" } }
  const client = new Anthropic({ apiKey: "none", baseURL: serve.url, maxRetries: 0 })
  const { content } = await client.messages.create(
    { model: "scripted", max_tokens: 99, messages: [ask] },
    { headers: { "x-holdfast-bypass": "1" } },
  )
  expect(content.map(({ type }) => type)).not.toContain("tool_use")
})
