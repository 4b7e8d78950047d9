import { maxValueLength } from "./limits.ts"

/** What ends a line or turns its direction somewhere: controls, separators, bidirectional overrides. */
const breaking = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Can the text stand on a line as it is, and is it short enough to be a value? */
export const isOneLine = (text: string): boolean => text.length <= maxValueLength && !breaking.test(text)
