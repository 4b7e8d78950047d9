import { expect, test } from "vitest"
import { message, result, text } from "../../../test/support/transcripts.ts"
import { buildLedger } from "./ledger.ts"

const size = 1_000_000
const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
const distinct = (make: (n: number) => string): string =>
  Array.from({ length: 20_000 }, (_, n) => make(n))
    .join(" ")
    .slice(0, size)

const hostile: readonly (readonly [why: string, text: string])[] = [
  ["one letter", fill("a")],
  ["quotation marks", fill('"')],
  ["backticks", fill("`")],
  ["slashes", fill("/")],
  ["backslashes", fill("\\")],
  ["halves of paths", fill("a/")],
  ["halves of e-mails", fill("a@")],
  ["dots", fill("a.")],
  ["equals signs", fill("a=")],
  ["open brackets", fill("[")],
  ["JSON that never closes", fill('{"a":')],
  ["a string that never closes", `{"a": "${fill("\\u00")}`],
  ["table rules", fill("|-")],
  ["table rows", fill("|a\n|--\n")],
  ["capitals after blanks", fill("a Bb ")],
  ["digits and commas", fill("1,")],
  ["Chinese around ids", fill("订单号是ORD12345请查")],
  ["long words that are almost versions", distinct((n) => `${"a-".repeat(90)}${n}@`)],
  ["long words that are almost hashes", distinct((n) => `${"0a".repeat(90)}${n}g`)],
  ["fences", fill("```\nls -la\n")],
  ["tags", fill("<a>b")],
  ["tags that close", fill("<a>bc</a>")],
  ["attributes", fill("a='")],
  ["attributes without end", fill("a ='b")],
  ["pairs on lines", fill("a: b\n")],
  ["rows with commas", fill("a,b\n")],
  ["quoted cells", `a,b\n${fill('"a",')}`],
  ["definitions on one line", fill("def foo(")],
  ["errors", fill("A.Error: ")],
  ["openings of JSON", fill(": [{'")],
  ["JSON in strings", fill('["')],
  ["queries", fill("http://a?b=cc&")],
]

/** Ten times what the slowest takes on a slow machine; anything quadratic takes minutes at this size. */
const limitMs = 10_000

test.each(hostile)(
  "a megabyte of %s is read through once",
  (_why, flood) => {
    const ledger = buildLedger([
      message("m0", "user", text(flood)),
      message("m1", "assistant", text(flood)),
      message("m2", "user", result("1", flood)),
    ])
    expect(ledger.length).toBe(3)
  },
  limitMs,
)
