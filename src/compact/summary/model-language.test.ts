import { expect, test } from "vitest"
import { expectedLanguage, isOtherLanguage } from "./model-language.ts"

const said = {
  English:
    "Please rename the tax field of the shop and check that the tests are green, but do not touch the report that was sent.",
  German:
    "Bitte benenne das Feld für die Steuer um und prüfe, dass die Tests grün sind, aber ändere nicht den Bericht, der schon verschickt wurde und auch nicht die Rechnung.",
  French:
    "Merci de renommer le champ de la taxe dans la boutique et de vérifier que les tests sont verts, mais ne touche pas au rapport qui a été envoyé sur le serveur.",
  Spanish:
    "Cambia el nombre del campo de los impuestos y comprueba que las pruebas están bien, pero no toques el informe que se envió a la oficina por la mañana.",
  Russian: "Переименуй поле налога в магазине и проверь, что тесты зелёные, но не трогай отчёт, который уже отправлен.",
  Chinese: "请把商店的税字段改名，并确认测试都通过，但不要动已经发送的报告，也不要改发票的模板。",
  Japanese:
    "店舗の税フィールドの名前を変更して、テストが通ることを確認してください。ただし送信済みのレポートには触らないでください。",
  Korean: "상점의 세금 필드 이름을 바꾸고 테스트가 통과하는지 확인해 주세요. 이미 보낸 보고서는 건드리지 마세요.",
  Arabic: "من فضلك غيّر اسم حقل الضريبة في المتجر وتأكد من نجاح الاختبارات ولا تلمس التقرير الذي أُرسل.",
}
const pairs = Object.entries(said)

test.each(pairs)("an answer in %s to a user who writes it is right, in any other language wrong", (name, words) => {
  const expected = expectedLanguage(undefined, words)
  expect(expected).toBeDefined()
  if (expected === undefined) return
  const wrong = pairs.filter(([, other]) => isOtherLanguage(other, expected)).map(([other]) => other)
  expect(wrong).toEqual(pairs.map(([other]) => other).filter((other) => other !== name))
})

test.each([
  ["de", "German"],
  ["de-AT", "German"],
  ["Deutsch", "German"],
  ["zh_CN", "Chinese"],
  ["日本語", "Japanese"],
])("%s is %s", (asked, name) => {
  expect(expectedLanguage(asked, said.English)?.name).toBe(name)
})

test("a language that was asked for goes before the one that the user writes", () => {
  const expected = expectedLanguage("French", said.German)
  expect(expected !== undefined && isOtherLanguage(said.German, expected)).toBe(true)
  expect(expected !== undefined && isOtherLanguage(said.French, expected)).toBe(false)
})

test("what cannot be told is not held against anyone", () => {
  expect(expectedLanguage("Klingon", said.English)).toBeUndefined()
  expect(expectedLanguage(undefined, "ok /usr/bin/node 42")).toBeUndefined()
  const english = expectedLanguage(undefined, said.English)
  expect(english !== undefined && isOtherLanguage("src/tax.ts: 3", english)).toBe(false)
})

test("identifiers, paths and code do not make a text English", () => {
  const chinese = expectedLanguage(
    undefined,
    `${said.Chinese}\n\`\`\`\nthe error of the build was in this file and it is not there\n\`\`\``,
  )
  expect(chinese?.script).toBe("han")
  const answer =
    "已将 `TaxField` 改名为 `SalesTax`，修改了 src/shop/tax.ts 与 src/shop/report.ts，TypeScript compiler 通过，npm test 全部通过。"
  expect(chinese !== undefined && isOtherLanguage(answer, chinese)).toBe(false)
})

test.each(["a", "的", "`", "```", "a/", "é ", "a1 "])("a long run of %j is read through once", (seed) => {
  const long = seed.repeat(2_000_000 / seed.length)
  const expected = expectedLanguage(undefined, long)
  if (expected !== undefined) expect(isOtherLanguage(long, expected)).toBe(false)
})
