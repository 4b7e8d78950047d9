import { type CommandRefusal, describe, HoldfastError } from "../../message/errors.ts"
import type { PolicyInput } from "../policy/policy-input.ts"
import { type Command, inputOf, type Payload } from "./command.ts"
import { inForce, type LogState } from "./commands-in-force.ts"
import type { KeyRing, KnownKey } from "./key-ring.ts"
import { maxCommandPolicies, maxLifetimeMs, maxRules, maxSkewMs } from "./limits.ts"
import { tryPolicies } from "./policy-file.ts"
import type { DirectoryContent } from "./read-directory.ts"
import { isSignedBy, payloadOf, readSignedCommand } from "./signed-command.ts"

/** Why a command is not obeyed. */
export type Refusal = { readonly reason: CommandRefusal; readonly found: string; readonly key?: string }

/** A command whose signature is right, and of nothing else is known yet whether it is. */
export type Genuine = { readonly key: KnownKey; readonly payload: Payload }

export const isRefusal = (value: Genuine | Refusal): value is Refusal => "reason" in value

/** Whether a trusted key signed this very text. Nothing that it says is looked at before that is known. */
export function readGenuine(text: string, keys: KeyRing): Genuine | Refusal {
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

/** All against which a command is judged. */
export type Scene = {
  readonly log: LogState
  readonly content: DirectoryContent
  readonly keys: KeyRing
  readonly nowMs: number
}

/** Why a genuine command is not obeyed here and now, if it is not. */
export function refusalOf({ key: { fingerprint }, payload }: Genuine, scene: Scene): Refusal | undefined {
  const refuse = (reason: CommandRefusal, found: string): Refusal => ({ reason, found, key: fingerprint })
  const { log, nowMs } = scene
  const { audience, issuedAtMs, expiresAtMs, sequence, command } = payload
  if (audience !== log.audience) return refuse("audience-wrong", `it is for ${JSON.stringify(audience)}`)
  if (expiresAtMs - issuedAtMs > maxLifetimeMs)
    return refuse("malformed", `it is good for longer than ${maxLifetimeMs / 86_400_000} days`)
  if (expiresAtMs <= nowMs) return refuse("expired", "the time is over that it was good for")
  if (issuedAtMs > nowMs + maxSkewMs) return refuse("not-yet-valid", "it was signed at a moment that has not come yet")
  const last = log.sequences.get(fingerprint) ?? 0
  if (sequence <= last) return refuse("sequence-used", sequenceWords(payload, fingerprint, scene))
  const why = objectionTo(command, scene)
  return why === undefined ? undefined : refuse("impossible", why)
}

function sequenceWords({ sequence, nonce }: Payload, key: string, { log }: Scene): string {
  const same = log.commands.findLast((one) => one.key === key && one.payload.sequence === sequence)
  if (same?.payload.nonce === nonce) return `it was accepted already, as c${same.number}`
  return `its number is ${sequence}, and its key has given number ${log.sequences.get(key)} already`
}

/** Why a command cannot be carried out as things stand. A rule or policy of a file is the file's: no command takes it back. */
function objectionTo(command: Command, scene: Scene): string | undefined {
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

function objectionToPin({ expiresAtMs }: Extract<Command, { type: "pin" }>, scene: Scene): string | undefined {
  if (expiresAtMs !== undefined && expiresAtMs <= scene.nowMs) return "the rule would have expired already"
  const rules = scene.content.rules.length + inForce(scene.log, scene.keys).rules.length
  return rules >= maxRules ? `there are ${rules} rules, as many as there may be` : undefined
}

function objectionToUnpin(id: string, { log, keys, content, nowMs }: Scene): string | undefined {
  const file = content.rules.find((rule) => rule.id === id)?.source
  if (file !== undefined) return `the rule ${id} is of the file ${file}: change the file`
  const rule = inForce(log, keys).rules.find((one) => one.id === id)
  if (rule === undefined) return `no rule ${JSON.stringify(id.slice(0, 60))} stands`
  return (rule.expiresAtMs ?? Infinity) <= nowMs ? `the rule ${id} has expired` : undefined
}

function objectionToPolicy(command: Extract<Command, { type: "add-policy" }>, scene: Scene): string | undefined {
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
