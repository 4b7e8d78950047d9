/** What an element of the history means for counting tool rounds. */
export type Kind = "model" | "model-call" | "other"

/** Counts the tool rounds in a history: runs of the model's output, however it is split, with at least one call. */
export function countRounds(kinds: readonly Kind[]): number {
  let rounds = 0
  let called = false
  for (const kind of kinds) {
    if (kind === "model-call" && !called) rounds += 1
    called = kind === "other" ? false : called || kind === "model-call"
  }
  return rounds
}
