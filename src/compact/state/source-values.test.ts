import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { readRecord, recordText } from "./records.ts"
import { addValues, programValues, type SourceState, settingsIn, sourceRecord, sourceTexts } from "./source-values.ts"

const told = (values: ReturnType<typeof settingsIn>): readonly string[] =>
  values.map(({ key, value }) => `${key}=${value}`)

const emptyState = (): SourceState => ({ values: new Map(), sources: [], at: 0 })

describe("a written file sets values under their names, in any language", () => {
  const cases: readonly (readonly [source: string, values: readonly string[]])[] = [
    [".card {\n  padding: 50px 60px;\n  color: #5568d3;\n}", ["padding=50px 60px", "color=#5568d3"]],
    ['{ "version": "1.4.2", "name": "boat" }', ["version=1.4.2"]],
    ["PORT=3000\nHOST=db-1.example\n", ["PORT=3000", "HOST=db-1.example"]],
    ["const limit = 25 * 60\nif (a === 12) return", ["limit=25 * 60"]],
    ["services:\n  web:\n    image: nginx:1.27\n", ["image=nginx:1.27"]],
    ["Nothing is set in a sentence.", []],
    ["tag.to_csv(path, sep=';', float_format='%.2f')\nRHO = 998.2", ["RHO=998.2"]],
    ["titles = ['Why it sucks: glm 5.2 versus the rest']\nsee https://example.org/a1", []],
    ['[{"id": "a1"}, {"id": "b2"}, {"id": "c3"}, {"id": "d4"}]', []],
  ]
  test.each(cases)("%s", (source, values) => expect(told(settingsIn(source))).toEqual(values))
})

test("a program is told by the files it names and by what it defines, not by words with a slash", () => {
  const program =
    "import re\n# either/or\nboat_text = open('src/harbour/boat.py').read()\n\ndef find_sails(text):\n    inner = 1\n    return text\n"
  expect(told(programValues(program))).toEqual(["path=src/harbour/boat.py", "defined=boat_text", "defined=find_sails"])
  expect(programValues("ls src/harbour")).toEqual([])
})

test("what an edit takes out is not written", () => {
  expect(sourceTexts({ path: "a.css", old_string: "gap: 10px;", new_string: "gap: 12px;" })).toEqual([
    "a.css",
    "gap: 12px;",
  ])
  const [patch = ""] = sourceTexts({
    input: "*** Begin Patch\n*** Update File: a.css\n@@\n-gap: 10px;\n+gap: 12px;\n*** End Patch",
  })
  expect(told(settingsIn(patch))).toContain("gap=12px")
  expect(patch).not.toContain("10px")
})

test("what came up most often stands first, and of that the newest", () => {
  const state = emptyState()
  for (const value of ["/a/one", "/a/two", "/a/three", "/a/one"]) addValues(state, [{ key: "path", value }])
  expect(sourceRecord("passed to bash", state)?.fields).toEqual([
    { key: "path", pieces: ["/a/one", "/a/three", "/a/two"] },
  ])
})

test("of a file that was left, sizes and colours are not told", () => {
  const state = emptyState()
  addValues(state, settingsIn("body { padding: 50px 60px; color: #5568d3; }\nconst port = 8080;"))
  expect(sourceRecord("a.html", state)?.fields.map(({ key }) => key)).toEqual(["padding", "color", "port"])
  expect(sourceRecord("a.html", state, true)?.fields.map(({ key }) => key)).toEqual(["port"])
})

test("for any text, each value stands in it, and the record reads back as it is printed", () => {
  const source = fc.string({ unit: fc.constantFrom(..."ab1_:=;,./ \n\"'`(){}#-"), maxLength: 200 })
  fc.assert(
    fc.property(source, (text) => {
      const state = emptyState()
      const values = [...settingsIn(text), ...programValues(text)]
      for (const { value } of values) expect(text).toContain(value)
      addValues(state, values)
      const record = sourceRecord("a.txt", state)
      if (record === undefined) return
      const back = readRecord(recordText(record))
      expect(back === undefined ? "" : recordText(back)).toBe(recordText(record))
    }),
  )
})
