import { sha256Hex } from "../../message/sha256.ts"

/** Of a sha256 so many hex digits: 80 bits, which nobody guesses. */
const proofLength = 20

/**
 * The name by which a tool result can be fetched back. It says where the result stands, and proves that this session printed it: the
 * proof is made with the session's secret, so a handle that was made up, or printed in another session, is none.
 */
export function handleFor(secret: string, seq: number, callId: string): string {
  const proof = sha256Hex(JSON.stringify([secret, seq, callId]).toWellFormed())
  return `hf-${seq}-${proof.slice(0, proofLength)}`
}

/** The entry that a handle points at, if it has the form of one. */
export function entryOfHandle(handle: string): number | undefined {
  const digits = /^hf-([1-9]\d{0,14})-[0-9a-f]{20}$/.exec(handle)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
