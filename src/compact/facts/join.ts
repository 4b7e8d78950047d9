import type { Fact, FactKind, FactState, LabelSource } from "./fact.ts"

/** From the most telling kind to the least: of two readings of one value the earlier in this list stands. */
const kinds: readonly FactKind[] = [
  ...([
    "command",
    "email",
    "url",
    "hash",
    "path",
    "error",
    "id",
    "identifier",
    "name",
    "quote",
    "argument",
    "line",
  ] as const),
  ...(["amount", "date", "time", "version", "number", "word"] as const),
]
const labelSources: readonly LabelSource[] = ["key", "pair", "words", "kind"]
const states: readonly FactState[] = ["failed", "resolved", "superseded", "current"]

const placeOf = <Name extends string>(names: readonly Name[]): ReadonlyMap<Name, number> =>
  new Map(names.map((name, at) => [name, at]))
const kindPlaces = placeOf(kinds)
const labelPlaces = placeOf(labelSources)
const statePlaces = placeOf(states)

const isEarlier = <Name>(places: ReadonlyMap<Name, number>, one: Name, other: Name): boolean =>
  (places.get(one) ?? 0) <= (places.get(other) ?? 0)

/** Two accounts of one fact as one. The order of joining does not matter, and joining twice is joining once. */
export function joinFacts(one: Fact, other: Fact): Fact {
  const born = isBefore(one, other) ? one : other
  const { label, labelFrom, subject } = isBetterLabel(one, other) ? one : other
  const { subject: _, updates: __, said: ___, ...rest } = born
  const kind = isEarlier(kindPlaces, one.kind, other.kind) ? one.kind : other.kind
  return {
    ...rest,
    kind,
    label: labelFrom === "kind" ? kind : label,
    labelFrom,
    ...(subject === undefined ? {} : { subject }),
    last: Math.max(one.last, other.last),
    uses: Math.max(one.uses, other.uses),
    usedInCalls: Math.max(one.usedInCalls, other.usedInCalls),
    givenByUser: one.givenByUser || other.givenByUser,
    ...(one.said === true || other.said === true ? { said: true as const } : {}),
    state: laterState(one, other),
    ...(one.updates === true || other.updates === true ? { updates: true as const } : {}),
  }
}

const birthOf = ({ source: { messageId, callId }, channel }: Fact): string =>
  `${messageId}\n${callId ?? ""}\n${channel}`

const isBefore = (one: Fact, other: Fact): boolean =>
  one.first === other.first ? birthOf(one) <= birthOf(other) : one.first < other.first

/** The better source wins; of equals the shorter label, because it is repeated on every line. */
function isBetterLabel(one: Fact, other: Fact): boolean {
  const by =
    (labelPlaces.get(one.labelFrom) ?? 0) - (labelPlaces.get(other.labelFrom) ?? 0) ||
    one.label.length - other.label.length
  return by === 0 ? `${one.label}\n${one.subject ?? ""}` <= `${other.label}\n${other.subject ?? ""}` : by < 0
}

function laterState(one: Fact, other: Fact): FactState {
  if (one.last !== other.last) return one.last > other.last ? one.state : other.state
  return isEarlier(statePlaces, one.state, other.state) ? one.state : other.state
}
