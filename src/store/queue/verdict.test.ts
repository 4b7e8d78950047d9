import { expect, test } from "vitest"
import { type RetryVerdict, retryDecision, type Stop, worn } from "./create-queue.ts"

const cases: [why: string, stop: Stop | undefined, failed: boolean, attempt: number, verdict: RetryVerdict][] = [
  ["done", undefined, false, 1, { type: "finish" }],
  ["done at the last attempt", undefined, false, 3, { type: "finish" }],
  ["failed for the first time: again after the pause", undefined, true, 1, { type: "postpone", pauseMs: 100 }],
  ["failed again: the pause doubles", undefined, true, 2, { type: "postpone", pauseMs: 200 }],
  ["failed for the last time", undefined, true, 3, { type: "give-up" }],
  ["failed after more attempts than there are, for restarts count too", undefined, true, 5, { type: "give-up" }],
  ["cancelled, and it stopped", "cancelled", true, 1, { type: "finish" }],
  ["cancelled, and it went on to its end", "cancelled", false, 1, { type: "finish" }],
  ["closing, and it stopped: free at once", "closing", true, 3, { type: "postpone", pauseMs: 0 }],
  ["closing, and it ended quietly: not said to be done", "closing", false, 1, { type: "postpone", pauseMs: 0 }],
  ["its row is gone", "gone", false, 1, { type: "leave" }],
  ["its lease ran out: someone else may have it", "lost", false, 1, { type: "leave" }],
]
test.each(cases)("%s", (_why, stop, failed, attempt, verdict) => {
  expect(retryDecision({ stop, failed, attempt, maxAttempts: 3, retryMs: 100 })).toEqual(verdict)
})

test("no pause is longer than a quarter of an hour, however often a job may fail", () => {
  const late = retryDecision({ stop: undefined, failed: true, attempt: 900, maxAttempts: 1_000, retryMs: 2_000 })
  expect(late).toEqual({ type: "postpone", pauseMs: 15 * 60_000 })
})

test("a job is given up once it was taken more than twice as often as it may fail", () => {
  expect([6, 7].map((attempt) => worn(attempt, 3))).toEqual([false, true])
})
