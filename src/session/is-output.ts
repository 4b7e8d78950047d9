/** Lines that a program printed, or that are code: numbered, of a shell, of a log, of a listing. */
const machine =
  /^[\s\p{Cc}]*(?:\d+\s*[:|→\t]|[$%]\s|\[[^\]\n]{3,60}\](?!\()|\([\w ]{2,30}: [^\n]{1,200}\)\s*$|at \S+ \(|File "|Traceback|(?:[\w.@-]*\/)?[\w./@-]+:\d+|[{}[\];]|import |from \S+ import|def |class |return\b|#include|\/\/|\/\*|"""|export |const |let |var |function |\d{4}-\d\d-\d\d[T ]\d\d:|(?:INFO|DEBUG|WARN|ERROR|TRACE)\b)|[;{}]\s*$/u

/** The first line of what a harness hands over as the outcome of an action. */
const opens =
  /^\s*(?:(?:observation|stdout|stderr|exit code|command output|tool (?:result|output|response)s?|execution (?:result|output)|function (?:result|output))\b[^\n]{0,80}?[:\]]|\[(?:file|command|bash|shell|exec|output|tool)\b|ran `|\$ \S)/i

/** A shell that waits for the next command, at the very end. */
const waits = /\n\s*(?:[\w@:~./-]{0,60}[$#%]|>>>|\.\.\.)\s*$/

/** Lines looked at; a share of them tells what the text is. */
const maxLines = 80
const minLines = 6
const machineShare = 0.6

/** Is a text in the user's role what a program printed, and no one's words? Agents without a channel for tools hand over results so. */
export function isOutput(text: string): boolean {
  if (opens.test(text.slice(0, 200)) || waits.test(text.slice(-120))) return true
  const lines = text
    .slice(0, maxLength)
    .split("\n", maxLines)
    .filter((line) => line.trim() !== "")
  if (lines.length < minLines) return false
  return lines.filter((line) => machine.test(line.slice(0, maxLine))).length >= lines.length * machineShare
}

const maxLength = 20_000
const maxLine = 400
