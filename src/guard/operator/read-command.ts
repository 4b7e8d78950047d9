import { isObject, tryParse } from "../../wire/json.ts"
import type { Command, Payload } from "./command.ts"
import { isTemplateUse } from "./is-template-use.ts"
import { latestMs, maxNameLength, maxPolicyLength, maxRuleLength } from "./limits.ts"

type Fields = Readonly<Record<string, unknown>>

const isText = (value: unknown, most: number): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= most && value.isWellFormed()

/** A name: of a deployment, an agent, a session, a call. */
export const isName = (value: unknown): value is string =>
  isText(value, maxNameLength) && !/[\p{Cc}\u2028\u2029]/u.test(value)

/** A rule's text: anything that can be read. */
export const isRuleText = (value: unknown): value is string => isText(value, maxRuleLength) && !value.includes("\0")

/** A policy's name, as a guard takes it. */
export const isPolicyName = (value: unknown): value is string =>
  typeof value === "string" && /^[\w .:-]{1,100}$/.test(value) && value.trim() === value

const isMoment = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= latestMs

const isSequence = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0

const isNonce = (value: unknown): value is string => typeof value === "string" && /^[\w-]{16,64}$/.test(value)

const hasOnly = (fields: Fields, names: readonly string[]): boolean =>
  Object.keys(fields).every((name) => names.includes(name))

const optional = (value: unknown, is: (value: unknown) => boolean): boolean => value === undefined || is(value)

/** Whether it is a policy by its size and outer shape; whether it parses is for the guard to say. */
function isPolicy(value: unknown): boolean {
  if (typeof value === "string") return isText(value, maxPolicyLength)
  return isTemplateUse(value) && JSON.stringify(value).length <= maxPolicyLength
}

const shapes: { readonly [Type in Command["type"]]: (fields: Fields) => boolean } = {
  pin: ({ text, agent, session, expiresAtMs, ...rest }) =>
    isRuleText(text) &&
    optional(agent, isName) &&
    optional(session, isName) &&
    optional(expiresAtMs, isMoment) &&
    hasOnly(rest, ["type"]),
  unpin: ({ rule, ...rest }) => isText(rule, 2 * maxNameLength) && hasOnly(rest, ["type"]),
  "add-policy": ({ name, policy, ...rest }) => isPolicyName(name) && isPolicy(policy) && hasOnly(rest, ["type"]),
  "remove-policy": ({ name, ...rest }) => isPolicyName(name) && hasOnly(rest, ["type"]),
  approve: ({ call, ...rest }) => isName(call) && hasOnly(rest, ["type"]),
  refuse: ({ call, ...rest }) => isName(call) && hasOnly(rest, ["type"]),
}

const isType = (type: unknown): type is Command["type"] => typeof type === "string" && Object.hasOwn(shapes, type)

/** Whether a value is a command in every field; one that has more than it should is none. */
export const isCommand = (value: unknown): value is Command =>
  isObject(value) && isType(value.type) && shapes[value.type](value)

const isPayload = (value: unknown): value is Payload =>
  isObject(value) &&
  isName(value.audience) &&
  isSequence(value.sequence) &&
  isMoment(value.issuedAtMs) &&
  isMoment(value.expiresAtMs) &&
  isNonce(value.nonce) &&
  isCommand(value.command) &&
  hasOnly(value, ["audience", "sequence", "issuedAtMs", "expiresAtMs", "nonce", "command"])

/** What a payload says, or nothing if it is not one. To be asked only once its signature is known to be right. */
export function readPayload(json: string): Payload | undefined {
  const value = tryParse(json)
  return isPayload(value) ? value : undefined
}
