import type { ChatMessage } from "./chat.ts"
import { changesOf, type Fact, factsOf, type Planted, rulesOf, type Speaker } from "./planted.ts"
import { createIds, makeWork } from "./sessions.ts"
import { createRandom, type Random } from "./texts.ts"

/** One long session in segments, with rules, facts and changed values planted at known places, for repeated compaction. */
export type RoundsSession = {
  readonly segments: readonly (readonly ChatMessage[])[]
  readonly rules: readonly Planted[]
  readonly facts: readonly Fact[]
  readonly updates: readonly Update[]
}

/** Something that had one value and later got another. Each value occurs only in its own sentence. */
export type Update = {
  readonly id: string
  readonly name: string
  readonly stale: Fact
  readonly current: Fact
}

const segmentCount = 10
/** About 30,000 o200k tokens of the generator's mixture. */
const unitsPerSegment = 68_000
const unitsPerMessage = 900
/** Rules are stated in the beginning, as people do. */
const ruleSegments = 2
const factsPerSegment = 6
/** Minimum age in segments of a value when it is changed. */
const minAge = 2

const sizeOf = (messages: readonly ChatMessage[]): number =>
  messages.reduce((total, { content }) => total + (content?.length ?? 0), 0)

function makeSegment(random: Random, nextId: () => string): ChatMessage[] {
  const messages: ChatMessage[] = []
  for (let units = 0; units < unitsPerSegment; ) {
    const work = makeWork(random, unitsPerMessage, nextId)
    messages.push(...work)
    units += sizeOf(work)
  }
  return messages
}

/** Inserts a sentence: at the end of what a person or the assistant says, or as a line in the middle of a tool result. */
function withSentence(message: ChatMessage, sentence: string): ChatMessage {
  const content = message.content ?? ""
  if (message.role !== "tool") return { ...message, content: `${content.trimEnd()}\n${sentence}` }
  const middle = content.indexOf("\n", content.length >> 1) + 1
  return { ...message, content: `${content.slice(0, middle)}${sentence}\n${content.slice(middle)}` }
}

/** Puts a sentence into a message of its speaker in a segment, and returns where. */
function createPlanter(random: Random, segments: ChatMessage[][]) {
  return <Item extends { readonly id: string; readonly sentence: string; readonly by: Speaker }>(
    item: Item,
    segment: number,
  ): Item & Planted => {
    const messages = segments[segment] ?? []
    const places = messages.flatMap(({ role, content }, n) => (role === item.by && content !== null ? [n] : []))
    const message = places[random(places.length)] ?? 0
    const found = messages[message]
    if (found !== undefined) messages[message] = withSentence(found, item.sentence)
    return { ...item, segment, message }
  }
}

/** Draws again until the session contains the value nowhere, not even as part of another. */
function createDraw(segments: readonly (readonly ChatMessage[])[]): (draw: () => string) => string {
  const text = JSON.stringify(segments)
  const taken: string[] = []
  const isFree = (value: string): boolean =>
    !text.includes(value) && !taken.some((other) => other.includes(value) || value.includes(other))
  return (draw) => {
    let value = draw()
    while (!isFree(value)) value = draw()
    taken.push(value)
    return value
  }
}

export function makeRoundsSession(seed = 1): RoundsSession {
  const random = createRandom(seed)
  const nextId = createIds(random)
  const segments = Array.from({ length: segmentCount }, () => makeSegment(random, nextId))
  segments[0]?.unshift({
    role: "system",
    content: "You are a careful engineer. Work with the tools and report briefly.",
  })
  const draw = createDraw(segments)
  const plant = createPlanter(random, segments)
  const rules = rulesOf(random).map((rule, n) => plant(rule, n % ruleSegments))
  const facts = segments.flatMap((_, segment) =>
    factsOf(random, draw, segment, factsPerSegment).map((fact) => plant(fact, segment)),
  )
  const updates = changesOf(random, draw).map(({ id, name, stale, current }): Update => {
    const from = random(segmentCount - minAge - 1)
    const to = from + minAge + random(segmentCount - from - minAge)
    return { id, name, stale: plant(stale, from), current: plant(current, to) }
  })
  return { segments, rules, facts, updates }
}
