import type { ChatMessage } from "../chat.ts"
import { createRandom, pick, type Random } from "../texts.ts"
import { draw } from "./draw.ts"
import type { Language } from "./task.ts"
import { domains, people, things } from "./work-texts.ts"

/** One turn of everyday work: a request, a call, its result, the answer. */
export type Turn = readonly ChatMessage[]

function filled(template: string, random: Random): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === "name") return pick(random, people)
    if (name === "thing") return pick(random, things)
    if (name === "day") return `2026-0${1 + random(9)}-${10 + random(18)}`
    return name === "id" ? String(10_000 + random(89_999)) : String(11 + random(88))
  })
}

/** Lines of one result: about ten make a page of a few hundred tokens. */
const rowsPerResult = 10

/** Returns that many turns of work, the same for the same key. */
export function workOf(language: Language, turns: number, ...key: readonly (string | number)[]): readonly Turn[] {
  const random = createRandom(Math.floor(draw("work", ...key) * 2 ** 31))
  return Array.from({ length: turns }, (_, n) => makeTurn(language, random, `w${key.at(-1) ?? 0}_${n}`))
}

function makeTurn(language: Language, random: Random, callId: string): Turn {
  const all = domains[language]
  const domain = all[random(all.length)]
  if (domain === undefined) throw new Error("no domain")
  const rows = Array.from({ length: rowsPerResult + random(6) }, () => filled(pick(random, domain.rows), random))
  const finding = filled(pick(random, domain.findings), random)
  return toolRound({
    ask: filled(pick(random, domain.asks), random),
    tool: domain.tool,
    argument: filled(domain.path, random),
    callId,
    output: rows.join("\n"),
    finding,
  })
}

export type Round = {
  readonly ask: string
  readonly tool: string
  readonly argument: string
  readonly callId: string
  readonly output: string
  readonly finding: string
}

/** Returns a turn in which a tool returns the given output. */
export const toolRound = ({ ask, tool, argument, callId, output, finding }: Round): Turn => [
  { role: "user", content: ask },
  {
    role: "assistant",
    content: null,
    tool_calls: [
      { id: callId, type: "function", function: { name: tool, arguments: JSON.stringify({ path: argument }) } },
    ],
  },
  { role: "tool", tool_call_id: callId, content: output },
  { role: "assistant", content: finding },
]
