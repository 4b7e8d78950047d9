import type { Guard } from "../../src/guard/guard.ts"
import type { ChatMessage } from "../chat.ts"
import type { Summarizer } from "./agent.ts"
import type { Episode } from "./episode.ts"
import type { Spec } from "./spec.ts"

/** What a row made of an episode: the messages that the agent gets, and figures about them. */
export type AgentView = {
  readonly messages: readonly ChatMessage[]
  readonly compactions: number
  /** Tokens that carry rules over a compaction, and those of the whole context. */
  readonly pinTokens: number
  readonly contextTokens: number
}

export type OpenEpisode = {
  readonly shown: AgentView
  /** Guard that the session made from the rules it found, if any of them is a policy. */
  readonly guard?: Guard
  /** Reports that a call was refused, and what the model is told instead of a result; returns the next request. */
  readonly refuse?: (call: { readonly name: string; readonly arguments: string }, told: string) => Promise<AgentView>
  readonly close?: () => Promise<void>
}

export type Harness = (episode: Episode, spec: Spec, summarizer: Summarizer) => Promise<OpenEpisode>

/** Window of every row that has one: a session of 4,000 tokens does not fit. */
export const windowTokens = 4000

/** True if the whole session is to stay, so that nothing is compacted. */
export const keepsAll = ({ condition }: Spec): boolean => condition === "control" || condition === "floor"
