import type { TaskRun } from "./run-task.ts"
import { lastStep } from "./task.ts"

/** The requests of the conversation, as the model received their bytes, that do not have the rule in them: which, and how far they were. */
export const requestsWithout = ({ requests, client }: TaskRun, rule: string): readonly string[] =>
  requests.flatMap(({ body, json, path }, n) =>
    !client.isMain(json) || Buffer.from(body).includes(rule)
      ? []
      : [`request ${n} to ${path}, after step ${lastStep(json)}`],
  )

/** The same of the requests after the first that has the rule; that there is none with it is a finding too. */
export function laterRequestsWithout(run: TaskRun, rule: string): readonly string[] {
  const first = run.requests.findIndex(({ body, json }) => run.client.isMain(json) && Buffer.from(body).includes(rule))
  if (first < 0) return ["no request has the rule"]
  return requestsWithout({ ...run, requests: run.requests.slice(first) }, rule)
}
