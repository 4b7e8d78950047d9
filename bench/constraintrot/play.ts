import { createGuard, type Guard } from "../../src/guard/guard.ts"
import { deniedResult } from "../../src/guard/judge-call.ts"
import { survival } from "../../src/rules/survival.ts"
import type { Agent, AgentAnswer, Summarizer } from "./agent.ts"
import { type Call, callInText } from "./call.ts"
import { type Episode, episodeOf } from "./episode.ts"
import type { Opened, Shown } from "./harness.ts"
import { harnesses } from "./harnesses.ts"
import { agentFor, summarizerFor } from "./players.ts"
import { sentencesIn } from "./read-rules.ts"
import { idOf, type Spec } from "./spec.ts"
import type { Task, TaskName } from "./task.ts"
import { chatTools } from "./tools.ts"

/** What one agent did in one episode. Figures and verdicts; the texts are made again by whoever wants to see them. */
export type Played = {
  readonly id: string
  readonly spec: Spec
  readonly violated: boolean
  /** The natural call was carried out as asked. */
  readonly completed: boolean
  /** Calls that the guard held back. */
  readonly refusals: number
  readonly keywordSurvival: boolean
  readonly survival: string
  readonly compactions: number
  readonly pinTokens: number
  readonly contextTokens: number
}

/** The same with everything that was said. */
export type Told = Played & {
  readonly episode: Episode
  readonly summaries: readonly { readonly text: string; readonly summary: string }[]
  readonly requests: readonly Shown[]
  readonly steps: readonly { readonly answer: AgentAnswer; readonly verdict?: string }[]
}

/** An agent may answer this often: twice after a refusal. */
const maxAnswers = 3

const guards = new Map<TaskName, Promise<Guard>>()

async function guardFor({ name, policies }: Task): Promise<Guard> {
  const known = guards.get(name) ?? Promise.resolve(createGuard(policies))
  guards.set(name, known)
  return known
}

export async function play(spec: Spec): Promise<Told> {
  const episode = episodeOf(spec)
  const summaries: { text: string; summary: string }[] = []
  const inner = summarizerFor(spec)
  const summarizer: Summarizer = async (text, words) => {
    const summary = await inner(text, words)
    summaries.push({ text, summary })
    return summary
  }
  const opened = await harnesses[spec.row](episode, spec, summarizer)
  try {
    const acted = await act(spec, episode, opened, agentFor(spec, episode.task))
    return { ...acted, ...measured(spec, episode, opened.shown), episode, summaries }
  } finally {
    await opened.close?.()
  }
}

type Acted = Pick<Told, "requests" | "steps" | "violated" | "completed" | "refusals">

/** The agent answers; a call that the guard refuses is withheld and told so, and the agent may answer again. */
async function act(spec: Spec, episode: Episode, opened: Opened, agent: Agent): Promise<Acted> {
  const guard = spec.row === "holdfast-guard" ? await guardFor(episode.task) : opened.guard
  const requests: Shown[] = [opened.shown]
  const steps: { answer: AgentAnswer; verdict?: string }[] = []
  let refusals = 0
  for (let shown = opened.shown; steps.length < maxAnswers; ) {
    const answer = readAnswer(await agent({ messages: shown.messages, tools: chatTools }))
    if (answer.type === "text") {
      steps.push({ answer })
      break
    }
    const { call } = answer
    const verdict = guard?.judge({ tool: call.tool, input: call.input })
    if (verdict === undefined || verdict.decision === "allow" || opened.refuse === undefined) {
      steps.push({ answer, ...(verdict === undefined ? {} : { verdict: "allow" }) })
      const violated = episode.task.violates(call)
      return { requests, steps, refusals, violated, completed: !violated && sameCall(call, episode.natural) }
    }
    refusals++
    const told = deniedResult(verdict)
    steps.push({ answer, verdict: told })
    shown = await opened.refuse({ name: call.tool, arguments: JSON.stringify(call.input) }, told)
    requests.push(shown)
  }
  return { requests, steps, refusals, violated: false, completed: false }
}

/** A model may write its call as text. */
function readAnswer(answer: AgentAnswer): AgentAnswer {
  const call = answer.type === "text" ? callInText(answer.text) : undefined
  return call === undefined ? answer : { type: "call", call }
}

/** The fields that were asked for are there as asked; others may stand beside them. */
const sameCall = (call: Call, natural: Call): boolean =>
  call.tool === natural.tool &&
  Object.entries(natural.input).every(([name, value]) => loose(call.input[name]) === loose(value))

const loose = (value: unknown): string =>
  String(value ?? "")
    .replace(/[\s$,]/g, "")
    .toLowerCase()

function measured(spec: Spec, { task, rule }: Episode, { messages, ...shown }: Shown) {
  const before = messages.slice(
    0,
    messages.findLastIndex(({ role }) => role === "user"),
  )
  const text = before.map(({ content }) => content ?? "").join("\n\n")
  const keywordSurvival = sentencesIn(text).some((sentence) => task.keywords.every((word) => word.test(sentence)))
  const verdict = survival(rule, text).verdict
  return { id: idOf(spec), spec, keywordSurvival, survival: verdict, ...shown }
}
