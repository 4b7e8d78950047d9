import { present } from "../../message/present.ts"
import type { NewAuditBody } from "./audit-line.ts"
import type { Refusal } from "./judge-command.ts"
import { hashOfCommand } from "./signed-command.ts"

/** So many refusals have a line of their own at once, and then one a minute: a flood of a day takes some hundred kilobytes. */
const burst = 20
const everyMs = 60_000

type RefusedBody = Extract<NewAuditBody, { type: "command-refused" }>

/** What was refused and has no line yet. Anyone may send what is refused, so not everything has one; all of it is counted. */
export type Refusals = {
  readonly add: (refusal: Refusal, text: string) => void
  /** The line to write now, if one may be written. It is taken only when `written` says so. */
  readonly due: (nowMs: number, whatever?: boolean) => RefusedBody | undefined
  readonly written: (body: RefusedBody, nowMs: number) => void
}

export function createRefusals(): Refusals {
  let waiting = 0
  let last: RefusedBody | undefined
  let spent = 0
  let sinceMs = 0
  const isOver = (nowMs: number): boolean => {
    const back = Math.floor(Math.max(0, nowMs - sinceMs) / everyMs)
    if (back > 0) {
      spent = Math.max(0, spent - back)
      sinceMs = nowMs
    }
    return spent >= burst
  }
  return {
    add: ({ reason, key }, text) => {
      waiting += 1
      last = { type: "command-refused", reason, sha256: hashOfCommand(text), ...present({ key }) }
    },
    due: (nowMs, whatever = false) => {
      if (last === undefined || waiting === 0 || (isOver(nowMs) && !whatever)) return undefined
      return waiting === 1 ? last : { ...last, unwritten: waiting - 1 }
    },
    written: ({ unwritten = 0 }, nowMs) => {
      if (spent === 0) sinceMs = nowMs
      spent += 1
      waiting -= unwritten + 1
    },
  }
}
