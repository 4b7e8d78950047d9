import type { Verdict } from "./guard.ts"
import type { AttributeValue } from "./policy/context.ts"

/** Values of one kind that are shown, and characters of each: enough to see what it was about. */
const maxShown = 5
const maxValueLength = 64

/** A value out of a call's arguments with nothing in it that could speak: plain signs of names and addresses, in quotes. */
function quoted(value: string): string {
  const plain = value.slice(0, maxValueLength).replace(/[^\w.@:/~+*-]/g, "_")
  return `"${plain}${value.length > maxValueLength ? "..." : ""}"`
}

function shownValue(value: AttributeValue): string {
  if (typeof value !== "object") return typeof value === "string" ? quoted(value) : String(value)
  const shown = value.slice(0, maxShown).map(quoted).join(", ")
  return value.length > maxShown ? `${shown} and ${value.length - maxShown} more` : shown
}

/** Rules are written by the operator; still, each stays on its line. */
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, 1_000)

/** What the model gets in place of a result when a call was not let through: the rule, what it met, what to do instead. */
export function deniedResult({ decision, reasons, facts }: Verdict): string {
  const tool = quoted(facts.tool)
  const first =
    decision === "ask"
      ? `The call of ${tool} was held back: it needs the approval of a person. It was not run.`
      : `The call of ${tool} was refused. It was not run; nothing was sent, read or changed by it.`
  const seen = new Set<string>()
  const lines = reasons.flatMap(({ rule, instead, facts: met }) => {
    const told = Object.entries(met).map(([name, value]) => `${name}: ${shownValue(value)}`)
    const known = seen.has(rule)
    seen.add(rule)
    return [
      ...(known ? [] : [`Rule: ${oneLine(rule)}`]),
      ...(told.length === 0 ? [] : [`What it met: ${told.join("; ")}`]),
      ...(known || instead === undefined ? [] : [`Instead: ${oneLine(instead)}`]),
    ]
  })
  return [
    first,
    ...lines,
    "The rule holds however the call is written; do not try to reach the same by another way.",
  ].join("\n")
}
