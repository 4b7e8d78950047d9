import { describe, expect, test } from "vitest"
import { answerTo, toolRound, userSays } from "../../test/support/scripted-session.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast, type Holdfast } from "./holdfast.ts"
import type { Session } from "./session.ts"

const open = (): Holdfast =>
  createHoldfast({
    store: createMemoryStore(),
    format: "openai-chat",
    windowTokens: 5000,
    reserveTokens: 200,
    recall: true,
  })

/** A session with a compaction in force, and a handle in it. */
async function withHandle(session: Session): Promise<string> {
  for (let n = 1; n < 30; n++) {
    await session.append([userSays(n), ...toolRound(n, 150), answerTo(n)])
    const { wire } = await session.prepare()
    const handle = /recall (hf-\d+-[0-9a-f]{20})/.exec(wire)?.[1]
    if (handle !== undefined) return handle
  }
  throw new Error("no handle was printed")
}

describe("a handle", () => {
  test("fetches the whole result, or the requested lines", async () => {
    const session = open().session("s")
    const handle = await withHandle(session)
    const whole = await session.recall(handle)
    const n = /^row 0 of file (\d+):/.exec(whole.text)?.[1] ?? "none"
    expect(whole).toMatchObject({ lines: 150, fromLine: 1, toLine: 150 })
    expect(whole.text).toBe(toolRound(Number(n), 150)[1]?.content)
    const ranges: readonly (readonly [number | undefined, number | undefined, number, number])[] = [
      [3, 5, 3, 5],
      [0, 2, 1, 2],
      [149, 900, 149, 150],
      [-5, -1, 1, 1],
      [400, undefined, 150, 150],
      [Number.NaN, Number.NaN, 1, 150],
      [2.7, 3.2, 2, 3],
      [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 1, 150],
    ]
    for (const [fromLine, toLine, first, last] of ranges) {
      const part = await session.recall(handle, {
        ...(fromLine === undefined ? {} : { fromLine }),
        ...(toLine === undefined ? {} : { toLine }),
      })
      expect([part.fromLine, part.toLine]).toEqual([first, last])
      expect(part.text).toBe(
        whole.text
          .split("\n")
          .slice(first - 1, last)
          .join("\n"),
      )
    }
  })

  test("that was invented, changed or printed elsewhere fetches nothing; a fork has the earlier ones", async () => {
    const holdfast = open()
    const session = holdfast.session("s")
    const handle = await withHandle(session)
    const other = holdfast.session("other")
    await withHandle(other)
    const unknown = { problem: { code: "handle-unknown" } }
    await expect(other.recall(handle)).rejects.toMatchObject(unknown)
    const flipped = handle.endsWith("0") ? `${handle.slice(0, -1)}1` : `${handle.slice(0, -1)}0`
    for (const wrong of [flipped, handle.slice(0, -1), `${handle} `, "", "hf-1-", handle.replace(/-\d+-/, "-2-")])
      await expect(session.recall(wrong)).rejects.toMatchObject(unknown)
    await expect(session.recall(JSON.parse("7"))).rejects.toMatchObject(unknown)
    const fork = await session.fork("fork")
    expect((await fork.recall(handle)).text).toBe((await session.recall(handle)).text)
  })
})

describe("the handle of a summary", () => {
  /** A session with a summary in force, and its handle. */
  async function withSummary(session: Session): Promise<string> {
    for (let n = 1; n < 40; n++) {
      await session.append([userSays(n), ...toolRound(n, 30), answerTo(n)])
      const { wire } = await session.prepare()
      const handle = /<summary[^>]*recall=\\"(hf-\d+-[0-9a-f]{20})/.exec(wire)?.[1]
      if (handle !== undefined) return handle
    }
    throw new Error("nothing was summarized")
  }

  test("brings back all that was said, called and answered, in order, and nothing later", async () => {
    const session = open().session("s")
    const handle = await withSummary(session)
    const { text, lines, channel } = await session.recall(handle)
    expect(channel).toBe("conversation")
    expect(text.split("\n")).toHaveLength(lines)
    const said = [userSays(1).content, ...toolRound(1, 30).map(({ content }) => content), answerTo(1).content]
    let at = 0
    for (const words of said.flatMap((one) => one ?? [])) {
      expect(text.indexOf(words, at)).toBeGreaterThanOrEqual(at)
      at = text.indexOf(words, at)
    }
    await session.append([{ role: "user", content: "Something said later on." }])
    expect((await session.recall(handle)).text).toBe(text)
  })

  test("with words to find, only the excerpts that have some of them, each with its lines", async () => {
    const session = open().session("s")
    const handle = await withSummary(session)
    const whole = (await session.recall(handle)).text.split("\n")
    const { text } = await session.recall(handle, { find: "What became of order A-2?" })
    expect(text).toContain(answerTo(2).content)
    expect(text.length).toBeLessThan(whole.join("\n").length)
    for (const [, from, to, excerpt] of text.matchAll(/\[lines (\d+)-(\d+)\]\n([\s\S]*?)(?=\n\n\[lines |$)/g))
      expect(whole.slice(Number(from) - 1, Number(to)).join("\n")).toBe(excerpt)
    const none = await session.recall(handle, { find: "zeppelin" })
    expect(none.text).toContain("No line has a word of")
  })

  test("of another session is refused", async () => {
    const holdfast = open()
    const handle = await withSummary(holdfast.session("s"))
    await withSummary(holdfast.session("other"))
    const unknown = { problem: { code: "handle-unknown" } }
    await expect(holdfast.session("other").recall(handle)).rejects.toMatchObject(unknown)
  })
})

describe("the log", () => {
  test("is read in pages that together equal the whole, whatever is requested", async () => {
    const session = open().session("s")
    await withHandle(session)
    const whole = await session.history()
    const paged: (typeof whole)[number][] = []
    for (let from = 1; from <= whole.length; from += 7) paged.push(...(await session.history({ from, limit: 7 })))
    expect(paged).toEqual(whole)
    expect(await session.history({ from: whole.length + 1 })).toEqual([])
    expect(await session.history({ limit: 0 })).toEqual([])
    expect(await session.history({ from: -1e15, limit: 3e15 })).toEqual(whole)
    expect(await session.history({ from: Number.NaN })).toEqual(whole)
    expect(await session.history({ limit: Number.POSITIVE_INFINITY })).toEqual(whole)
    expect((await session.history({ from: 2.5, limit: 1 })).map(({ seq }) => seq)).toEqual([2])
  })

  test("explains the state of each entry", async () => {
    const session = open().session("s")
    await withHandle(session)
    const states = new Set<string>()
    for (const { id, type } of await session.history()) {
      const { state, changes } = await session.explain(id)
      states.add(state)
      expect(state === "not-a-message").toBe(type !== "message-appended")
      if (state === "shortened" || state === "summarized") expect(changes.length).toBeGreaterThan(0)
    }
    expect(states).toContain("shown")
    expect([...states].some((state) => state === "shortened" || state === "summarized")).toBe(true)
    for (const wrong of ["e999", "e0", "x", ""])
      await expect(session.explain(wrong)).rejects.toMatchObject({ problem: { code: "entry-unknown" } })
  })

  test("reports a message on another branch", async () => {
    const session = open().session("s")
    const bodyOf = (...messages: readonly object[]) => ({ body: { model: "any", messages } })
    await session.prepare(bodyOf(userSays(1), answerTo(1), userSays(2)))
    await session.prepare(bodyOf(userSays(1), answerTo(5), userSays(3)))
    expect((await session.explain("e3")).state).toBe("shown")
    expect((await session.explain("e5")).state).toBe("other-branch")
  })
})

describe("a compaction that was undone", () => {
  test("is not made again before it is necessary", async () => {
    const session = open().session("s")
    await withHandle(session)
    const { checkpoint } = (await session.prepare()).receipt
    expect((await session.undo()).checkpoint).toBe(checkpoint)
    const back = await session.prepare()
    expect(back.receipt.checkpoint).toBeUndefined()
    let again = back
    for (let n = 100; again.receipt.checkpoint === undefined; n++) {
      await session.append([userSays(n), ...toolRound(n, 20)])
      again = await session.prepare()
      expect(again.receipt.contextTokens).toBeLessThanOrEqual(4800)
    }
    expect(again.wire).toContain("</summary>")
  })
})
