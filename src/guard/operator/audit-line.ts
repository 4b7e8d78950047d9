import type { CommandRefusal } from "../../message/errors.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { FileHash } from "./read-directory.ts"

/** What can stand in a line of the audit log. `by` tells lines apart that two programs write at once. */
export type AuditBody = { readonly by: string } & (
  | { readonly type: "log-opened"; readonly audience: string }
  /** The command whole, with its signature: whoever reads the log need not believe it. */
  | { readonly type: "command-accepted"; readonly signed: string }
  | {
      readonly type: "command-refused"
      readonly reason: CommandRefusal
      /** The key that it names, if that one is known. */
      readonly key?: string
      readonly sha256: string
      /** How many more were refused before this one that have no line of their own. */
      readonly unwritten?: number
    }
  | {
      readonly type: "directory-changed"
      readonly files: readonly FileHash[]
      /** The ids of rules that came in and went out. */
      readonly added: readonly string[]
      readonly removed: readonly string[]
    }
)

type Unsigned<Body> = Body extends unknown ? Omit<Body, "by"> : never
export type NewAuditBody = Unsigned<AuditBody>

const isText = (value: unknown): value is string => typeof value === "string"
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)
const isFileHash = (value: unknown): value is FileHash => isObject(value) && isText(value.name) && isText(value.sha256)

const shapes: { readonly [Type in AuditBody["type"]]: (fields: Readonly<Record<string, unknown>>) => boolean } = {
  "log-opened": ({ audience }) => isText(audience),
  "command-accepted": ({ signed }) => isText(signed),
  "command-refused": ({ reason, sha256, key = "", unwritten = 0 }) =>
    isText(reason) && isText(sha256) && isText(key) && Number.isSafeInteger(unwritten),
  "directory-changed": ({ files, added, removed }) =>
    Array.isArray(files) && files.every(isFileHash) && isTexts(added) && isTexts(removed),
}

const isBody = (value: unknown, type: string): value is AuditBody =>
  isObject(value) &&
  value.type === type &&
  isText(value.by) &&
  Object.entries(shapes).some(([name, fits]) => name === type && fits(value))

/** Read a line back; nothing if it is not one. */
export function readAuditBody(type: string, json: string): AuditBody | undefined {
  const value = tryParse(json)
  return isBody(value, type) ? value : undefined
}
