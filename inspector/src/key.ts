import { signal } from "@preact/signals"
import { keepProof, post, signedIn } from "./api.ts"

/**
 * The key of this browser. Its private half cannot be exported, by this page or any other. Changes of sessions are accepted from any
 * browser that is signed in; operator commands only from a key that the operator trusts.
 */
type BrowserKey = { readonly pair: CryptoKeyPair; readonly publicKey: string; readonly fingerprint: string }

/** Undefined if the browser has no Ed25519. */
export const browserKey = signal<BrowserKey | undefined>(undefined)

const encoder = new TextEncoder()

const base64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)))

function base64url(bytes: ArrayBuffer | Uint8Array): string {
  let text = ""
  for (const byte of new Uint8Array(bytes)) text += String.fromCharCode(byte)
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("holdfast", 1)
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys")
    opening.onsuccess = () => resolve(opening.result)
    opening.onerror = () => reject(opening.error)
  })
}

function inStore<Value>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<Value>): Promise<Value> {
  return openDatabase().then(
    (database) =>
      new Promise((resolve, reject) => {
        const request = act(database.transaction("keys", mode).objectStore("keys"))
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      }),
  )
}

/** Opens the key of this browser, generated at the first visit. */
export async function openKey(): Promise<void> {
  try {
    const kept: CryptoKeyPair | undefined = await inStore("readonly", (store) => store.get("signing"))
    const made = kept ?? (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]))
    if (!("privateKey" in made)) return
    if (kept === undefined) await inStore("readwrite", (store) => store.put(made, "signing"))
    const spki = await crypto.subtle.exportKey("spki", made.publicKey)
    const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", spki))
    const fingerprint = [...hash.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
    browserKey.value = { pair: made, publicKey: base64(spki), fingerprint }
  } catch {
    browserKey.value = undefined
  }
}

/** Signs in with the code of `holdfast open`; throws if the gateway refuses it. */
export async function enterWith(code: string): Promise<void> {
  const publicKey = browserKey.value?.publicKey
  const { proof } = await post<{ readonly proof: string }>("/admin/sign-in", { code, publicKey: publicKey ?? "" })
  keepProof(proof)
  signedIn.value = "in"
}

async function signText(text: string): Promise<string> {
  const key = browserKey.value
  if (key === undefined) throw new Error("This browser has no key to sign with.")
  return base64url(await crypto.subtle.sign("Ed25519", key.pair.privateKey, encoder.encode(text)))
}

const nonce = (): string => base64url(crypto.getRandomValues(new Uint8Array(18)))

/** A change of one session. */
export type Change =
  | { readonly type: "undo"; readonly session: string; readonly checkpoint: string }
  | { readonly type: "pin"; readonly session: string; readonly text: string }
  | { readonly type: "unpin" | "demote"; readonly session: string; readonly rule: string }

export async function submitChange(change: Change): Promise<void> {
  const payload = { origin: location.origin, issuedAtMs: Date.now(), nonce: nonce(), change }
  const before = `hc1.${base64url(encoder.encode(JSON.stringify(payload)))}`
  const signature = await signText(`holdfast session change 1\n${before}`)
  await post("/admin/changes", { change: `${before}.${signature}` })
}

/** A command of the operator; accepted only if this browser's key is trusted. */
export type Command =
  | { readonly type: "approve" | "refuse"; readonly call: string; readonly note?: string }
  | { readonly type: "pin"; readonly text: string }
  | { readonly type: "unpin"; readonly rule: string }

export async function submitCommand(audience: string, command: Command): Promise<void> {
  const now = Date.now()
  const payload = {
    audience,
    sequence: now,
    issuedAtMs: now - 30_000,
    expiresAtMs: now + 3_600_000,
    nonce: nonce(),
    command,
  }
  const before = `hf1.${browserKey.value?.fingerprint ?? ""}.${base64url(encoder.encode(JSON.stringify(payload)))}`
  const signature = await signText(`holdfast operator command 1\n${before}`)
  await post("/admin/commands", { command: `${before}.${signature}` })
}

/** Returns the shell command that adds this browser's key to the operator's trusted keys. */
export const trustCommand = (): string =>
  `echo ${browserKey.value?.publicKey ?? ""} > browser.pub && holdfast keys trust browser.pub`
