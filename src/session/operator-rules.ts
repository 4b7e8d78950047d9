import { hashText } from "../message/hash-data.ts"
import type { ModelRequest } from "../message/request.ts"
import { operatorHeading } from "../rules/headings.ts"
import type { Pin } from "../rules/pin.ts"
import { addSystem } from "../wire/add-system.ts"
import type { Live } from "./live.ts"
import type { SessionPin } from "./pins.ts"
import { sessionNames } from "./session-names.ts"

/** The operator's rules for a session: those for all, for its agent, and for itself. What is said in the session has no part in them. */
export function operatorRules({ id, owner, options }: Live): readonly SessionPin[] {
  const names = sessionNames(id, owner)
  const given = (options.pins ?? []).map((text, n) => ({ id: `p${n + 1}`, text }))
  const laid = (options.operator?.standing().rules ?? []).filter(
    ({ agent, session }) =>
      (agent === undefined || agent === owner.agent) && (session === undefined || names.includes(session)),
  )
  const seen = new Set<string>()
  return [...given, ...laid].flatMap((rule): readonly SessionPin[] => {
    if (seen.has(rule.text)) return []
    seen.add(rule.text)
    return [{ ...operatorPin(rule), state: "in-force", conflicts: [] }]
  })
}

type Laid = { readonly id: string; readonly text: string; readonly source?: string; readonly expiresAtMs?: number }
type Scoped = Laid & { readonly agent?: string; readonly session?: string }

const operatorPin = ({ agent, session, ...rule }: Scoped): Pin => ({
  ...rule,
  hash: hashText(rule.text),
  channel: "operator",
  by: "operator",
  kind: "obligation",
  scope: session !== undefined ? "session" : agent !== undefined ? "agent" : "project",
})

/** A request with the operator's rules at the end of its system part, each to the letter: the same bytes as long as the rules are. */
export function withOperator(live: Live, request: ModelRequest): ModelRequest {
  const rules = operatorRules(live)
  if (rules.length === 0) return request
  const text = [
    '<operator-rules by="holdfast">',
    operatorHeading,
    ...rules.map((rule) => `- ${rule.text}`),
    "</operator-rules>",
  ]
  return addSystem(request, text.join("\n"), "operator")
}
