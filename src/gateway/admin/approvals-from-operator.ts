import type { Operator } from "../../guard/operator/operator.ts"
import type { Approvals } from "./approvals.ts"

/**
 * Let signed commands settle what waits here, wherever they were submitted: the operator's log tells them to every replica. One for a
 * call that waits elsewhere, or nowhere any more, changes nothing here. The answer ends it.
 */
export function approvalsFromOperator(
  operator: Pick<Operator, "subscribe">,
  approvals: Pick<Approvals, "settle">,
): () => void {
  return operator.subscribe((event) => {
    if (event.type !== "command-accepted") return
    const { command } = event.line
    if (command.type === "approve" || command.type === "refuse")
      approvals.settle(command.call, command.type === "approve")
  })
}
