import type { Part, ToolResultPart } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { xmlAsJson } from "../stages/xml-data.ts"
import { yamlAsJson } from "../stages/yaml-data.ts"

/** Reads the beginning and end of a tool's output, without what the client prints around it. */

/** Number of characters read at either end of a tool's output: that is where tools say how it went. */
const edge = 4_000

/** The beginning and end of an output. `whole` is present only if nothing was left out. */
export type ResultText = {
  readonly head: string
  readonly tail: string
  readonly whole?: string
  readonly length: number
  /** True if the client's text around it reports exit code 0. */
  readonly exitedWell?: true
}

/** An exit code that means failure, and one that means success. */
export const exit = /\bexit(?:ed)?(?:(?: with)?[ _-]?(?:code|status)"?[:= ]{1,3}| with )([1-9]\d{0,2})\b/i
export const exitWell = /\bexit(?:ed)?(?: with)?[ _-]?(?:code|status)"?[:= ]{1,3}0\b/i

/** What a client prints before a command's output: its chunk id, duration and exit code. */
const envelope =
  /^(?:(?:Chunk ID|Wall time|Exit code|Process (?:exited|running)|Original token count|Total output lines)\b[^\n]{0,120}\n){1,8}Output:\n?/

const envelopeIn = (text: string): string =>
  (/^[CWEPOT]/.test(text) ? envelope.exec(text.slice(0, 1_000)) : null)?.[0] ??
  cellHead.exec(text.slice(0, 400))?.[0] ??
  ""
/** What a notebook prints before a cell's output, and other runners before a command's: its exit code and duration. */
const cellHead =
  /^(?:In \[\d{1,5}\]|Cell(?: \[?\d{1,5}\]?)?) (?:executed|ran|finished|completed) in [\d.]{1,12} ?m?s[^\n]{0,60}\n|^(?:(?:exit[_ ]?code|return[_ ]?code|rc|duration|elapsed|took|pid|cwd)[:=] ?[^\s,;]{1,60}[,; ]{0,3}){1,4}\n(?:[-=<[ ]{0,5}(?:stdout|output)[-=>\]: ]{0,5}\n)?/i

/** Returns an output without what the client prints around it. */
export const withoutEnvelope = (text: string): string => fieldsIn(text)?.printed ?? text.slice(envelopeIn(text).length)

/** Parses the output of clients that print a command, its output and its exit code as fields, one per line, some of them between tags. */
function fieldsIn(text: string): { readonly printed: string; readonly code?: string } | undefined {
  const told = text.startsWith("<") ? (betweenTags.exec(text)?.[1] ?? text) : text
  const isBare = told.startsWith("Output: ")
  const head = isBare
    ? "Output: "
    : told.startsWith("Command: ")
      ? fieldsHead.exec(told.slice(0, maxHead))?.[0]
      : undefined
  if (head === undefined) return told === text ? undefined : { printed: told }
  const rest = told.slice(head.length)
  const end = fieldsEnd.exec(rest.slice(-maxFields))?.[0] ?? ""
  if (isBare && end === "") return told === text ? undefined : { printed: told }
  // A client that prints no command omits the exit code of a successful one.
  const isWell = isBare && end.includes("PGID: ") && !/(?:^|\n)(?:Error|Exit Code|Signal): /.test(end)
  const code = /(?:^|\n)Exit Code: (-?\d{1,3})/.exec(end)?.[1] ?? (isWell ? "0" : undefined)
  const error = /(?:^|\n)(?:Error|Stderr): (?!\((?:none|empty)\))([^\n]{1,2000})/.exec(end)?.[1]
  const output = rest.slice(0, rest.length - end.length).replace(/^\((?:empty|none)\)$/, "")
  return { printed: error === undefined ? output : `${output}\n${error}`, ...present({ code }) }
}
const betweenTags = /^<untrusted_context>\n([\s\S]*?)\n?<\/untrusted_context>\s*$/
const [maxHead, maxFields] = [6_000, 3_000]
const fieldsHead = /^Command: [\s\S]{0,5000}?\n(?:Directory: [^\n]{0,400}\n)?(?:Output|Stdout): ?/
const fieldsEnd =
  /(?:(?:^|\n)(?:Error|Stderr|Exit Code|Signal|Background PIDs|Process Group PGID|PGID|Command Group PGID): ?[^\n]{0,2000}){1,7}\s*$/

/** Returns the id of a process that continues in the background, under which its output is fetched later. */
export const runningIn = ({ head, tail }: ResultText): string | undefined =>
  (running.exec(head.slice(0, 400)) ?? running.exec(tail.slice(-400)))?.[1]
const running =
  /\b(?:running with session ID|running in (?:the )?background(?: \(| with )ID:?|background (?:process|task|job) ID:?)\s{0,2}([\w-]{1,40})/i

/** True if the output only says that the process still runs. */
export const isRunning = ({ head }: ResultText): boolean => /^\s{0,8}<status>\s?running\b|^Status: running\b/.test(head)

const bareText = (part: Part): string =>
  part.type === "text" ? part.text : part.type === "document" ? (part.text ?? "") : ""

/** What a client prints after a command's output: `[exit_code=0 elapsed=3.7s]`. */
const closing =
  /\n?^[[(<](?:(?:exit[_ ]?(?:code|status)|returncode|rc|elapsed|duration|took|wall[_ ]time|time)[=: ]{1,2}[^\s\])>]{1,20}[, ]{0,2}){1,4}[\])>]\s*$/im

/** The same as sentences in brackets: `[The command completed with exit code 0.]`, and further lines on where and how it ran. */
const closingLines = /(?:(?:^|\n)\[[^\][\n]{3,300}\][ \t]*){1,6}\s*$/

const withExitCode = (printed: string, code: string | undefined): string =>
  code === undefined ? printed : `${printed}\nExit code: ${code}`

/** Reads the beginning and end of a result, unwrapped from what the client prints around it. */
export function resultText({ content }: ToolResultPart): ResultText {
  const told = content.length === 1 && content[0] !== undefined ? bareText(content[0]) : joined(content)
  const error = told.includes("error>") ? taggedError.exec(told)?.[2] : undefined
  const given = error === undefined ? told : `Error: ${error.replace(/^\s*error:\s*/i, "")}`
  const fields = fieldsIn(given)
  if (fields !== undefined) {
    const { printed, code } = fields
    return code === "0" ? { ...textEnds(printed), exitedWell: true } : textEnds(withExitCode(printed, code))
  }
  const end = given.length > maxClosing ? given.slice(-maxClosing) : given
  const last = closing.exec(end) ?? (end.trimEnd().endsWith("]") ? closingLines.exec(end) : null)
  const said = last === null ? undefined : /(?:code|status|rc)[=: ]{1,2}(-?\d{1,3})/i.exec(last[0])?.[1]
  if (last !== null && said !== undefined && last[0].trim() !== given.trim()) {
    const printed = given.slice(0, given.length - end.length + last.index)
    return said === "0" ? { ...textEnds(printed), exitedWell: true } : textEnds(withExitCode(printed, said))
  }
  const text = xmlAsJson(given) ?? yamlAsJson(given) ?? given
  const around = envelopeIn(text)
  if (around === "" || running.test(around)) return textEnds(text)
  const code = exit.exec(around)?.[1]
  const printed = textEnds(withExitCode(text.slice(around.length), code))
  return code === undefined && exitWell.test(around) ? { ...printed, exitedWell: true } : printed
}

/** An error that a client prints between tags and without anything else. */
const taggedError = /^\s*<((?:tool_use_|tool_)?error)>([^<]{1,4000})<\/\1>\s*$/i

/** Number of characters at the end in which the client's closing text is looked for. */
const maxClosing = 800

const joined = (content: readonly Part[]): string => content.map(bareText).join("\n")

/** What an interactive interface prints after every output: its state and prompt. */
const prompt =
  /(?:(?:^|\n)\s{0,8}\([A-Z][\w ]{2,30}: [^\n()]{0,200}\)){0,6}(?:^|\n)\s{0,8}[\w@:~/.-]{0,60}[$#>]\s{0,8}$/

/** Terminal colour codes; the escape character before them may be lost. */
const colour = new RegExp(`${String.fromCharCode(27)}?\\[\\d{1,3}(?:;\\d{1,3}){0,4}m`, "g")

/** The exit code and output between tags that an agent without tool calls is shown. */
const coded = /^\s{0,8}<(returncode|exit_?code)>(-?\d{1,3})<\/\1>\s{0,8}(?:<(output\w{0,8})>\n?)?/i
const codedEnd = /\n?<\/output\w{0,8}>\s*$/i

/** Reads the beginning and end of a text that answers a command. */
export function textEnds(given: string): ResultText {
  const [around, , code] = given.includes("code>") ? (coded.exec(given.slice(0, 200)) ?? []) : []
  if (around === undefined) return endsOf(given)
  const output = given.slice(around.length).replace(codedEnd, "")
  return code === "0" ? { ...endsOf(output), exitedWell: true } : endsOf(withExitCode(output, code))
}

function endsOf(output: string): ResultText {
  const printed = output.includes("[0m") ? output.replace(colour, "") : output
  const text = /[$#>]\s{0,8}$/.test(printed.slice(-10)) ? withoutPrompt(printed) : printed
  const ends = { head: text.slice(0, edge), tail: text.slice(-edge), length: text.length }
  return text.length <= 2 * edge ? { ...ends, whole: text } : ends
}

/** Number of characters at the end in which a prompt is looked for. */
const maxPrompt = 800

function withoutPrompt(output: string): string {
  const end = output.slice(-maxPrompt)
  const found = prompt.exec(end)
  return found === null ? output : output.slice(0, output.length - end.length + found.index)
}

/** Returns the last line that matches. */
export function lastMatch(text: string, wanted: RegExp): string | undefined {
  return text.split("\n").findLast((line) => wanted.test(line.slice(0, 400)))
}

/** True for a line such as `ERROR`, or a heading that ends in a colon, which needs the line after it. */
const isBareHead = (line: string): boolean =>
  /^\W*(?:error|fatal|failed|failure|exception)\W*$/i.test(line) || (line.length <= 60 && /[:：]$/.test(line))

/** Returns the first line that matches; one that only announces its message is returned with the next. */
export function firstMatch(text: string, wanted: RegExp, unless?: RegExp): string | undefined {
  const lines = text.split("\n")
  const at = lines.findIndex((line) => wanted.test(line.slice(0, 400)) && unless?.test(line.slice(0, 400)) !== true)
  const found = lines[at]
  if (found === undefined || !isBareHead(found.trim())) return found
  const next = lines.slice(at + 1, at + 4).find((line) => line.trim() !== "" && !line.startsWith("["))
  return `${found.trim()} ${next ?? ""}`.trim()
}

/** Parses an answer; undefined if it is no JSON. The last one is kept, because the same result is read several times in a row. */
export function parseJson(text: string): unknown {
  if (text !== lastRead.text) lastRead = { text, json: readJson(text) }
  return lastRead.json
}
let lastRead: { readonly text: string; readonly json: unknown } = { text: "", json: undefined }

function readJson(text: string): unknown {
  // A line of a log may start like JSON, and an error takes longer than a look at both ends.
  if (!jsonEnds.test(`${text.slice(0, maxIndent).trimStart().charAt(0)}${text.trimEnd().slice(-1)}`)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: the caller reads the text as it is.
    return undefined
  }
}
const jsonEnds = /^(?:\{\}|\[\]|""|\d\d)$/
/** Maximum number of blanks before an answer in JSON, and its first character. */
const maxIndent = 21

/** Returns the JSON objects among the lines of an output, each on one line or indented over several. */
export function printedRecords(output: string): readonly string[] {
  if (!/^\{/m.test(output)) return []
  const records: string[] = []
  let open: string[] | undefined
  for (const line of output.split("\n")) {
    if (open !== undefined) open.push(line)
    else if (line.startsWith("{")) open = [line]
    if (open === undefined || !/^(?:\{.*)?\}\s*$/.test(line)) continue
    records.push(open.join("\n"))
    open = undefined
  }
  return records.slice(0, maxRecords)
}
const maxRecords = 3
