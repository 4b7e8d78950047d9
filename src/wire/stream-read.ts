import { HoldfastError } from "../message/errors.ts"
import type { CallKind } from "../message/part.ts"
import { present } from "../message/present.ts"
import type { StopReason, Usage } from "../message/request.ts"
import { countIn, stringIn } from "./expect.ts"
import type { Json } from "./json.ts"
import type { PartStart, Said } from "./stream.ts"
import type { DecodeState, OpenPart, Piece } from "./stream-codec.ts"

/** A part as a format's reader announces it: its number is given here. */
export type Begun =
  | { readonly part: "text" | "reasoning" | "other" }
  | Omit<Extract<PartStart, { readonly part: "tool-call" }>, "type" | "index">

const clientKinds: ReadonlySet<CallKind> = new Set(["function", "custom", "other", "approval"])

/** Open the part that the wire calls `key`. */
export function openPart(
  state: DecodeState,
  key: string,
  begun: Begun,
  input?: OpenPart["input"],
): readonly [DecodeState, PartStart] {
  if (state.open.has(key)) throw invalid(state, "a part that has not begun", "one that has")
  const start: PartStart = { type: "part-start", index: state.parts, ...begun }
  const open = new Map(state.open).set(key, { start, fed: false, ...present({ input }) })
  const calls = state.calls + (begun.part === "tool-call" && clientKinds.has(begun.kind) ? 1 : 0)
  return [{ ...state, parts: state.parts + 1, calls, open }, start]
}

export function closePart(state: DecodeState, key: string): DecodeState {
  const open = new Map(state.open)
  open.delete(key)
  return { ...state, open }
}

/** Note that content has come, so that what stood in the part's beginning is not taken for it. */
export function feedPart(state: DecodeState, key: string, part: OpenPart): DecodeState {
  return part.fed ? state : { ...state, open: new Map(state.open).set(key, { ...part, fed: true }) }
}

/** The open part of that name; a delta for any other is a Problem. */
export function requirePart(state: DecodeState, key: string): OpenPart {
  const part = state.open.get(key)
  if (part === undefined) throw invalid(state, "a part that has begun", "one that has not")
  return part
}

/** On most wires only calls that the client runs can be told as ours: those of a provider come with the provider's own results. */
export const isClientPart = (start: PartStart): boolean =>
  start.part === "tool-call" ? start.kind === "function" || start.kind === "custom" : start.part !== "other"

export const invalid = ({ after }: DecodeState, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "stream-invalid", event: after, expected, found })

export const pieces = (...said: readonly Said[]): readonly Piece[] => said.map((one) => ({ said: one }))

export function stopPiece(state: DecodeState, stop: StopReason): readonly [DecodeState, Said] {
  return [
    { ...state, stop },
    { type: "response-stop", stop },
  ]
}

export function usagePieces(state: DecodeState, usage: Usage | undefined): readonly [DecodeState, readonly Said[]] {
  return usage === undefined ? [state, []] : [{ ...state, usage }, [{ type: "usage", usage }]]
}

export function endOf({ stop, usage }: DecodeState): Said {
  return { type: "response-end", stop: stop ?? "other", ...present({ usage }) }
}

/** An error object of any provider. */
export function errorOf(error: Json | undefined): Said {
  const type = stringIn(error, "type") ?? stringIn(error, "code") ?? stringIn(error, "status") ?? "error"
  const message = stringIn(error, "message") ?? (typeof error?.value === "string" ? error.value : "no message")
  return {
    type: "error",
    problem: { code: "upstream-error", type, message, ...present({ status: countIn(error, "code") }) },
  }
}
