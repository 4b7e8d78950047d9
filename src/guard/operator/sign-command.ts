import { HoldfastError } from "../../message/errors.ts"
import type { Payload } from "./command.ts"
import { readPrivateKey } from "./key.ts"
import { readPayload } from "./read-command.ts"
import { bytesToSign } from "./signed-command.ts"

/** Sign a command with a private key in PEM. */
export function signCommand(privateKey: string, payload: Payload): string {
  const { fingerprint, sign } = readPrivateKey(privateKey, "given")
  const json = JSON.stringify(payload)
  if (readPayload(json) === undefined)
    throw new HoldfastError({ code: "command-refused", reason: "malformed", found: "the payload is not a command" })
  const before = `hf1.${fingerprint}.${Buffer.from(json, "utf8").toString("base64url")}`
  return `${before}.${Buffer.from(sign(bytesToSign(before))).toString("base64url")}`
}
