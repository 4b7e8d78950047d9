/**
 * What is odd about a call as a whole. The first four say that it could not be read in full, so that no verdict on it is safe;
 * `obscured` says that it runs what cannot be read beforehand, the others that something was hidden and found.
 */
export type Mark =
  | "too-large"
  | "too-deep"
  | "too-many"
  | "unparsable"
  | "obscured"
  | "encoded"
  | "hidden-characters"
  | "look-alike"

/** Marks under which a call was not read in full. */
export const unreadMarks: readonly Mark[] = ["too-large", "too-deep", "too-many", "unparsable"]
