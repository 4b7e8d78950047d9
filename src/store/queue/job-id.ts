import { sha256Hex } from "../../message/sha256.ts"
import type { Job } from "../store.ts"

/** A fixed-length id for a session and key, whatever characters they contain. */
export function jobId({ session, key }: Pick<Job, "session" | "key">): string {
  return sha256Hex(JSON.stringify([session, key]))
}
