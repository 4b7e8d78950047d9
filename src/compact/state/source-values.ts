import { anyOf } from "../../language/word-lists.ts"
import { oneLine } from "../summary/summary.ts"
import type { FactRecord } from "./records.ts"
import lists from "./value-words.json" with { type: "json" }

/**
 * Values in what calls wrote and ran: named settings of a written file; of programs the paths that they name and what they define, which
 * an interpreter still knows. The owner is the file, or the tool that ran the program.
 */
export type SourceValue = { readonly key: string; readonly value: string }

/** Maximum number of characters read of a text. */
const maxSourceText = 60_000
/** Minimum length of a program: a shorter argument stands whole in the line of its call. */
const minProgramLength = 60
const maxKeyLength = 40
const maxValueLength = 48
const maxEachKey = 40
const maxKeys = 60

const filePath = new RegExp(
  anyOf(
    "(?<![\\w/.@-])(?:~/|\\.{1,2}/|/)?(?:[\\w.@+-]{1,80}/){1,12}[\\w.@+-]{0,80}\\w",
    `(?<![\\w/.@-])[\\w-]{1,60}\\.${anyOf(lists.fileEndings)}\\b(?!\\()`,
  ),
  "g",
)

/** One slash between two words (`and/or`) makes no path. */
const isPath = /^[~./]|\.\w|\/.*\//

/** Top-level definitions of a program: functions, classes and variables. */
const defined =
  /^(?:export |async |pub |static ){0,3}(?:(?:def|class|function|fn|func|struct|enum|interface)\s{1,4}([A-Za-z_$][\w$]{2,40})|(?:const |let |var )?([A-Za-z_$][\w$]{2,40})\s{0,4}=(?![=~>]))/gm

/**
 * A name and its value in source text of any language: `padding: 50px`, `PORT=3000`, `"version": "1.2"`, `const limit = 25 * 60`. A named
 * argument of a function call is no setting.
 */
const settingStart =
  /(?:^[ \t]{0,40}(?:-[ \t]+)?(?:(?:export|const|let|var|val|final|static|public|private|protected|readonly|set|local|ENV)[ \t]+){0,4}|[{;]\s{0,40}|[,(]\s{0,40}(?!\w{1,40}=))/
const settingEnd =
  /["']?([A-Za-z_-][\w.-]{1,40})["']?\s{0,3}(?::|=(?![=>]))[ \t]{0,3}["'`]?([#\w./@%+*$: -]{1,60}?)["'`]?\s{0,3}(?:(?=[;,})])|\n|$)/
const setting = new RegExp(settingStart.source + settingEnd.source, "gm")

const isTelling = (value: string): boolean =>
  /\d/.test(value) &&
  value.length > 1 &&
  value.length <= maxValueLength &&
  !/^(?:# |:)/.test(value) &&
  value.split(" ", maxWords + 1).length <= maxWords

/** Devices, ratios, numbers and user agents, which look like paths. */
const noFile = /^\/dev\/|^\/?\p{L}{1,4}\/[\d.]+$|^[A-Z][A-Za-z]+\/\d[\d.]*$|^[\d.,+*/()-]+$|^\d+\//u

/** Maximum number of words in a setting: more of them are a sentence. */
const maxWords = 4
/** Maximum number of values of one name: with more it is a column of a table, and each value belongs to its row. */
const maxSettings = 3

/** Returns the named values that a written text sets. */
export function settingsIn(text: string): readonly SourceValue[] {
  const found = settingPairs(text)
  const each = Map.groupBy(found, ({ key }) => key)
  return found.filter(({ key }) => new Set(each.get(key)?.map(({ value }) => value)).size <= maxSettings)
}

/** Returns the cells of a table row; empty if the line is none. */
export const cellsOf = (row: string): readonly string[] =>
  /^\s{0,8}\|.*\|\s*$/.test(row)
    ? row
        .trim()
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.replaceAll("**", "").trim())
    : []

/** Returns the rows of a small table, each under its first cell: written tables hold findings. */
export function tableRows(text: string): readonly SourceValue[] {
  if (!text.includes("\n|")) return []
  const lines = text
    .slice(0, maxSourceText)
    .split("\n")
    .filter((line) => /^\s{0,8}\|.*\|\s*$/.test(line))
  const rows = lines.filter((line) => !/^[\s|:-]+$/.test(line)).slice(1)
  if (lines.length - rows.length < 2 || rows.length > maxRows) return []
  return rows.flatMap((row) => {
    const [key = "", ...cells] = cellsOf(row)
    const value = cells.filter((cell) => cell !== "").join(" | ")
    return key !== "" && /\d/.test(value) && value.length <= 2 * maxValueLength ? [{ key, value }] : []
  })
}
const maxRows = 16

const tableStart = "table in "
/** Owner name of table rows, and the test for it. */
export const tableName = (path: string): string => `${tableStart}${path}`
export const isTable = (record: string): boolean => record.startsWith(tableStart)

const settingPairs = (text: string): readonly SourceValue[] =>
  [...text.slice(0, maxSourceText).matchAll(setting)].flatMap(([, key = "", value = ""]) =>
    isTelling(value.trim()) && !value.startsWith("//") ? [{ key, value: value.trim() }] : [],
  )

/** Returns the paths that a program names and what it defines. */
export function programValues(text: string): readonly SourceValue[] {
  if (text.length < minProgramLength) return []
  const read = text.slice(0, maxSourceText)
  const paths = [...read.matchAll(filePath)]
    .filter(([value]) => isPath.test(value) && !noFile.test(value))
    .map(([value]) => ({ key: "path", value }))
  const names = [...read.matchAll(defined)].map(([, block, variable]) => ({
    key: "defined",
    value: block ?? variable ?? "",
  }))
  return [...paths, ...names].filter(({ value }) => value.length > 3 && value.length <= 2 * maxValueLength)
}

/** All values of one owner, newest last. */
export type SourceState = {
  /** How often each value occurred. */
  readonly values: Map<string, Map<string, number>>
  readonly sources: string[]
  at: number
}

export function addValues(state: SourceState, values: readonly SourceValue[]): void {
  for (const { key, value } of values) {
    const name = oneLine(key, maxKeyLength)
      .replace(/[=;:`]/g, " ")
      .trim()
    const text = oneLine(value, 2 * maxValueLength)
      .replace(/; /g, ", ")
      .replaceAll("`", "'")
    const own = state.values.get(name) ?? new Map<string, number>()
    const times = own.get(text) ?? 0
    own.delete(text)
    state.values.set(name, own.set(text, times + 1))
  }
}

/** Style settings, left out of files that are no longer worked on: they can be read there. */
const styleName = new RegExp(`^(?:${anyOf(lists.styleGroups)}-[a-z-]+|${anyOf(lists.styleNames)})$`)
const styling = /(?:^|\s)-?[\d.]+(?:px|r?em|v[hw]|fr)(?=\s|$)|^\s*#[\da-f]{3,8}\s*$|\b(?:ease|solid|cubic-bezier)\b/i

/**
 * Returns the record of an owner: the most frequent values first, and among those the newest. `isLeft`: the file was not written again for
 * long.
 */
export function sourceRecord(name: string, { values }: SourceState, isLeft = false): FactRecord | undefined {
  const fields = [...values]
    .slice(-maxKeys)
    .filter(([key]) => !isLeft || !styleName.test(key))
    .map(([key, own]) => ({
      key,
      pieces: [...own]
        .reverse()
        .toSorted(([, one], [, other]) => other - one)
        .slice(0, maxEachKey)
        .map(([value]) => value)
        .filter((value) => !isLeft || !styling.test(value)),
    }))
    .filter(({ pieces }) => pieces.length > 0)
  return fields.length === 0 ? undefined : { name: oneLine(name.replaceAll(": ", ":"), 160), fields }
}

/** Returns the argument texts of a call that are written or run, without those that an edit removes. */
export function sourceTexts(input: unknown): readonly string[] {
  if (typeof input === "string") return [withoutRemoved(input)]
  if (typeof input !== "object" || input === null) return []
  return Object.entries(input).flatMap(([key, value]: readonly [string, unknown]): readonly string[] => {
    if (/^old/i.test(key)) return []
    if (typeof value === "string") return [withoutRemoved(value)]
    return Array.isArray(value) ? value.slice(0, 20).flatMap(sourceTexts) : []
  })
}

/** Splits a text of `sourceTexts` by file: a patch names them; with a single path, the whole text belongs to it. */
export function eachWritten(text: string, paths: readonly string[]): ReadonlyMap<string, string> {
  const [only = "", ...others] = paths
  if (others.length === 0) return new Map([[only, text]])
  // Splitting leaves each path before its part.
  const parts = text.split(patchHead)
  const partsOf = (path: string): readonly string[] =>
    parts.flatMap((part, n) => (n % 2 === 1 && part.trim() === path ? [parts[n + 1] ?? ""] : []))
  return new Map(paths.map((path) => [path, partsOf(path).join("\n")]))
}
const patchHead = /^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+ (?:b\/)?)(.*)\n/m

/** Returns only the added lines of a patch. */
const withoutRemoved = (text: string): string =>
  /^(?:\*\*\* Begin Patch|--- |diff |@@ )/m.test(text) ? text.replace(/^-.*\n?/gm, "").replace(/^\+/gm, "") : text
