import { expect, test } from "vitest"
import type { TextOrigin } from "./fact.ts"
import { readTree, type Tree } from "./json-tree.ts"
import { readTables } from "./ledger.ts"
import { recordMentions } from "./record.ts"

const tool: TextOrigin = { channel: "tool", inCall: false, spoken: false }
const call: TextOrigin = { channel: "assistant", inCall: true, spoken: true }

function said(tree: Tree | undefined, reading: TextOrigin): readonly string[] {
  if (tree === undefined) return []
  const found: string[] = []
  recordMentions(tree, reading, ({ kind, label, value, subject }) =>
    found.push(`${kind} ${label} = ${value}${subject === undefined ? "" : ` of ${subject}`}`),
  )
  return found
}

test("the values of a record belong to the one that names it", () => {
  const text =
    '[{"flight_number": "KX136", "date": "2024-05-20", "prices": {"economy": 120.50}}, {"flight_number": "KX039"}]'
  expect(said(readTree(text), tool)).toEqual([
    "id flight_number = KX136",
    "date date = 2024-05-20 of KX136",
    "number prices economy = 120.50 of KX136",
    "id flight_number = KX039",
  ])
})

test("in a map by id the key names the record below it", () => {
  expect(said(readTree('{"cards": {"card_9917": {"brand": "visa", "id": "card_9917"}}}'), tool)).toEqual([
    "id cards = card_9917",
    "word brand = visa of card_9917",
    "id cards id = card_9917",
  ])
})

test("a Python literal reads like JSON, and a cut one gives what stood before the cut", () => {
  expect(said(readTree("{'order_id': 'W123', 'paid': True, 'items': ['SKU-1', 'SKU-2'"), tool)).toEqual([
    "id order_id = W123",
    "id items = SKU-1 of W123",
    "id items = SKU-2 of W123",
  ])
})

test("text that only starts with a bracket is no JSON", () => {
  expect(readTree("[INFO] started")).toBeUndefined()
  expect(readTree("[1] see below, and more")).toBeUndefined()
})

test("escapes are decoded, numbers and unknown escapes stay verbatim", () => {
  expect(readTree('{"a": "caf\\u00e9 \\"x\\"", "n": 1.10, "p": "\\d+"}')).toEqual({
    type: "record",
    entries: [
      ["a", { type: "scalar", text: 'café "x"', quoted: true }],
      ["n", { type: "scalar", text: "1.10", quoted: false }],
      ["p", { type: "scalar", text: "\\d+", quoted: true }],
    ],
  })
})

test("every argument of a call is a fact, peers without a subject", () => {
  expect(said(readTree('{"path": "src/a.py", "mode": "overwrite", "user_id": "u_17"}'), call)).toEqual([
    "path path = src/a.py",
    "argument mode = overwrite",
    "id user_id = u_17",
  ])
})

test("a command is one value, and what it names are others", () => {
  expect(said(readTree('{"command": "pytest tests/test_a.py -k total_price"}'), call)).toEqual([
    "command command = pytest tests/test_a.py -k total_price",
    "path path = tests/test_a.py",
    "identifier identifier = total_price",
  ])
})

test("of a command of many lines the first stands for it", () => {
  expect(said(readTree('{"cmd": "cat > notes.md <<E\\nhello\\nE"}'), call)).toEqual([
    "path path = notes.md",
    "command command = cat > notes.md <<E",
  ])
})

test("a table's header names its columns", () => {
  const markdown = "Found:\n| order_id | status |\n|---|---|\n| W17 | pending |\n| W18 | shipped |\n"
  expect(readTables(markdown).flatMap((table) => said(table, tool))).toEqual([
    "id order_id = W17",
    "word status = pending of W17",
    "id order_id = W18",
    "word status = shipped of W18",
  ])
  const shell = " id  | email\n-----+------\n 1042 | a@b.io\n(1 row)"
  expect(readTables(shell).flatMap((table) => said(table, tool))).toEqual([
    "id id = 1042",
    "email email = a@b.io of 1042",
  ])
})
