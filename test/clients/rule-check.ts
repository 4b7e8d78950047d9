import type { TaskRun } from "./run-task.ts"
import { lastStep } from "./task.ts"

/** The requests of the conversation, as the model received their bytes, that do not have the rule in them: which, and how far they were. */
export const requestsWithout = ({ requests, client }: TaskRun, rule: string): readonly string[] =>
  requests.flatMap(({ body, json, path }, n) =>
    !client.isMain(json) || Buffer.from(body).includes(rule)
      ? []
      : [`request ${n} to ${path}, after step ${lastStep(json)}`],
  )
