import type { Operator } from "../../guard/operator/operator.ts"
import type { Approvals } from "./approvals.ts"

/**
 * Let signed commands settle pending approvals, wherever they were submitted: the operator's log brings them to every replica. A command
 * for a call that waits elsewhere, or no longer waits, changes nothing here. Call the returned function to stop.
 */
export function approvalsFromOperator(
  operator: Pick<Operator, "subscribe">,
  approvals: Pick<Approvals, "settle">,
): () => void {
  return operator.subscribe((event) => {
    if (event.type !== "command-accepted") return
    const { command } = event.line
    if (command.type === "approve") approvals.settle(command.call, true)
    if (command.type === "refuse")
      approvals.settle(command.call, command.note === undefined ? false : { note: command.note })
  })
}
