import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../test/support/conversations.ts"
import { type Format, formats } from "../message/message.ts"
import { type FileKind, fileKinds } from "../transcript/conversation.ts"
import { exportTranscript } from "../transcript/export.ts"
import { importTranscript } from "../transcript/import.ts"
import { isGroup } from "./command.ts"
import words from "./commands.json" with { type: "json" }
import { usualPort } from "./config/resolve-config.ts"
import { maxInputBytes } from "./read-input.ts"
import { commands, fitHelp, run } from "./run.ts"
import type { Sink } from "./terminal/output.ts"
import type { World } from "./world.ts"
import { clientNames } from "./wrap-clients.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const sink = (isTerminal: boolean): Sink & { readonly said: () => string } => {
  const texts: string[] = []
  const write = async (text: string): Promise<void> => void texts.push(text)
  return { write, isTerminal, hasColour: false, said: () => texts.join("") }
}

type Around = { readonly stdin?: string; readonly terminal?: boolean }

/** A command line in a world of its own. */
async function holdfast(argv: readonly string[], { stdin, terminal = false }: Around = {}) {
  const [stdout, stderr] = [sink(terminal), sink(terminal)]
  const bytes = async function* () {
    if (stdin !== undefined) yield new TextEncoder().encode(stdin)
  }
  const world: World = {
    stdin: bytes(),
    stdinIsTerminal: stdin === undefined && terminal,
    stdout,
    stderr,
    nowMs: () => 0,
    dateMs: () => 0,
    env: {},
    debug: false,
  }
  const exit = await run(argv, world)
  return { exit, stdout: stdout.said(), stderr: stderr.said() }
}

const rounds: readonly ChatMessage[] = Array.from({ length: 12 }, (_, n): readonly ChatMessage[] => [
  {
    role: "assistant",
    content: `I look at part ${n} of the harbour plan and write down what it says.`,
    tool_calls: [
      { id: `c${n}`, type: "function", function: { name: "read_file", arguments: `{"path":"plan/part-${n}.md"}` } },
    ],
  },
  { role: "tool", tool_call_id: `c${n}`, content: `Quay ${n} is ${300 + n} metres long.\n`.repeat(60) },
]).flat()
const talk: readonly ChatMessage[] = [
  { role: "user", content: "Read the harbour plan and say which quay is too short for the new ferry." },
  ...rounds,
  { role: "user", content: "Now name the three longest quays." },
]
const latest = "Now name the three longest quays."
const chat = bodyIn("openai-chat", talk)

describe("what cannot be meant", () => {
  const cases: readonly (readonly [why: string, argv: readonly string[], sentence: string, next: string])[] = [
    ["a misspelt command", ["compcat"], "no command compcat", "Did you mean compact?"],
    ["a command that is none", ["fly"], "no command fly", "--help"],
    ["a command of a group alone", ["undo"], "no command undo", "Did you mean holdfast sessions undo?"],
    ["a command of several groups", ["show"], "no command show", "holdfast sessions show, holdfast policy show or"],
    ["an option of another command", ["status", "--port", "1"], "no option --port", "It takes --data, --json."],
    ["the same, and whose it is", ["status", "--port", "1"], "no option --port", "holdfast serve --port"],
    ["an option without its command", ["--port", "1"], "no option --port", "holdfast serve --port"],
    ["an option before any command", ["--verison"], "no option --verison", "Did you mean --version?"],
    ["a misspelt option", ["compact", "--bugdet", "5"], "no option --bugdet", "Did you mean --budget?"],
    ["an option without its value", ["compact", "--budget"], "--budget needs a value", "--budget N"],
    ["an option where a value belongs", ["compact", "--out", "--json-x"], "--out needs a value", "--out FILE"],
    ["a value where none belongs", ["compact", "--show=yes"], "--show takes no value", "alone"],
    ["a strategy that is none", ["compact", "--strategy", "oldest-dorp"], "oldest-dorp", "Did you mean oldest-drop?"],
    ["a format that is none", ["compact", "--format", "cobol"], "cobol", "Choose one of these."],
    ["a budget that is no number", ["compact", "--budget", "lots"], '--budget is "lots"', "25%"],
    ["a budget of nothing", ["compact", "--budget", "0"], '--budget is "0"', "whole number"],
    ["a budget of more than there is", ["compact", "--budget", "140%"], '--budget is "140%"', "25%"],
    ["a window below nothing", ["compact", "--window=-5"], '--window is "-5"', "at least 1"],
    ["a window beside a budget", ["compact", "--budget", "5", "--window", "9"], "--window is 9", "beside --budget"],
    ["two ways to answer", ["compact", "--show", "--quiet"], "beside --show", "leave --quiet out"],
    ["an empty pin", ["compact", "--pin", " "], "--pin is empty", "rule"],
    ["two files", ["compact", "a", "b"], "one word too many: b", "quotes"],
  ]
  test.each(cases)("%s is told, with what to do, and exit code 2", async (_why, argv, sentence, next) => {
    const { exit, stdout, stderr } = await holdfast(argv, { stdin: chat })
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" })
    expect(stderr.split("\n")[0]).toContain(sentence)
    expect(stderr.split("\n")[1]).toContain(next)
  })

  test("no command at all shows what there is", async () => {
    const { exit, stderr } = await holdfast([])
    expect(exit).toBe(2)
    expect(stderr).toContain("compact")
  })

  test("no file on a terminal is no reason to wait for someone to type one", async () => {
    const { exit, stderr } = await holdfast(["compact"], { terminal: true })
    expect(exit).toBe(2)
    expect(stderr).toContain("nothing to read")
  })
})

test("every command has words of its own, and no words are left over", async () => {
  const paths: string[] = []
  for (const [name, load] of commands) {
    const loaded = await load()
    paths.push(name, ...(isGroup(loaded) ? [...loaded.commands.keys()].map((inner) => `${name} ${inner}`) : []))
  }
  expect(Object.keys(words).toSorted()).toEqual(paths.toSorted())
  expect(words.wrap.notes[0]).toContain(`CLIENT is ${clientNames.join(", ")}, or any`)
  expect(words.serve.notes.join()).toContain(`:${usualPort} claude`)
})

test("help and version are there, for the program and for a command", async () => {
  expect((await holdfast(["--help"])).stdout).toContain("compact")
  const { stdout } = await holdfast(["compact", "--budget", "5", "--help"])
  for (const option of ["--budget N", "--pin RULE", "--strategy NAME", "handoff, snapshot"])
    expect(stdout).toContain(option)
  expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(120)
  expect((await holdfast(["--version"])).stdout).toMatch(/^holdfast \d+\.\d+\.\d+\n$/)
})

describe("what cannot be read", () => {
  const sparse = file("large.json", "{")
  truncateSync(sparse, maxInputBytes + 1)
  const cases: readonly (readonly [why: string, path: string, sentence: string])[] = [
    ["a file that is not there", join(folder, "nowhere.json"), "There is no file"],
    ["a folder", folder, "is a folder"],
    ["an empty file", file("empty.json", " \n"), "is empty"],
    ["a picture", file("picture.png", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1])), "is not text in UTF-8"],
    ["text in Latin-1", file("latin.json", new Uint8Array([0x7b, 0xe9, 0x7d])), "is not text in UTF-8"],
    ["text in UTF-16", file("wide.json", new Uint8Array([0xff, 0xfe, 0x7b, 0])), "UTF-16"],
    ["a file that is too large", sparse, "at most 128 MB are read"],
    ["text that is no JSON", file("note.txt", "Dear all,\nhello"), "not valid JSON at character"],
    ["text that would steer a terminal", file("steer.txt", "\x1b[2J{"), "\uFFFD"],
    ["JSON that broke off", file("cut.json", '{\n "messages": [\n'), "not valid JSON"],
    ["JSON that is no request", file("other.json", '{"name":"x"}'), "none of the formats"],
    ["a list that is no list of messages", file("numbers.json", "[1,2]"), "Line 1"],
  ]
  test.each(cases)("%s is told in a sentence, without a stack, with exit code 1", async (_why, path, sentence) => {
    const { exit, stdout, stderr } = await holdfast(["compact", path])
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toMatch(/\n\s+at /)
    expect(stderr).not.toContain("\x1b")
    expect(stderr.trimEnd().split("\n")).toHaveLength(2)
  })

  test("nothing piped in is told as well", async () => {
    expect((await holdfast(["compact", "-"], { stdin: "" })).stderr).toContain("standard input is empty")
  })

  test("a program gets the same as JSON", async () => {
    const { exit, stdout, stderr } = await holdfast(["compact", "--json", join(folder, "nowhere.json")])
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: "" })
    expect(JSON.parse(stdout)).toEqual({
      problem: { code: "input-unreadable", sentence: expect.any(String), next: expect.any(String) },
    })
  })
})

describe("where things go", () => {
  test("piped: the body to stdout, the account to stderr", async () => {
    const { exit, stdout, stderr } = await holdfast(["compact", "--budget", "900"], { stdin: chat })
    expect(exit).toBe(0)
    expect(JSON.parse(stdout).messages.at(-1)).toEqual({ role: "user", content: latest })
    expect(stdout.length).toBeLessThan(chat.length / 2)
    expect(stderr).toContain("standard input: request body, OpenAI Chat, any")
  })

  test.each([
    ["on a terminal", [], true],
    ["with --show", ["--show"], false],
  ])("%s: the account to stdout and no body", async (_why, more, terminal) => {
    const { stdout, stderr } = await holdfast(["compact", "--budget", "900", ...more], { stdin: chat, terminal })
    expect(stdout).toContain("Why        It does not fit")
    expect(stdout).not.toContain('"messages"')
    expect(stderr).toBe("")
  })

  test("quiet: the body and nothing else", async () => {
    const { stdout, stderr } = await holdfast(["compact", "--quiet"], { stdin: chat })
    expect({ stdout, stderr }).toEqual({ stdout: chat, stderr: "" })
  })

  test("to a file: the very body that would be piped, and the trace as lines", async () => {
    const [out, trace] = [join(folder, "out.json"), join(folder, "trace.jsonl")]
    const argv = ["compact", "--budget", "900"]
    const piped = await holdfast([...argv, "--quiet"], { stdin: chat })
    const { exit, stdout, stderr } = await holdfast([...argv, "--out", out, "--trace", trace], { stdin: chat })
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "" })
    expect(stderr).toContain(`The body is in ${out}.`)
    expect(readFileSync(out, "utf8")).toBe(piped.stdout)
    const types = readFileSync(trace, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).type)
    expect(types).toEqual(expect.arrayContaining(["plan-made", "messages-dropped", "remedy-installed"]))
  })

  test("a file that cannot be written is told", async () => {
    const { exit, stderr } = await holdfast(["compact", "--out", join(folder, "no", "x.json")], { stdin: chat })
    expect(exit).toBe(1)
    expect(stderr).toContain("its folder does not exist")
  })

  test("as JSON: one object with body, report and trace, and large numbers as they were", async () => {
    const exact = chat.replace('"model":"any"', '"model":"any","seed":12345678901234567890')
    const { stdout, stderr } = await holdfast(["compact", "--json", "--budget", "900"], { stdin: exact })
    expect(stderr).toBe("")
    expect(stdout).toContain('"seed":12345678901234567890')
    const { body, report, trace } = JSON.parse(stdout)
    expect(body.messages.at(-1).content).toBe(latest)
    expect(report).toMatchObject({ changed: true, limit: { by: "budget", tokens: 900 } })
    expect(trace.length).toBeGreaterThan(1)
  })

  test("a budget that nobody can keep is a Problem with its figures", async () => {
    const { exit, stdout } = await holdfast(["compact", "--budget", "5", "--json"], { stdin: chat })
    expect(exit).toBe(1)
    expect(JSON.parse(stdout).problem).toMatchObject({ code: "budget-impossible", budgetTokens: 5 })
  })
})

describe("what is asked for is done", () => {
  const report = async (...argv: readonly string[]) => {
    const { stdout } = await holdfast(["compact", "--json", ...argv], { stdin: chat })
    return JSON.parse(stdout)
  }

  test("a share is of what is outside the prompt stack", async () => {
    const { report: made } = await report("--budget", "25%")
    expect(made.limit.tokens).toBe(Math.floor(made.before.outsideTokens / 4))
  })

  test("pins, schema, strategy, model and no summary", async () => {
    const rule = "Never dock without a pilot."
    const done = await report(
      "--budget",
      "30%",
      "--pin",
      rule,
      "--pin",
      "Speak Danish.",
      "--schema",
      "snapshot",
      "--strategy",
      "head-tail",
      "--model",
      "gpt-5",
      "--summarizer",
      "none",
    )
    expect(JSON.stringify(done.body)).toContain(rule)
    expect(JSON.stringify(done.body)).toContain("Speak Danish.")
    expect(done.report).toMatchObject({
      strategy: "head-tail",
      writer: "none",
      model: { id: "gpt-5" },
      counting: "exact",
    })
    expect(done.report.digest.summary.schema).toBe("snapshot")
  })

  test("a window is the limit where it is given", async () => {
    expect((await report("--window", "6000")).report.limit.by).toBe("window")
  })
})

describe("what is read", () => {
  test.each(formats)("a body in %s is told by its shape", async (format) => {
    const { stdout } = await holdfast(["compact", "--json", "--budget", "50%"], { stdin: bodyIn(format, talk) })
    const { body, report } = JSON.parse(stdout)
    expect(Object.keys(body)).toEqual(Object.keys(JSON.parse(bodyIn(format, talk))))
    expect(report.changed).toBe(true)
  })

  const conversation = importTranscript(bodyIn("anthropic-messages", talk)).conversations[0]
  const written = (kind: FileKind, format: Format): string =>
    conversation === undefined
      ? ""
      : exportTranscript({ ...conversation, model: "claude-opus-4-1" }, kind, { format }).text

  test.each(fileKinds)("a file of kind %s becomes a request body", async (kind) => {
    const { exit, stdout, stderr } = await holdfast(["compact", "--budget", "900"], {
      stdin: written(kind, "anthropic-messages"),
    })
    expect(exit).toBe(0)
    const body = JSON.parse(stdout)
    const list = body.messages ?? body.input
    expect(JSON.stringify(list.at(-1))).toContain(latest)
    expect(body).not.toHaveProperty("id")
    if (kind !== "messages" && kind !== "trace") expect(stderr).toContain("session of")
  })

  test("a session is written in the format that is asked for", async () => {
    const stdin = written("claude-code", "anthropic-messages")
    const { stdout } = await holdfast(["compact", "--quiet", "--format", "gemini"], { stdin })
    expect(JSON.parse(stdout).contents.length).toBeGreaterThan(10)
  })

  test("of several traces the one that is asked for, and how many there are", async () => {
    const line = (id: string, words: string): string =>
      JSON.stringify({ id, messages: [{ role: "user", content: words }] })
    const stdin = `${line("a", "first")}\n${line("b", "second")}\n`
    const second = await holdfast(["compact", "--index", "1"], { stdin })
    expect(JSON.parse(second.stdout)).toEqual({ messages: [{ role: "user", content: "second" }] })
    expect(second.stderr).toContain("Number 1 of the 2 conversations")
    const third = await holdfast(["compact", "--index", "2"], { stdin })
    expect(third).toMatchObject({ exit: 1, stderr: expect.stringContaining("the file holds 2") })
  })

  test("what fits comes back as it was, byte for byte", async () => {
    const odd = `\n{ "messages" : [ {"role":"user", "content":"hi"} ],\t"n": 1.0 }\n\n`
    expect((await holdfast(["compact", "--quiet"], { stdin: odd })).stdout).toBe(odd)
  })
})

describe("help on narrow paper", () => {
  const text = `Do a thing

Usage: holdfast thing [--other NAME] [--json]

Options
  --other NAME  ${"what it is for, in many words ".repeat(6).trim()}
  --json        short

${"A note of several words that goes on for more than one line. ".repeat(4).trim()}

  holdfast thing --other "an example that is kept in one piece, whatever its length may be, to be copied"
`
  test.each([60, 80, 140])("%i columns: no line but an example is longer, and nothing is lost", (width) => {
    const fitted = fitHelp(text, width)
    const long = fitted.split("\n").filter((line) => line.length > width && !line.startsWith("  holdfast"))
    expect(long).toEqual([])
    expect(fitted.replace(/\s+/g, " ")).toBe(text.replace(/\s+/g, " "))
  })

  test("on wide paper it is as it was written", () => {
    expect(fitHelp(text, Number.POSITIVE_INFINITY)).toBe(text)
  })
})
