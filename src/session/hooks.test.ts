import { afterEach, describe, expect, test, vi } from "vitest"
import { toolRound, userSays } from "../../test/support/scripted-session.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Prepared } from "./history/prepared.ts"
import { createHoldfast } from "./holdfast.ts"
import type { Session } from "./session.ts"
import type { Hooks } from "./state/options.ts"

const windowTokens = 4000
const open = (hooks: Hooks): Session =>
  createHoldfast({
    store: createMemoryStore(),
    format: "openai-chat",
    windowTokens,
    reserveTokens: 200,
    hooks,
  }).session("s")

/** A session whose size makes a compaction due, with or without a context that still fits. */
async function fill(session: Session, share: number): Promise<Prepared> {
  for (let n = 1; ; n++) {
    await session.append([userSays(n), ...toolRound(n, 30)])
    const { receipt } = await session.prepare({ windowTokens: 1_000_000 })
    if (receipt.contextTokens <= share * (windowTokens - 200)) continue
    await session.append([userSays(n + 1)])
    return session.prepare()
  }
}

const due = 0.82
const tooLarge = 1.2
const outcomes = ({ trace }: Prepared): readonly unknown[] =>
  trace.flatMap((event) => (event.type === "hook-ran" ? event.outcome : []))
const isInstalled = ({ trace }: Prepared): boolean => trace.some(({ type }) => type === "checkpoint-installed")

describe("before a compaction", () => {
  test("a hook may cancel a compaction that is not needed yet", async () => {
    const prepared = await fill(open({ beforeCompact: () => ({ cancel: true }) }), due)
    expect(outcomes(prepared)).toEqual(["cancelled"])
    expect(prepared.trace).toContainEqual({ type: "compaction-held", reason: "cancelled" })
    expect(isInstalled(prepared)).toBe(false)
  })

  test("a hook is overruled if the context does not fit otherwise", async () => {
    const seen: boolean[] = []
    const hooks: Hooks = {
      beforeCompact: ({ mustFit }) => {
        seen.push(mustFit)
        return { cancel: true }
      },
      beforeInstall: () => ({ veto: true }),
    }
    const prepared = await fill(open(hooks), tooLarge)
    expect(outcomes(prepared)).toEqual(["overruled", "overruled"])
    expect(seen).toEqual([true])
    expect(isInstalled(prepared)).toBe(true)
    expect(prepared.receipt.contextTokens).toBeLessThanOrEqual(windowTokens - 200)
  })

  test("a hook may set the focus, and it is used", async () => {
    const prepared = await fill(open({ beforeCompact: () => ({ focus: "order A-2" }) }), due)
    expect(outcomes(prepared)).toEqual(["focused"])
    expect(isInstalled(prepared)).toBe(true)
  })

  test("a hook may write the summary itself", async () => {
    const prepared = await fill(
      open({ beforeCompact: () => ({ summary: "## Status\n- Order A-1 was settled by hand." }) }),
      due,
    )
    expect(outcomes(prepared)).toEqual(["replaced"])
    expect(prepared.wire).toContain("Order A-1 was settled by hand.")
  })
})

describe("before a compaction is installed", () => {
  test("a hook sees it and may refuse it", async () => {
    const digests: (string | undefined)[] = []
    const hooks: Hooks = {
      beforeInstall: ({ digest, beforeTokens, afterTokens }) => {
        digests.push(digest)
        expect(afterTokens).toBeLessThan(beforeTokens)
        return { veto: true }
      },
    }
    const prepared = await fill(open(hooks), due)
    expect(outcomes(prepared)).toEqual(["vetoed"])
    expect(isInstalled(prepared)).toBe(false)
    expect(digests[0]).toContain("</summary>")
  })

  test("a hook is told afterwards which compaction it was", async () => {
    const told: string[] = []
    const hooks: Hooks = {
      afterCompact: ({ checkpoint }) => {
        told.push(checkpoint)
      },
    }
    const { receipt } = await fill(open(hooks), due)
    expect(told).toEqual([receipt.checkpoint])
  })
})

describe("a hook that fails", () => {
  afterEach(() => {
    vi.useRealTimers()
  })
  const broken: readonly (readonly [string, Hooks])[] = [
    [
      "throws before",
      {
        beforeCompact: () => {
          throw new RangeError("no")
        },
      },
    ],
    ["rejects before", { beforeCompact: async () => Promise.reject("words") }],
    [
      "throws before it is in force",
      {
        beforeInstall: () => {
          throw new RangeError("no")
        },
      },
    ],
    [
      "throws afterwards",
      {
        afterCompact: () => {
          throw new RangeError("no")
        },
      },
    ],
  ]
  test.each(broken)("%s: is ignored, and the trace says so", async (_why, hooks) => {
    const prepared = await fill(open(hooks), due)
    expect(isInstalled(prepared)).toBe(true)
    expect(prepared.trace.filter(({ type }) => type === "hook-failed").length).toBe(1)
  })

  test("never returns: is ignored after a while", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const filling = fill(open({ beforeCompact: () => new Promise(() => {}) }), due)
    let over = false
    void filling.finally(() => {
      over = true
    })
    while (!over) {
      await vi.advanceTimersByTimeAsync(1_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const prepared = await filling
    expect(prepared.trace).toContainEqual({ type: "hook-failed", hook: "before-compact", name: "too late" })
    expect(isInstalled(prepared)).toBe(true)
  })
})
