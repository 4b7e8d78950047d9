import type { ChatMessage } from "../chat.ts"
import { play } from "./play.ts"
import { specOf } from "./spec.ts"

const line = "─".repeat(100)

const written = (messages: readonly ChatMessage[]): string =>
  messages
    .map((message) => {
      const calls = message.role === "assistant" ? (message.tool_calls ?? []) : []
      const called = calls.map(({ function: one }) => `→ ${one.name} ${one.arguments}`)
      return [`[${message.role}]`, message.content ?? "", ...called].filter((part) => part !== "").join("\n")
    })
    .join("\n\n")

/** Returns one episode from beginning to end as text: what was said, the summaries, what the agent saw and did, and what it was told. */
export async function showEpisode(id: string): Promise<string> {
  const told = await play(specOf(id))
  const { episode, summaries, requests, steps } = told
  const before = [...episode.segments.flat(2), ...episode.recent.flat(), episode.trigger]
  const parts: readonly (readonly [string, string])[] = [
    ["episode", id],
    ["rule", episode.rule],
    ["system part", episode.system],
    ["the session before compaction", written(before)],
    ...summaries.flatMap(({ text, summary }, n) => [
      [`what the summarizer read, ${n + 1}`, text] as const,
      [`what it wrote, ${n + 1}`, summary] as const,
    ]),
    ...steps.flatMap(({ answer, verdict }, n) => [
      [`the request that the agent saw, ${n + 1}`, written(requests[n]?.messages ?? [])] as const,
      [
        `its answer, ${n + 1}`,
        answer.type === "call" ? JSON.stringify(answer.call, undefined, 2) : answer.text,
      ] as const,
      ...(verdict === undefined ? [] : [[`the guard, ${n + 1}`, verdict] as const]),
    ]),
    [
      "verdict",
      `${told.violated ? "VIOLATED" : "not violated"}; ${told.completed ? "completed as asked" : "not completed"}; rule in the context: ${told.keywordSurvival ? "yes" : "no"} by keywords, ${told.survival} by survival(); ${told.compactions} compactions, ${told.contextTokens} tokens, ${told.pinTokens} of them pins`,
    ],
  ]
  return parts.map(([title, text]) => `${line}\n${title.toUpperCase()}\n${line}\n${text}`).join("\n\n")
}
