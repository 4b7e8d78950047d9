import { assert } from "./assert.ts"

declare const brand: unique symbol
type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

/** A message's place in its transcript; unique there, and stable while the history only grows. */
export type MessageId = Brand<string, "MessageId">
/** What ties a tool call to its result; the provider's own id wherever it gave one. */
export type CallId = Brand<string, "CallId">
/** A count of tokens as the model would count them. */
export type Tokens = Brand<number, "Tokens">
/** JSON text exactly as it stood on the wire: number literals, key order and escapes included. */
export type Wire = Brand<string, "Wire">

export const messageId = (id: string): MessageId => id as MessageId
export const callId = (id: string): CallId => id as CallId
export const wireText = (json: string): Wire => json as Wire

/** The only way to make a `Tokens`: a length in characters can never pass for one. */
export function tokens(count: number): Tokens {
  assert(Number.isSafeInteger(count) && count >= 0, `not a token count: ${count}`)
  return count as Tokens
}
