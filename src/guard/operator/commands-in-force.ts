import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { sha256Hex } from "../../message/sha256.ts"
import { operatorLog } from "../../store/reserved-log.ts"
import type { Head } from "../../store/store.ts"
import type { Guard } from "../guard.ts"
import type { PolicyInput } from "../policy/templates.ts"
import type { AuditEntry } from "./audit-log.ts"
import {
  inputOf,
  isSignedBy,
  maxRules,
  type OperatorCommand,
  type Payload,
  payloadOf,
  readSignedCommand,
} from "./command.ts"
import type { DirectoryContent, FileHash, KeyRing } from "./directory.ts"
import { faultIn, type OperatorRule, type Standing, tryPolicies } from "./rule-file.ts"

/** An accepted command, with its audit line and the key that signed it. */
export type AcceptedCommand = {
  readonly number: number
  readonly atMs: number
  readonly hash: string
  readonly key: string
  readonly payload: Payload
}

/** The state that results from the lines of the audit log. */
export type LogState = {
  readonly head: Head
  readonly audience: string
  readonly commands: readonly AcceptedCommand[]
  readonly sequences: ReadonlyMap<string, number>
  /** The directory as last logged. */
  readonly files: readonly FileHash[]
  readonly fileRules: ReadonlySet<string>
}

export const emptyLog: LogState = {
  head: { seq: 0, hash: "" },
  audience: "",
  commands: [],
  sequences: new Map(),
  files: [],
  fileRules: new Set(),
}

/**
 * Applies more lines. A command counts only if its signature, audience and number are valid, so write access to the store is not enough to
 * command. A missing key is a Problem, because the rules in force cannot be known without it; unless the operator chose at the start to
 * continue without the commands of missing keys.
 */
export function applyLines(
  state: LogState,
  entries: readonly AuditEntry[],
  keys: KeyRing,
  ofUnknownKeys: "refuse" | "skip" = "refuse",
): LogState {
  const commands = [...state.commands]
  const sequences = new Map(state.sequences)
  const fileRules = new Set(state.fileRules)
  let { head, audience, files } = state
  for (const entry of entries) {
    const { number, hash, body } = entry
    head = { seq: number, hash }
    if ((number === 1) !== (body.type === "log-opened")) throw damaged(number, "is not where it belongs")
    if (body.type === "log-opened") audience = body.audience
    if (body.type === "directory-changed") {
      for (const id of body.removed) fileRules.delete(id)
      for (const id of body.added) fileRules.add(id)
      files = body.files
    }
    if (body.type !== "command-accepted") continue
    if (ofUnknownKeys === "skip" && isOfUnknownKey(body.signed, keys)) continue
    const accepted = verifyCommand(entry, body.signed, keys, audience, sequences)
    sequences.set(accepted.key, accepted.payload.sequence)
    commands.push(accepted)
  }
  return { head, audience, commands, sequences, files, fileRules }
}

function isOfUnknownKey(text: string, keys: KeyRing): boolean {
  const signed = readSignedCommand(text)
  return signed !== undefined && !keys.has(signed.fingerprint)
}

const damaged = (number: number, reason: string): HoldfastError =>
  new HoldfastError({
    code: "store-corrupt",
    store: "audit log",
    session: operatorLog,
    reason: `line ${number} ${reason}`,
  })

function verifyCommand(
  { number, atMs, hash }: AuditEntry,
  text: string,
  keys: KeyRing,
  audience: string,
  sequences: ReadonlyMap<string, number>,
): AcceptedCommand {
  const signed = readSignedCommand(text)
  if (signed === undefined) throw damaged(number, "is no signed command")
  const key = keys.get(signed.fingerprint)
  if (key === undefined) throw missingKey(signed.fingerprint, number)
  const payload = isSignedBy(signed, key) ? payloadOf(signed) : undefined
  if (payload === undefined) throw damaged(number, "is not signed by its key")
  if (payload.audience !== audience) throw damaged(number, "is a command for another deployment")
  if (payload.sequence <= (sequences.get(key.fingerprint) ?? 0)) throw damaged(number, "repeats a command")
  return { number, atMs, hash, key: key.fingerprint, payload }
}

const missingKey = (key: string, number: number): HoldfastError =>
  new HoldfastError({
    code: "key-invalid",
    key,
    expected: `its public half in keys (in keys/retired if it is used no more, in keys/revoked if nothing that it said is to stand), because it signed line ${number} of the audit log,`,
  })

/** The rules and policies from commands of keys that are not revoked; those from files are separate. */
type InForce = { readonly rules: readonly OperatorRule[]; readonly policies: ReadonlyMap<string, CommandPolicy> }
type CommandPolicy = { readonly input: Standing["policies"][number]; readonly command: number }

/** Applies the commands in order. The key of each must still exist: a rule must not disappear because a file did. */
export function inForce({ commands }: LogState, keys: KeyRing): InForce {
  const rules = new Map<string, OperatorRule>()
  const policies = new Map<string, CommandPolicy>()
  for (const { number, key, payload } of commands) {
    const known = keys.get(key)
    if (known === undefined) throw missingKey(key, number)
    if (known.state === "revoked") continue
    applyCommand(payload.command, number, key, rules, policies)
  }
  return { rules: [...rules.values()], policies }
}

function applyCommand(
  command: OperatorCommand,
  number: number,
  source: string,
  rules: Map<string, OperatorRule>,
  policies: Map<string, CommandPolicy>,
): void {
  switch (command.type) {
    case "pin": {
      const { text, agent, session, expiresAtMs } = command
      const id = `c${number}`
      rules.set(id, { id, text, source, ...present({ agent, session, expiresAtMs }) })
      return
    }
    case "unpin":
      rules.delete(command.rule)
      return
    case "add-policy":
      policies.set(command.name, { input: inputOf(command.name, command.policy), command: number })
      return
    case "remove-policy":
      policies.delete(command.name)
      return
    case "approve":
    case "refuse":
      return
  }
}

/** All rules and policies of files and commands, including expired ones. */
export type CombinedRules = {
  readonly rules: readonly OperatorRule[]
  readonly policies: readonly PolicyInput[]
  readonly guard?: Guard
}

/** Combines files and commands; conflicts are a Problem. The previous guard is reused if the policies are the same. */
export function combineSources(
  { rules: ofFiles, policies: inFiles }: DirectoryContent,
  log: LogState,
  keys: KeyRing,
  before?: CombinedRules,
): CombinedRules {
  const commands = inForce(log, keys)
  const rules = [...ofFiles, ...commands.rules].map((rule) => Object.freeze(rule))
  if (rules.length > maxRules) throw faultIn("rules", `at most ${maxRules} rules`, `${rules.length}`)
  const policies = [...inFiles, ...[...commands.policies.values()].map(({ input }) => input)]
  const same = before !== undefined && JSON.stringify(before.policies) === JSON.stringify(policies)
  const guard = same ? before.guard : tryPolicies("policies", policies)
  return { rules, policies: Object.freeze(policies), ...present({ guard }) }
}

/** The rules in force at a time, and the period until the next one expires. */
export type DatedStanding = { readonly standing: Standing; readonly fromMs: number; readonly untilMs: number }

/** Leaves out expired rules. */
export function standingAt({ rules, policies, guard }: CombinedRules, nowMs: number): DatedStanding {
  const standing = rules.filter(({ expiresAtMs }) => expiresAtMs === undefined || expiresAtMs > nowMs)
  const untilMs = standing.reduce((least, { expiresAtMs }) => Math.min(least, expiresAtMs ?? Infinity), Infinity)
  const version = sha256Hex(JSON.stringify([standing, policies]))
  const made = { version, rules: Object.freeze(standing), policies, ...present({ guard }) }
  return { standing: Object.freeze(made), fromMs: nowMs, untilMs }
}
