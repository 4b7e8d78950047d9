import { anyOf } from "../../language/word-lists.ts"
import { channelOf } from "../../message/fence.ts"
import type { Message } from "../../message/message.ts"
import { createPerObject } from "../../message/recall.ts"
import { asidesIn, withoutBracketNotes } from "../../rules/asides.ts"
import { sentInside } from "../stack/separate.ts"
import { maxTagLength } from "./written-command.ts"

/** Finds the user's own words in a message, without what the client put into it or around it. */

/** Beginning of one of our digests in a message, which is read separately. */
export const ownDigest = '<summary by="holdfast"'

/** A client command that the user called by name, and its arguments. */
const calledCommand = /<command-name>([^<]{1,200})<\/command-name>/
const commandArguments = /<command-args>([\s\S]{0,4000}?)<\/command-args>/

const noticeStarts = anyOf(
  "caveat: the messages below|\\[request interrupted by user|<(?:local-command|bash-)",
  "this session is being continued from|base directory for this skill",
  "this is the [\\w ]{2,20}(?:cli|code)\\. we are setting up the context|\\[image:?\\s",
  "contents of (?:the )?(?:file|directory)|called the \\w+ tool|result of calling",
  "i ran the following shell command:\\s{1,4}```",
)
/** Messages that the client writes in the user's role: notices, and captions of what a command included. */
const notices = new RegExp(`^\\s*${noticeStarts}`, "i")

/** A file of instructions that a client puts before the user's words, between two marker lines. */
const contextFile = /^-{2,4} Context from: [^\n]{1,200}$[\s\S]{0,100000}?^-{2,4} End of Context from: [^\n]{1,200}$/gm

/** What a client prints before the text of an expanded command or skill. */
const caption = /^\s*<command-message>[^<]{0,400}<\/command-message>\s*(?!<command-)/

/** Returns the user's words in a text: a called command with its arguments, and nothing that the client added. */
function spokenBy(given: string): string {
  const sent = sentInside(given)
  if (sent !== undefined) return sent
  const behind = afterLocalOutput(given)
  if (behind !== undefined) return spokenBy(behind)
  const own = given.includes("End of Context from: ") ? given.replace(contextFile, "").trim() : given
  const text = withoutBracketNotes(own.replace(caption, ""))
  if (text.startsWith(ownDigest) || notices.test(text)) return ""
  const called = calledCommand.exec(text)?.[1]?.trim()
  if (called !== undefined) return `${called} ${commandArguments.exec(text)?.[1] ?? ""}`.trim()
  if (!text.includes("</")) return text
  if (isNoticeElement(text)) return ""
  let spoken = ""
  let from = 0
  for (const { start, end } of asidesIn(text)) {
    // Tags that the user pasted stay, and are shortened later; the client's are nobody's words.
    if (!isClients(text.slice(start, start + maxTagLength))) continue
    spoken += text.slice(from, start)
    from = end
    const close = text.indexOf(">", end - 1)
    if (close >= 0 && close - end < maxTagLength) from = close + 1
  }
  return from === 0 ? text : (spoken + text.slice(from)).trim()
}

/** Returns what follows the output of commands that the client ran itself, with which a text begins. */
function afterLocalOutput(text: string): string | undefined {
  if (!/^\s{0,8}<(?:local-command|command|bash)-/.test(text)) return undefined
  const end = Math.max(...localOutputEnds.map((tag) => text.lastIndexOf(tag) + tag.length))
  const rest = localOutputEnds.some((tag) => text.includes(tag)) ? text.slice(end).trim() : ""
  return rest === "" ? undefined : rest
}
const localOutputEnds = ["</local-command-stdout>", "</local-command-stderr>", "</bash-stdout>", "</bash-stderr>"]

/** True for a message that is one element of a harness: `<job_notification>`, `<task-notification>`, `<user_action>`. */
export function isNoticeElement(text: string): boolean {
  const tag = noticeElement.exec(text.slice(0, maxTagLength))?.[1]
  return tag !== undefined && text.trimEnd().endsWith(`</${tag}>`)
}
const noticeElement =
  /^\s*<((?:[a-z\d]+[_-])+(?:notifications?|notices?|events?|status|reminders?)|user_action)(?:\s[^<>]{0,200})?>/i

const isClients = (opening: string): boolean =>
  /^<(?:system[-_]reminder|environment_|user_instructions|session_context|command-|local-command|bash-|ide_|editor_|turn_aborted|context>|additional_data|attached_files|open_and_recently|uploaded_files|system_)/i.test(
    opening,
  )

/** Returns the user's own words in a message. */
export const spokenIn = createPerObject(({ role, parts }: Message): string => {
  const texts = parts.flatMap((part) => (part.type === "text" && channelOf(role, part) === "user" ? [part.text] : []))
  return texts
    .map((text, n) =>
      isOwnCommand(text, texts[n + 1] ?? "") ? spokenBy(afterLocalOutput(text) ?? "") : spokenBy(text),
    )
    .filter((text) => text.trim() !== "")
    .join("\n")
})

/** True if the client runs the command itself and prints its output, so that nothing is asked of the model. */
const isOwnCommand = (text: string, next: string): boolean =>
  calledCommand.test(text) && `${text}\n${next.slice(0, maxTagLength)}`.includes("<local-command-stdout>")
