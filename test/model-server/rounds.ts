/** What a history's element is to the counting of tool rounds. */
export type Kind = "model" | "model-call" | "other"

/** The tool rounds in a history: runs of what the model said, however it is cut up, in which it called at least once. */
export function countRounds(kinds: readonly Kind[]): number {
  let rounds = 0
  let called = false
  for (const kind of kinds) {
    if (kind === "model-call" && !called) rounds += 1
    called = kind === "other" ? false : called || kind === "model-call"
  }
  return rounds
}
