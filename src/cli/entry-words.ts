import type { Message } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import { textOf } from "../message/text.ts"
import type { HistoryEntry } from "../session/history.ts"
import type { CallVerdict, EntryType } from "../session/log/entry.ts"
import { count } from "./paper.ts"

type Noun = readonly [one: string, several: string]

const nouns: Readonly<Record<EntryType, Noun>> = {
  "session-opened": ["opening", "openings"],
  "message-appended": ["message", "messages"],
  "branch-opened": ["branching", "branchings"],
  "checkpoint-installed": ["compaction", "compactions"],
  "checkpoint-undone": ["undoing", "undoings"],
  "stack-seen": ["prompt stack", "prompt stacks"],
  "rule-pinned": ["pin", "pins"],
  "rule-unpinned": ["unpinning", "unpinnings"],
  "summary-begun": ["background summary", "background summaries"],
  "calls-judged": ["judgement", "judgements"],
  "memory-flushed": ["flush to memory", "flushes to memory"],
  "memory-retrieved": ["retrieval", "retrievals"],
  "usage-reported": ["usage report", "usage reports"],
}

const isType = (type: string): type is EntryType => Object.hasOwn(nouns, type)

/** "3 messages". A type that is not known here goes by its own name. */
export function countOfType(type: string, value: number): string {
  const [one, several] = isType(type) ? nouns[type] : [type, type]
  return count(value, one, several)
}

/** What an entry says, in words. */
export function entryWords({ message, body, type }: HistoryEntry): string {
  if (message !== undefined) return messageWords(message)
  if (body === undefined) return "the session begins"
  switch (body.type) {
    case "branch-opened":
      return `the history goes another way behind e${body.from}; ${count(body.left, "message")} left behind`
    case "checkpoint-installed":
      return `compacted up to e${body.node} (${body.remedy}), ${body.beforeTokens} -> ${body.afterTokens} tokens`
    case "checkpoint-undone":
      return `the compaction e${body.checkpoint} is taken back`
    case "rule-pinned":
      return `pinned (${body.channel}, ${body.by}): ${body.text}`
    case "rule-unpinned":
      return `the pin e${body.pin} is taken out${body.said === undefined ? "" : ` by the words of e${body.said}`}`
    case "calls-judged":
      return body.calls.map(judgedWords).join("; ")
    case "summary-begun":
      return `a summary of ${count(body.covered.length, "message")} was begun in the background`
    case "memory-flushed":
      return `${count(body.rows, "line")} written to memory, up to e${body.upTo}`
    case "memory-retrieved":
      return `memory was put before e${body.before}: ${messageWords(body.message)}`
    case "usage-reported":
      return `${body.model} reports ${body.usage.inputTokens} tokens in; ${body.estimatedTokens} were counted`
    case "stack-seen":
      return `prompt stack ${body.hash.slice(0, 12)}, ${count(body.documents.length, "document")}`
    default:
      return type
  }
}

function judgedWords({ tool, decision, policies, enforced }: CallVerdict): string {
  if (policies.length === 0) return `${tool}: ${decision}`
  const named = policies.join(", ")
  if (decision === "allow") return `${tool}: allow (${named} on trial would not)`
  return `${tool}: ${decision} by ${named}${enforced ? "" : " (not enforced)"}`
}

/** Who or what an entry is from. */
export const entryFrom = ({ message, type }: HistoryEntry): string =>
  message?.role ?? (isType(type) ? nouns[type][0] : type)

/** The text of a message, with calls and results named. */
export const messageWords = ({ parts }: Message): string => parts.map(partWords).join("\n")

function partWords(part: Part): string {
  if (part.type === "tool-call") return `[call of ${part.tool}] ${textOf(part)}`
  if (part.type === "tool-result") return `[result${part.tool === undefined ? "" : ` of ${part.tool}`}] ${textOf(part)}`
  if (part.type === "text") return part.text
  const text = textOf(part)
  return `[${part.type}]${text === "" ? "" : ` ${text}`}`
}
