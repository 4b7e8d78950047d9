import { pick, type Random } from "./texts.ts"

/** What is planted in a session of rounds: standing rules, exact values of many kinds, and values that change. */

/** A sentence that occurs verbatim in one message of the session. */
export type Planted = {
  readonly id: string
  readonly sentence: string
  readonly by: Speaker
  readonly segment: number
  /** Index of the message in the segment. */
  readonly message: number
}
export type Speaker = "user" | "assistant" | "tool"
/** `value` occurs in its sentence and nowhere else in the session. */
export type Fact = Planted & { readonly kind: string; readonly value: string }

type Unplaced<Item> = Omit<Item, "segment" | "message">
type Draw = (draw: () => string) => string

const rules: readonly string[] = [
  "Never push to the main branch; open a pull request instead.",
  "From now on, always run the linter before you say that something is done.",
  "Do not touch anything under migrations/ unless I ask for it by name.",
  "Customer data must never leave the eu-central region.",
  "Please keep every reply under 120 words for the rest of this session.",
  "You may not send e-mail to anyone outside ferngate.example.",
  "Before you delete a file, show me its path and wait for my yes.",
  "All new code has to work on Node 22; no newer syntax.",
  "Never print access tokens, not even shortened ones.",
  "Use metric units everywhere, in code comments too.",
  "Any purchase over the cap needs my written approval first.",
  "Don't upgrade dependencies on your own.",
]

export const rulesOf = (random: Random): readonly Unplaced<Planted>[] =>
  rules
    .map((sentence, n) => ({ id: `rule-${n}`, sentence, by: "user" as const, order: random(1000) }))
    .sort((one, other) => one.order - other.order)
    .map(({ order: _order, ...rule }) => rule)

const digits = (random: Random, length: number): string =>
  String(1 + random(9)) + Array.from({ length: length - 1 }, () => random(10)).join("")
const hex = (random: Random, length: number): string => Array.from({ length }, () => random(16).toString(16)).join("")
const letters = (random: Random, length: number): string =>
  Array.from({ length }, () => String.fromCharCode(65 + random(26))).join("")
const day = (random: Random): string =>
  `2027-${String(1 + random(12)).padStart(2, "0")}-${String(1 + random(28)).padStart(2, "0")}`
const dollars = (random: Random): string => `$${1 + random(90)},${digits(random, 3)}.${digits(random, 2)}`
const names: readonly string[] = ["mira", "oskar", "lund", "teska", "anouk", "pavel", "ines", "rohan"]
const folders: readonly string[] = ["billing", "ingest", "ranker", "sessions", "exports", "quota"]

/** One for each segment, so that a fact of one does not read as a newer value of another's. */
const subjects: readonly string[] =
  "invoice importer,login page,search ranker,backup job,mail queue,quota service,map tiles,audit trail,tax report,image cache".split(
    ",",
  )

/** In a sentence, `#` stands for the value and `@` for the subject. */
type Kind = { readonly kind: string; readonly make: (random: Random) => string; readonly says: readonly string[] }

const kinds: readonly Kind[] = [
  {
    kind: "id",
    make: (random) => `${letters(random, 3)}-${digits(random, 6)}`,
    says: ["The ticket for the @ is #.", "@ ticket_id: #", "I filed the @ as #, for later."],
  },
  {
    kind: "amount",
    make: dollars,
    says: ["The vendor's quote for the @ came to #.", "@ invoice total: #", "They charged us # for the @ in the end."],
  },
  {
    kind: "path",
    make: (random) => `services/${pick(random, folders)}/${pick(random, names)}-${digits(random, 3)}.toml`,
    says: ["The settings of the @ live in #.", "@ config loaded from #", "The culprit in the @ turned out to be #."],
  },
  {
    kind: "date",
    make: day,
    says: ["The audit of the @ is on #.", "@ certificate expires #", "We agreed on # for the handover of the @."],
  },
  {
    kind: "e-mail",
    make: (random) => `${pick(random, names)}.${digits(random, 3)}@ferngate.example`,
    says: ["Questions about the @ go to #.", "@ owner: #", "Write to # once the @ is merged."],
  },
  {
    kind: "commit",
    make: (random) => hex(random, 12),
    says: ["The @ broke with commit #.", "@ HEAD is now at #", "The last good build of the @ was #."],
  },
]

const speakers: readonly Speaker[] = ["user", "tool", "assistant"]

/** Returns values, each stated in one sentence; which of a kind's sentences depends on the speaker. */
export const factsOf = (random: Random, draw: Draw, segment: number, count: number): readonly Unplaced<Fact>[] =>
  Array.from({ length: count }, (_, n) => {
    const { kind, make, says } = kinds[n % kinds.length] ?? { kind: "", make: () => "", says: [] }
    const at = random(speakers.length)
    const value = draw(() => make(random))
    const sentence = (says[at] ?? "").replace("@", subjects[segment % subjects.length] ?? "").replace("#", () => value)
    return { id: `${kind}-${segment}`, kind, value, sentence, by: speakers[at] ?? "user" }
  })

type Change = {
  readonly id: string
  readonly name: string
  readonly stale: Unplaced<Fact>
  readonly current: Unplaced<Fact>
}
type Changing = {
  readonly name: string
  readonly make: (random: Random) => string
  readonly first: string
  readonly later: string
}

const changing: readonly Changing[] = [
  {
    name: "budget cap",
    make: (random) => `$${1 + random(9)}${random(10)}${random(10)}`,
    first: "The budget cap for this project is #.",
    later: "The budget cap for this project is now #.",
  },
  {
    name: "port",
    make: (random) => digits(random, 4),
    first: "The preview server listens on port #.",
    later: "I moved the preview server to port #.",
  },
  {
    name: "release date",
    make: day,
    first: "The release date is #.",
    later: "The release date has changed: it is # now.",
  },
  {
    name: "branch",
    make: (random) => `work/${pick(random, names)}-${digits(random, 3)}`,
    first: "Work on the branch #.",
    later: "Change of plan: work on the branch # from here on.",
  },
  {
    name: "reviewer",
    make: (random) => `${pick(random, names)}${digits(random, 2)}`,
    first: "The reviewer is #.",
    later: "The reviewer is # instead, the other one is on leave.",
  },
  {
    name: "timeout",
    make: (random) => `${digits(random, 4)} ms`,
    first: "Set the request timeout to #.",
    later: "Make the request timeout # after all.",
  },
  {
    name: "database",
    make: (random) => `pg-${pick(random, folders)}-${digits(random, 2)}`,
    first: "Read from the database #.",
    later: "We migrated: read from the database # now.",
  },
  {
    name: "model name",
    make: (random) => `ranker-v${1 + random(9)}.${random(10)}.${digits(random, 2)}`,
    first: "The deployed model is #.",
    later: "The deployed model is # since this morning.",
  },
]

/** All stated by the user: the same channel, so that the later value counts. */
export const changesOf = (random: Random, draw: Draw): readonly Change[] =>
  changing.map(({ name, make, first, later }) => {
    const say = (state: string, sentence: string): Unplaced<Fact> => {
      const value = draw(() => make(random))
      return {
        id: `${name}-${state}`,
        kind: name,
        value,
        sentence: sentence.replace("#", () => value),
        by: "user",
      }
    }
    return { id: name.replaceAll(" ", "-"), name, stale: say("stale", first), current: say("current", later) }
  })
