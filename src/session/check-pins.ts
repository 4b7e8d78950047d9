import { isRule, rulePresence } from "../compact/pins.ts"
import { holdsCompaction } from "../compact/standing.ts"
import { channelOf, ownText } from "../message/fence.ts"
import { type Message, textOf } from "../message/message.ts"
import { type Carried, carryPins, type Pin, type PinPlace } from "../rules/pin.ts"
import type { Meter } from "../tokens/meter.ts"
import { isInForce, type SessionPin, takenBack } from "./pins.ts"
import type { Assembled } from "./view.ts"

/** How the rules of a session stand in what is about to be sent. */
export type PinCheck = {
  /** Rules that are to stand and are not there. */
  readonly missing: readonly Pin[]
  /** A rule that was taken back still stands where rules were put. */
  readonly stale: boolean
}

export type PinCheckOptions = {
  readonly meter: Meter
  /** What rules that were found may take. */
  readonly budgetTokens: number
  /** The provider holds what was said before, the words of rules included. */
  readonly held: boolean
}

/** The rules that are to stand wherever the words are that they were said in, and those for which there is no room. */
export function carriedPins(
  pins: readonly SessionPin[],
  assembled: Assembled,
  { meter, budgetTokens }: PinCheckOptions,
): Carried {
  const own = pins.filter((pin) => pin.by !== "operator" && isInForce(pin) && !isReplaced(pin, assembled))
  return carryPins(own, { budgetTokens, count: meter.text })
}

/**
 * Look for every rule that is to stand in what is about to be sent, verbatim. One that was found stands where it was said, as long
 * as that is shown and untouched, or in our own message; costs what there are rules, however long the history.
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

/** A message of ours that rules were put in: told without reading a digest, which is long. */
function isPreface({ role, parts }: Message): boolean {
  const [only] = parts
  return role === "user" && parts.length === 1 && only?.type === "text" && ownText(only.text) === "pins"
}

const wordsOf = ({ parts }: Message): string => parts.map(textOf).join("\n")

/** A document that is there under the same name with other words says itself what holds now. */
function isReplaced({ place, source }: Pin, { separation }: Assembled): boolean {
  const { documents } = separation.infrastructure
  if (place === undefined || !("document" in place)) return false
  return !documents.some(({ hash }) => hash === place.document) && documents.some(({ name }) => name === source)
}

type Stands = (pin: Pin) => boolean

/**
 * Whether a rule stands where it was said or where rules were put, which is quickly seen; and whether it stands anywhere that it may,
 * which takes a search.
 */
function standsIn(
  { frame, messages, separation }: Assembled,
  pins: readonly Pin[],
): { readonly isPlaced: Stands; readonly isPut: Stands; readonly isAnywhere: Stands } {
  const wanted = new Set<string>(
    pins.flatMap(({ place }) => (place !== undefined && "entry" in place ? place.entry : [])),
  )
  const seen = messages.slice(messages.findLastIndex(holdsCompaction) + 1)
  const byId = new Map<string, Message>(
    wanted.size === 0 ? [] : seen.flatMap((message) => (wanted.has(message.id) ? [[message.id, message]] : [])),
  )
  const hashes = new Set(separation.infrastructure.documents.map(({ hash }) => hash))
  let put: readonly Message[] | undefined
  let anywhere: Stands | undefined
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

/** What was looked for in a message that rules were put in: it stands in one request after another. */
const sought = new WeakMap<Message, Map<string, boolean>>()

function holdsRule(message: Message, rule: string): boolean {
  const answers = sought.get(message) ?? new Map<string, boolean>()
  sought.set(message, answers)
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
