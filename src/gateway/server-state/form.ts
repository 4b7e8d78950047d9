import type { ModelRequest } from "../../message/message.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { encodeRequest } from "../../wire/encode.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import {
  elementTexts,
  type FullHistory,
  frameText,
  isSameMark,
  markOf,
  type ResponseChain,
  wholeElements,
  withElements,
} from "./whole.ts"

/** The body to send, and all elements that the model sees. `unthreadable`: an Anthropic thread cannot express the request. */
export type Form =
  | { readonly type: "send"; readonly body: string; readonly elements: () => readonly string[] }
  | { readonly type: "unthreadable" }

/** The form to send for a prepared request, whose full history may be unknown. */
export function formFor(whole: FullHistory | undefined, { wire: came, held }: ModelRequest, wire: string): Form {
  if (whole !== undefined) return formOf(whole, wire)
  // An Anthropic thread accepts no system part. Other additions are not worth a refusal, so give up on any change.
  if (held?.type === "thread" && wire !== came) return { type: "unthreadable" }
  return { type: "send", body: wire, elements: () => [] }
}

/**
 * The form to send for a prepared request with a known full history. History that the provider stores is not sent again, and items that the
 * client referred to by id stay references, as long as they are unchanged: an unchanged request is sent as the client's own text. Otherwise
 * everything is sent.
 */
export function formOf(whole: FullHistory, wire: string): Form {
  const { request, before } = whole
  if (before === undefined) return wholeForm(whole, wire)
  if (before.upstream === "unstored" && !whole.stores) {
    return { type: "send", body: request.wire, elements: () => wholeElements(whole) }
  }
  const out = outOf(whole, wire)
  const rest = restOf(out.elements, before, request.format === "anthropic-messages" ? frameText(wire) : "")
  if (request.format === "openai-responses") {
    return rest === undefined ? wholeForm(whole, wire) : heldForm(whole, out, rest)
  }
  const added = whole.expanded.flatMap(({ texts }) => texts)
  return rest !== undefined && isList(rest, added)
    ? { type: "send", body: request.wire, elements: () => out.elements }
    : { type: "unthreadable" }
}

/** The full history with references written out, for a provider that does not have it or must not be asked for it. */
export function inlineForm(whole: FullHistory, wire: string): Form {
  return { type: "send", body: wire, elements: () => outOf(whole, wire).elements }
}

type PreparedElements = { readonly elements: readonly string[]; readonly request: ModelRequest | undefined }

function outOf(whole: FullHistory, wire: string): PreparedElements {
  if (wire === whole.text) return { elements: wholeElements(whole), request: undefined }
  const request = decodeRequest(whole.request.format, wire)
  return { elements: elementTexts(request), request }
}

/** The elements after those that the provider stores; undefined if the stored ones are not a prefix of them. */
function restOf(
  elements: readonly string[],
  { upstream }: ResponseChain,
  frame: string,
): readonly string[] | undefined {
  if (upstream === "unstored" || upstream === "other" || upstream.count > elements.length) return undefined
  const held = markOf(elements.slice(0, upstream.count), frame)
  return isSameMark(held, upstream) ? elements.slice(upstream.count) : undefined
}

/** The client's own body, with only the elements that are not stored at the provider. */
function heldForm(whole: FullHistory, { elements, request: out }: PreparedElements, rest: readonly string[]): Form {
  const { request, expanded } = whole
  const list = collapsed(whole, rest)
  const owns = expanded.map(({ own }) => own)
  const body = isList(list, owns) ? request.wire : withElements(request.format, request.wire, list)
  return { type: "send", body: withSystem(request, body, out), elements: () => elements }
}

function withSystem(request: ModelRequest, body: string, out: ModelRequest | undefined): string {
  if (out === undefined || systemText(out) === systemText(request)) return body
  return encodeRequest(decodeRequest(request.format, body), { system: [...out.system] })
}

const systemText = ({ wire, layout: { system } }: ModelRequest): string =>
  system === undefined ? "" : wire.slice(system.start, system.end)

function wholeForm(whole: FullHistory, wire: string): Form {
  const { request, expanded, before } = whole
  const isPlain = expanded.every(({ type }) => type !== "reference" && type !== "lost")
  if (isPlain) return { type: "send", body: wire, elements: () => outOf(whole, wire).elements }
  const out = readableIn(whole, outOf(whole, wire).elements)
  const list = collapsed(whole, out)
  const own = expanded.map((element) => element.own)
  if (before === undefined && wire === whole.text && isList(list, own)) {
    return { type: "send", body: request.wire, elements: () => out }
  }
  return { type: "send", body: withElements(request.format, wire, list), elements: () => out }
}

/** Removes reasoning items that the provider has lost: without encrypted content nobody else can read them. */
function readableIn({ expanded }: FullHistory, elements: readonly string[]): readonly string[] {
  const lost = new Set(expanded.flatMap(({ texts, type }) => (type === "lost" ? texts : [])))
  return lost.size === 0 ? elements : elements.filter((text) => !(lost.has(text) && isUnencryptedReasoning(text)))
}

function isUnencryptedReasoning(text: string): boolean {
  const item = tryParse(text)
  return isObject(item) && item.type === "reasoning" && typeof item.encrypted_content !== "string"
}

/** Replaces items that the client referred to by id with references again. */
function collapsed({ expanded }: FullHistory, elements: readonly string[]): readonly string[] {
  const names = new Map(
    expanded.flatMap(({ own, texts, type }) => (type === "reference" ? [[texts[0] ?? "", own]] : [])),
  )
  return names.size === 0 ? elements : elements.map((text) => names.get(text) ?? text)
}

const isList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, n) => text === other[n])
