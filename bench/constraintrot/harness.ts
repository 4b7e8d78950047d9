import type { Guard } from "../../src/guard/guard.ts"
import type { ChatMessage } from "../chat.ts"
import type { Summarizer } from "./agent.ts"
import type { Episode } from "./episode.ts"
import type { Spec } from "./spec.ts"

/** What a row made of an episode: the messages that the agent gets, and what is known of how they came about. */
export type Shown = {
  readonly messages: readonly ChatMessage[]
  readonly compactions: number
  /** Tokens that carry rules over a compaction, and those of the whole context. */
  readonly pinTokens: number
  readonly contextTokens: number
}

export type Opened = {
  readonly shown: Shown
  /** The guard that the session has by itself, of the rules that it found, if any of them is a policy. */
  readonly guard?: Guard
  /** A call that was refused, and what the model is told instead of a result; gives the next request. */
  readonly refuse?: (call: { readonly name: string; readonly arguments: string }, told: string) => Promise<Shown>
  readonly close?: () => Promise<void>
}

export type Harness = (episode: Episode, spec: Spec, summarizer: Summarizer) => Promise<Opened>

/** The window of every row that knows one: a session of 4,000 tokens does not fit. */
export const windowTokens = 4000

/** Nothing is compacted where the whole session is to stay. */
export const keepsAll = ({ condition }: Spec): boolean => condition === "control" || condition === "floor"
