import { HoldfastError } from "../message/errors.ts"
import { isObject, type Json, readJson } from "../wire/json.ts"
import type { SkippedLine } from "./conversation.ts"

/** A line that contains a JSON object. `index` counts from 0, `number` from 1 as editors do. */
export type Line = { readonly index: number; readonly number: number; readonly text: string; readonly json: Json }

export type Lines = {
  /** Every line verbatim, including blank ones: joined by line breaks they are the file. */
  readonly all: readonly string[]
  readonly cut?: SkippedLine
}

/** Reads each line once, in order. Only the last may be cut off, by a process that died while writing. */
export function readLines(text: string, visit: (line: Line) => void): Lines {
  const all = text.split("\n")
  const last = all.findLastIndex((line) => !isBlank(line))
  let read = 0
  for (const [index, raw] of all.entries()) {
    if (isBlank(raw)) continue
    const line = withoutMark(raw)
    const json = parse(line, index + 1, index === last && read > 0)
    if (json === undefined) return { all, cut: { line: index + 1, reason: "cut-off", text: line } }
    const number = index + 1
    atLine(
      () => number,
      () => visit({ index, number, text: line, json }),
    )
    read++
  }
  return { all }
}

const isBlank = (line: string): boolean => !/\S/.test(line)

/** Removes the byte order mark that some editors put before the first line. */
export const withoutMark = (text: string): string => (text.startsWith("\uFEFF") ? text.slice(1) : text)

function parse(text: string, line: number, mayBeCut: boolean): Json | undefined {
  try {
    const json = readJson(text, "request")
    if (isObject(json.value)) return json
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code === "body-too-large") throw error
    if (mayBeCut && error.problem.code === "json-invalid") return undefined
    const found = error.problem.code === "json-too-deep" ? "deeper nesting than is read" : "text that is not JSON"
    throw new HoldfastError({ code: "file-invalid", line, expected: "a JSON object", found }, { cause: error })
  }
  throw new HoldfastError({ code: "file-invalid", line, expected: "a JSON object", found: "another JSON value" })
}

/** Runs a function and adds the line number to a Problem that it throws, given the path in the Problem. */
export function atLine<Result>(lineOf: (path: string) => number, run: () => Result): Result {
  try {
    return run()
  } catch (cause) {
    if (!(cause instanceof HoldfastError) || cause.problem.code !== "request-invalid") throw cause
    const { path, expected, found } = cause.problem
    const line = lineOf(path)
    throw new HoldfastError({ code: "file-invalid", line, expected: `${expected} at ${path}`, found }, { cause })
  }
}

export function firstLine(text: string): string {
  const start = text.search(/\S/)
  if (start < 0) return ""
  const end = text.indexOf("\n", start)
  return withoutMark(text.slice(start, end < 0 ? text.length : end))
}

/** Returns JSON on one line: line breaks in JSON text are only between values. */
export const onOneLine = (json: string): string => (/[\r\n]/.test(json) ? json.replace(/[\r\n]+/g, " ") : json)
