import { saidIn, valuesPassed } from "../src/cli/replay/kept.ts"
import type { Transcript } from "../src/message/message.ts"

/**
 * What an agent really needed later: each exact value that a call after the cut passes on, that occurred before the cut outside the
 * standing instructions, and that nothing between the cut and the call repeated.
 */
export type Probe = { readonly value: string; readonly tool: string; readonly at: number }

export const cutOf = (messages: Transcript): number => Math.floor(messages.length / 2)

/** Returns the probes of a transcript cut at half its messages, each value once. */
export function probesOf(messages: Transcript, cut: number = cutOf(messages)): readonly Probe[] {
  const before = messages
    .slice(0, cut)
    .filter(({ role }) => role !== "system")
    .map(saidIn)
    .join("\n")
  const probes: Probe[] = []
  let since = ""
  for (const [n, message] of messages.slice(cut).entries()) {
    for (const [value, tool] of valuesPassed(message)) {
      if (before.includes(value) && !since.includes(value)) probes.push({ value, tool, at: cut + n })
    }
    since += `\n${saidIn(message)}`
  }
  return probes
}

/** Share of the probes that occur in a text verbatim; 1 if there are none. */
export function retention(probes: readonly Probe[], text: string): number {
  return probes.length === 0 ? 1 : probes.filter(({ value }) => text.includes(value)).length / probes.length
}
