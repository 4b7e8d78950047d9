import { expect, test } from "vitest"
import { makeLazy } from "../scripts/lazy-patterns.ts"

const word = String.raw`const word = /\p{L}+/gu;`

/** What a chunk exports as `out`, and whether its pattern is made at first use. */
async function run(code: string): Promise<{ readonly out: unknown; readonly isLazy: boolean }> {
  const changed = makeLazy(code).toString()
  const { out } = await import(`data:text/javascript,${encodeURIComponent(changed)}`)
  return { out, isLazy: /\$made|made\$/.test(changed) }
}

const cases: [why: string, code: string, out: unknown, isLazy: boolean][] = [
  ["read in a call", `${word} export const out = "a bc".match(word)`, ["a", "bc"], true],
  [
    "read before it stands, in a function",
    `const f = () => "é!".replace(word, ""); ${word} export const out = f()`,
    "!",
    true,
  ],
  [
    "one object, so that where a search ended is kept",
    `${word} word.exec("ab cd"); export const out = word.lastIndex`,
    2,
    true,
  ],
  [
    "in an object under its own name",
    `${word} const all = { word }; export const out = all.word.source`,
    "\\p{L}+",
    true,
  ],
  [
    "a property of the same name",
    `${word} const all = { word: 1 }; export const out = [all.word, word.flags]`,
    [1, "gu"],
    true,
  ],
  [
    "a parameter of the same name",
    `${word} const f = (word) => word + 1; export const out = [f(1), word.flags]`,
    [2, "gu"],
    false,
  ],
  [
    "taken out of an object",
    `${word} const f = ({ word }) => word; export const out = [f({ word: 3 }), word.flags]`,
    [3, "gu"],
    false,
  ],
  ["exported under another name", `${word} export { word }; export const out = word.flags`, "gu", false],
  ["a short pattern", "const word = /a/g; export const out = word.flags", "g", false],
  [
    "a slash and quotes in a long one",
    `const word = /${"x?".repeat(60)}"'\\/\\n/; export const out = word.test("\\"'/\\n")`,
    true,
    true,
  ],
  [
    "signs of two units before it",
    `const head = "😀é"; ${word} export const out = [head, "ü".match(word)]`,
    ["😀é", ["ü"]],
    true,
  ],
  [
    "within a function",
    String.raw`const f = (text) => /^\p{Lu}/u.test(text); export const out = [f("A"), f("a"), f("B")]`,
    [true, false, true],
    true,
  ],
  [
    "for all places, within a function that is called again while it replaces",
    String.raw`const f = (text) => text.replace(/\p{L}+/gu, (found) => found === "b" ? "c" : f("b")); export const out = f("a a")`,
    "c c",
    true,
  ],
  [
    "within a function that asks where a search ended",
    String.raw`const f = () => { const word = /\p{L}/gu; word.test("aa"); return word.lastIndex }; export const out = [f(), f()]`,
    [1, 1],
    false,
  ],
  [
    "for the very place, within a function",
    String.raw`const f = () => "ab".replace(/\p{L}/uy, ""); export const out = [f(), f()]`,
    ["b", "b"],
    false,
  ],
  ["in a table", String.raw`const all = [/\p{L}/gu]; export const out = "ab1".replace(all[0], "")`, "1", false],
  [
    "put together of texts and patterns",
    `${word} const s = "x"; const both = new RegExp(\`^\${word.source}\${s}$\`, "u"); export const out = [both.test("ax"), both.test("a")]`,
    [true, false],
    true,
  ],
  [
    "put together of word lists",
    `const anyOf = (...all) => all.flat().join("|"); const words = { one: ["a", "b"] }; const it = new RegExp(\`^(?:\${anyOf(words.one, "c")})$\`); export const out = [it.test("b"), it.source]`,
    [true, "^(?:a|b|c)$"],
    true,
  ],
  [
    "put together by a call",
    "let at = 0; const next = () => String(at++); const it = new RegExp(next()); const after = at; export const out = [it.source, after]",
    ["0", 1],
    false,
  ],
]

test.each(cases)("a pattern %s does what it did", async (_why, code, out, isLazy) => {
  const { out: before } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  expect(before).toEqual(out)
  expect(await run(code)).toEqual({ out, isLazy })
})
