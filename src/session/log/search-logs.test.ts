import { expect, test } from "vitest"
import { fc, runs } from "../../../test/support/property.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { isHit, readQuery, searchTerms } from "../../store/search-terms.ts"
import type { Store } from "../../store/store.ts"
import { createHoldfast } from "../holdfast.ts"
import { searchLogs, sectionsIn } from "./search-logs.ts"

/** Words with forms, accents, other scripts, paths and numbers; a question and the texts are made of the same ones. */
const word = fc.constantFrom(
  ...["install", "installed", "installing", "Müller", "muller", "refunds", "refund", "src/app/main.ts", "4711", "ÖL"],
  ...["配置文件", "stop", "stopped", "quay", "quays", "x", "the", "Überweisung", "ﬁle", "file", "ticket-88"],
)
const text = fc.array(word, { minLength: 1, maxLength: 30 }).map((words) => words.join(" "))
const logs = fc.array(fc.array(text, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 })

async function write(store: Store, sessions: readonly (readonly string[])[]): Promise<void> {
  const holdfast = createHoldfast({ store, format: "openai-chat" })
  for (const [n, texts] of sessions.entries())
    await holdfast.session(`s${n}`).append(texts.map((content) => ({ role: "user", content })))
  await holdfast.idle()
}

test("every message that answers a question is found, in its session and entry, and no other", async () => {
  await fc.assert(
    fc.asyncProperty(logs, fc.array(word, { minLength: 1, maxLength: 3 }), async (sessions, asked) => {
      const store = createMemoryStore()
      await write(store, sessions)
      const question = asked.join(" ")
      const { found, cut } = await searchLogs(store, await store.sessions(), question, { limit: 1000 })
      const expected = sessions.flatMap((texts, n) =>
        texts.flatMap((one, at) => (isHit(searchTerms(one), readQuery(question)) ? [`s${n} e${at + 2}`] : [])),
      )
      expect(cut).toBe(false)
      expect(found.map(({ session, entry }) => `${session} ${entry}`).sort()).toEqual(expected.sort())
      for (const { session, entry, pieces } of found) {
        const [, n = ""] = /^s(\d+)$/.exec(session) ?? []
        const said = sessions[Number(n)]?.[Number(entry.slice(1)) - 2] ?? ""
        expect(said).toContain(pieces.map((piece) => piece.text).join(""))
        const terms = searchTerms(question)
        for (const piece of pieces.filter(({ isUsed }) => isUsed))
          expect(isHit(searchTerms(piece.text), readQuery(terms.join(" "))), piece.text).toBe(true)
      }
    }),
    { numRuns: Math.ceil(runs / 2) },
  )
})

test("sections are the whole text, and no longer than one word over their size", () => {
  const line = fc.oneof(
    fc.string({ maxLength: 60, unit: "grapheme" }),
    fc.integer({ min: 0, max: 6000 }).map((n) => "a b".repeat(n)),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const sections = sectionsIn(lines.join("\n"))
      expect(sections.join("")).toBe(lines.join("\n"))
      for (const section of sections) {
        expect(section.length).toBeLessThanOrEqual(2201)
        expect(section.isWellFormed()).toBe(true)
      }
    }),
    { numRuns: runs },
  )
})

test("a word deep in a long tool result is found, with the tool and the words around it", async () => {
  const store = createMemoryStore()
  const holdfast = createHoldfast({ store, format: "openai-chat" })
  const lines = Array.from({ length: 5000 }, (_, n) => `${n} nothing to see on this line, go on to the next one`)
  lines[4321] = "4321 the importer failed with ECONNRESET after 30 s"
  await holdfast.session("long").append([
    { role: "user", content: "Read the log." },
    { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "read_log", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "c", content: lines.join("\n") },
  ])
  const [first, ...others] = (await searchLogs(store, await store.sessions(), "econnreset", { limit: 5 })).found
  expect(others).toEqual([])
  expect(first).toMatchObject({ session: "long", entry: "e4", kind: "result", tool: "read_log" })
  expect(first?.pieces.find(({ isUsed }) => isUsed)?.text).toBe("ECONNRESET")
  expect(first?.pieces.map((piece) => piece.text).join("")).toContain("importer failed with ECONNRESET after 30 s")
  await holdfast.close()
})

test("more words come first, what is quoted must occur, and what is left out for size is said", async () => {
  const store = createMemoryStore()
  await write(store, [["the crane is broken", "the crane of quay 7 is broken since May"], ["quay 7 is closed"]])
  const search = async (question: string, maxCharacters?: number) => {
    const options = { limit: 10, ...(maxCharacters === undefined ? {} : { maxCharacters }) }
    const { found, ...rest } = await searchLogs(store, await store.sessions(), question, options)
    return { ...rest, found: found.map(({ session, entry }) => `${session} ${entry}`) }
  }
  expect((await search("broken quay crane")).found[0]).toBe("s0 e3")
  expect((await search('"quay 7"')).found.sort()).toEqual(["s0 e3", "s1 e2"])
  expect(await search("quay", 10)).toMatchObject({ sessions: 1, cut: true })
  expect(await search("the !? -")).toMatchObject({ cut: false })
  expect(await search(" ")).toEqual({ found: [], sessions: 0, cut: false })
})
