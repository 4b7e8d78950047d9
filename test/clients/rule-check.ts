import type { TaskRun } from "./run-task.ts"
import { lastStep } from "./task.ts"

/**
 * Returns the requests of the conversation that do not contain the rule, as the model received their bytes: which ones, and after which
 * step.
 */
export const requestsWithout = ({ requests, client }: TaskRun, rule: string): readonly string[] =>
  requests.flatMap(({ body, json, path }, n) =>
    !client.isMain(json) || Buffer.from(body).includes(rule)
      ? []
      : [`request ${n} to ${path}, after step ${lastStep(json)}`],
  )

/** The same for the requests after the first with the rule; if none has it, that is reported. */
export function laterRequestsWithout(run: TaskRun, rule: string): readonly string[] {
  const first = run.requests.findIndex(({ body, json }) => run.client.isMain(json) && Buffer.from(body).includes(rule))
  if (first < 0) return ["no request has the rule"]
  return requestsWithout({ ...run, requests: run.requests.slice(first) }, rule)
}
