import type { CompactResult } from "../session/one-shot/compact-request.ts"
import { meterFor } from "../session/one-shot/meter-for.ts"
import type { CompactOptions } from "../session/one-shot/options.ts"
import { decodeRequest } from "../wire/decode.ts"
import { accountChanges } from "./account-changes.ts"
import { accountDigest } from "./account-digest.ts"
import { accountSizes } from "./account-sizes.ts"
import { changesOf } from "./changes.ts"
import type { Opened } from "./open-request.ts"
import { count, number, type Paper, paragraph } from "./paper.ts"
import { clip, wrap } from "./printable.ts"
import { documentsOf, type Sizes, sizesOf, totalOf } from "./sizes.ts"
import { cacheSentence, countingSentence, formatWords, kindWords, remedySentence, whySentence } from "./words.ts"

/** One compaction that was done, and everything that an account of it speaks of. */
export type Accounted = {
  readonly name: string
  readonly opened: Opened
  readonly options: CompactOptions
  readonly result: CompactResult<string>
  readonly tookMs: number
}

/** The account for people: what went in, what came out, and what became of everything in between. */
export function accountOf(done: Accounted, paper: Paper): string {
  const { opened, options, result } = done
  const before = decodeRequest(opened.format, opened.body)
  const after = result.report.changed ? decodeRequest(opened.format, result.body) : before
  const meter = meterFor(before, options)
  const documents = documentsOf(before)
  const sizes = { before: sizesOf(before, meter, documents), after: sizesOf(after, meter, documents) }
  const changes = changesOf(before, after, result.trace)
  const lines = [
    ...accountInput(done, sizes.before, paper),
    "",
    ...accountSizes(sizes.before, sizes.after, paper),
    "",
    ...accountRemedy(done, paper),
    ...accountChanges(changes, before.messages.length, options.pins ?? [], paper),
    ...accountDigest(done.result.report, changes, paper),
    ...accountCosts(done, paper),
  ]
  return `${lines.join("\n")}\n`
}

function accountInput({ name, opened, result }: Accounted, sizes: Sizes, paper: Paper): readonly string[] {
  const { before, model } = result.report
  const { kind, format, index, count: all, unread, lost } = opened
  const total = totalOf(sizes)
  const pieces = [
    `${number(sizes.stack)} prompt stack`,
    `${number(total - sizes.stack - sizes.documents)} conversation`,
    ...(sizes.documents > 0 ? [`${number(sizes.documents)} documents`] : []),
  ]
  const notes = [
    ...(all > 1 ? [`Number ${index} of the ${number(all)} conversations in the file, counted from 0.`] : []),
    ...(unread > 0 ? [`Lines of the file that could not be read: ${number(unread)}.`] : []),
    ...(lost > 0 ? [`Parts that this format cannot say: ${number(lost)}.`] : []),
  ]
  const title = [`${name}: ${kindWords[kind]}`, formatWords[format], ...(model.id === "" ? [] : [model.id])].join(", ")
  const words = `${count(before.messages, "message")}, ${count(total, "token")}: ${pieces.join(", ")}.`
  return [paper.bold(clip(title, paper.width)), ...[words, ...notes].flatMap((note) => wrap(note, paper.width))]
}

function accountRemedy({ result }: Accounted, paper: Paper): readonly string[] {
  const { report, trace } = result
  const rejected = trace.flatMap((event) => (event.type === "remedy-rejected" ? [event] : []))
  const tried = rejected.map(({ remedy, failures }) => `${remedy} (${failures[0]?.code ?? "refused"})`)
  return [
    ...paragraph("Why", whySentence(report), paper),
    ...paragraph("Remedy", `${remedySentence(report)}${report.changed ? ` Strategy: ${report.strategy}.` : ""}`, paper),
    ...(tried.length > 0 ? paragraph("", `Tried before and not accepted: ${tried.join(", ")}.`, paper) : []),
  ]
}

function accountCosts({ result, tookMs }: Accounted, paper: Paper): readonly string[] {
  const cache = cacheSentence(result.report)
  return [
    ...(cache === undefined ? [] : paragraph("Cache", cache, paper)),
    ...paragraph("Counted", `Tokens are ${countingSentence(result.report)}.`, paper),
    ...paragraph("Took", tookMs < 1000 ? `${tookMs.toFixed(0)} ms` : `${(tookMs / 1000).toFixed(1)} s`, paper),
  ]
}
