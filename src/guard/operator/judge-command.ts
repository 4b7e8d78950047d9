import { type CommandRefusal, describe, HoldfastError, type Problem } from "../../message/errors.ts"
import { createListeners } from "../../message/listeners.ts"
import { present } from "../../message/present.ts"
import type { PolicyInput } from "../policy/templates.ts"
import type { NewAuditBody } from "./audit-log.ts"
import {
  hashOfCommand,
  inputOf,
  isSignedBy,
  maxCommandPolicies,
  maxLifetimeMs,
  maxRules,
  maxSkewMs,
  type OperatorCommand,
  type Payload,
  payloadOf,
  readSignedCommand,
} from "./command.ts"
import { inForce, type LogState } from "./commands-in-force.ts"
import type { DirectoryContent, KeyRing, KnownKey } from "./directory.ts"
import type { AcceptedLine } from "./inspect-operator.ts"
import { tryPolicies } from "./rule-file.ts"

/** Why a command is refused. */
export type Refusal = { readonly reason: CommandRefusal; readonly found: string; readonly key?: string }

/** A command with a valid signature; nothing else is checked yet. */
type GenuineCommand = { readonly key: KnownKey; readonly payload: Payload }

export const isCommandRefusal = (value: GenuineCommand | Refusal): value is Refusal => "reason" in value

/** Checks that a trusted key signed exactly this text. Its content is not read before that. */
export function readGenuine(text: string, keys: KeyRing): GenuineCommand | Refusal {
  const signed = readSignedCommand(text)
  if (signed === undefined) return { reason: "malformed", found: "it is not hf1.<key>.<payload>.<signature>" }
  const key = keys.get(signed.fingerprint)
  if (key === undefined) return { reason: "key-unknown", found: "it names a key that is not trusted here" }
  const { fingerprint, state } = key
  if (state !== "trusted") return { reason: "key-unknown", key: fingerprint, found: `its key is ${state}` }
  if (!isSignedBy(signed, key))
    return { reason: "signature-wrong", key: fingerprint, found: "its signature is not that of its key over its text" }
  const payload = payloadOf(signed)
  if (payload === undefined)
    return { reason: "malformed", key: fingerprint, found: "what was signed is no command that is known" }
  return { key, payload }
}

/** The state against which a command is checked. */
type CommandContext = {
  readonly log: LogState
  readonly content: DirectoryContent
  readonly keys: KeyRing
  readonly nowMs: number
}

/** The reason to refuse a genuine command now, if there is one. */
export function refusalOf(
  { key: { fingerprint }, payload }: GenuineCommand,
  scene: CommandContext,
): Refusal | undefined {
  const refuse = (reason: CommandRefusal, found: string): Refusal => ({ reason, found, key: fingerprint })
  const { log, nowMs } = scene
  const { audience, issuedAtMs, expiresAtMs, sequence, command } = payload
  if (audience !== log.audience) return refuse("audience-wrong", `it is for ${JSON.stringify(audience)}`)
  if (expiresAtMs - issuedAtMs > maxLifetimeMs)
    return refuse("malformed", `it is good for longer than ${maxLifetimeMs / 86_400_000} days`)
  if (expiresAtMs <= nowMs) return refuse("expired", "the time is over that it was good for")
  if (issuedAtMs > nowMs + maxSkewMs) return refuse("not-yet-valid", "it was signed at a moment that has not come yet")
  const last = log.sequences.get(fingerprint) ?? 0
  if (sequence <= last) return refuse("sequence-used", sequenceReason(payload, fingerprint, scene))
  const why = objectionTo(command, scene)
  return why === undefined ? undefined : refuse("impossible", why)
}

function sequenceReason({ sequence, nonce }: Payload, key: string, { log }: CommandContext): string {
  const same = log.commands.findLast((one) => one.key === key && one.payload.sequence === sequence)
  if (same?.payload.nonce === nonce) return `it was accepted already, as c${same.number}`
  return `its number is ${sequence}, and its key has given number ${log.sequences.get(key)} already`
}

/** Why a command cannot be executed in the current state. A rule or policy from a file belongs to the file: no command can withdraw it. */
function objectionTo(command: OperatorCommand, scene: CommandContext): string | undefined {
  switch (command.type) {
    case "pin":
      return objectionToPin(command, scene)
    case "unpin":
      return objectionToUnpin(command.rule, scene)
    case "add-policy":
      return objectionToPolicy(command, scene)
    case "remove-policy": {
      if (inForce(scene.log, scene.keys).policies.has(command.name)) return undefined
      const ofFile = namesIn(scene.content.policies).has(command.name)
      return ofFile ? `the policy ${command.name} is a file's: change the file` : `there is no policy ${command.name}`
    }
    case "approve":
    case "refuse": {
      const { call } = command
      const decided = scene.log.commands.find(
        ({ key, payload: { command: one } }) =>
          "call" in one && one.call === call && scene.keys.get(key)?.state !== "revoked",
      )
      return decided === undefined ? undefined : `the call was decided already, by c${decided.number}`
    }
  }
}

function objectionToPin(
  { expiresAtMs }: Extract<OperatorCommand, { type: "pin" }>,
  scene: CommandContext,
): string | undefined {
  if (expiresAtMs !== undefined && expiresAtMs <= scene.nowMs) return "the rule would have expired already"
  const rules = scene.content.rules.length + inForce(scene.log, scene.keys).rules.length
  return rules >= maxRules ? `there are ${rules} rules, as many as there may be` : undefined
}

function objectionToUnpin(id: string, { log, keys, content, nowMs }: CommandContext): string | undefined {
  const file = content.rules.find((rule) => rule.id === id)?.source
  if (file !== undefined) return `the rule ${id} is of the file ${file}: change the file`
  const rule = inForce(log, keys).rules.find((one) => one.id === id)
  if (rule === undefined) return `no rule ${JSON.stringify(id.slice(0, 60))} stands`
  return (rule.expiresAtMs ?? Infinity) <= nowMs ? `the rule ${id} has expired` : undefined
}

function objectionToPolicy(
  command: Extract<OperatorCommand, { type: "add-policy" }>,
  scene: CommandContext,
): string | undefined {
  const { name, policy } = command
  const { policies } = inForce(scene.log, scene.keys)
  if (namesIn(scene.content.policies).has(name)) return `the policy ${name} is a file's: change the file`
  if (!policies.has(name) && policies.size >= maxCommandPolicies)
    return `there are ${policies.size} policies by command, as many as there may be`
  const others = [...policies].filter(([other]) => other !== name).map(([, { input }]) => input)
  const input = inputOf(name, policy)
  try {
    tryPolicies(name, [input])
    tryPolicies(name, [...scene.content.policies, ...others, input])
    return undefined
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "policy-invalid") throw error
    return describe(error.problem).sentence.replace(/\.$/, "")
  }
}

const namesIn = (policies: readonly PolicyInput[]): ReadonlySet<string> =>
  new Set(policies.flatMap((policy) => (typeof policy === "string" ? [] : (policy.name ?? []))))

/** Rate limit of logged refusals: this many at once, then one a minute, so that a flood takes some hundred kilobytes a day. */
const burst = 20
const everyMs = 60_000

type RefusedBody = Extract<NewAuditBody, { type: "command-refused" }>

/** Refusals without a line yet. Anyone can send invalid commands, so not every refusal gets a line; all are counted. */
export type Refusals = {
  readonly add: (refusal: Refusal, text: string) => void
  /** The line to write now, if the rate limit allows one. It is removed only when `written` is called. */
  readonly due: (nowMs: number, whatever?: boolean) => RefusedBody | undefined
  readonly written: (body: RefusedBody, nowMs: number) => void
}

export function createRefusals(): Refusals {
  let waiting = 0
  let last: RefusedBody | undefined
  let spent = 0
  let sinceMs = 0
  const isOver = (nowMs: number): boolean => {
    const back = Math.floor(Math.max(0, nowMs - sinceMs) / everyMs)
    if (back > 0) {
      spent = Math.max(0, spent - back)
      sinceMs = nowMs
    }
    return spent >= burst
  }
  return {
    add: ({ reason, key }, text) => {
      waiting += 1
      last = { type: "command-refused", reason, sha256: hashOfCommand(text), ...present({ key }) }
    },
    due: (nowMs, whatever = false) => {
      if (last === undefined || waiting === 0 || (isOver(nowMs) && !whatever)) return undefined
      return waiting === 1 ? last : { ...last, unwritten: waiting - 1 }
    },
    written: ({ unwritten = 0 }, nowMs) => {
      if (spent === 0) sinceMs = nowMs
      spent += 1
      waiting -= unwritten + 1
    },
  }
}

export type OperatorEvent = { readonly atMs: number } & (
  | {
      readonly type: "rules-changed"
      readonly version: string
      /** The ids of rules that came into force, and that are no longer in force. */
      readonly added: readonly string[]
      readonly removed: readonly string[]
    }
  /** A change of the directory, or a conflict of files and commands, was rejected: the previous rules stay in force. */
  | { readonly type: "policy-rejected"; readonly problem: Problem }
  /** Accepted here or by another program on the same store; reported once. */
  | { readonly type: "command-accepted"; readonly line: AcceptedLine }
  | { readonly type: "command-refused"; readonly reason: Refusal["reason"]; readonly key?: string }
  /** The store could not be read in the background, or its content is invalid: the previous rules stay in force. */
  | { readonly type: "refresh-failed"; readonly problem: Problem }
)

type Unstamped<Event> = Event extends unknown ? Omit<Event, "atMs"> : never
type NewOperatorEvent = Unstamped<OperatorEvent>
export type OperatorListener = (event: OperatorEvent) => void

export type OperatorHub = {
  readonly emit: (event: NewOperatorEvent) => void
  readonly subscribe: (listener: OperatorListener) => () => void
}

export function createOperatorHub(now: () => number): OperatorHub {
  const { emit, subscribe } = createListeners<OperatorEvent>()
  return { emit: (event) => emit({ atMs: now(), ...event }), subscribe }
}
