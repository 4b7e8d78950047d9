import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { Note, NoteKind, Summary } from "../summary/summary.ts"
import { writeExtractive } from "./extractive.ts"

const noteOf =
  (kind: NoteKind) =>
  (text: string, at: number): Note => ({
    ...{ kind, text, sources: [`m${at}`], channel: "assistant", at, worth: 2 },
  })

/** A digest with little room tells the short forms of its lines. */
const withShortLines = ({ schema, sections }: Summary): Summary => ({
  schema,
  sections: sections.map(({ name, lines }) => ({
    name,
    lines: lines.map(({ short, ...line }) => ({ ...line, text: short ?? line.text })),
  })),
})

/** The lines of a handoff that was written in rounds, each carrying the one before it. */
function linesOf(kind: NoteKind, rounds: readonly (readonly string[])[]): readonly string[] {
  const summary = rounds.reduce<Summary | undefined>(
    (carried, own) =>
      writeExtractive([], {
        schema: "handoff",
        notes: own.map(noteOf(kind)),
        ...(carried === undefined ? {} : { carried }),
      }),
    undefined,
  )
  return summary?.sections.flatMap((section) => section.lines.map(({ text: line }) => line)) ?? []
}

const inRounds = <Item>(items: readonly Item[], cut: number): readonly (readonly Item[])[] => [
  items.slice(0, cut),
  items.slice(cut),
]

/** All names that a text with `{a,b,3..5}` in it stands for. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].flatMap(([, name = ""]) => {
    const [, before = "", list, after = ""] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(name) ?? []
    const pieces = list?.split(",").flatMap((piece) => {
      const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(piece) ?? []
      if (from === undefined || to === undefined) return [piece]
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, n) => String(Number(from) + n))
    })
    return pieces === undefined ? [name] : pieces.map((piece) => `${before}${piece}${after}`)
  })
}

test("files of a series that were only read are one line, over any cut into rounds", () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 6, maxLength: 40 })
  fc.assert(
    fc.property(numbers, fc.nat(40), (read, cut) => {
      const files = read.map((n) => `step-${n}.txt`)
      const rounds = inRounds(files, cut).map((own) => own.map((file) => `\`${file}\`: read`))
      const lines = linesOf("file", rounds)
      expect(lines.flatMap(namesIn).toSorted()).toEqual(files.toSorted())
      const isDense = Math.max(...read) - Math.min(...read) + 1 === read.length
      if (isDense) expect(lines).toHaveLength(1)
    }),
  )
})

test("files of a folder that were only read are one line, over any cut into rounds and whichever form was told", () => {
  const file = fc
    .tuple(fc.constantFrom("/app/docs/", "/app/src/", "src/"), fc.constantFrom("a", "b", "c", "d", "e"))
    .map(([folder, name]) => `${folder}${name}.md`)
  const files = fc.uniqueArray(file, { minLength: 2, maxLength: 10 })
  fc.assert(
    fc.property(files, fc.nat(10), fc.boolean(), (read, cut, isShort) => {
      const [first = [], second = []] = inRounds(read, cut).map((own) => own.map((one) => `\`${one}\`: read`))
      const told = writeExtractive([], { schema: "handoff", notes: first.map(noteOf("file")) })
      const carried = isShort ? withShortLines(told) : told
      const joined = writeExtractive([], { schema: "handoff", notes: second.map(noteOf("file")), carried })
      const lines = joined.sections.flatMap((section) => section.lines)
      expect(lines.flatMap(({ text }) => namesIn(text)).toSorted()).toEqual(read.toSorted())
      expect(lines.flatMap(({ text, short = text }) => namesIn(short)).toSorted()).toEqual(read.toSorted())
      expect(lines).toHaveLength(new Set(read.map((one) => one.slice(0, one.lastIndexOf("/")))).size)
    }),
  )
})

test("a file that was read with others of its folder and changed later is told once, as changed", () => {
  const lines = linesOf("file", [
    ["`src/a.ts`: read", "`src/b.ts`: read", "`src/c.ts`: read"],
    ["`src/b.ts`: edited (+2)"],
  ])
  expect(lines).toEqual(["`src/a.ts`, `src/c.ts`: read", "`src/b.ts`: edited (+2)"])
})

test("pages are one line that names each of them, over any cut into rounds", () => {
  const page = fc
    .tuple(fc.constantFrom("https://a.example/", "https://b.example/watch?v=", "notes://"), fc.nat(40))
    .map(([stem, n]) => `${stem}p${n}`)
  const pages = fc.uniqueArray(page, { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(pages, fc.nat(30), (read, cut) => {
      const lines = linesOf(
        "lookup",
        inRounds(read, cut).map((own) => own.map((each) => `\`${each}\`: read`)),
      )
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatch(/^Pages read: /)
      expect(lines.flatMap(namesIn).toSorted()).toEqual(read.toSorted())
    }),
  )
})

describe("lookups with one tool", () => {
  const lookups = ["red shoes", "blue shoes, size 40", "socks", "a hat"].map(
    (query) => `\`search(limit=8, query=${query})\``,
  )
  const told = "`search` ×4: red shoes | blue shoes, size 40 | socks | a hat"

  test("are one line, over rounds too", () => {
    expect(linesOf("lookup", [lookups])).toEqual([told])
    expect(linesOf("lookup", [lookups.slice(0, 3), lookups.slice(3)])).toEqual([told])
  })

  test("stay apart where there are few, and where each has its result", () => {
    expect(linesOf("lookup", [lookups.slice(0, 2)])).toEqual(lookups.slice(0, 2))
    const found = lookups.map((line, n) => `${line}: ${n} found`)
    expect(linesOf("lookup", [found])).toEqual(found)
  })
})
