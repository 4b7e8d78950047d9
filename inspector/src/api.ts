import { signal } from "@preact/signals"
import type { ToldProblem } from "../../src/gateway/admin/answers.ts"

export class ApiError extends Error {
  override readonly name = "ApiError"
  readonly status: number
  readonly problem: ToldProblem
  constructor(status: number, problem: ToldProblem) {
    super(problem.sentence)
    this.status = status
    this.problem = problem
  }
}

const proofKey = "holdfast-proof"

/** `unknown` until the gateway was asked; `out` if the user has to sign in. */
export const signedIn = signal<"unknown" | "in" | "out">("unknown")

export const keepProof = (proof: string): void => localStorage.setItem(proofKey, proof)

const headers = (): Record<string, string> => {
  const proof = localStorage.getItem(proofKey)
  return proof === null ? {} : { "x-holdfast-proof": proof }
}

const unreachable: ToldProblem = {
  code: "unreachable",
  sentence: "The gateway does not answer.",
  next: "It may have been stopped; the page tries again by itself.",
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { ...init, headers: { ...headers(), ...init.headers } }).catch(
    (error: unknown) => {
      if (error instanceof DOMException && error.name === "AbortError") throw error
      throw new ApiError(0, unreachable)
    },
  )
  if (response.ok) return response
  const told: { readonly error?: Partial<ToldProblem> } = await response.json().catch(() => ({}))
  const { code = "unknown", sentence = `The gateway answered with ${response.status}.`, next = "" } = told.error ?? {}
  if (response.status === 401 && code === "token-wrong") signedIn.value = "out"
  throw new ApiError(response.status, { code, sentence, next })
}

export async function get<Told>(path: string, abort?: AbortSignal): Promise<Told> {
  const response = await ask(path, abort === undefined ? {} : { signal: abort })
  return response.json()
}

export async function post<Told>(path: string, body: object): Promise<Told> {
  const response = await ask(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  return response.json()
}

export const sessionPath = (id: string, rest = ""): string => `/admin/sessions/${encodeURIComponent(id)}${rest}`

/** Saves a download of the gateway under a name; a plain link would not send the proof of sign-in. */
export async function download(path: string, name: string): Promise<void> {
  const blob = await (await ask(path)).blob()
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** An event of the gateway's stream. */
export type LiveEvent = { readonly name: string; readonly data: Readonly<Record<string, unknown>> }

/** State of the event stream: if lost, since when, and when it is retried. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly sinceMs: number; readonly retryAtMs: number }

export const connection = signal<Connection>({ state: "connecting" })

/** Ends the wait before the next attempt. */
let wake = (): void => {}
export const retryNow = (): void => wake()

/**
 * Receives every event for as long as the page is open; a lost stream is resumed where it broke off. `onGap` requests what happened before,
 * once the stream is open, so that nothing is missed meanwhile. Ends if nobody is signed in.
 */
export async function listen(onEvent: (event: LiveEvent) => void, onGap: () => void): Promise<void> {
  let lastId: string | undefined
  let wait = 1
  for (;;) {
    try {
      const response = await ask("/admin/events", {
        headers: lastId === undefined ? {} : { "last-event-id": lastId },
      })
      onGap()
      connection.value = { state: "live" }
      wait = 1
      for await (const block of blocksOf(response.body)) {
        const event = readBlock(block)
        lastId = event.id ?? lastId
        if (event.name === "gap") onGap()
        else if (event.data !== undefined) onEvent({ name: event.name, data: event.data })
      }
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof TypeError)) throw error
      const isFirst = connection.value.state === "connecting"
      if (isFirst && signedIn.value === "out") return
      if (isFirst) onGap()
    }
    const sinceMs = connection.value.state === "lost" ? connection.value.sinceMs : Date.now()
    connection.value = { state: "lost", sinceMs, retryAtMs: Date.now() + wait * 1000 }
    await new Promise<void>((resolve) => {
      wake = resolve
      setTimeout(resolve, wait * 1000)
    })
    wait = Math.min(30, wait * 2)
  }
}

async function* blocksOf(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): AsyncGenerator<string> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const blocks = (rest + value).split("\n\n")
    rest = blocks.pop() ?? ""
    yield* blocks
  }
}

type Block = { readonly name: string; readonly id?: string; readonly data?: Readonly<Record<string, unknown>> }

function readBlock(block: string): Block {
  const fields = new Map<string, string>()
  for (const line of block.split("\n")) {
    const at = line.indexOf(": ")
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2))
  }
  const id = fields.get("id")
  const json = fields.get("data")
  return {
    name: fields.get("event") ?? "",
    ...(id === undefined ? {} : { id }),
    ...(json === undefined ? {} : { data: JSON.parse(json) }),
  }
}
