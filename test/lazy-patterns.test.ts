import { expect, test } from "vitest"
import { makeLazy } from "../scripts/lazy-patterns.ts"

const word = String.raw`const word = /\p{L}+/gu;`

/** What a chunk exports as `out`, and whether its pattern is made at first use. */
async function run(code: string): Promise<{ readonly out: unknown; readonly isLazy: boolean }> {
  const changed = makeLazy(code).toString()
  const { out } = await import(`data:text/javascript,${encodeURIComponent(changed)}`)
  return { out, isLazy: changed.includes("new RegExp") }
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
    `const word = /${"x?".repeat(40)}"'\\/\\n/; export const out = word.test("\\"'/\\n")`,
    true,
    true,
  ],
  [
    "signs of two units before it",
    `const head = "😀é"; ${word} export const out = [head, "ü".match(word)]`,
    ["😀é", ["ü"]],
    true,
  ],
]

test.each(cases)("a pattern %s does what it did", async (_why, code, out, isLazy) => {
  const { out: before } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  expect(before).toEqual(out)
  expect(await run(code)).toEqual({ out, isLazy })
})
