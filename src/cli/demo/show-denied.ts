import { box, type Row } from "./box.ts"
import type { Screen } from "./screen.ts"
import { count } from "./show-call.ts"

/** What the agent got in place of a call, as the guard wrote it. */
export type Withheld = { readonly tool: string; readonly rule: string; readonly met: string }

/** Read the guard's words in an answer; nothing if no call was withheld. */
export function readWithheld(answer: string): Withheld | undefined {
  const at = answer.indexOf("[Withheld by policy.")
  if (at < 0) return undefined
  const text = answer.slice(at, at + 4000)
  const line = (head: string): string =>
    text
      .split("\n")
      .find((one) => one.startsWith(head))
      ?.slice(head.length)
      .replace(/\]$/, "")
      .trim() ?? ""
  return {
    tool: /call of "([\w.-]{1,100})"/.exec(text)?.[1] ?? "a tool",
    rule: line("Rule:"),
    met: line("What it met:"),
  }
}

/** The box of a call that was withheld: what talked the model into it, what the policy says, and what became of it. */
export function deniedBox(
  { tool, rule, met }: Withheld,
  { planted, mails, others }: { readonly planted: string; readonly mails: number; readonly others: readonly string[] },
  screen: Screen,
): readonly string[] {
  const goesOn = others.length === 0 ? "the agent goes on" : `the agent goes on with ${others.join(", ")}`
  const rows: readonly Row[] = [
    ["planted", `"${planted}"`],
    ["so", `the model believed the ticket and called ${tool}`],
    ["policy", rule],
    ["met", met],
    [
      "done",
      others.includes(tool)
        ? "One call was withheld, and another of the same tool let through."
        : `The call never reached the agent; a text that says why stands in its place, and ${goesOn}.`,
    ],
    ["sent", mails === 0 ? "nothing: the agent's own tool was never called" : count(mails, "e-mail")],
  ]
  return box("a call withheld by policy", rows, screen)
}
