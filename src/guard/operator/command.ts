import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto"
import { HoldfastError } from "../../message/errors.ts"
import { sha256Hex } from "../../message/sha256.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type PolicyInput, type TemplateUse, templateNames } from "../policy/templates.ts"

export type OperatorCommand =
  | {
      readonly type: "pin"
      readonly text: string
      readonly agent?: string
      readonly session?: string
      readonly expiresAtMs?: number
    }
  | { readonly type: "unpin"; readonly rule: string }
  /** Replaces a policy of the same name that was added by a command. */
  | { readonly type: "add-policy"; readonly name: string; readonly policy: string | TemplateUse }
  | { readonly type: "remove-policy"; readonly name: string }
  | { readonly type: "approve"; readonly call: string }
  /** With `note`, the agent reads what it should do instead. */
  | { readonly type: "refuse"; readonly call: string; readonly note?: string }

/** The signed content: a command, its audience, its sequence number, and its validity. */
export type Payload = {
  readonly audience: string
  readonly sequence: number
  readonly issuedAtMs: number
  readonly expiresAtMs: number
  readonly nonce: string
  readonly command: OperatorCommand
}

/** The policy of a command as guard input, under the command's name. */
export const inputOf = (name: string, policy: string | TemplateUse): PolicyInput =>
  typeof policy === "string" ? { name, text: policy } : { ...policy, name }

/** A public key that verifies commands. */
export type PublicKey = {
  readonly fingerprint: string
  /** True if its private half signed exactly these bytes. */
  readonly verifies: (signed: Uint8Array, signature: Uint8Array) => boolean
}

const refuse = (key: string, expected: string): never => {
  throw new HoldfastError({ code: "key-invalid", key, expected })
}

/** Parses a public key in PEM, or its SPKI in base64. Errors state the key's name and never quote the key. */
export function readPublicKey(text: string, name: string): PublicKey {
  if (typeof text !== "string" || text.length > maxKeyBytes) refuse(name, "a public key of Ed25519 in PEM")
  if (/PRIVATE KEY/.test(text))
    refuse(name, "a public key (this is a private one, which belongs to whoever signs; move it away)")
  const key = parsePublic(text.trim())
  if (key?.asymmetricKeyType !== "ed25519") return refuse(name, "a public key of Ed25519 in PEM")
  return publicKeyOf(key)
}

function parsePublic(text: string): KeyObject | undefined {
  try {
    if (text.startsWith("-----BEGIN PUBLIC KEY-----")) return createPublicKey(text)
    return createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" })
  } catch {
    // The message of the parser may quote the key, so it is dropped.
    return undefined
  }
}

function publicKeyOf(key: KeyObject): PublicKey {
  const der = key.export({ type: "spki", format: "der" })
  const fingerprint = createHash("sha256").update(der).digest("hex").slice(0, 32)
  return { fingerprint, verifies: (signed, signature) => verify(null, signed, key, signature) }
}

/** A private key, and the fingerprint of its public half. */
type PrivateKey = { readonly fingerprint: string; readonly sign: (bytes: Uint8Array) => Uint8Array }

export function readPrivateKey(pem: string, name: string): PrivateKey {
  const privateKey = parsePrivate(pem)
  if (privateKey?.asymmetricKeyType !== "ed25519")
    return refuse(name, "a private key of Ed25519 in PEM, without a passphrase")
  const { fingerprint } = publicKeyOf(createPublicKey(privateKey))
  return { fingerprint, sign: (bytes) => sign(null, bytes, privateKey) }
}

function parsePrivate(pem: string): KeyObject | undefined {
  try {
    return pem.length > maxKeyBytes ? undefined : createPrivateKey(pem)
  } catch {
    // The message of the parser may quote the key, so it is dropped.
    return undefined
  }
}

/** Limit on the files of a policy directory, which people write. */
export const maxFiles = 500
/** Limit on the bytes of one file: the size of a book. */
export const maxFileBytes = 1_000_000
/** Limit on the rules of all files and commands; each is in every request. */
export const maxRules = 2_000
/** Limit on the characters of one rule: two pages. */
export const maxRuleLength = 6_000
/** What an agent reads of a refusal is one line of this length at most. */
const maxNoteLength = 1_000
/** Limit on the characters of a name: of an agent, a session, a deployment, a call. */
const maxNameLength = 200
/** Limit on the characters of a policy in a command, including its template. */
export const maxPolicyLength = 50_000
/** Limit on the characters of a signed command: the longest policy, escaped and in base64. */
const maxCommandLength = 500_000
export const maxCommandPolicies = 500
/** Limit on the public keys of one channel. */
export const maxKeys = 200
/** Limit on the bytes of a key file; a key has about a hundred. */
export const maxKeyBytes = 10_000
/** Limit on the validity of a command: long enough to carry it to another machine by hand. */
export const maxLifetimeMs = 7 * 86_400_000
/** How far the signer's clock may be ahead of ours. */
export const maxSkewMs = 60_000
/** The largest time of a JavaScript Date. */
const latestMs = 8.64e15

/** Limit on nesting; the parameters of a template have two levels. */
const maxDepth = 6

/** A known template with parameters of limited depth; the guard checks the parameters. A `text` field would make it a Cedar policy. */
export const isTemplateUse = (value: unknown): value is TemplateUse =>
  isObject(value) &&
  templateNames.some((name) => name === value.template) &&
  !Object.hasOwn(value, "text") &&
  isShallow(value, maxDepth)

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1))
}

type Fields = Readonly<Record<string, unknown>>

const isText = (value: unknown, most: number): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= most && value.isWellFormed()

/** A name: of a deployment, an agent, a session, a call. */
export const isName = (value: unknown): value is string =>
  isText(value, maxNameLength) && !/[\p{Cc}\u2028\u2029]/u.test(value)

const isRuleText = (value: unknown): value is string => isText(value, maxRuleLength) && !value.includes("\0")

/** A policy's name, as a guard accepts it. */
const isPolicyName = (value: unknown): value is string =>
  typeof value === "string" && /^[\w .:-]{1,100}$/.test(value) && value.trim() === value

const isMoment = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= latestMs

const isSequence = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0

const isNonce = (value: unknown): value is string => typeof value === "string" && /^[\w-]{16,64}$/.test(value)

const hasOnly = (fields: Fields, names: readonly string[]): boolean =>
  Object.keys(fields).every((name) => names.includes(name))

const optional = (value: unknown, is: (value: unknown) => boolean): boolean => value === undefined || is(value)

/** True if the size and outer shape are those of a policy; the guard checks whether it parses. */
function isPolicy(value: unknown): boolean {
  if (typeof value === "string") return isText(value, maxPolicyLength)
  return isTemplateUse(value) && JSON.stringify(value).length <= maxPolicyLength
}

const shapes: { readonly [Type in OperatorCommand["type"]]: (fields: Fields) => boolean } = {
  pin: ({ text, agent, session, expiresAtMs, ...rest }) =>
    isRuleText(text) &&
    optional(agent, isName) &&
    optional(session, isName) &&
    optional(expiresAtMs, isMoment) &&
    hasOnly(rest, ["type"]),
  unpin: ({ rule, ...rest }) => isText(rule, 2 * maxNameLength) && hasOnly(rest, ["type"]),
  "add-policy": ({ name, policy, ...rest }) => isPolicyName(name) && isPolicy(policy) && hasOnly(rest, ["type"]),
  "remove-policy": ({ name, ...rest }) => isPolicyName(name) && hasOnly(rest, ["type"]),
  approve: ({ call, ...rest }) => isName(call) && hasOnly(rest, ["type"]),
  refuse: ({ call, note, ...rest }) =>
    isName(call) && optional(note, (text) => isText(text, maxNoteLength)) && hasOnly(rest, ["type"]),
}

const isType = (type: unknown): type is OperatorCommand["type"] =>
  typeof type === "string" && Object.hasOwn(shapes, type)

/** True if every field of a command is valid. A command with extra fields is invalid. */
export const isCommand = (value: unknown): value is OperatorCommand =>
  isObject(value) && isType(value.type) && shapes[value.type](value)

const isPayload = (value: unknown): value is Payload =>
  isObject(value) &&
  isName(value.audience) &&
  isSequence(value.sequence) &&
  isMoment(value.issuedAtMs) &&
  isMoment(value.expiresAtMs) &&
  isNonce(value.nonce) &&
  isCommand(value.command) &&
  hasOnly(value, ["audience", "sequence", "issuedAtMs", "expiresAtMs", "nonce", "command"])

/** Parses a payload; undefined if it is invalid. Call it only after its signature was verified. */
function readPayload(json: string): Payload | undefined {
  const value = tryParse(json)
  return isPayload(value) ? value : undefined
}

export function signCommand(privateKey: string, payload: Payload): string {
  const { fingerprint, sign } = readPrivateKey(privateKey, "given")
  const json = JSON.stringify(payload)
  if (readPayload(json) === undefined)
    throw new HoldfastError({ code: "command-refused", reason: "malformed", found: "the payload is not a command" })
  const before = `hf1.${fingerprint}.${Buffer.from(json, "utf8").toString("base64url")}`
  return `${before}.${Buffer.from(sign(bytesToSign(before))).toString("base64url")}`
}

/** Prefix of signed bytes, so that no other text signed with the same key can pass as a command. */
const domain = "holdfast operator command 1\n"

/** A signed command: `hf1.<fingerprint>.<payload>.<signature>`. Nothing in it is verified yet. */
type SignedCommand = {
  readonly fingerprint: string
  readonly payload: Uint8Array
  readonly signature: Uint8Array
  readonly signed: Uint8Array
}

/** The bytes to sign: everything before the signature, with a prefix for its purpose. */
const bytesToSign = (before: string): Uint8Array => Buffer.from(`${domain}${before}`, "utf8")

/** Parses a signed command; undefined if it is malformed. Each command has exactly one spelling. */
export function readSignedCommand(text: string): SignedCommand | undefined {
  if (typeof text !== "string" || text.length > maxCommandLength) return undefined
  const [, fingerprint = "", payload = "", signature = ""] = shape.exec(text) ?? []
  const bytes = { payload: Buffer.from(payload, "base64url"), signature: Buffer.from(signature, "base64url") }
  if (fingerprint === "" || bytes.signature.length !== signatureBytes) return undefined
  if (bytes.payload.toString("base64url") !== payload) return undefined
  if (bytes.signature.toString("base64url") !== signature) return undefined
  return { fingerprint, ...bytes, signed: bytesToSign(text.slice(0, text.lastIndexOf("."))) }
}

const shape = /^hf1\.([0-9a-f]{32})\.([\w-]+)\.([\w-]{86})$/
const signatureBytes = 64

/** True if this key signed exactly this command. */
export const isSignedBy = ({ signed, signature }: SignedCommand, key: PublicKey): boolean =>
  key.verifies(signed, signature)

/** The payload of a command whose signature was verified. */
export function payloadOf({ payload }: SignedCommand): Payload | undefined {
  const json = Buffer.from(payload).toString("utf8")
  return Buffer.from(json, "utf8").equals(payload) ? readPayload(json) : undefined
}

/** A hash that identifies a refused text without storing it. */
export const hashOfCommand = (text: string): string => sha256Hex(text.slice(0, maxCommandLength))

/** A key pair in PEM. Only the operator may have the private half. */
export type KeyPair = { readonly privateKey: string; readonly publicKey: string; readonly fingerprint: string }

/** Creates a key pair for signing commands (Ed25519). */
export function createKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  })
  return { privateKey, publicKey, fingerprint: fingerprintOf(publicKey) }
}

/** The fingerprint of a public key: the first 128 bits of the SHA-256 of its SPKI, in hex. */
export const fingerprintOf = (publicKey: string): string => readPublicKey(publicKey, "given").fingerprint
