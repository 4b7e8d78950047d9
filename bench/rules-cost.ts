import { readSet } from "./rules-labelled.ts"
import { messagesOf } from "./texts.ts"

/**
 * CPU time that finding rules takes, cold and warm: `node bench/rules-cost.ts [talk|english|code|logs|json|chinese]`. One kind of text for
 * each process, so that the first texts are cold. The clock of a thread moves in ticks, so that small figures are rough.
 */

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const kind = process.argv[2] ?? "talk"
const texts =
  kind === "talk" ? readSet<{ readonly text: string }>("talk").map(({ text }) => text) : messagesOf(kind, 100_000, 5)
const kilobytes = texts.reduce((sum, text) => sum + text.length, 0) / 1000
const { findRules } = await import("../src/rules/find-rules.ts")

/** One pass; no text is the same as in another pass, as readings are remembered. */
function pass(n: number): number {
  const made = texts.map((text) => `${text}${" ".repeat(n)}`)
  const start = cpuMs()
  for (const text of made) findRules(text, { channel: "user" })
  return (cpuMs() - start) / kilobytes
}

const start = cpuMs()
findRules("Never push to main.", { channel: "user" })
console.log(`first sentence: ${(cpuMs() - start).toFixed(1)} ms`)
console.log(`${kind}, ${kilobytes.toFixed(0)} kB, first pass: ${pass(1).toFixed(3)} ms per kB`)
const warm = Array.from({ length: 8 }, (_, n) => pass(n + 2)).slice(4)
console.log(`warm: ${Math.min(...warm).toFixed(3)} ms per kB`)
