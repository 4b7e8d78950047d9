import type { JudgedCall } from "../../guard/judge-call.ts"
import { present } from "../../message/present.ts"
import type { ExchangeRecord } from "../exchange-record.ts"
import { type Bounds, boundValue } from "./bound-value.ts"
import { tellProblem } from "./refusal.ts"

type Fields = Readonly<Record<string, unknown>>

/** What is told of an exchange in a list, and of one alone. */
const lineBounds: Bounds = { text: 500, items: 50, total: 8000 }
const wholeBounds: Bounds = { text: 4000, items: 500, total: 200_000 }

/** An exchange in a few words: its trace by number only, and of each call what was decided. */
export function tellExchangeLine({ trace, judged, problem, ...record }: ExchangeRecord): Fields {
  const told = {
    ...record,
    traceEvents: trace.length,
    judged: judged.map(({ callId, tool, verdict, enforced, approved }) => ({
      callId,
      tool,
      decision: verdict.decision,
      enforced,
      ...present({ approved }),
    })),
    ...present({ problem: problem && tellProblem(problem) }),
  }
  return boundedFields(told, lineBounds)
}

/** All that the books have of an exchange: what was done to its context and why, and the reasons of each verdict. */
export function tellExchange({ trace, judged, problem, ...record }: ExchangeRecord): Fields {
  const told = {
    ...record,
    judged: judged.map(tellJudged),
    trace,
    ...present({ problem: problem && tellProblem(problem) }),
  }
  return boundedFields(told, wholeBounds)
}

/** Without the facts of the call, which have all its words in them. */
const tellJudged = ({ verdict, ...call }: JudgedCall): Fields => {
  const { decision, reasons, errors } = verdict
  return { ...call, decision, reasons, errors }
}

function boundedFields(told: Fields, bounds: Bounds): Fields {
  const { value, cut } = boundValue(told, bounds)
  return { ...(typeof value === "object" ? value : {}), ...(cut ? { cut } : {}) }
}
