import { anyOf } from "../../language/word-lists.ts"
import { oneLine } from "../summary/summary.ts"
import type { FactRecord } from "./records.ts"
import lists from "./value-words.json" with { type: "json" }

/**
 * Values in what calls wrote and ran: settings of a written file under their names, and of programs the files that they name and what they
 * define, which an interpreter still knows. The owner is the file, or the tool that was given the program.
 */
export type SourceValue = { readonly key: string; readonly value: string }

/** Longer texts are read up to here. */
const maxSourceText = 60_000
/** A shorter argument stands in the line of its call. */
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

/** What a program defines where no block begins: functions, classes and variables. */
const defined =
  /^(?:export |async |pub |static ){0,3}(?:(?:def|class|function|fn|func|struct|enum|interface)\s{1,4}([A-Za-z_$][\w$]{2,40})|(?:const |let |var )?([A-Za-z_$][\w$]{2,40})\s{0,4}=(?![=~>]))/gm

/**
 * A name and its value in source text of any language: `padding: 50px`, `PORT=3000`, `"version": "1.2"`, `const limit = 25 * 60`. What a
 * program passes to a function under a name is no setting of its own.
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

/** Devices, and what browsers call themselves. */
const noFile = /^\/dev\/|^\/?\p{L}{1,4}\/[\d.]+$|^[A-Z][A-Za-z]+\/\d[\d.]*$|^[\d.,+*/()-]+$|^\d+\//u

/** Words of one setting: more of them are a sentence. */
const maxWords = 4
/** A name with more values in one text is a column of a table, and each value belongs to its row. */
const maxSettings = 3

/** The values that a written text sets, under their names. */
export function settingsIn(text: string): readonly SourceValue[] {
  const found = settingPairs(text)
  const each = Map.groupBy(found, ({ key }) => key)
  return found.filter(({ key }) => new Set(each.get(key)?.map(({ value }) => value)).size <= maxSettings)
}

/** The cells of a row of a table, if a line is one. */
export const cellsOf = (row: string): readonly string[] =>
  /^\s{0,8}\|.*\|\s*$/.test(row)
    ? row
        .trim()
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.replaceAll("**", "").trim())
    : []

/** The rows of a small table, each under its first cell: what somebody writes down in a table is what was found out. */
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
/** The owner of such rows, and whether a record is one of them. */
export const tableName = (path: string): string => `${tableStart}${path}`
export const isTable = (record: string): boolean => record.startsWith(tableStart)

const settingPairs = (text: string): readonly SourceValue[] =>
  [...text.slice(0, maxSourceText).matchAll(setting)].flatMap(([, key = "", value = ""]) =>
    isTelling(value.trim()) && !value.startsWith("//") ? [{ key, value: value.trim() }] : [],
  )

/** What a program names and defines. */
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
  /** Of each value, how often it came up. */
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

/** Sizes, colours and what else a style sheet sets: whoever comes back to a file that was left reads them there. */
const styleName = new RegExp(`^(?:${anyOf(lists.styleGroups)}-[a-z-]+|${anyOf(lists.styleNames)})$`)
const styling = /(?:^|\s)-?[\d.]+(?:px|r?em|v[hw]|fr)(?=\s|$)|^\s*#[\da-f]{3,8}\s*$|\b(?:ease|solid|cubic-bezier)\b/i

/** The record of an owner: what came up most often first, and of that the newest. `isLeft`: was something else worked on since? */
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

/** The texts of a call's arguments that are written or run; what an edit takes out is not among them. */
export function sourceTexts(input: unknown): readonly string[] {
  if (typeof input === "string") return [withoutRemoved(input)]
  if (typeof input !== "object" || input === null) return []
  return Object.entries(input).flatMap(([key, value]: readonly [string, unknown]): readonly string[] => {
    if (/^old/i.test(key)) return []
    if (typeof value === "string") return [withoutRemoved(value)]
    return Array.isArray(value) ? value.slice(0, 20).flatMap(sourceTexts) : []
  })
}

/** What a text as `sourceTexts` has it writes to each of several files: a patch says which; where only one is meant, it is all for that one. */
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

/** Of a patch, what it puts in. */
const withoutRemoved = (text: string): string =>
  /^(?:\*\*\* Begin Patch|--- |diff |@@ )/m.test(text) ? text.replace(/^-.*\n?/gm, "").replace(/^\+/gm, "") : text
