import { type ChildProcess, spawn } from "node:child_process"
import { resolve } from "node:path"
import { expect, test } from "vitest"
import { main } from "../../test/support/programs.ts"

const sample = resolve(import.meta.dirname, "../../examples/sample-session.json")

const start = (args: readonly string[], node: readonly string[] = []): ChildProcess =>
  spawn(process.execPath, [...node, main, ...args], { stdio: ["pipe", "pipe", "pipe"] })

/** Everything that a process says until it ends. */
async function end(child: ChildProcess, stdin = ""): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const said = { stdout: "", stderr: "" }
  child.stdout?.on("data", (chunk) => (said.stdout += chunk))
  child.stderr?.on("data", (chunk) => (said.stderr += chunk))
  child.stdin?.on("error", () => {})
  child.stdin?.end(stdin)
  const code = await new Promise<number | null>((done) => child.on("close", done))
  return { code, ...said }
}

test("the bundled sample is compacted, and the account names what was done", async () => {
  const { code, stdout, stderr } = await end(start(["compact", sample, "--budget", "6000", "--show"]))
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  for (const word of ["Why ", "Remedy ", "Kept ", "Shortened ", "Left out ", "Digest ", "Cache ", "Counted ", "Took "])
    expect(stdout).toContain(word)
  expect(stdout).not.toContain("\x1b")
  expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(100)
})

test("a body goes through a pipe, and a Problem sets the exit code", async () => {
  const body = '{"messages":[{"role":"user","content":"hi"}]}'
  expect(await end(start(["compact", "--quiet"]), body)).toEqual({ code: 0, stdout: body, stderr: "" })
  expect(await end(start(["compact", "--json", "--budget", "1"]), body)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("budget-impossible"),
    stderr: "",
  })
})

test("a reader that has enough is no error", async () => {
  const child = start(["compact", "-", "--quiet"])
  child.stdout?.destroy()
  // More than a pipe holds, so that the write meets the closed end.
  const content = "word ".repeat(200_000)
  const { code, stderr } = await end(child, JSON.stringify({ messages: [{ role: "user", content }], model: "gpt-4.1" }))
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
})

test("an old Node is told in one line, before anything else is loaded", async () => {
  const old = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.0" } })`
  const child = start(["--help"], ["--import", `data:text/javascript,${encodeURIComponent(old)}`])
  expect(await end(child)).toEqual({
    code: 1,
    stdout: "",
    stderr: "holdfast needs Node.js 22 or newer, and this is 20.11.0.\n",
  })
})
