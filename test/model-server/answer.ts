import { rechunk, type Step } from "./delivery.ts"
import type { Measured } from "./measure.ts"
import type { Fault } from "./script.ts"
import type { Failure, FailureKind, Reply, Wire, WireEvent } from "./wire.ts"

/** An answer to be sent, decided in full before the first byte. */
export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly delayMs: number
  readonly steps: readonly Step[]
  /** The measured size of the request, if the server measures. */
  readonly measured?: Measured
}

const encoder = new TextEncoder()
const bytesStep = (text: string): Step => ({ type: "bytes", bytes: encoder.encode(text) })

/** The sizes in a context error if the script names none. */
const contextLength: FailureKind = { type: "context-length", tokens: 215_000, limit: 200_000 }

function failureOf(fault: Fault | undefined, streamed: boolean): FailureKind | undefined {
  switch (fault?.type) {
    case "http-429":
      return { type: "rate-limited", retryAfterSeconds: fault.retryAfterSeconds ?? 1 }
    case "http-500":
      return { type: "server-error" }
    case "http-529":
      return { type: "overloaded" }
    case "context-length":
      return {
        ...contextLength,
        ...(fault.tokens && { tokens: fault.tokens }),
        ...(fault.limit && { limit: fault.limit }),
      }
    case "in-stream-error":
      return streamed ? undefined : { type: "server-error" }
    default:
      return undefined
  }
}

/** Returns a whole JSON body with its status, without faults in delivery. */
export function jsonAnswer(failure: Failure, extra: Readonly<Record<string, string>> = {}, indent = 0): Answer {
  const body = encoder.encode(JSON.stringify(failure.body, null, indent))
  const headers = { "content-type": "application/json", "content-length": String(body.length) }
  return {
    status: failure.status,
    headers: { ...headers, ...extra, ...failure.headers },
    delayMs: 0,
    steps: [{ type: "bytes", bytes: body }],
  }
}

/**
 * Returns the index of the event in which a fault occurs: in the middle of the arguments, otherwise of the text, otherwise of all events.
 */
function middleOf(events: readonly WireEvent[]): number {
  for (const kind of ["arguments", "text"] as const) {
    const places = events.flatMap((event, n) => (event.holds === kind ? [n] : []))
    const middle = places[Math.floor(places.length / 2)]
    if (middle !== undefined) return middle
  }
  return Math.floor(events.length / 2)
}

/** Events of a stream before the model's output: two on the Responses wire, which is the one that refuses there. */
const openingEvents = 2

/** Formats one event as its frame; `n` is its position in the stream. */
type Frame = (event: WireEvent, n: number) => string

const sseFrame =
  (lineEnd: string): Frame =>
  ({ name, data }) =>
    `${name === undefined ? "" : `event: ${name}${lineEnd}`}data: ${data}${lineEnd}${lineEnd}`

const arrayFrame: Frame = ({ data }, n) => `${n === 0 ? "[" : ",\r\n"}${data}`

function half(step: Step): readonly Step[] {
  return step.type === "bytes" ? [{ type: "bytes", bytes: step.bytes.subarray(0, step.bytes.length / 2) }] : []
}

function streamSteps(wire: Wire, reply: Reply, fault: Fault | undefined, frame: Frame): readonly Step[] {
  const events = wire.events(reply)
  const steps = events.map((event, n) => bytesStep(frame(event, n)))
  const middle = middleOf(events)
  const [before, after] = [steps.slice(0, middle), steps.slice(middle)]
  switch (fault?.type) {
    case "cut-early":
      return [...steps.slice(0, 1), { type: "cut" }]
    case "cut-mid":
      return [...before, ...steps.slice(middle, middle + 1).flatMap(half), { type: "cut" }]
    case "in-stream-error": {
      const kind = fault.kind === "context-length" ? contextLength : ({ type: "overloaded" } as const)
      const at = fault.early === true ? Math.min(openingEvents, middle) : middle
      return [...steps.slice(0, at), ...wire.failInStream(kind, reply, at).map((event) => bytesStep(frame(event, at)))]
    }
    case "stall":
      return [...before, { type: "wait", ms: fault.ms }, ...after]
    case "ping": {
      if (frame === arrayFrame) return steps
      const ping = bytesStep(frame({ name: "ping", data: '{"type": "ping"}' }, middle))
      return [ping, ...before, ping, ...after]
    }
    case "comment": {
      if (frame === arrayFrame) return steps
      const comment = bytesStep(`: keepalive${wire.lineEnd}${wire.lineEnd}`)
      return [comment, ...before, comment, ...after]
    }
    default:
      return steps
  }
}

function wholeSteps(steps: readonly Step[], fault: Fault | undefined): readonly Step[] {
  if (fault?.type === "cut-early") return [{ type: "cut" }]
  if (fault?.type === "cut-mid") return [...steps.flatMap(half), { type: "cut" }]
  if (fault?.type === "stall") return [...steps.flatMap(half), { type: "wait", ms: fault.ms }, ...steps.flatMap(rest)]
  return steps
}

function rest(step: Step): readonly Step[] {
  return step.type === "bytes" ? [{ type: "bytes", bytes: step.bytes.subarray(step.bytes.length / 2) }] : []
}

/** Returns the answer to one model call, with the fault applied. */
export function answerOf(wire: Wire, reply: Reply, fault: Fault | undefined, chunkBytes: number | undefined): Answer {
  const { framing } = reply.asked
  const failure = failureOf(fault, framing !== "whole")
  const headers = wire.headers(reply.index)
  if (failure !== undefined) return jsonAnswer(wire.fail(failure, reply.index), headers, wire.indent)
  const delayMs = fault?.type === "delay" ? fault.ms : 0
  if (framing === "whole") {
    const answer = jsonAnswer({ status: 200, body: wire.whole(reply) }, headers, wire.indent)
    return { ...answer, delayMs, steps: wholeSteps(answer.steps, fault) }
  }
  const contentType = framing === "sse" ? "text/event-stream; charset=utf-8" : "application/json; charset=UTF-8"
  const frame = framing === "sse" ? sseFrame(wire.lineEnd) : arrayFrame
  const steps = [...streamSteps(wire, reply, fault, frame), ...(framing === "array" ? [bytesStep("]")] : [])]
  return {
    status: 200,
    headers: { "content-type": contentType, "cache-control": "no-cache", ...headers },
    delayMs,
    steps: chunkBytes === undefined ? steps : rechunk(steps, chunkBytes),
  }
}
