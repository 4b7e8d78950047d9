import { isRule, rulePresence } from "../compact/pins.ts"
import { holdsCompaction } from "../compact/standing.ts"
import { channelOf, ownText } from "../message/fence.ts"
import { type Message, textOf } from "../message/message.ts"
import { type Carried, carryPins, type Pin, type PinPlace } from "../rules/pin.ts"
import type { Meter } from "../tokens/meter.ts"
import { isInForce, type SessionPin, takenBack } from "./pins.ts"
import type { Assembled } from "./view.ts"

/** The state of a session's rules in a request. */
export type PinCheck = {
  /** Rules in force that the request does not contain. */
  readonly missing: readonly Pin[]
  /** A withdrawn rule is still in a message with pinned rules. */
  readonly stale: boolean
}

export type PinCheckOptions = {
  readonly meter: Meter
  /** Token budget for rules found in messages. */
  readonly budgetTokens: number
  /** The provider holds the earlier history, including the text of rules. */
  readonly held: boolean
}

/** The rules to carry beside the conversation, and those for which there is no room. */
export function carriedPins(
  pins: readonly SessionPin[],
  assembled: Assembled,
  { meter, budgetTokens }: PinCheckOptions,
): Carried {
  const own = pins.filter((pin) => pin.by !== "operator" && isInForce(pin) && !isReplaced(pin, assembled))
  return carryPins(own, { budgetTokens, count: meter.text })
}

/**
 * Check that a request contains every rule in force, verbatim. A rule counts where it was said, if that text is shown unchanged, or in a
 * message with pinned rules. The cost depends on the number of rules, not on the length of the history.
 */
export function checkPins(pins: readonly SessionPin[], assembled: Assembled, options: PinCheckOptions): PinCheck {
  const inForce = pins.filter((pin) => pin.by !== "operator" && isInForce(pin))
  const { isPlaced, isPut, isAnywhere } = standsIn(assembled, inForce)
  const absent = new Set(
    inForce.filter((pin) => !(options.held && pin.by === "found") && !isPlaced(pin) && !isPut(pin)).map(({ id }) => id),
  )
  const carried = absent.size === 0 ? [] : carriedPins(pins, assembled, options).carried
  const prefaces = assembled.messages.filter(isPreface).map(wordsOf)
  const wanted = new Set(inForce.map(({ text }) => text))
  const gone = prefaces.length === 0 ? [] : takenBack(pins).filter(({ text }) => !wanted.has(text))
  return {
    missing: carried.filter((pin) => absent.has(pin.id) && !isAnywhere(pin)),
    stale: gone.some(({ text }) => prefaces.some((preface) => isRule(preface, text))),
  }
}

/** Is this a generated message with pinned rules? Decided by its label, without parsing it. */
function isPreface({ role, parts }: Message): boolean {
  const [only] = parts
  return role === "user" && parts.length === 1 && only?.type === "text" && ownText(only.text) === "pins"
}

const wordsOf = ({ parts }: Message): string => parts.map(textOf).join("\n")

/** If a document with the same name but other content is present, its rules replace the old ones. */
function isReplaced({ place, source }: Pin, { separation }: Assembled): boolean {
  const { documents } = separation.infrastructure
  if (place === undefined || !("document" in place)) return false
  return !documents.some(({ hash }) => hash === place.document) && documents.some(({ name }) => name === source)
}

type RuleCheck = (pin: Pin) => boolean

/**
 * Checks whether a rule is where it was said, or in a message with pinned rules, which is fast; or anywhere that counts, which needs a
 * search.
 */
function standsIn(
  { frame, messages, separation }: Assembled,
  pins: readonly Pin[],
): { readonly isPlaced: RuleCheck; readonly isPut: RuleCheck; readonly isAnywhere: RuleCheck } {
  const wanted = new Set<string>(
    pins.flatMap(({ place }) => (place !== undefined && "entry" in place ? place.entry : [])),
  )
  const seen = messages.slice(messages.findLastIndex(holdsCompaction) + 1)
  const byId = new Map<string, Message>(
    wanted.size === 0 ? [] : seen.flatMap((message) => (wanted.has(message.id) ? [[message.id, message]] : [])),
  )
  const hashes = new Set(separation.infrastructure.documents.map(({ hash }) => hash))
  let put: readonly Message[] | undefined
  let anywhere: RuleCheck | undefined
  return {
    isPlaced: ({ place, text }) => {
      if (place === undefined) return false
      return "document" in place ? hashes.has(place.document) : isSaid(byId.get(place.entry), place, text)
    },
    isPut: ({ text }) => {
      put ??= seen.filter(isPreface)
      return put.some((message) => holdsRule(message, text))
    },
    isAnywhere: (pin) => {
      anywhere ??= rulePresence({ system: frame.system, messages })
      return anywhere(pin)
    },
  }
}

/** Cached results for messages with pinned rules, because they are in one request after another. */
const searched = new WeakMap<Message, Map<string, boolean>>()

function holdsRule(message: Message, rule: string): boolean {
  const answers = searched.get(message) ?? new Map<string, boolean>()
  searched.set(message, answers)
  const known = answers.get(rule)
  if (known !== undefined) return known
  const { role, parts } = message
  const holds = parts.some(
    (part) => part.type === "text" && channelOf(role, part) !== "tool" && part.text.includes(rule),
  )
  answers.set(rule, holds)
  return holds
}

function isSaid(message: Message | undefined, place: Extract<PinPlace, { entry: string }>, text: string): boolean {
  const part = message?.parts[place.part]
  const said = part?.type === "tool-result" ? part.content[place.piece ?? 0] : part
  return said?.type === "text" && said.text.startsWith(text, place.start)
}
