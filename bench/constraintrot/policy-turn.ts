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

/** How the rules reach the agent: said by the user, loaded from memory, read from a document; in the system part there is no turn for them. */
export function policyTurn(
  rules: readonly string[],
  { channel, language }: Spec,
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
  const opening = drawFrom(openings[language], "opening", ...key)
  const said = rules.length === 1 ? `${opening} ${rules[0]}` : [opening, ...rules.map((rule) => `- ${rule}`)].join("\n")
  return [
    [
      { role: "user", content: said },
      { role: "assistant", content: answers[language] },
    ],
  ]
}
