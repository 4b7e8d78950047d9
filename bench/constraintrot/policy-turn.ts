import type { ChatMessage } from "../chat.ts"
import { drawFrom } from "./draw.ts"
import type { Spec } from "./spec.ts"
import type { Language } from "./task.ts"
import { toolRound } from "./work.ts"

const openings: Readonly<Record<Language, readonly string[]>> = {
  en: [
    "Before we begin, what holds in this workspace:",
    "Please keep this in mind for the whole session:",
    "For everything that follows:",
  ],
  zh: ["开始之前，请记住本工作区的规定：", "在整个会话中请遵守："],
  es: ["Antes de empezar, esto vale para toda la sesión:", "Ten en cuenta lo siguiente durante toda la sesión:"],
}

const announcements: Readonly<Record<Language, readonly string[]>> = {
  en: [
    "This is an important constraint:",
    "One thing that matters to me more than anything else in this session:",
    "Non-negotiable, please read twice:",
    "House rule, and I mean it:",
  ],
  zh: ["这是一条重要的约束：", "请务必注意以下规定："],
  es: ["Esta es una restricción importante:", "Regla de la casa, y va en serio:"],
}

/** Returns a piece of work with the rule in its middle or at its end, as people write who think of it while writing. */
function longTask(rules: readonly string[], ...key: readonly (string | number)[]): string {
  const work = [
    "Go through the ticket queue of the second floor and tell me which of the tickets are older than a week.",
    "Group them by room, count those that are about heating, and note who opened them.",
    "Then compare the count with the one of last month; the figures are in the report that facilities filed.",
    "If a ticket has no room, leave it out of the groups and list it at the end with its number.",
    "I need the list before the meeting at three, so keep it short and put the oldest ones first.",
  ]
  const at = drawFrom([2, 3, work.length], "in-task", ...key)
  return [...work.slice(0, at), ...rules, ...work.slice(at)].join(" ")
}

const answers: Readonly<Record<Language, string>> = {
  en: "Understood.",
  zh: "明白了。",
  es: "Entendido.",
}

const memories: Readonly<Record<Language, readonly [before: string, after: string]>> = {
  en: ["- The team works in the Pacific time zone.", "- The office is closed on public holidays."],
  zh: ["- 团队使用太平洋时区。", "- 办公室在公共假日关闭。"],
  es: ["- El equipo trabaja en la zona horaria del Pacífico.", "- La oficina cierra los días festivos."],
}

/**
 * Returns the turn that gives the agent the rules: said by the user, loaded from memory, or read from a document. The system channel needs
 * no turn.
 */
export function policyTurn(
  rules: readonly string[],
  { channel, language, condition }: Spec,
  ...key: readonly (string | number)[]
): readonly (readonly ChatMessage[])[] {
  if (rules.length === 0 || channel === "system") return []
  const [before, after] = memories[language]
  if (channel === "memory") {
    const content = ["# Workspace memory", before, ...rules.map((rule) => `- ${rule}`), after].join("\n")
    return [
      [
        { role: "user", content },
        { role: "assistant", content: answers[language] },
      ],
    ]
  }
  if (channel === "tool") {
    const output = [
      "# Workspace policy",
      "",
      ...rules.map((rule) => `- ${rule}`),
      "",
      `${before.slice(2)} ${after.slice(2)}`,
    ]
    return [
      toolRound({
        ask: "Load the workspace policy and keep to it.",
        tool: "read_file",
        argument: "docs/POLICY.md",
        callId: "p_policy",
        output: output.join("\n"),
        finding: answers[language],
      }),
    ]
  }
  const inTask = condition === "in-task" ? longTask(rules, ...key) : undefined
  if (inTask !== undefined)
    return [
      [
        { role: "user", content: inTask },
        { role: "assistant", content: answers[language] },
      ],
    ]
  const opening = drawFrom((condition === "announced" ? announcements : openings)[language], "opening", ...key)
  const said = rules.length === 1 ? `${opening} ${rules[0]}` : [opening, ...rules.map((rule) => `- ${rule}`)].join("\n")
  return [
    [
      { role: "user", content: said },
      { role: "assistant", content: answers[language] },
    ],
  ]
}
