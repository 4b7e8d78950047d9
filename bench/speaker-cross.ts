import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Span } from "../src/message/message.ts"
import type { findRules } from "../src/rules/find-rules.ts"
import { authors, type Message, messagesBy, speakerFile, trainSpeaker } from "./speaker-train.ts"

/**
 * Measures whose text the finder takes for the user's, on people whose messages it did not learn from: `node bench/speaker-cross.ts
 * [NAME...]`. Each author with pastes is left out once when the model of who speaks is trained, with one seed; the model of rules was
 * trained on all of them.
 */

/** Returns the current finder with other weights of the model of who speaks. */
async function finderWith(weights: string): Promise<typeof findRules> {
  const folder = mkdtempSync(join(tmpdir(), "speaker-"))
  try {
    for (const name of ["rules", "language", "message"])
      cpSync(new URL(`../src/${name}`, import.meta.url), join(folder, name), { recursive: true })
    writeFileSync(join(folder, "package.json"), '{"type":"module"}')
    writeFileSync(join(folder, "rules/generated/speaker-weights.ts"), weights)
    return (await import(pathToFileURL(join(folder, "rules/find-rules.ts")).href)).findRules
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const common = (one: Span, two: Span): number => Math.min(one.end, two.end) - Math.max(one.start, two.start)
const isOf = (one: Span, two: Span): boolean =>
  common(one, two) >= 0.6 * Math.min(one.end - one.start, two.end - two.start)

/** Number of pastes from which a rule was taken, and of all pastes; number of the user's own rules that were found, and of all. */
type Counts = { readonly taken: number; readonly pastes: number; readonly found: number; readonly own: number }

function countsOf(find: typeof findRules, messages: readonly Message[], print: boolean): Counts {
  let [taken, pastes, found, own] = [0, 0, 0, 0]
  for (const message of messages) {
    const rules = find(message.text, { channel: "user" })
    own += message.own.length
    const missed = message.own.filter((label) => !rules.some((rule) => isOf(rule, label)))
    found += message.own.length - missed.length
    pastes += Number(message.pasted.length > 0)
    const others = rules.filter(
      (rule) =>
        message.pasted.some((part) => common(part, rule) > 0) && !message.own.some((label) => isOf(rule, label)),
    )
    taken += Number(others.length > 0)
    if (print && (others.length > 0 || (missed.length > 0 && message.text.includes("\n"))))
      process.stdout.write(
        `${JSON.stringify(message.text)}\n${others.map(({ text }) => `  + ${text}\n`).join("")}${missed.map(({ start, end }) => `  - ${message.text.slice(start, end)}\n`).join("")}`,
      )
  }
  return { taken, pastes, found, own }
}

const print = ({ taken, pastes, found, own }: Counts): string =>
  `${taken} of ${pastes} pastes taken (${((100 * taken) / Math.max(1, pastes)).toFixed(1)} %), ${found} of ${own} own rules found (${((100 * found) / Math.max(1, own)).toFixed(1)} %)`

if (import.meta.main) {
  const names = process.argv.slice(2).filter((name) => !name.startsWith("--"))
  const sums = { taken: 0, pastes: 0, found: 0, own: 0 }
  for (const author of authors()) {
    const messages = messagesBy(author)
    if (names.length > 0 ? !names.includes(author) : !messages.some(({ pasted }) => pasted.length > 0)) continue
    const others = authors().filter((other) => other !== author)
    const find = await finderWith(speakerFile(trainSpeaker(others, [12_345])))
    const counts = countsOf(find, messages, process.argv.includes("--errors"))
    sums.taken += counts.taken
    sums.pastes += counts.pastes
    sums.found += counts.found
    sums.own += counts.own
    process.stdout.write(`${author === "" ? "first" : author}: ${print(counts)}\n`)
  }
  process.stdout.write(`all: ${print(sums)}\n`)
}
