import { expect, test } from "vitest"
import type { Script } from "../model-server/script.ts"
import { claude } from "./claude.ts"
import { describeClients } from "./describe-clients.ts"
import { runTask } from "./run-task.ts"
import { finalText, lastStep, taskScript } from "./task.ts"

const report = "The readme says what the project is."

/** After the first steps the model starts a subagent, and continues when it has its report. */
const delegating: Script = (turn) => {
  const told = JSON.stringify(turn.body)
  if (turn.headers["x-claude-code-agent-id"] !== undefined) {
    return told.includes("cat README.md")
      ? { text: report }
      : { text: "I read.", calls: [claude.shell("cat README.md")] }
  }
  const input = {
    description: "Read the readme",
    prompt: "Read README.md and report.",
    subagent_type: "general-purpose",
  }
  if (lastStep(turn.body) === 2 && !told.includes("Read the readme")) return { calls: [{ tool: "Agent", input }] }
  return taskScript(claude, 4)(turn)
}

describeClients("the model sends an agent of its own", () => {
  test("claude: the agent's turns are a session beside the conversation's", async () => {
    const run = await runTask(claude, { situation: "subagent", steps: 4, stepBytes: 2000, script: delegating })
    expect(run.failures).toEqual([])
    expect(run.runs.map(({ code, stdout }) => [code, stdout.includes(finalText)])).toEqual([[0, true]])
    const isAgents = (session: string | undefined): boolean => session?.includes("~agent-") === true
    const sessions = Map.groupBy(run.records, ({ session }) => session)
    expect([...sessions.keys()].filter(isAgents)).toHaveLength(1)
    expect([...sessions.keys()].filter((session) => !isAgents(session))).toHaveLength(1)
    expect(run.records.filter(({ session }) => isAgents(session))).toHaveLength(2)
  })
})
