import { startOfText } from "../../language/cut-text.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { entryId } from "../../session/log/entry.ts"
import { thaw } from "../../session/log/frozen.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { Approvals } from "./approvals.ts"
import { type MessageLine, messageLine, messageText } from "./message-line.ts"
import type { Profiles } from "./session-profile.ts"

type Pending = ReturnType<Approvals["pending"]>[number]

/** A value of a call, and the newest message that contains it verbatim, if there is one. */
type Evidence = {
  readonly name: string
  readonly value: string
  readonly entry?: string
  readonly who?: MessageLine["who"]
}

type Settled = {
  readonly id: string
  readonly atMs: number
  readonly tool: string
  readonly session: string
  readonly outcome: "approved" | "refused" | "withdrawn"
  readonly waitedMs: number
}

/**
 * Information for a person who approves calls: until when, where a call's values come from, what was said before, and the outcome of
 * earlier ones.
 */
export type ApprovalDesk = {
  readonly tell: () => Promise<{ readonly approvals: readonly object[]; readonly settled: readonly Settled[] }>
  readonly stop: () => void
}

type DeskDeps = {
  readonly approvals: Approvals
  readonly profiles: Profiles
  /** How long a tool call waits for a person. */
  readonly askTimeoutMs?: number
}

const maxSettled = 30
/** Messages searched for a value, newest first. */
const maxSearched = 200
const maxValues = 12
const valueLength = 200
/** A shorter text occurs in some message by chance. */
const tellingLength = 3
const maxBefore = 4

export function openApprovalDesk({ approvals, profiles, askTimeoutMs }: DeskDeps): ApprovalDesk {
  const asked = new Map<string, Pending>()
  const settled: Settled[] = []
  const stop = approvals.subscribe((event) => {
    if (event.type === "approval-asked") asked.set(event.approval.id, event.approval)
    if (event.type !== "approval-settled") return
    const { id, session, outcome, atMs } = event
    const before = asked.get(id)
    asked.delete(id)
    settled.unshift({ id, atMs, tool: before?.tool ?? "", session, outcome, waitedMs: atMs - (before?.atMs ?? atMs) })
    settled.splice(maxSettled)
  })
  const explain = async (approval: Pending): Promise<object> => {
    const messages = await newestMessages(profiles, approval.session)
    const expiresAtMs = askTimeoutMs === undefined ? undefined : approval.atMs + askTimeoutMs
    const said = messages.map(({ entry, message }) => ({ ...messageLine(message), entry }))
    return {
      ...approval,
      ...present({ expiresAtMs }),
      evidence: evidenceFor(approval, messages),
      before: said
        .filter(({ who, text }) => (who === "person" || who === "model") && text !== "")
        .slice(0, maxBefore)
        .reverse(),
    }
  }
  return {
    tell: async () => ({ approvals: await Promise.all(approvals.pending().map(explain)), settled: [...settled] }),
    stop,
  }
}

type Said = { readonly entry: string; readonly message: Message }

/** The messages of the session's current branch, newest first. */
async function newestMessages(profiles: Profiles, session: string): Promise<readonly Said[]> {
  const { outline } = await profiles.read(session)
  const path = (outline.path(outline.tip()) ?? []).slice(-maxSearched).reverse()
  const entries = await profiles.entries(session, path)
  return path.flatMap((seq) => {
    const body = entries.get(seq)?.body
    return body?.type === "message-appended" ? [{ entry: entryId(seq), message: thaw(body.message, entryId(seq)) }] : []
  })
}

function evidenceFor({ input, callId }: Pending, messages: readonly Said[]): readonly Evidence[] {
  // The call itself contains its values, so it is no evidence.
  const others = messages.filter(
    ({ message }) => !message.parts.some((part) => part.type === "tool-call" && part.callId === callId),
  )
  const texts = others.map(({ entry, message }) => ({ entry, message, text: messageText(message) }))
  return valuesIn(tryParse(input))
    .slice(0, maxValues)
    .map(({ name, value }) => {
      const found = value.length < tellingLength ? undefined : texts.find(({ text }) => text.includes(value))
      return {
        name,
        value: startOfText(value, valueLength),
        ...(found === undefined ? {} : { entry: found.entry, who: messageLine(found.message).who }),
      }
    })
}

type NamedValue = { readonly name: string; readonly value: string }

/** The strings and numbers of a call's input, with their names. */
function valuesIn(input: unknown, name = ""): readonly NamedValue[] {
  if (typeof input === "string" || typeof input === "number") return [{ name, value: String(input) }]
  if (Array.isArray(input)) return input.flatMap((one, n) => valuesIn(one, `${name}[${n}]`))
  if (!isObject(input)) return []
  return Object.entries(input).flatMap(([key, value]) => valuesIn(value, name === "" ? key : `${name}.${key}`))
}
