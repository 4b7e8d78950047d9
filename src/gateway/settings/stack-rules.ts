import type { StackOptions } from "../../session/stack/stack-options.ts"
import type { IncomingCall } from "../fast-path/incoming-call.ts"
import { fitsPattern } from "./upstream.ts"

/** Which calls a stack is for, each by patterns with `*` for any piece of a name; what is not named is not asked. */
export type StackMatch = {
  readonly models?: readonly string[]
  /** By what the client calls itself in its `user-agent`. */
  readonly clients?: readonly string[]
  /** By what the client says in `x-holdfast-agent`. */
  readonly agents?: readonly string[]
  readonly tenants?: readonly string[]
}

/** A prompt stack, and the calls that get it. */
export type StackRule = { readonly when?: StackMatch; readonly stack: StackOptions }

/** What a stack is chosen by. */
type StackQuestion = {
  readonly model?: string | undefined
  readonly client?: string | undefined
  readonly agent?: string | undefined
  readonly tenant?: string | undefined
}

/** The stack of the first rule that fits. A call that does not say what a rule asks for does not fit it. */
export function chooseStack(rules: readonly StackRule[], asked: StackQuestion): StackOptions | undefined {
  const says = (patterns: readonly string[] | undefined, name: string | undefined): boolean =>
    patterns === undefined ||
    (name !== undefined && patterns.some((pattern) => fitsPattern(name.toLowerCase(), pattern)))
  const found = rules.find(
    ({ when = {} }) =>
      says(when.models, asked.model?.replace(/^models\//, "")) &&
      says(when.clients, asked.client) &&
      says(when.agents, asked.agent) &&
      says(when.tenants, asked.tenant),
  )
  return found?.stack
}

/** The stack of a call; its model is in its path or in its body. */
export const stackOfCall = (
  rules: readonly StackRule[] | undefined,
  { model, headers, own, tenant }: Pick<IncomingCall, "model" | "headers" | "own" | "tenant">,
  modelInBody: string | undefined,
): StackOptions | undefined =>
  rules === undefined
    ? undefined
    : chooseStack(rules, { model: model ?? modelInBody, client: headers["user-agent"], agent: own.agent, tenant })
