import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { createHoldfast, findRules } from "../src/index.ts"
import type { Span } from "../src/message/message.ts"

/**
 * Measures the rule finder on the labelled sets: `node bench/rules-labelled.ts [--set second-] [--half 0|1] [--errors]`. A found rule is
 * right if it and a labelled one share 60 % of the shorter text. The training reads the sets in `learntSets`; nobody reads the errors of
 * the others.
 */

/** The labelled sets that no training learns from. */
export const heldOutSets: readonly string[] = [
  "forty-third-",
  "forty-fourth-",
  "forty-fifth-",
  "forty-sixth-",
  "forty-seventh-",
]

export type Labels = { readonly id: string; readonly text: string; readonly rules: readonly string[] }
type Pasted = Labels & { readonly attack: string }
type File = Labels & { readonly path: string; readonly kind: "instructions" | "read" }
type Pair = {
  readonly id: string
  readonly first: string
  readonly then: string
  readonly channel: "user" | "tool"
  readonly gone: boolean
}

/** Returns the half of a labelled set that an item is in. */
export const halfOf = (id: string): number => (createHash("sha256").update(`half${id}`).digest().at(0) ?? 0) & 1

export const readSet = <Row>(name: string): readonly Row[] => {
  const file = new URL(`../test/labelled/${name}.jsonl`, import.meta.url)
  if (!existsSync(file)) return []
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Row => JSON.parse(line))
}

export const spansOf = ({ text, rules }: Labels): readonly Span[] =>
  rules.map((rule) => ({ start: text.indexOf(rule), end: text.indexOf(rule) + rule.length }))

const shares = (one: Span, two: Span): boolean =>
  Math.min(one.end, two.end) - Math.max(one.start, two.start) >=
  0.6 * Math.min(one.end - one.start, two.end - two.start)

type Judged = {
  readonly item: Labels
  readonly right: number
  readonly wrong: readonly string[]
  readonly missed: readonly string[]
}

function judge(item: Labels, options: Parameters<typeof findRules>[1]): Judged {
  const found = findRules(item.text, options)
  const labels = spansOf(item)
  const right = found.filter((rule) => labels.some((label) => shares(rule, label)))
  return {
    item,
    right: right.length,
    wrong: found.filter((rule) => !right.includes(rule)).map(({ text }) => text),
    missed: item.rules.filter((_, n) => !found.some((rule) => shares(rule, labels[n] ?? rule))),
  }
}

const share = (part: number, whole: number): string => (whole === 0 ? "-" : (part / whole).toFixed(3))

function figures(name: string, results: readonly Judged[], errors: boolean): string {
  const right = results.reduce((sum, result) => sum + result.right, 0)
  const wrong = results.flatMap((result) => result.wrong).length
  const labels = results.flatMap(({ item }) => item.rules).length
  const missed = results.flatMap((result) => result.missed).length
  const lines = errors
    ? results.flatMap((result) => [
        ...result.wrong.map((text) => `  + ${result.item.id} ${JSON.stringify(text)}`),
        ...result.missed.map((text) => `  - ${result.item.id} ${JSON.stringify(text)}`),
      ])
    : []
  return [
    `${name}: ${results.length} items, ${labels} rules; precision ${share(right, right + wrong)}, recall ${share(labels - missed, labels)}, items with a false rule ${share(results.filter((result) => result.wrong.length > 0).length, results.length)}`,
    ...lines,
  ].join("\n")
}

/**
 * True if the first rule is no longer in force after what was said later. If the rule is not found by itself, it is announced as a rule.
 */
async function isGone(pair: Pair): Promise<boolean | undefined> {
  return (await stateAfter(pair, pair.first)) ?? (await stateAfter(pair, `This is a standing rule: ${pair.first}`))
}

async function stateAfter({ id, first, then, channel }: Pair, said: string): Promise<boolean | undefined> {
  const session = createHoldfast({ store: "memory" }).session(id)
  const call = { id: "call_1", type: "function", function: { name: "read", arguments: "{}" } }
  const opening = [
    { role: "user", content: said },
    { role: "assistant", content: "Understood." },
  ]
  const second =
    channel === "user"
      ? [{ role: "user", content: then }]
      : [
          { role: "user", content: "Please look it up." },
          { role: "assistant", content: null, tool_calls: [call] },
          { role: "tool", tool_call_id: "call_1", content: then },
        ]
  await session.append([...opening, ...second, { role: "assistant", content: "Done." }], { format: "openai-chat" })
  const pin = (await session.pins({ all: true })).find(({ text }) => first.includes(text) || text.includes(first))
  return pin === undefined ? undefined : pin.state !== "in-force"
}

if (import.meta.main) {
  const { argv } = process
  const optionOf = (name: string): string | undefined =>
    argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined
  const set = optionOf("--set") ?? ""
  const half = optionOf("--half")
  const errors = argv.includes("--errors")
  const rows = <Row extends { readonly id: string }>(name: string): readonly Row[] =>
    readSet<Row>(set + name).filter(({ id }) => half === undefined || halfOf(id) === Number(half))
  const talk = (name: string): readonly Judged[] => rows<Labels>(name).map((item) => judge(item, { channel: "user" }))
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  print(figures("talk", talk("talk"), errors))
  print(figures("consecutive messages", talk("base"), errors))
  print(figures("announced", talk("announced"), errors))
  const pasted = rows<Pasted>("pasted").map((item) => ({ item, judged: judge(item, { channel: "user" }) }))
  const isTaken = ({ item, judged }: (typeof pasted)[number]): boolean =>
    judged.wrong.some((text) => text.includes(item.attack.slice(0, 30)) || item.attack.includes(text.slice(0, 30)))
  print(
    figures(
      "pasted",
      pasted.map(({ judged }) => judged),
      errors,
    ),
  )
  print(`  attacks taken for the user's: ${pasted.filter(isTaken).length} of ${pasted.length}`)
  const files = rows<File>("instruction-files")
  const fileFigures = (kind: File["kind"]): readonly Judged[] =>
    files.filter((file) => file.kind === kind).map((file) => judge(file, { channel: "document", source: file.path }))
  print(figures("instruction files", fileFigures("instructions"), errors))
  print(figures("files merely read", fileFigures("read"), errors))
  const pairs = rows<Pair>("supersede")
  const gone = await Promise.all(pairs.map(isGone))
  const count = (isLabel: boolean, isFound: boolean): number =>
    pairs.filter((pair, n) => pair.gone === isLabel && (gone[n] === true) === isFound).length
  print(
    `supersession: ${count(true, true)} of ${count(true, true) + count(true, false)} noticed, ${count(false, true)} of ${count(false, true) + count(false, false)} wrong, ${gone.filter((one) => one === undefined).length} not judged`,
  )
  if (errors)
    for (const [n, pair] of pairs.entries())
      if (pair.gone !== (gone[n] === true)) print(`  ${pair.gone ? "-" : "+"} ${pair.id} ${pair.first} | ${pair.then}`)
}
