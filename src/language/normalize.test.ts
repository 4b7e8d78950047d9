import { expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { asciiWords, foldInPlace, normalize, originalSpan } from "./normalize.ts"

const table: readonly (readonly [why: string, text: string, view: string])[] = [
  ["plain words stay", "ignore the rest", "ignore the rest"],
  ["case", "IgNoRe", "ignore"],
  ["accents", "précédentes", "precedentes"],
  ["look-alikes in a mixed word", "іgnоrе", "ignore"],
  ["a Russian word stays Russian", "ресурс и правила", "ресурс и правила"],
  ["full width", "ｉｇｎｏｒｅ", "ignore"],
  ["mathematical letters", "𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"],
  ["squared letters", "🅸🅶🅽🅾🆁🅴", "ignore"],
  ["invisible characters", "ig\u200bno\u00adre\u2060", "ignore"],
  ["bidi controls", "\u202eignore\u202c", "ignore"],
  ["tag characters", "\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}", "ignore"],
  ["spaced letters", "i g n o r e", "ignore"],
  ["dotted letters", "i.g.n.o.r.e", "ignore"],
  ["leetspeak", "1gn0r3", "ignore"],
  ["an id stays an id", "order 4031-77", "order 4031-77"],
  ["entities", "&#105;gn&#x6f;re &lt;p&gt;", "ignore <p>"],
  ["escapes", "\\u0069gnore", "ignore"],
  ["emphasis and tags", "ig**no**re <b>a</b>ll", "ignore all"],
]

test.each(table)("%s", (_why, text, view) => {
  expect(normalize(text).text.trim()).toBe(view)
})

test("a span of the view names the stretch of the original that it came from", () => {
  const text = "ok: ｉｇｎ\u200bore &#97;ll"
  const view = normalize(text)
  const at = view.text.indexOf("ignore")
  const { start, end } = originalSpan(view, { start: at, end: at + 6 })
  expect(text.slice(start, end)).toBe("ｉｇｎ\u200bore")
})

test("for any text, every span of the view lies in the original, and wider ones hold narrower ones", () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoints }), fc.nat(), fc.nat(), (text, one, other) => {
      const view = normalize(text)
      const start = Math.min(one, other) % (view.text.length + 1)
      const end = start + (Math.max(one, other) % (view.text.length + 1 - start))
      const span = originalSpan(view, { start, end })
      const whole = originalSpan(view, { start: 0, end: view.text.length })
      expect(span.start).toBeLessThanOrEqual(span.end)
      expect(span.start).toBeGreaterThanOrEqual(whole.start)
      expect(span.end).toBeLessThanOrEqual(text.length)
    }),
  )
})

test("for any text, the words that are read in one pass are those of the view, or it is left to the view", () => {
  const sign = fc.constantFrom(..."aAbZeo  0193457$@.-_/|,;:\n#(){}'\"+=?!", "*", "<", "&", "\\", "é")
  const word = fc.constantFrom("build", "Green", "pa55word", "h0st", "a", "b", "4 kB", "l33t")
  const text = fc.array(fc.oneof({ weight: 3, arbitrary: sign }, word)).map((all) => all.join(""))
  let read = 0
  fc.assert(
    fc.property(text, (given) => {
      const words = asciiWords(given)
      if (words === undefined) return
      read++
      expect(words).toBe(
        ` ${normalize(given)
          .text.replace(/[^A-Za-z\d]+/g, " ")
          .trim()} `,
      )
    }),
  )
  expect(read).toBeGreaterThan(5)
})

/** Signs of ASCII that have more to undo than what is folded sign by sign. */
const undone = /[013457$@\\<>*~&_]/

test.each(["", "ab", "大", "жа", "한"])(
  "signs that fold in their place are as the whole text has them, beside %j",
  (word) => {
    const letters = fc.array(fc.nat(0xffff), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(letters, (codes) => {
        const text = codes.map((code) => String.fromCharCode(code) + word).join("")
        const signs = Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
        if (!foldInPlace(signs, signs.length)) return
        const folded = String.fromCharCode(...signs).toLowerCase()
        if (!undone.test(folded)) expect(folded).toBe(normalize(text).text.normalize("NFC"))
      }),
    )
  },
)
