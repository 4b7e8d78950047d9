import type { JudgedCall } from "./judge-call.ts"

/** What the user sees, and the model when the message comes back, in the place of a call that was withheld. */
export const withheldText = ({ result = "" }: JudgedCall): string => `[Withheld by policy. ${result}]`
