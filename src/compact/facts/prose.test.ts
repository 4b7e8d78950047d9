import { expect, test } from "vitest"
import type { FactKind, TextOrigin } from "./fact.ts"
import { textMentions } from "./prose.ts"

const user: TextOrigin = { channel: "user", inCall: false, spoken: true }
const tool: TextOrigin = { channel: "tool", inCall: false, spoken: false }
const assistant: TextOrigin = { channel: "assistant", inCall: false, spoken: true }

type Row = readonly [
  why: string,
  reading: TextOrigin,
  text: string,
  found: readonly (readonly [FactKind, string, string])[],
]

const cases: readonly Row[] = [
  ["what the user says something is", user, "Sure, my user ID is lea_ito_2207.", [["id", "user ID", "lea_ito_2207"]]],
  ["the words before an amount", user, "We have a budget of $600 in all", [["amount", "budget", "$600"]]],
  ["a key and a colon", tool, "Order number: ORD-1042, thanks", [["id", "Order number", "ORD-1042"]]],
  ["an option", assistant, "run it with --region=eu-west-1", [["id", "region", "eu-west-1"]]],
  ["a path with a line, as a tool prints it", tool, "src/a/total.py:42: warning", [["path", "path", "src/a/total.py"]]],
  [
    "a path with a line, as a person gives it",
    user,
    "look at src/a/total.py:42 please",
    [
      ["path", "path", "src/a/total.py"],
      ["path", "path", "src/a/total.py:42"],
    ],
  ],
  ["a date in words", user, "leaving May 20th, 2024 early", [["date", "date", "May 20th, 2024"]]],
  ["an amount with its currency apart", user, "about 120 USD more", [["amount", "about", "120 USD"]]],
  ["a person", user, "the ticket is for Ines Moreau too", [["name", "name", "Ines Moreau"]]],
  ["a Russian name", user, "билет для Анны Ивановой нужен", [["name", "name", "Анны Ивановой"]]],
  ["a quotation", user, "rename it to “Quarterly plan” now", [["quote", "quote", "Quarterly plan"]]],
  ["a quotation in corner brackets", user, "改成「季度计划书」吧", [["quote", "quote", "季度计划书"]]],
  ["Chinese without blanks", user, "我的订单号是ORD12345请查一下", [["id", "我的订单号", "ORD12345"]]],
  ["Cyrillic", user, "Номер заказа: заказ-1042.", [["id", "Номер заказа", "заказ-1042"]]],
  [
    "a definition in code, with its line",
    tool,
    "12: def total(items):\n13:   pass",
    [
      ["identifier", "identifier", "total"],
      ["line", "line", "def total(items):"],
    ],
  ],
  ["prose about a class is no definition", tool, "the class that holds it", []],
  [
    "an error with its message",
    tool,
    "E   KeyError: 'sku'",
    [
      ["error", "error", "KeyError: 'sku'"],
      ["error", "error", "KeyError"],
    ],
  ],
  [
    "a link's query",
    user,
    "see https://shop.example/o?order=W-1042",
    [
      ["id", "order", "W-1042"],
      ["url", "url", "https://shop.example/o?order=W-1042"],
    ],
  ],
  [
    "the last change of a listed file is no date",
    tool,
    "-rw-r--r-- 1 root root 2800 Nov 15 04:57 fact.ts",
    [
      ["time", "time", "04:57"],
      ["path", "path", "fact.ts"],
    ],
  ],
  [
    "the command of an agent without tools",
    assistant,
    "Run:\n```sh\nls -la src\n```",
    [["command", "command", "ls -la src"]],
  ],
  ["an error", tool, "ValueError happened", [["error", "error", "ValueError"]]],
  ["nothing but prose", user, "Hello, can you help me with this?", []],
]

test.each(cases)("%s", (_why, reading, text, found) => {
  const said: (readonly [FactKind, string, string])[] = []
  textMentions(text, reading, ({ kind, label, value }) => said.push([kind, label, value]))
  expect(said).toEqual(found)
})
