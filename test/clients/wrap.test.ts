import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { startModelServer } from "../model-server/model-server.ts"
import type { Script } from "../model-server/script.ts"
import { main } from "../support/programs.ts"
import { claude } from "./claude.ts"
import type { Client } from "./client.ts"
import { codex } from "./codex.ts"
import { describeClients } from "./describe-clients.ts"
import { clientsDirectory } from "./installed.ts"
import { createPi } from "./pi.ts"
import { finalText, lastStep, prompt, rule, taskScript } from "./task.ts"
import { openWorkplace, runProcess } from "./workplace.ts"

const place = mkdtempSync(join(tmpdir(), "holdfast-wrapped-"))
afterAll(() => rmSync(place, { recursive: true, force: true, maxRetries: 5 }))

/** How a person starts a client with only an API key: no address, no settings. */
type Person = {
  readonly client: Client
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const people: readonly Person[] = [
  {
    client: claude,
    args: ["--model", "claude-sonnet-4-5", "--dangerously-skip-permissions", "-p", prompt],
    env: { ANTHROPIC_API_KEY: "sk-ant-dummy", IS_SANDBOX: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  },
  {
    client: codex,
    args: ["exec", "--model", "gpt-5.4", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt],
    env: { OPENAI_API_KEY: "sk-dummy" },
  },
  {
    client: { ...createPi("anthropic-messages"), name: "pi" },
    args: ["--provider", "anthropic", "--model", "claude-sonnet-4-5", "-p", prompt],
    env: { ANTHROPIC_API_KEY: "sk-ant-dummy", PI_OFFLINE: "1" },
  },
]

const steps = 12
const windowTokens = 45_000

/** The task, during which the model once asks for the token of the gateway's own admin API. */
function wantsTheToken(client: Client, token: string): Script {
  const script = taskScript(client, steps)
  return (turn) =>
    client.isMain(turn.body) && lastStep(turn.body) === 2 && !JSON.stringify(turn.body).includes(token)
      ? { text: "I look at the token.", calls: [client.shell(`cat ${token}`)] }
      : script(turn)
}

/** Matches the closing line. */
const closing =
  /holdfast: (\d+) model calls, (\d+) compactions?, about ([\d,]+) tokens (?:and|saved) .+ \(estimate\), (\d+) rules? held, (\d+) calls? denied\. See: (.+)\n/

describeClients("holdfast wrap, as a person types it", () => {
  test.each(people)(
    "$client.name finishes its task, and one line says what was done",
    async ({ client, args, env }) => {
      const [data, home] = [join(place, `${client.name}-data`), join(place, `${client.name}-home`)]
      mkdirSync(home)
      const work = openWorkplace(steps, 13_000)
      const script = wantsTheToken(client, join(data, "admin-token"))
      const server = await startModelServer({ script, simulateCache: true, windowTokens, strict: true })
      const options = ["--data", data, "--upstream", server.url, "--window", String(windowTokens)]
      const program = join(clientsDirectory, "node_modules/.bin", client.program)
      try {
        const ran = await runProcess(process.execPath, [main, "wrap", ...options, program, ...args], {
          cwd: work.folder,
          env: { ...env, HOME: home, PATH: process.env.PATH ?? "" },
        })
        expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(finalText) })
        expect(server.failures).toEqual([])
        const [, calls, compactions, saved = "", rules, denied, look] = closing.exec(ran.stderr) ?? []
        // The model learns that the call was denied in a round within the same call of the client.
        expect(Number(calls), ran.stderr).toBeGreaterThanOrEqual(steps + 1)
        expect(Number(compactions), ran.stderr).toBeGreaterThan(0)
        expect(Number(saved.replaceAll(",", ""))).toBeGreaterThan(0)
        expect(Number(rules), ran.stderr).toBeGreaterThanOrEqual(1)
        expect(Number(denied), ran.stderr).toBe(1)
        expect(look).toBe("holdfast sessions show @last")
        const asked = server.requests.filter(({ json }) => client.isMain(json))
        expect(asked.filter(({ body }) => !Buffer.from(body).includes(rule))).toEqual([])
        expect(server.requests.every(({ response }) => response.status === 200)).toBe(true)
        // Nothing was written to the client's own settings, and no gateway keeps running.
        expect(readdirSync(data).filter((name) => name.startsWith("gateway-"))).toEqual([])
        const shown = await runProcess(process.execPath, [main, "rules", "--data", data], {
          cwd: work.folder,
          env: { HOME: home, PATH: process.env.PATH ?? "" },
        })
        expect(shown.stdout.replace(/\s+/g, " ")).toContain("Never touch the folder")
      } finally {
        await server.close()
        work.close()
      }
    },
  )
})
