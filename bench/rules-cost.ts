import { readSet } from "./rules-labelled.ts"
import { makeSession } from "./sessions.ts"
import { messagesOf } from "./texts.ts"

/**
 * Measures the CPU time of finding rules: `node bench/rules-cost.ts [talk|english|code|logs|json|chinese]`, one kind of text for each
 * process. Half of the texts are read by a new process, and again until its code is compiled; the other half is new to it then, as the text
 * of a turn is. Last come the messages of a session of 700 kB, new as well. The CPU clock of a thread is coarse, so small figures are
 * rough.
 */

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const talks = ["", "second-", "third-", "fourth-", "fifth-", "sixth-", "seventh-", "eighth-", "ninth-"]

const kind = process.argv[2] ?? "talk"
const texts =
  kind === "talk"
    ? talks.flatMap((set) => readSet<{ readonly text: string }>(`${set}talk`).map(({ text }) => text))
    : messagesOf(kind, 200_000, 10)
const seen = texts.filter((_, n) => n % 2 === 0)
const unseen = texts.filter((_, n) => n % 2 === 1)
const { findRules } = await import("../src/rules/find-rules.ts")

/** Returns the milliseconds for each kilobyte. */
function costOf(some: readonly string[]): number {
  const kilobytes = some.reduce((sum, text) => sum + text.length, 0) / 1000
  const start = cpuMs()
  for (const text of some) findRules(text, { channel: "user" })
  return (cpuMs() - start) / kilobytes
}

/** About 700 kB; text of tools and of the model is not read. */
const historySize = { name: "history", messages: 1000, unitsPerMessage: 600 }

/** Returns the time for all messages of a session, each read by its role. */
function historyMs(seed: number): { readonly ms: number; readonly kilobytes: number } {
  const messages = makeSession(historySize, seed)
  const start = cpuMs()
  for (const { role, content } of messages) if (typeof content === "string") findRules(content, { channel: role })
  const kilobytes = messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0) / 1000
  return { ms: cpuMs() - start, kilobytes }
}

const start = cpuMs()
findRules("Never push to main.", { channel: "user" })
console.log(`first sentence: ${(cpuMs() - start).toFixed(1)} ms`)
console.log(`${kind}, new process: ${costOf(seen).toFixed(3)} ms per kB`)
for (let pass = 1; pass <= 8; pass++) costOf(seen.map((text) => `${text}${" ".repeat(pass)}`))
console.log(`${kind}, new text, code compiled: ${costOf(unseen).toFixed(3)} ms per kB`)
for (let seed = 2; seed <= 4; seed++) historyMs(seed)
const { ms, kilobytes } = historyMs(1)
console.log(`new history of ${kilobytes.toFixed(0)} kB: ${ms.toFixed(0)} ms`)
