/** Reads the input of a call by the keys under which agents pass the same thing. */

export const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export function textAt(input: unknown, keys: readonly string[]): string | undefined {
  if (!isRecord(input)) return undefined
  for (const key of keys) {
    const value: unknown = Reflect.get(input, key)
    if (typeof value === "string" && value.trim() !== "") return value
    if (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")) {
      return shellWords(value)
    }
  }
  return undefined
}

/** Returns `npm test` for `["bash", "-lc", "npm test"]`; otherwise joins the words. */
const shellWords = (words: readonly string[]): string =>
  words.length === 3 && /^-\w{0,3}c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.slice(0, 40).join(" ")

/** Keys of a program. */
export const codeKeys = ["code", "cell", "source"]

export const isShell = (tool: string): boolean =>
  /bash|shell|sh$|terminal|command|cmd|exec(?!ute_python|.*code)/i.test(tool) &&
  !/python|node|code|repl|notebook/i.test(tool)
