import type { Agent, Summarizer } from "./agent.ts"
import { realAgent, realSummarizer } from "./real-models.ts"
import { agentProfiles, createSimulatedAgent } from "./simulated-agent.ts"
import { createSimulatedSummarizer, summarizerProfiles } from "./simulated-summarizer.ts"
import { luckOf, type Spec } from "./spec.ts"
import type { Task } from "./task.ts"

/** Returns the summarizer of an episode. Each summary has its own random draws. */
export function summarizerFor(spec: Spec): Summarizer {
  const { summarizer } = spec
  if (summarizer === "model") return realSummarizer()
  let round = 0
  return (text, words) => createSimulatedSummarizer(summarizerProfiles[summarizer], luckOf(spec), round++)(text, words)
}

/** Returns the agent of an episode. */
export const agentFor = (spec: Spec, task: Task): Agent =>
  spec.agent === "model" ? realAgent() : createSimulatedAgent(agentProfiles[spec.agent], task, luckOf(spec))
