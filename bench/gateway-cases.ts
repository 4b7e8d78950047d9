import type { Job } from "./gateway-load-child.ts"

/** What is measured: no gateway, a minimal one, a peer, and ours in several settings. */
export type Target = "direct" | "bare" | "portkey" | "sqlite" | "memory" | "small" | "guarded"

export type Case = {
  readonly name: string
  readonly targets: readonly Target[]
  readonly job: Omit<Job, "url" | "headers" | "key" | "count">
  /** Requests per round for each target, as a share of the usual number. */
  readonly share?: number
}

const everyone: readonly Target[] = ["direct", "bare", "portkey", "sqlite", "memory"]

type JobShape = Case["job"]
const usual: JobShape = {
  kind: "next",
  isNamed: true,
  bytes: 2000,
  stream: false,
  calls: false,
  turnUnits: 1250,
  thinkMs: 0,
  workers: 1,
}

/** Minimum time that an agent needs between an answer and its next request. */
const thinkMs = 20

/** Pause between sessions, so that the gateway has stored the previous one. */
const betweenSessionsMs = 250

const kB = 1000
const sizes = [2 * kB, 500 * kB, 800 * kB]
const named = (bytes: number, stream: boolean): string => `${bytes / kB} kB, ${stream ? "streamed" : "whole"}`

function both(
  name: string,
  bytes: readonly number[],
  job: Partial<JobShape>,
  more: Partial<Case> = {},
): readonly Case[] {
  return bytes.flatMap((size) =>
    [false, true].map((stream) => ({
      name: `${name}, ${named(size, stream)}`,
      targets: everyone,
      job: { ...usual, ...job, bytes: size, stream },
      ...more,
    })),
  )
}

/** Cases with one request at a time. */
export const latencyCases: readonly Case[] = [
  ...both("the same again", sizes, { kind: "retry" }),
  ...both("next turn, 20 ms later", sizes, { thinkMs }),
  ...both("next turn, at once", sizes, {}),
  ...both("next turn, 20 ms later, no session named", [500 * kB], { thinkMs, isNamed: false }),
  ...both("first of a session", [2 * kB, 500 * kB], { kind: "first", thinkMs: betweenSessionsMs }, { share: 0.5 }),
  ...both("compaction in force", [800 * kB], { thinkMs }, { targets: ["direct", "bare", "portkey", "small"] }),
  ...both("compaction in force, at once", [800 * kB], {}, { targets: ["direct", "bare", "portkey", "small"] }),
  {
    name: "the request that compacts, 800 kB, whole",
    targets: ["small"],
    job: { ...usual, kind: "compacting", bytes: 640 * kB, turnUnits: 8000, thinkMs },
    share: 0.1,
  },
  {
    name: "guard, tool call streamed, 2 kB",
    targets: ["direct", "bare", "portkey", "guarded"],
    job: { ...usual, stream: true, calls: true, thinkMs },
  },
]

/** Sixteen concurrent conversations, each without a pause. */
export const throughputCases: readonly Case[] = both(
  "16 sessions",
  [2 * kB, 500 * kB],
  { workers: 16 },
  { targets: ["direct", "bare", "portkey", "sqlite", "memory"] },
)
