import { expect, test } from "vitest"
import { message, result, text } from "../../../test/support/transcripts.ts"
import { callId } from "../../message/message.ts"
import { buildLedger } from "./ledger.ts"

/** One order, as tools write it. */
const forms: readonly (readonly [form: string, output: string])[] = [
  ["JSON", '{"order_id": "W-1042", "status": "on hold", "zip": "20095"}'],
  [
    "JSON in a JSON string",
    '{"result": "{\\"order_id\\": \\"W-1042\\", \\"status\\": \\"on hold\\", \\"zip\\": \\"20095\\"}"}',
  ],
  ["JSON behind words", 'Found one: {"order_id": "W-1042", "status": "on hold", "zip": "20095"}\nThat is all.'],
  ["a Python literal", "{'order_id': 'W-1042', 'status': 'on hold', 'zip': '20095'}"],
  ["a Python object", "Order(order_id='W-1042', status='on hold', zip='20095')"],
  ["YAML", "- order_id: W-1042\n  status: on hold\n  zip: '20095'\n"],
  ["XML", "<order><order_id>W-1042</order_id><status>on hold</status><zip>20095</zip></order>"],
  ["attributes", '<order order_id="W-1042" status="on hold" zip="20095"/>'],
  ["a Markdown table", "| order_id | status | zip |\n|---|---|---|\n| W-1042 | on hold | 20095 |"],
  ["commas", 'order_id,status,zip\nW-1042,"on hold",20095\n'],
  ["columns in line", "ORDER_ID  STATUS   ZIP\nW-1042    on hold  20095\n"],
  [
    "a list set in",
    "orders:\n- order_id: W-1042\n  state:\n    status: on hold\n  address:\n    zip: '20095'\n- order_id: W-7",
  ],
  ["tabs", "order_id\tstatus\tzip\nW-1042\ton hold\t20095\n"],
]

test.each(forms)("an order as %s: its number, and what belongs to it", (_form, output) => {
  const { facts } = buildLedger([message("m0", "user", text("hello")), message("m1", "user", result("1", output))])
  const said = [...facts.values()].map(
    ({ label, value, subject }) => `${label.toLowerCase()} = ${value} of ${subject ?? "none"}`,
  )
  expect(said).toEqual(
    expect.arrayContaining(["order_id = W-1042 of none", "status = on hold of W-1042", "zip = 20095 of W-1042"]),
  )
})

const lines: readonly (readonly [why: string, output: string, values: readonly string[]])[] = [
  [
    "a search",
    "src/a.ts:42:export function refresh(user: User) {",
    ["src/a.ts", "refresh", "export function refresh(user: User) {"],
  ],
  ["lines around what a search found", "src/a.ts-29-  }\nlib/b.py-7-x = 1", ["src/a.ts", "lib/b.py"]],
  [
    "a description of a pod",
    "Image:   hub.example.com/team/api:v1.2\nOpts:  -Xmx480m",
    ["hub.example.com/team/api:v1.2", "-Xmx480m"],
  ],
  ["a test run", "FAILED tests/test_a.py::test_total - boom", ["tests/test_a.py::test_total"]],
  [
    "a stack trace",
    '  File "/app/a.py", line 3, in x\nValueError: bad total 1',
    ["/app/a.py", "ValueError: bad total 1"],
  ],
  ["a status", "On branch fix/login-2\n\tmodified:   src/a.ts", ["fix/login-2", "src/a.ts"]],
  ["a log", 'level=warn port=8443 msg="disk is full" host=db-3.internal', ["8443", "disk is full", "db-3.internal"]],
]
test.each(lines)("what %s names", (_why, output, values) => {
  const { facts } = buildLedger([message("m0", "user", text("hello")), message("m1", "user", result("1", output))])
  expect([...facts.values()].map(({ value }) => value)).toEqual(expect.arrayContaining([...values]))
})

const noise: readonly (readonly [why: string, output: string, values: readonly string[]])[] = [
  ["the place of a parameter", "select a from t where a = $1", ["$1"]],
  ["an option of a program", "run the tests --runInBand", ["runInBand", "--runInBand"]],
  ["a line of context as if it were a file", "src/a.ts-29-  }", ["src/a.ts-29", "src/a.ts-29-"]],
  ["a piece of a number in groups", "IBAN: DE26 2871 2972 3157 1492 50", ["DE26", "2871"]],
  ["a piece of an amount", "limit: $131,000 in all", ["$131"]],
]
test.each(noise)("no value is %s", (_why, output, values) => {
  const { facts } = buildLedger([message("m0", "user", text("hello")), message("m1", "user", result("1", output))])
  expect([...facts.values()].map(({ value }) => value).filter((value) => values.includes(value))).toEqual([])
})

const phrases: readonly (readonly [key: string, value: string, kind: string])[] = [
  ["iban", "DE26 2871 2972 3157 1492 50", "id"],
  ["balance", "2,431.55 EUR", "amount"],
  ["due", "March 3, 2026", "date"],
  ["imei", "490154203237518", "id"],
]
test.each(phrases)("%s %s in a record is one value of its sort", (key, value, kind) => {
  const output = JSON.stringify({ user: { [key]: value } })
  const { facts } = buildLedger([message("m0", "user", text("hello")), message("m1", "user", result("1", output))])
  expect([...facts.values()].map((fact) => [fact.label, fact.value, fact.kind])).toEqual([[key, value, kind]])
})

test("what a call passed on at length is kept by its telling lines", () => {
  const input = { path: "a.py", old_str: "def total(a):\n    price = a.price * 2\n\n    return price\n" }
  const { facts } = buildLedger([
    message("m0", "assistant", {
      ...{ type: "tool-call", tool: "edit", kind: "function" },
      callId: callId("1"),
      input,
    }),
  ])
  const kept = [...facts.values()].filter(({ kind }) => kind === "line").map(({ value }) => value)
  expect(kept).toEqual(["def total(a):", "price = a.price * 2", "return price"])
})

test("a long paste of the user is not what the user gave, but the first thing said is", () => {
  const paste = `line of output\n${"x ".repeat(1_000)}\nW-1042`
  const given = (...texts: readonly string[]) =>
    buildLedger(texts.map((said, n) => message(`m${n}`, "user", text(said)))).facts.get("W-1042")?.givenByUser
  expect([given(paste), given("order W-7001 please", paste)]).toEqual([true, false])
})
