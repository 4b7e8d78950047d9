import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { findRules } from "../src/rules/find-rules.ts"
import { ownWords } from "../src/rules/own-words.ts"

/**
 * Checks that a change does not alter what is found: `node bench/rules-same.ts FILE` writes what is found in every text of the labelled
 * sets and of the corpus (HOLDFAST_CORPUS) to the file if it does not exist, and otherwise lists the texts that differ.
 */

type Text = { readonly key: string; readonly text: string }

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** Minimum length of a text; shorter strings are ids and names. */
const minLength = 12

function textsIn(folder: string): readonly Text[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((file) => {
    const read = (): string => readFileSync(join(folder, file), "utf8")
    if (file.endsWith(".md")) return [{ key: file, text: read() }]
    const lines = file.endsWith(".jsonl.gz")
      ? gunzipSync(readFileSync(join(folder, file))).toString()
      : file.endsWith(".jsonl")
        ? read()
        : ""
    const rows = lines.split("\n").filter((line) => line !== "")
    return rows.flatMap((line, row) =>
      stringsIn(JSON.parse(line)).map((text, n) => ({ key: `${file}:${row + 1}:${n}`, text })),
    )
  })
}

/** Returns the spans of the user's own words, and the rules of the text as talk and as a file of rules. */
function foundIn(text: string): string {
  const rules = (genre: "talk" | "rules"): readonly unknown[] =>
    findRules(text, genre === "talk" ? { channel: "user" } : { channel: "document", genre }).map(
      ({ start, end, kind, explicitness, confidence, context }) => [
        start,
        end,
        kind,
        explicitness,
        confidence,
        context,
      ],
    )
  return JSON.stringify([ownWords(text).map(({ start, end }) => [start, end]), rules("talk"), rules("rules")])
}

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error("Give the file to write or to compare with.")
const corpus = process.env.HOLDFAST_CORPUS
const folders = [join(import.meta.dirname, "../test/labelled"), ...(corpus === undefined ? [] : [corpus])]
const seen = new Set<string>()
const lines: string[] = []
let units = 0
for (const { key, text } of folders.flatMap(textsIn)) {
  if (text.length < minLength || seen.has(text)) continue
  seen.add(text)
  units += text.length
  lines.push(`${key}\t${foundIn(text)}`)
}
if (existsSync(file)) {
  const before = readFileSync(file, "utf8").split("\n")
  const differing = lines.filter((line, n) => line !== before[n])
  console.log(`${lines.length} texts, ${Math.round(units / 1000)} kB: ${differing.length} differ`)
  for (const line of differing.slice(0, 20)) console.log(`  ${line.slice(0, 300)}`)
  process.exitCode = differing.length === 0 ? 0 : 1
} else {
  writeFileSync(file, lines.join("\n"))
  console.log(`${lines.length} texts, ${Math.round(units / 1000)} kB: written`)
}
