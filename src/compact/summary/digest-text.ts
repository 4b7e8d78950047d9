import { fence, unfence } from "../../message/fence.ts"
import { digestHeading } from "../../message/own-text.ts"
import { present } from "../../message/present.ts"
import type { Digest, Goal } from "./digest.ts"
import { bodyText, cutGoalHead, factsTitle, goalHead, indent, likeLabel } from "./digest-body.ts"
import { schemas, stateLabels } from "./schema.ts"
import type { LineState, SchemaName, SummaryLine, SummarySection } from "./summary.ts"

type RenderOptions = { readonly brief?: boolean }

const tag = "summary"
const author = "holdfast"
/** Left out of a brief digest. */
const usualSchema: SchemaName = "handoff"

/** The digest as one fenced text for a person and a model, from which `parseDigest` reads it back. `brief` spends the fewest tokens on framing. */
export function renderDigest(digest: Digest, { brief = digest.brief === true }: RenderOptions = {}): string {
  const { schema } = digest.summary
  const named: Readonly<Record<string, string>> = brief && schema === usualSchema ? {} : { schema }
  return fence(tag, bodyText(digest, brief), { by: author, ...named, covered: String(digest.covered) })
}

const opening = /^<summary by="holdfast"(?: schema="(handoff|snapshot)")? covered="(0|[1-9]\d{0,14})">\n/

/** Longer texts are no digest: one takes a share of a context, not a multiple. */
const maxDigestLength = 4_000_000

/** Read a digest back, or nothing if the text is not one of ours to the letter. Facts come back as text alone, lines without their sources. */
export function parseDigest(text: string): Digest | undefined {
  const head = text.length > maxDigestLength ? null : opening.exec(text.slice(0, 200))
  const body = head === null ? undefined : unfence(tag, text)
  if (head === null || body === undefined) return undefined
  const schema: SchemaName = head[1] === "snapshot" ? "snapshot" : usualSchema
  const digest = readBody(body, schema, Number(head[2]))
  // Whatever was read must print as the very text it was read from: a cut or edited digest is no digest.
  return digest !== undefined && renderDigest(digest) === text ? digest : undefined
}

const states: readonly LineState[] = ["done", "failed", "pending", "next"]

/** A line of a section that the schema does not know. */
const unknownWorth = 5

/** Read what stands between the tags of a digest. Reads too much rather than too little: whoever asked compares it with what it prints as. */
function readBody(body: string, schema: SchemaName, covered: number): Digest | undefined {
  const lines = body.split("\n")
  const brief = lines[0] !== digestHeading
  let at = brief ? 0 : 1
  const skipBlank = (): void => {
    if (!brief && lines[at] === "") at++
  }
  skipBlank()
  const goal = goalAt(lines, at)
  if (goal !== undefined) at += goal.text.split("\n").length
  const sections: SummarySection[] = []
  for (skipBlank(); at < lines.length; skipBlank()) {
    const title = lines[at]
    if (title?.startsWith("## ") !== true || title === `## ${factsTitle}`) break
    const section = sectionAt(lines, at, schema)
    sections.push(section)
    at += 1 + section.lines.length
  }
  const facts = lines[at] === `## ${factsTitle}` ? lines.slice(at + 1) : []
  const text = facts.map((line) => (line.startsWith("\\") ? line.slice(1) : line)).join("\n")
  return {
    covered,
    ...present({ goal, brief: brief ? (true as const) : undefined }),
    summary: { schema, sections },
    ledger: { text, facts: [] },
  }
}

function goalAt(lines: readonly string[], at: number): Goal | undefined {
  const first = lines[at] ?? ""
  const head = [goalHead, cutGoalHead].find((start) => first.startsWith(start))
  if (head === undefined) return undefined
  const text = [first.slice(head.length)]
  for (let next = at + 1; lines[next]?.startsWith(indent) === true; next++)
    text.push(lines[next]?.slice(indent.length) ?? "")
  return { text: text.join("\n"), source: "", whole: head === goalHead }
}

function sectionAt(lines: readonly string[], at: number, schema: SchemaName): SummarySection {
  const title = (lines[at] ?? "").slice(3)
  const known = schemas[schema].find((section) => section.title === title || section.short === title)
  const own: SummaryLine[] = []
  for (let next = at + 1; lines[next]?.startsWith("- ") === true; next++) {
    own.push(readLine((lines[next] ?? "").slice(2), known?.worth ?? unknownWorth))
  }
  return { name: known?.name ?? title, lines: own }
}

/** Nobody can tell any more whose words a printed line was: it comes back as memory, which instructs no one. */
function readLine(line: string, worth: number): SummaryLine {
  const state = states.find((one) => line.startsWith(`${stateLabels[one]} `))
  const text = state === undefined ? line : line.slice(stateLabels[state].length + 1)
  const unescaped = text.startsWith("\\") && likeLabel.test(text) ? text.slice(1) : text
  return { text: unescaped, sources: [], ...present({ state }), channel: "memory", worth }
}
