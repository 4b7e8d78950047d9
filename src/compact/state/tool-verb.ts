import { wordSet, wordSetsOf } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import lists from "./tool-verbs.json" with { type: "json" }

/** What a tool does by its name: looks something up, changes something, moves about on a screen, thinks, ends the work, keeps a list. */
type ToolVerb = "lookup" | "change" | "service" | "gesture" | "think" | "finish" | "ask" | "list"

/** In this order: a word counts as what it stands under first. `service` has further words in which something is made, moved or given. */
const verbs: Readonly<Record<ToolVerb, readonly string[]>> = lists.verbs

const verbOf = new Map<string, ToolVerb>()
for (const [verb, known] of wordSetsOf(verbs)) for (const word of known) if (!verbOf.has(word)) verbOf.set(word, verb)

/** Names longer than this are nobody's tool. */
const maxNameLength = 120

/** Tools that keep the agent's own plan, or say what it is at; `change_plan` of a provider sells one. */
const planTool =
  /(?:^|__)(?:(?:(?:update|write|set|create|make|exit|enter)_?)?plan(?:_?mode|ner)?|update_topic|report_intent)$/i
/** Who opens one of these makes it; who opens anything else looks at it. */
const opened = /^(?:ticket|case|dispute|account|issue|incident|claim|request|order|pr|pull)$/

/** Who somebody is, is asked once: it has been done afterwards. */
const identifies = /^(?:verify|check|confirm|authenticate) (?:identity|customer|caller|user|otp|pin|code)\b/

/** `mcp__todo__write` is of the server `todo`: what it does says its own name, unless the server keeps a list. */
const ofServer = /^mcp__(.{1,60}?)__(?=\w)/
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .split(/[^a-z\d]+/)

/** By the first word of the name that is known; a list wins over everything because `update_plan` changes nothing but the plan. */
export function toolVerb(tool: string): ToolVerb | undefined {
  if (planTool.test(tool)) return "list"
  const [server = [], words = server] = tool
    .slice(0, maxNameLength)
    .split(ofServer)
    .filter((part) => part !== undefined && part !== "")
    .map(wordsOf)
  const known = words.flatMap((word) => verbIn(word) ?? [])
  const telling = words.filter((word) => !weak.has(word)).flatMap((word) => verbIn(word) ?? [])
  if (words[0] === "open" && words.some((word) => opened.test(word))) return "change"
  if (identifies.test(words.join(" "))) return "change"
  if (known.includes("list") || server.some((word) => verbOf.get(word) === "list")) return "list"
  // What one may choose from is asked for: `transfer_options`, `room_availability`.
  if (words.length > 1 && choices.test(words.at(-1) ?? "") && !sets.has(words[0] ?? "")) return "lookup"
  // `pods_log` shows one; `log_call` writes one.
  if (words.length > 1 && words.at(-1) === "log" && !words.some((word) => logs.has(word))) return "lookup"
  // Some names begin with what they are about: `mail_search`, `order_status`, `queue_submit`.
  const first = words.findIndex((word) => verbIn(word) !== undefined && !weak.has(word))
  const isNoun = nouns.has(words[first] ?? "") && words.slice(first + 1).some((word) => verbOf.has(word))
  const does = (isNoun ? telling[1] : telling[0]) ?? known[0]
  return does === "finish" && words.length > 1 && !endsWork.test(words.join(" ")) ? "change" : does
}

/** `reissue`, `unblock` and `deactivate` change something because `issue`, `block` and `activate` do. */
function verbIn(word: string): ToolVerb | undefined {
  const verb = verbOf.get(word)
  const within = verb === undefined ? verbOf.get(prefixed.exec(word)?.[1] ?? "") : undefined
  return within === "change" || within === "service" ? within : verb
}
const prefixed = /^(?:re|un|de|dis)([a-z]{4,})$/

/** Words that are the name of a thing as often as what is done. */
const nouns = wordSet(...lists.nouns)
const workEnds = anyOf(
  `${anyOf(lists.ends)} ?(?:final|the)? ?${anyOf(lists.ended)}?`,
  "task (?:complete|done|finish|completion)|attempt completion|exit \\w+|done",
)
/** Who submits or completes anything but the work itself does something with it. */
const endsWork = new RegExp(`^(?:mcp .{0,40} )?${workEnds}$`)

const choices = /^(?:options|offers|availability)$/
const sets: ReadonlySet<string> = new Set([
  ...["set", "update", "change", "edit", "add", "save", "create", "delete", "remove", "reset", "clear"],
  ...["configure", "send", "accept", "apply", "enable", "disable"],
])

/** What is done to a log that is written. */
const logs: ReadonlySet<string> = new Set([
  "add",
  "append",
  "write",
  "create",
  "update",
  "delete",
  "clear",
  "rotate",
  "save",
])

/** Words that say that something is done and not what. */
const weak: ReadonlySet<string> = new Set(["run", "execute", "make", "start"])
