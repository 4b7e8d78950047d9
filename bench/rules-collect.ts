import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"
import type { Span } from "../src/message/message.ts"
import { statementsIn } from "../src/rules/statements.ts"
import { isUnspacedToken, tokensOf } from "../src/rules/word-classes.ts"
import {
  corpusTalk,
  type Example,
  exampleOf,
  loggedTalk,
  logPartOf,
  ownLines,
  realSources,
  talkExamples,
  writeLines,
} from "./rules-examples.ts"

/**
 * Converts real lines into features for the training: `node bench/rules-collect.ts CORPUS LOGS` writes `bench/rules/real-lines.bin.gz`.
 * LOGS is a folder with labelled messages of public prompt logs, which are not in this repository. Needed again after a change of the
 * features. The labels are stored, most of them given by people, so the result does not depend on what the finder finds now.
 * `node bench/rules-collect.ts --words` writes the words that the model knows by their letters, from the lines of this repository alone; do
 * that first.
 */

const [corpus = "../shared/data", logs = ""] = process.argv.slice(2).filter((word) => !word.startsWith("--"))

export function talkLines(): readonly Example[] {
  return corpusTalk(corpus).flatMap(({ item, source }) =>
    talkExamples(item, talkWeight).map((example) => ({ ...example, source: realSources.indexOf(sourceOf(source)) })),
  )
}

const talkWeight = 2

/** Returns examples of what people typed to agents, with the standing rules that readers marked in it. */
function logLines(): readonly Example[] {
  return loggedTalk(logs).flatMap(({ item, source }) =>
    talkExamples(item, logWeight).map((example) => ({
      ...example,
      weight: example.isRule ? logWeight * ruleWeight : logWeight,
      source: realSources.indexOf(`prompt logs ${logPartOf(source)}`),
    })),
  )
}

/** Weight of these examples, and factor for rules among them: they are what the finder is for, and few. */
const [logWeight, ruleWeight] = [4, 2]

const sourceOf = (source: string): string =>
  source === "written"
    ? "written"
    : source.startsWith("real:tau")
      ? "customers"
      : source === "real:gh:entireio/cli"
        ? "one repository"
        : source.startsWith("real:gh")
          ? "repositories"
          : "agents"

/** Returns what users say in recorded conversations. */
function userTextsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(userTextsIn)
  if (typeof value !== "object" || value === null) return []
  if ("role" in value && value.role === "user" && "content" in value) {
    if (typeof value.content === "string") return [value.content]
    if (Array.isArray(value.content))
      return value.content.flatMap((part: { readonly text?: unknown }) =>
        typeof part?.text === "string" ? [part.text] : [],
      )
  }
  return Object.values(value).flatMap(userTextsIn)
}

/**
 * Returns examples of recorded conversations in which nobody states a rule: everything that was found in them was read, and none of it was
 * one.
 */
export function traceLines(): readonly Example[] {
  return [
    "aider-chat",
    "examples",
    "pi-tasks",
    "openhands",
    "smolagents",
    "tapeagents",
    "tau-airline",
    "tau-retail",
  ].flatMap((name) => {
    const file = `${corpus}/traces/${name}.jsonl.gz`
    if (!existsSync(file)) return []
    const text = gunzipSync(readFileSync(file)).toString("utf8")
    const said = text
      .trimEnd()
      .split("\n")
      .flatMap((line) => userTextsIn(JSON.parse(line)))
      .filter((message) => message.length < maxMessage)
    return [...new Set(said)]
      .slice(0, maxMessages)
      .flatMap((message) => talkExamples({ text: message, rules: [] }, 0.5))
      .map((example) => ({ ...example, source: realSources.indexOf(name.startsWith("tau") ? "customers" : "agents") }))
  })
}
const [maxMessages, maxMessage] = [2000, 6000]

type Labels = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>

const overlaps = (one: Span, two: Span): boolean => one.start < two.end && two.start < one.end

/** Rules in files that nobody labelled, as an earlier finder found them: gaps between their starts, and lengths. Their weight is low. */
const foundEarlier: Readonly<Record<string, readonly number[]>> = JSON.parse(
  readFileSync(new URL("rules/page-labels.json", import.meta.url), "utf8"),
)

function earlierRulesIn(name: string): readonly Span[] {
  const numbers = foundEarlier[name] ?? []
  let start = 0
  return numbers.flatMap((gap, n) => {
    if (n % 2 === 1) return []
    start += gap
    return [{ start, end: start + (numbers[n + 1] ?? 0) }]
  })
}

function pageLines(): readonly Example[] {
  const halves: Readonly<Record<string, Labels>> = JSON.parse(
    readFileSync(new URL("../test/fixtures/pin/rule-labels.json", import.meta.url), "utf8"),
  )
  // A file may have lines in more than one half.
  const halvesOf = (name: string): readonly Labels[string][] =>
    Object.values(halves).flatMap((half) => (half[name] === undefined ? [] : [half[name]]))
  const names = new Set([...Object.keys(foundEarlier), ...Object.values(halves).flatMap((half) => Object.keys(half))])
  return [...names].flatMap((name) => linesOfFile(name, halvesOf(name)))
}

function linesOfFile(name: string, labels: readonly Labels[string][]): readonly Example[] {
  const text = readFileSync(`${corpus}/rules/${name}`, "utf8")
  const starts = [0]
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  const lineSpan = (line: number): Span => ({
    start: starts[line - 1] ?? 0,
    end: (starts[line] ?? text.length + 1) - 1,
  })
  const marked = labels
    .flatMap((own) => Object.entries(own))
    .map(([label, lines]) => ({ label, spans: lines.map(lineSpan) }))
  const found = earlierRulesIn(name)
  return statementsIn(text, { start: 0, end: text.length }, true)
    .filter(({ block }) => block.kind !== "heading")
    .flatMap((statement) => {
      // A sentence over several lines is a rule if one of them is labelled as one.
      const own = marked.filter(({ spans }) => spans.some((span) => overlaps(span, statement)))
      const isLabelled = own.some(({ label }) => label === "rule" || label === "prohibition")
      if (!isLabelled && own.some(({ label }) => label === "unsure")) return []
      if (own.length > 0) return [exampleOf(statement.view, isLabelled, 12)]
      if (foundEarlier[name] === undefined) return []
      const isRule = found.some((rule) => overlaps(rule, statement))
      return [exampleOf(statement.view, isRule, 0.2)]
    })
}

/** Minimum number of lines, and of groups of lines, in which a known word occurs: other words are names of things. */
const [minLines, minGroups] = [5, 2]

function knownWordsIn(sorts: readonly (readonly string[])[]): readonly string[] {
  const counts = new Map<string, { lines: number; sorts: Set<number> }>()
  for (const [sort, lines] of sorts.entries())
    for (const line of lines) {
      const text = line.replace(/\[\[|\]\]|\{[a-z]+\}/g, "")
      const views = statementsIn(text, { start: 0, end: text.length }, false).map(({ view }) => view.own)
      for (const word of new Set(views.flatMap((view) => tokensOf(view.text)))) {
        const count = counts.get(word) ?? { lines: 0, sorts: new Set() }
        count.lines++
        count.sorts.add(sort)
        counts.set(word, count)
      }
    }
  return [...counts]
    .filter(
      ([word, count]) => /^\p{L}[\p{L}'’-]+$/u.test(word) && count.lines >= minLines && count.sorts.size >= minGroups,
    )
    .map(([word]) => word)
    .filter((word) => !isUnspacedToken(word))
    .toSorted()
}

if (import.meta.main && process.argv.includes("--words")) {
  const words = knownWordsIn(ownLines())
  process.stdout.write(`${words.length} words\n`)
  writeFileSync(
    new URL("../src/rules/generated/known-words.ts", import.meta.url),
    `// Written by bench/rules-collect.ts; do not edit.\nexport const knownWords: string =\n  ${JSON.stringify(words.join(" "))}\n`,
  )
} else if (import.meta.main) {
  const lines = { talk: [...talkLines(), ...traceLines(), ...logLines()], page: pageLines() }
  process.stdout.write(`${lines.talk.length} sentences of talk, ${lines.page.length} of files\n`)
  writeFileSync(new URL("rules/real-lines.bin.gz", import.meta.url), gzipSync(writeLines(lines), { level: 9 }))
}
