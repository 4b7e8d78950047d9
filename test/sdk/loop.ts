import type { Format } from "../../src/message/message.ts"

/** A whole agent run of an official SDK: three turns of the script in `conversation.ts`, to the final text. */
export type Loop = {
  readonly name: string
  readonly format: Format
  /** Whether the client sends the model's reasoning back whole, sealed or plain, with the turns that follow. */
  readonly resendsReasoning: "always" | "never" | "unless-streamed"
  /** `baseUrl` is the server's root, without a version and without a slash at the end. */
  readonly run: (baseUrl: string, options: { readonly stream: boolean }) => Promise<string>
}

/** What every SDK wants to see and the scripted server never reads. */
export const apiKey = "sk-scripted"

/** A bound on the model calls of one run; three are expected. */
export const turnLimit = 8
