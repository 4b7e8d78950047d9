import { channelOf } from "../../message/fence.ts"
import type { Message, Transcript } from "../../message/message.ts"
import { createPerObject } from "../../message/recall.ts"
import type { CallDeed } from "./call-deed.ts"
import { commandDeed } from "./command-deed.ts"
import { changeOf, type FileDeed } from "./file-change.ts"

/** Maximum length of a closing tag at the end of a text. */
export const maxTagLength = 40

/** Maximum length of a command block in characters. */
const maxBlock = 20_000

/**
 * Returns the command that a text ends with, in a fence or a tag of its own. Agents without tool calls act this way; the next message is
 * the output.
 */
export function writtenCommand(text: string): string | undefined {
  const end = text.slice(-maxBlock).trimEnd()
  if (end.endsWith("```")) {
    const open = end.lastIndexOf("```", end.length - 4)
    const line = open < 0 ? -1 : end.indexOf("\n", open)
    return line < 0 || line >= end.length - 3 ? undefined : content(end.slice(line + 1, -3))
  }
  const tag = /<\/([\w:.-]{1,36})>$/.exec(end.slice(-maxTagLength))?.[1]
  if (tag === undefined) return undefined
  const open = end.lastIndexOf(`<${tag}`)
  const start = open < 0 ? -1 : end.indexOf(">", open)
  return start < 0 ? undefined : content(end.slice(start + 1, -(tag.length + 3)))
}

const content = (block: string): string | undefined => (block.trim() === "" ? undefined : block.trim())

/** Returns the text of a message, without calls and results. */
export const saidBy = createPerObject(({ role, parts }: Message): string =>
  parts.flatMap((part) => (part.type === "text" && channelOf(role, part) === role ? [part.text] : [])).join("\n"),
)

/** Minimum number and share of answered responses that end with a command for a transcript to consist of written commands. */
const minWritten = 2
const minBesideCalls = 5
const minShare = 0.8

/**
 * True if this assistant acts by writing commands, so that the replies are output and not a person's. Higher limits hold if it also calls
 * tools, because a demonstration or an earlier model may have written the commands; one code block in an answer to a person does not
 * count.
 */
export function actsInText(messages: Transcript): boolean {
  let answered = 0
  let written = 0
  let calls = 0
  for (const [n, message] of messages.entries()) {
    if (message.parts.some(({ type }) => type === "tool-call")) calls++
    if (message.role !== "assistant" || messages[n + 1]?.role !== "user" || hasTools(message)) continue
    answered++
    if (writtenCommand(saidBy(message)) !== undefined) written++
  }
  return written >= (calls > 0 ? minBesideCalls : minWritten) && written >= answered * minShare
}

/**
 * Returns the user messages from an index on that are output by their position: each follows a message that ends with a shell command, in
 * a transcript of written commands. An answer that shows code in another language, or continues after its block, is for a person.
 */
export function outputsIn(messages: Transcript, from: number): ReadonlySet<Message> {
  const found = new Set<Message>()
  let inText: boolean | undefined
  for (const [n, message] of messages.entries()) {
    const before = messages[n - 1]
    if (n < from || message.role !== "user" || before?.role !== "assistant" || !endsWithShell(saidBy(before))) continue
    inText ??= actsInText(messages)
    if (!inText) break
    found.add(message)
  }
  return found
}

const endsWithShell = (text: string): boolean => {
  const command = writtenCommand(text)
  if (command === undefined || command.split("\n", maxShellLines + 1).length > maxShellLines) return false
  const end = text.slice(-maxBlock).trimEnd()
  if (!end.endsWith("```")) return true
  return shellFence.test(end.slice(end.lastIndexOf("```", end.length - 4), -3))
}
/** Maximum number of lines of a command; more are a program that someone asked for. */
const maxShellLines = 20
const shellFence = /^```(?:bash|sh|shell|zsh|console|powershell|cmd|command)?[ \t]*\r?\n/i

const hasTools = ({ parts }: Message): boolean =>
  parts.some(({ type }) => type === "tool-call" || type === "tool-result")

/** True for a single short sentence, which a person says even to an agent of this kind. */
export function looksSpoken(text: string): boolean {
  const line = text.trim()
  return line.length <= 400 && !line.includes("\n") && /\s\S+\s/.test(line) && /[.!?。！？]$/.test(line)
}

/** The tag or label that a harness puts before every output, and the number of outputs that began with it; an empty head if they differ. */
export type OutputForm = { readonly head: string; readonly count: number }

/**
 * Updates the form with one more text. If every output so far began with the harness's label and this text does not, it is a person's
 * ("broken"), unless it speaks of a command. The first words of a program's output are no such label.
 */
export function formAfter(form: OutputForm | undefined, text: string): OutputForm | "broken" {
  const head = outputHead.exec(text)?.[0].trim() ?? ""
  if (form === undefined || form.head === head) return { head, count: (form?.count ?? 0) + 1 }
  const isBroken =
    form.head !== "" && form.count >= leastAlike && isProse.test(text) && !ofCommand.test(text.slice(0, 300))
  return isBroken ? "broken" : ofCommand.test(text.slice(0, 300)) ? form : { head: "", count: 0 }
}
const leastAlike = 3
const outputHead =
  /^\s*(?:<(?:return_?code|exit_?code|output|stdout|observation|results?|response|tool_\w{1,20}|command_\w{1,20}|execution\w{0,20})>|(?:observation|execution (?:logs?|result|output)|command output|tool (?:result|output)|return_?code|exit_?code)\b)/i
const isProse = /\p{L}+ \p{L}+ \p{L}+/u
const ofCommand = /<output|\b(?:last|previous|your) (?:command|action|response)\b|\btimed out\b/i

const interfaceWord =
  /^(open|create|edit|insert|append|goto|scroll_\w{2,4}|search_\w{3,4}|find_file|str_replace)\b\s{0,3}(\S{0,200})/

const interfaceDeeds: Readonly<Record<string, FileDeed["deed"]>> = {
  open: "read",
  create: "created",
  edit: "edited",
  insert: "edited",
  append: "edited",
  str_replace: "edited",
}

/** Returns what a written command does; commands of an editor interface count as file operations. */
export function writtenDeed(command: string): CallDeed {
  const word = interfaceWord.exec(command)
  const deed = interfaceDeeds[word?.[1] ?? ""]
  if (deed !== undefined) {
    const named = word?.[2] ?? ""
    const change = deed === "edited" ? { change: changeOf("", command.slice(command.indexOf("\n") + 1)) } : {}
    return { type: "files", files: [{ path: /[./]/.test(named) ? named.replace(/["']/g, "") : "", deed, ...change }] }
  }
  return commandDeed("bash", {}, command)
}
