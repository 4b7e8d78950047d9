import { sha256Hex } from "../../message/sha256.ts"

/** Hex digits of the SHA-256: 80 bits, which cannot be guessed. */
const proofLength = 20

/**
 * The handle by which a tool result can be recalled. It contains the entry number, and a proof made with the session's secret: a handle
 * that was invented, or made in another session, is invalid.
 */
export function handleFor(secret: string, seq: number, callId: string): string {
  const proof = sha256Hex(JSON.stringify([secret, seq, callId]).toWellFormed())
  return `hf-${seq}-${proof.slice(0, proofLength)}`
}

/** The handle by which the conversation up to a message can be read again: one for everything that a summary stands for. */
export const rangeHandleFor = (secret: string, seq: number): string => {
  const proof = sha256Hex(JSON.stringify([secret, seq]).toWellFormed())
  return `hf-${seq}-${proof.slice(0, proofLength)}`
}

/** The entry number in a handle; undefined if it is malformed. */
export function entryOfHandle(handle: string): number | undefined {
  const digits = /^hf-([1-9]\d{0,14})-[0-9a-f]{20}$/.exec(handle)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
