import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import type { Job } from "../store/job.ts"

/** One short name for a session and key, whatever characters and lengths those have. */
export function jobId({ session, key }: Pick<Job, "session" | "key">): string {
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify([session, key]))))
}
