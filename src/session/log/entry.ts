import type { Section } from "../../compact/stack/stack.ts"
import type { Edit } from "../../compact/stages/edit.ts"
import type { Breakpoint, Channel, Message, Usage } from "../../message/message.ts"
import type { Explicitness, RuleKind } from "../../rules/pin.ts"
import type { FrozenMessage } from "./frozen.ts"

/** Edits that change one message and leave it where it is. */
export type MessageEdit = Extract<Edit, { type: "result-shortened" | "part-replaced" }>

/** One message of a compacted view: an entry as it is, an entry of which less is shown, or a message of our own. */
export type Item =
  | { readonly type: "shown"; readonly entry: number; readonly edits?: readonly MessageEdit[] }
  | { readonly type: "made"; readonly message: Message }

/** A compaction, or a carrying over into another format, of everything up to one message: what is shown in its stead. */
export type CheckpointBody = {
  readonly type: "checkpoint-installed"
  /** The last message that it covers. */
  readonly node: number
  /** The checkpoint that it was made on top of; 0 if none. */
  readonly base: number
  readonly items: readonly Item[]
  /** Entries that hold infrastructure (system messages, injected documents) and so are there in any case. */
  readonly standing: readonly number[]
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly focus?: string
  /** JSON of the trace of the call that made it. */
  readonly trace: string
  /** JSON of the summary in its digest, whose lines name the entries that they rest on. */
  readonly summary?: string
}

/** The prompt stack that is sent from here on, so that every process sends the same bytes. */
export type StackBody = {
  readonly type: "stack-installed"
  /** The fingerprint of what is sent. */
  readonly hash: string
  /** The fingerprint of the sources, before anything gave way. */
  readonly source: string
  readonly sections: readonly StackSection[]
  readonly stackTokens: number
  readonly ttl: Breakpoint
}

/** A section as it is sent, and the hash of its source. */
export type StackSection = Omit<Section, "hash" | "minTokens" | "shrink"> & { readonly source: string }

/** A rule that stands from here on: verbatim, with where it was said. */
export type RuleBody = {
  readonly type: "rule-pinned"
  readonly text: string
  readonly channel: Channel
  readonly by: "asked" | "found"
  readonly kind: RuleKind
  /** In the log of shared rules: for the sessions of this tenant and of this agent alone. */
  readonly tenant?: string
  readonly agent?: string
  /** The message that it was said in, and where in it. */
  readonly place?: { readonly entry: number; readonly part: number; readonly piece?: number; readonly start: number }
  /** The document that it was said in, by its hash. */
  readonly document?: string
  readonly explicitness?: Explicitness
  /** How sure the finder was, from 0 to 1. */
  readonly confidence?: number
  readonly source?: string
  readonly context?: string
  readonly expiresAtMs?: number
}

/** What was decided on one call, and by which policies. */
export type CallVerdict = {
  readonly callId: string
  readonly tool: string
  readonly decision: "allow" | "deny" | "ask"
  readonly policies: readonly string[]
  readonly enforced: boolean
  readonly approved?: boolean
  /** What policies that are only observed would have decided, with the rules that they came from. */
  readonly observed?: readonly { readonly policy: string; readonly rule: string; readonly decision: "deny" | "ask" }[]
}

/** What can stand in a log. `parent` of a message is the message before it on its branch. */
export type EntryBody =
  | { readonly type: "session-opened"; readonly agent: string; readonly secret: string }
  | {
      readonly type: "message-appended"
      readonly parent: number
      readonly key: string
      readonly message: FrozenMessage
      /** Ours to say: an answer as the model gave it, before the client sent it back. */
      readonly recorded?: true
    }
  /** The history went another way behind `from`; what the messages left behind said is kept as facts. */
  | {
      readonly type: "branch-opened"
      readonly from: number
      readonly left: number
      readonly ledger: string
      /** Its client wrote the history anew and goes on from this message: what was said up to it still holds. */
      readonly reached?: number
    }
  | CheckpointBody
  | { readonly type: "checkpoint-undone"; readonly checkpoint: number }
  | StackBody
  | { readonly type: "stack-seen"; readonly hash: string; readonly documents: readonly string[] }
  | RuleBody
  /**
   * Taken back by someone who asked for that, in words that a message `said` ("forget what I said about tabs"), or left behind with the
   * words that it was found in, which the user said otherwise.
   */
  | { readonly type: "rule-unpinned"; readonly pin: number; readonly rewound?: true; readonly said?: number }
  /** A background summary of these entries was asked for; its key names the very history that it is of. */
  | {
      readonly type: "summary-begun"
      readonly node: number
      readonly base: number
      readonly key: string
      readonly covered: readonly number[]
    }
  /** What the guard said to calls, and what those spend that it let through, in hundredths. */
  | {
      readonly type: "calls-judged"
      readonly calls: readonly CallVerdict[]
      readonly spentMinor: number
      /** Unlike any other: two programs that decide the same at the same moment do not write one and the same entry. */
      readonly id: string
    }
  | { readonly type: "memory-flushed"; readonly upTo: number; readonly rows: number }
  | { readonly type: "memory-retrieved"; readonly before: number; readonly message: Message }
  | { readonly type: "usage-reported"; readonly model: string; readonly estimatedTokens: number; readonly usage: Usage }

export type EntryType = EntryBody["type"]

/** One line of a session's log, read. */
export type Entry = {
  readonly seq: number
  readonly hash: string
  readonly atMs: number
  readonly body: EntryBody
}

/** The entry that another one is about, which is kept beside its body so that a log's shape is known without reading it. */
export function refersTo(body: EntryBody): number | undefined {
  switch (body.type) {
    case "message-appended":
      return body.parent
    case "branch-opened":
      return body.from
    case "checkpoint-installed":
    case "summary-begun":
      return body.node
    case "checkpoint-undone":
      return body.checkpoint
    case "rule-unpinned":
      return body.pin
    case "memory-flushed":
      return body.upTo
    case "memory-retrieved":
      return body.before
    case "rule-pinned":
      return body.place?.entry
    case "session-opened":
    case "stack-seen":
    case "stack-installed":
    case "usage-reported":
    case "calls-judged":
      return undefined
  }
}

/** Entries go by their place in the log: `e12`. */
export const entryId = (seq: number): string => `e${seq}`

/** The place that an id names, if it names one. */
export function seqOf(id: string): number | undefined {
  const digits = /^e([1-9]\d{0,14})$/.exec(id)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
