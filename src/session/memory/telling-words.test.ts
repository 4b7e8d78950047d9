import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { tellingWords } from "./retrieve.ts"

const wordsOf = (text: string): readonly string[] => tellingWords(text).map(({ text: word }) => word)

describe("the search words of a message", () => {
  const cases: readonly [why: string, text: string, words: readonly string[]][] = [
    [
      "ids, paths and addresses",
      "what about W-1234, src/pay.ts and a@b.example?",
      ["W-1234", "src/pay.ts", "a@b.example"],
    ],
    ["names inside a sentence", "Did we hear from Okafor about Lisbon?", ["Okafor", "Lisbon", "hear"]],
    ["quotations whole", 'Where does "connection reset" come from', ["connection reset", "connection", "reset"]],
    ["plain words, the longer first", "please fix the deployment of that site", ["deployment", "site"]],
    ["German", "Kannst du bitte noch einmal die rechnung prüfen?", ["rechnung", "prüfen"]],
    ["Spanish", "¿cuándo llega el paquete para mi vecino?", ["paquete", "vecino", "llega"]],
    ["French", "pourquoi est-ce que la facture est fausse", ["facture", "fausse"]],
    ["Russian", "что с моим заказом и доставкой", ["доставкой", "заказом", "моим"]],
    ["Chinese", "请问退款政策是什么", ["退款", "政策"]],
    ["Korean without its particles", "주문을 환불", ["주문", "환불"]],
    ["nothing in small talk", "ok, can you do it for me?", []],
    ["nothing in nothing", "", []],
  ]
  test.each(cases)("%s", (_why, text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })

  test("an exact word is enough by itself, a plain one is not", () => {
    expect(tellingWords("refund for order_77")).toEqual([
      { text: "order_77", exact: true },
      { text: "refund", exact: false },
    ])
  })

  test("a huge message is read at both ends, and a huge word is ignored", () => {
    const words = wordsOf(`Fix invoice_1 ${"!".repeat(2_500_000)}a${"x y ".repeat(600_000)} and invoice_2`)
    expect(words).toContain("invoice_1")
    expect(words).toContain("invoice_2")
    expect(wordsOf(`${"!".repeat(2_000_000)}a`)).toEqual([])
  })

  test("any text gives at most twelve words, none of them empty", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoints, maxLength: 300 }), (text) => {
        const words = wordsOf(text)
        expect(words.length).toBeLessThanOrEqual(12)
        for (const word of words) expect(word.trim()).not.toBe("")
      }),
    )
  })
})
