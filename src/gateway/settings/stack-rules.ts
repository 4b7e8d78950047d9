import type { StackOptions } from "../../session/stack/stack-options.ts"
import { fitsPattern } from "./upstream.ts"

/** The calls that get a stack, by patterns in which `*` stands for any text. A missing field matches every call. */
export type StackMatch = {
  readonly models?: readonly string[]
  /** Patterns for the `user-agent` header. */
  readonly clients?: readonly string[]
  /** Patterns for the `x-holdfast-agent` header. */
  readonly agents?: readonly string[]
  readonly tenants?: readonly string[]
}

/** A prompt stack, and the calls that get it. */
export type StackRule = { readonly when?: StackMatch; readonly stack: StackOptions }

type StackQuestion = { readonly [Name in "model" | "client" | "agent" | "tenant"]?: string | undefined }

/** The stack of the first matching rule. A call without a value that a rule asks for does not match it. */
export function chooseStack(rules: readonly StackRule[], asked: StackQuestion): StackOptions | undefined {
  const matches = (patterns: readonly string[] | undefined, name: string | undefined): boolean =>
    patterns === undefined ||
    (name !== undefined && patterns.some((pattern) => fitsPattern(name.toLowerCase(), pattern)))
  const found = rules.find(
    ({ when = {} }) =>
      matches(when.models, asked.model?.replace(/^models\//, "")) &&
      matches(when.clients, asked.client) &&
      matches(when.agents, asked.agent) &&
      matches(when.tenants, asked.tenant),
  )
  return found?.stack
}

type StackedCall = Pick<StackQuestion, "model" | "tenant"> & {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly own: Pick<StackQuestion, "agent">
}

/** The stack of a call; its model is in the URL path or in the body. */
export const stackOfCall = (
  rules: readonly StackRule[] | undefined,
  { model, headers, own, tenant }: StackedCall,
  modelInBody: string | undefined,
): StackOptions | undefined =>
  rules === undefined
    ? undefined
    : chooseStack(rules, { model: model ?? modelInBody, client: headers["user-agent"], agent: own.agent, tenant })
