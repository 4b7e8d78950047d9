import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { gunzipSync, gzipSync } from "node:zlib"
import { findRules } from "../src/index.ts"
import type { Span } from "../src/message/message.ts"
import { statementsIn } from "../src/rules/statements.ts"
import { type Example, exampleOf, talkExamples, writeLines } from "./rules-train.ts"

/**
 * Reads real lines into numbers for the training: `node bench/rules-collect.ts CORPUS` writes `bench/rules/real-lines.bin.gz`. Needed again
 * after a change of the features. Talk and some files were labelled by people; other files count little and have the labels of the finder.
 */

const corpus = process.argv[2] ?? "../shared/data"

/** Sources that the tests hold back: nothing is learnt from them. */
const heldOut = /^(?:real:pi-session|real:gh:(?:hpm27|BharathKumarKS|ArkMaster123)\/)/

type Talk = {
  readonly text: string
  readonly channel: string
  readonly source: string
  readonly rules: readonly { readonly text: string; readonly unclear?: boolean }[]
  readonly unclear?: boolean
}

const spanOf = (text: string, part: string): Span => {
  const start = text.indexOf(part)
  return { start, end: start + part.length }
}

function talkLines(): readonly Example[] {
  const rows = ["talk", "base-rate"].flatMap((name) =>
    readFileSync(`${corpus}/talk/${name}.jsonl`, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Talk => JSON.parse(line)),
  )
  return rows
    .filter(({ channel, source, unclear }) => channel === "user" && unclear !== true && !heldOut.test(source))
    .flatMap(({ text, rules }) =>
      talkExamples(
        {
          text,
          rules: rules.filter((rule) => rule.unclear !== true).map((rule) => spanOf(text, rule.text)),
          skip: rules.filter((rule) => rule.unclear === true).map((rule) => spanOf(text, rule.text)),
        },
        1,
      ),
    )
}

/** What users say in recorded conversations. */
function saidIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(saidIn)
  if (typeof value !== "object" || value === null) return []
  if ("role" in value && value.role === "user" && "content" in value) {
    if (typeof value.content === "string") return [value.content]
    if (Array.isArray(value.content))
      return value.content.flatMap((part: { readonly text?: unknown }) =>
        typeof part?.text === "string" ? [part.text] : [],
      )
  }
  return Object.values(value).flatMap(saidIn)
}

/** Hardly one in two hundred of these messages has a rule; what the finder takes for one with some certainty is left out. */
function traceLines(): readonly Example[] {
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
      .flatMap((line) => saidIn(JSON.parse(line)))
      .filter((message) => message.length < maxMessage)
    return [...new Set(said)]
      .slice(0, maxMessages)
      .filter((message) => findRules(message, { channel: "user" }).every(({ confidence = 1 }) => confidence < sure))
      .flatMap((message) => talkExamples({ text: message, rules: [] }, 0.5))
  })
}
const [maxMessages, maxMessage, sure] = [2000, 6000, 0.9]

type Labels = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>

const overlaps = (one: Span, two: Span): boolean => one.start < two.end && two.start < one.end

function pageLines(): readonly Example[] {
  const halves: Readonly<Record<string, Labels>> = JSON.parse(
    readFileSync(new URL("../test/fixtures/pin/rule-labels.json", import.meta.url), "utf8"),
  )
  const known: Labels = { ...halves.development, ...halves["looked-at"] }
  const names = new Set([
    ...readdirSync(`${corpus}/rules/agents-md`).map((name) => `agents-md/${name}`),
    ...Object.keys(known),
  ])
  return [...names]
    .filter((name) => known[name] !== undefined || halves["held-out"]?.[name] === undefined)
    .flatMap((name) => linesOfFile(name, known[name]))
}

function linesOfFile(name: string, labels: Labels[string] | undefined): readonly Example[] {
  const text = readFileSync(`${corpus}/rules/${name}`, "utf8")
  const starts = [0]
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  const lineSpan = (line: number): Span => ({
    start: starts[line - 1] ?? 0,
    end: (starts[line] ?? text.length + 1) - 1,
  })
  const statements = statementsIn(text, { start: 0, end: text.length }, true).filter(
    ({ block }) => block.kind !== "heading",
  )
  if (labels === undefined) {
    const found = findRules(text, { channel: "document", source: "AGENTS.md" })
    return statements.map((statement) =>
      exampleOf(
        statement.view,
        found.some((rule) => overlaps(rule, statement)),
        0.2,
      ),
    )
  }
  const found = findRules(text, { channel: "document", source: "AGENTS.md" })
  const marked = Object.entries(labels).map(([label, lines]) => ({ label, spans: lines.map(lineSpan) }))
  return statements.flatMap((statement) => {
    const own = marked.find(({ spans }) => spans.some((span) => overlaps(span, statement)))
    if (own?.label === "unsure") return []
    if (own === undefined)
      return [
        exampleOf(
          statement.view,
          found.some((rule) => overlaps(rule, statement)),
          0.2,
        ),
      ]
    return [exampleOf(statement.view, own.label !== "none", 3)]
  })
}

const lines = { talk: [...talkLines(), ...traceLines()], page: pageLines() }
process.stdout.write(`${lines.talk.length} sentences of talk, ${lines.page.length} of files\n`)
writeFileSync(new URL("rules/real-lines.bin.gz", import.meta.url), gzipSync(writeLines(lines), { level: 9 }))
