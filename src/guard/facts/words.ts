import { normalize } from "../../language/normalize.ts"

/** A name or text as words: `auditLogging`, `AUDIT_LOGGING` and `audit-logging` are the same two. */
export const wordsOf = (text: string): readonly string[] =>
  text
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")

/** A text as words alone, one blank between them and round them, for rules that search it: disguises undone, signs gone. */
export const searchable = (text: string): string =>
  ` ${normalize(text)
    .text.split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .join(" ")} `
