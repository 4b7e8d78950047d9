import {
  lineNumber,
  type ScoreLines,
  scoreDiff,
  scoreFile,
  scoreList,
  scoreLog,
  scoreMatches,
  scoreProse,
} from "./score-lines.ts"
import type { ToolKind } from "./tool-kind.ts"

/** Lines looked at to tell what a text is: enough to get past a header, few enough to cost nothing. */
const sampledLines = 120

/** A text is of a shape when more than this share of its lines are. */
const enough = 0.5

const scoreOfKind: Readonly<Record<ToolKind, ScoreLines>> = {
  ...{ read: scoreFile, search: scoreMatches, shell: scoreLog, test: scoreLog, web: scoreProse },
  ...{ json: scoreProse, diff: scoreDiff, list: scoreList, other: scoreProse },
}

/** How to weigh the lines of an output: by what they look like, and where that says nothing by the kind of the tool. */
export function scoreOfOutput(lines: readonly string[], kind: ToolKind): ScoreLines {
  const sample = lines.slice(0, sampledLines).filter((line) => line.trim() !== "")
  const share = (pattern: RegExp): number =>
    sample.filter((line) => pattern.test(line.slice(0, 300))).length / sample.length
  if (sample.some((line) => /^@@ -\d|^diff --git /.test(line)) && share(/^(?:[-+ @]|diff |index )/) > enough)
    return scoreDiff
  if (share(lineNumber) > enough) return scoreFile
  if (share(/^(?!\d)[^\s:]{1,250}:\d+[:-]/) > enough) return scoreMatches
  if (kind === "other" && share(/^\[?\d{4}-\d\d-\d\d|^\[?\d\d:\d\d|\b(?:INFO|DEBUG|WARN|ERROR)\b|^\s+at /) > enough)
    return scoreLog
  if (kind === "other" && share(/^\S*[/\\]\S*$/) > enough) return scoreList
  return scoreOfKind[kind]
}
