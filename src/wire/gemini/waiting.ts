import type { CallId } from "../../message/ids.ts"
import type { Message } from "../../message/message.ts"

/** Calls that wait for a result, for results that name theirs by its tool alone. */
export type Waiting = {
  readonly ask: (tool: string, call: CallId) => void
  /** The call that a result of this tool answers: of the newest turn that waits for one, the first. */
  readonly answer: (tool: string) => CallId | undefined
}

/** How many messages back a call is looked for: results follow their calls at once, though each may be a message of its own. */
const reach = 256

/** Nothing is searched until the first result asks. */
export function createWaiting(earlier: readonly Message[]): Waiting {
  const own = new Map<string, CallId[]>()
  let before: ReadonlyMap<string, CallId[]> | undefined
  return {
    ask: (tool, call) => put(own, tool, call),
    answer: (tool) => {
      const mine = own.get(tool)?.shift()
      if (mine !== undefined) return mine
      before ??= waitingIn(earlier)
      return before.get(tool)?.shift()
    },
  }
}

function put(waiting: Map<string, CallId[]>, tool: string, call: CallId): void {
  const calls = waiting.get(tool)
  if (calls === undefined) waiting.set(tool, [call])
  else calls.push(call)
}

/** The calls without a result of the newest turn that has any: some clients send each call of a turn as a message of its own. */
function waitingIn(messages: readonly Message[]): ReadonlyMap<string, CallId[]> {
  const answered = new Set<CallId>()
  const oldest = Math.max(0, messages.length - reach)
  for (let at = messages.length - 1; at >= oldest; at--) {
    const turn: Message[] = []
    for (let message = messages[at]; message?.role === "assistant"; message = messages[--at]) turn.unshift(message)
    const waiting = new Map<string, CallId[]>()
    for (const { parts } of turn) {
      for (const part of parts) if (part.type === "tool-result") answered.add(part.callId)
      for (const part of parts)
        if (part.type === "tool-call" && !answered.has(part.callId)) put(waiting, part.tool, part.callId)
    }
    if (waiting.size > 0) return waiting
    for (const part of messages[at]?.parts ?? []) if (part.type === "tool-result") answered.add(part.callId)
  }
  return new Map()
}
