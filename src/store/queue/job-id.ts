import { sha256Hex } from "../../message/sha256.ts"
import type { Job } from "../store.ts"

/** One short name for a session and key, whatever characters and lengths those have. */
export function jobId({ session, key }: Pick<Job, "session" | "key">): string {
  return sha256Hex(JSON.stringify([session, key]))
}
