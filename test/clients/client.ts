import type { Format } from "../../src/message/message.ts"
import type { Json } from "../model-server/json.ts"
import type { Call, Output } from "../model-server/script.ts"

/** What one run of a client is about. */
export type Errand = {
  /** Where it believes the model's API to be. */
  readonly url: string
  readonly prompt: string
  /** Go on with the conversation of the run before. */
  readonly continues?: boolean
  /** Have the client compact by itself once the reported usage reaches this. */
  readonly ownLimitTokens?: number
  /** Have it keep none of its newest turns when it does; only where a client has the choice. */
  readonly keepsNoTurn?: boolean
  /** Only where a client has the choice. */
  readonly webSocket?: boolean
  /** Have its tools return all of a file; only where a client has the choice. */
  readonly wholeOutputs?: boolean
  /** Have it ask a model every few turns whether it goes round in circles; only where a client has the choice. */
  readonly checksForLoops?: boolean
  /** Have it find one more skill, which it lists in its system prompt; only where a client has the choice. */
  readonly hasSkill?: boolean
}

/** How a process is started. `files` are laid down in its home before. */
export type Launch = {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, string>>
}

/** An agent program of its own, run without a terminal. */
export type Client = {
  readonly name: string
  /** Its file under `node_modules/.bin`. */
  readonly program: string
  readonly format: Format
  readonly model: string
  readonly launch: (errand: Errand, home: string) => Launch
  /** A call of the client's own shell tool. */
  readonly shell: (command: string) => Call
  /**
   * Of a file printed in its shell, the size up to which the middle reaches the model, as measured without a gateway on files of
   * 6, 28 and 60 KB; clients cut what is longer.
   */
  readonly shellReturnsBytes: number
  /** A call by which a file of 60 KB, named by its whole path, reaches the model with its middle: of the client's own tool for that, if it has one. */
  readonly read: (path: string) => Call
  /** Does a request belong to the conversation, rather than ask for a title or a summary of it? */
  readonly isMain: (body: Json) => boolean
  /** It also has the model name the conversation, in one request beside it, when the conversation begins. */
  readonly asksForTitle?: true
  /** The model's answer to a request beside the conversation; a text unless given. */
  readonly aside?: (text: string) => Output
  /** A stream that is cut ends its run, with and without a gateway. */
  readonly endsWhenCut?: true
  /** Taken up again it sends every result twice; a model that minds refuses that, with and without a gateway. */
  readonly resendsResults?: true
  /** About what its system prompt and its tools take, as measured. */
  readonly stackTokens: number
  /** `keepsNoTurn` means something to it. */
  readonly mayKeepNoTurn?: true
  /** What makes it compact its own history. */
  readonly compacts: "by-command" | "by-usage"
}
