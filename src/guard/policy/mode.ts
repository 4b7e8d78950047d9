/** What becomes of a call that no policy speaks of: it is let through, or only what a policy permits is. */
export type Mode = "forbid-only" | "allow-list"
