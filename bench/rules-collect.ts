import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"
import type { Span } from "../src/message/message.ts"
import { statementsIn } from "../src/rules/statements.ts"
import {
  corpusTalk,
  type Example,
  exampleOf,
  loggedTalk,
  logPartOf,
  realLines,
  realSources,
  talkExamples,
  writeLines,
} from "./rules-examples.ts"

/**
 * Converts real lines into features for the training: `node bench/rules-collect.ts CORPUS LOGS` writes `bench/rules/real-lines.bin.gz`.
 * LOGS is a folder with labelled messages of public prompt logs, which are not in this repository; without it the lines of talk that the
 * file already has are kept. Needed again after a change of the features. Every label is a person's, so the result does not depend on what
 * the finder finds.
 * The words that the model knows by their letters (`src/rules/generated/known-words.ts`) stay as they are: with others the lines that are kept
 * as numbers would have other features.
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

/**
 * Rules in real files of instructions, each of which a person read from the start up to `end`. Spans are written as gaps between their
 * starts, and lengths; `unsure` are spans that a second reader could label differently.
 */
type FileLabels = { readonly end: number; readonly rule: readonly number[]; readonly unsure: readonly number[] }

const pageLabels: Readonly<Record<string, FileLabels>> = JSON.parse(
  readFileSync(new URL("rules/page-labels.json", import.meta.url), "utf8"),
)

function spansIn(numbers: readonly number[]): readonly Span[] {
  let start = 0
  return numbers.flatMap((gap, n) => {
    if (n % 2 === 1) return []
    start += gap
    return [{ start, end: start + (numbers[n + 1] ?? 0) }]
  })
}

const isMostlyIn = (one: Span, spans: readonly Span[]): boolean =>
  spans.some((two) => Math.min(one.end, two.end) - Math.max(one.start, two.start) >= 0.6 * (one.end - one.start))

const pageLines = (): readonly Example[] => [...wholeFiles(), ...singleLines()]

/** Returns examples of random lines of policies and files of instructions, which another reader labelled one by one. */
function singleLines(): readonly Example[] {
  const halves: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>>> =
    JSON.parse(readFileSync(new URL("../test/fixtures/pin/rule-labels.json", import.meta.url), "utf8"))
  return Object.values(halves)
    .flatMap((half) => Object.entries(half))
    .flatMap(([name, labels]) => {
      const text = readFileSync(`${corpus}/rules/${name}`, "utf8")
      const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
      const labelOf = new Map(Object.entries(labels).flatMap(([label, lines]) => lines.map((line) => [line, label])))
      return statementsIn(text, { start: 0, end: text.length }, true)
        .filter(({ block }) => block.kind !== "heading")
        .flatMap((statement) => {
          const lines = starts.flatMap((start, n) =>
            start < statement.end && (starts[n + 1] ?? text.length + 1) > statement.start ? [n + 1] : [],
          )
          const found = lines.flatMap((line) => labelOf.get(line) ?? [])
          // A sentence over several lines is a rule if one of them is labelled as one.
          const isRule = found.some((label) => label === "rule" || label === "prohibition")
          if (found.length === 0 || (!isRule && found.includes("unsure"))) return []
          return [exampleOf(statement.view, isRule, singleLineWeight)]
        })
    })
}
const singleLineWeight = 3

const wholeFiles = (): readonly Example[] =>
  Object.entries(pageLabels).flatMap(([name, { end, rule, unsure }]) => {
    const text = readFileSync(`${corpus}/rules/${name}`, "utf8")
    const [rules, doubtful] = [spansIn(rule), spansIn(unsure)]
    return statementsIn(text, { start: 0, end: text.length }, true)
      .filter((statement) => statement.block.kind !== "heading" && statement.end <= end)
      .filter((statement) => !isMostlyIn(statement, doubtful))
      .map((statement) => exampleOf(statement.view, isMostlyIn(statement, rules), 1))
  })

if (import.meta.main) {
  const talk = logs === "" ? realLines().talk : [...talkLines(), ...traceLines(), ...logLines()]
  const lines = { talk, page: pageLines() }
  process.stdout.write(`${lines.talk.length} sentences of talk, ${lines.page.length} of files\n`)
  writeFileSync(new URL("rules/real-lines.bin.gz", import.meta.url), gzipSync(writeLines(lines), { level: 9 }))
}
