import { spawn } from "node:child_process"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { perform } from "../../test/fixtures/cli/command-line.ts"
import { sampleSource } from "../../test/fixtures/mcp/sample-source.ts"
import type { McpScope } from "../mcp/source.ts"
import { createMcpCommand } from "./mcp-command.ts"
import { commandHelp } from "./run.ts"

type Opened = { readonly scope: McpScope; readonly data: string | undefined }

/** The command in a world of its own. `whileServing` is asked as soon as it says where it listens. */
async function mcp(argv: readonly string[], { stdin = "", env = {}, whileServing = async (_url: string) => {} } = {}) {
  const opened: Opened[] = []
  let closed = 0
  const stop = new AbortController()
  const command = createMcpCommand({
    openSource: async (scope, data) => {
      opened.push({ scope, data })
      return { source: sampleSource, close: async () => void closed++ }
    },
    version: async () => "9.9.9",
    stop: () => ({ signal: stop.signal, release: () => {} }),
  })
  const onStderr = (text: string): void => {
    const url = /http:\S+\/mcp/.exec(text)?.[0]
    if (url !== undefined) void whileServing(url).finally(() => stop.abort())
  }
  const performed = await perform(command, argv, { stdin, env, onStderr })
  return { ...performed, opened, closed }
}

const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

test("a session is served on stdio until its input ends, and its source is closed", async () => {
  const { outcome, stdout, stderr, opened, closed } = await mcp(["--session", "s1", "--data", "there"], { stdin: ping })
  expect({ outcome, stderr, closed }).toEqual({ outcome: 0, stderr: "", closed: 1 })
  expect(JSON.parse(stdout)).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
  expect(opened).toEqual([{ scope: { session: "s1" }, data: "there" }])
})

test("an agent is served on a port until the program is to end; its token comes from the environment", async () => {
  const statuses: number[] = []
  const whileServing = async (url: string): Promise<void> => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
    const authorization = "Bearer 0123456789abcdef"
    statuses.push((await fetch(url, { method: "POST", headers, body: ping })).status)
    statuses.push((await fetch(url, { method: "POST", headers: { ...headers, authorization }, body: ping })).status)
  }
  const env = { MCP_TOKEN: "0123456789abcdef" }
  const argv = ["--agent", "harbour", "--http", "0", "--token-env", "MCP_TOKEN"]
  const { outcome, stdout, opened, closed } = await mcp(argv, { env, whileServing })
  expect({ outcome, stdout, closed, statuses }).toEqual({ outcome: 0, stdout: "", closed: 1, statuses: [401, 200] })
  expect(opened).toEqual([{ scope: { agent: "harbour" }, data: undefined }])
})

const misused: [why: string, argv: readonly string[], words: string][] = [
  ["nobody named", [], "not said whose record"],
  ["an empty name", ["--session="], "not said whose record"],
  ["both named", ["--session", "s", "--agent", "a"], "exclude one another"],
  ["all memory of nobody", ["--agent", "a", "--agent-memory"], "--agent-memory means nothing without --session"],
  ["a tenant without an agent", ["--session", "s", "--tenant", "t"], "--tenant means nothing without --agent"],
  ["a port without --http", ["--session", "s", "4200"], "4200 means nothing without --http"],
  ["a host without --http", ["--session", "s", "--host", "::1"], "--host means nothing without --http"],
  ["a port that is none", ["--session", "s", "--http", "70000"], "--http"],
  ["a word for a port", ["--session", "s", "--http", "web"], "--http"],
  ["a variable that is not set", ["--session", "s", "--http", "--token-env", "NOPE"], '"NOPE", which is not set'],
]
test.each(misused)("%s: the command line cannot be meant, and nothing is opened", async (_why, argv, words) => {
  const { outcome, opened, stdout } = await mcp(argv)
  expect(outcome).toMatchObject({ exit: 2, sentence: expect.stringContaining(words) })
  expect({ opened, stdout }).toEqual({ opened: [], stdout: "" })
})

test("open to others without a token: refused, and the source is closed again", async () => {
  const { outcome, closed } = await mcp(["--session", "s", "--http", "0", "--host", "0.0.0.0"])
  expect(outcome).toMatchObject({ exit: 2, sentence: expect.stringContaining("token") })
  expect(closed).toBe(1)
})

test("help says how to write it, in lines that fit a terminal", () => {
  const deps = { openSource: () => Promise.reject(new Error("not asked for")), version: async () => "" }
  const help = commandHelp("mcp", createMcpCommand(deps))
  for (const word of ["--session ID", "--http", "--token-env NAME", "recall", "127.0.0.1"]) expect(help).toContain(word)
  expect(Math.max(...help.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(120)
})

const href = (file: string): string => JSON.stringify(pathToFileURL(`${import.meta.dirname}/${file}`).href)

const program = (argv: readonly string[]): string => `
  const { createMcpCommand } = await import(${href("mcp-command.ts")})
  const { readArguments } = await import(${href("command.ts")})
  const { openWorld } = await import(${href("world.ts")})
  const { sampleSource } = await import(${href("../../test/fixtures/mcp/sample-source.ts")})
  const close = async () => void process.stderr.write("closed")
  const command = createMcpCommand({ openSource: async () => ({ source: sampleSource, close }), version: async () => "1" })
  const args = readArguments(${JSON.stringify(argv)}, command.options, command.maxPositionals)
  process.exitCode = await command.run(args, openWorld(process))`

test.each([
  ["on stdio, with its input still open", [], '"id":1', ping],
  ["on a port", ["--http", "0"], "MCP at http", ""],
])("a process that is told to end %s closes its source and ends", async (_why, more, sign, stdin) => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", program(["--session", "s", ...more])])
  let said = ""
  const hear = (chunk: Buffer): void => {
    said += chunk
    if (said.includes(sign) && !child.killed) child.kill("SIGTERM")
  }
  child.stdout.on("data", hear)
  child.stderr.on("data", hear)
  child.stdin.write(stdin)
  const code = await new Promise((done) => child.on("close", done))
  expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/closed$/) })
})
