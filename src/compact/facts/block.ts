import type { Fact } from "./fact.ts"

/** Who brought a value up, as far as it matters later: the user, or anyone else. In the order of print: what a person asked for comes last. */
export const blocks = ["others", "user"] as const

export type Block = (typeof blocks)[number]

/** The line above what the user gave; the rest needs none. */
export const userHeading = "From the user"

export const blockOf = ({ givenByUser }: Pick<Fact, "givenByUser">): Block => (givenByUser ? "user" : "others")
