import { wordSet, wordSetsOf } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import lists from "./tool-verbs.json" with { type: "json" }

/** What a tool does, judged by its name: looks something up, changes something, acts on a screen, thinks, ends the work, keeps a list. */
type ToolVerb = "lookup" | "change" | "service" | "gesture" | "think" | "finish" | "ask" | "list"

/**
 * In order of precedence: a word counts under the first verb that lists it. `service` has further words for making, moving or giving
 * something.
 */
const verbs: Readonly<Record<ToolVerb, readonly string[]>> = lists.verbs

const verbOf = new Map<string, ToolVerb>()
for (const [verb, known] of wordSetsOf(verbs)) for (const word of known) if (!verbOf.has(word)) verbOf.set(word, verb)

/** Maximum length of a tool name that is read. */
const maxNameLength = 120

/** Tools that keep the agent's own plan or report its current topic; a provider's `change_plan` is not among them. */
const planTool =
  /(?:^|__)(?:(?:(?:update|write|set|create|make|exit|enter)_?)?plan(?:_?mode|ner)?|update_topic|report_intent)$/i
/** Opening one of these creates it; opening anything else reads it. */
const createdByOpening = /^(?:ticket|case|dispute|account|issue|incident|claim|request|order|pr|pull)$/

/** Verifying a person's identity is an act: afterwards it has been done. */
const identifies = /^(?:verify|check|confirm|authenticate) (?:identity|customer|caller|user|otp|pin|code)\b/

/** In `mcp__todo__write` the server is `todo`; the tool's own name decides, unless the server keeps a list. */
const serverPrefix = /^mcp__(.{1,60}?)__(?=\w)/
const wordsOf = (name: string): readonly string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .split(/[^a-z\d]+/)

/**
 * Returns the verb of the first known word of a tool's name; a list takes precedence, because `update_plan` changes nothing but the plan.
 */
export function toolVerb(tool: string): ToolVerb | undefined {
  if (planTool.test(tool)) return "list"
  const [server = [], words = server] = tool
    .slice(0, maxNameLength)
    .split(serverPrefix)
    .filter((part) => part !== undefined && part !== "")
    .map(wordsOf)
  const known = words.flatMap((word) => verbIn(word) ?? [])
  const telling = words.filter((word) => !weak.has(word)).flatMap((word) => verbIn(word) ?? [])
  if (words[0] === "open" && words.some((word) => createdByOpening.test(word))) return "change"
  if (identifies.test(words.join(" "))) return "change"
  if (known.includes("list") || server.some((word) => verbOf.get(word) === "list")) return "list"
  // A tool named after options only looks them up: `transfer_options`, `room_availability`.
  if (words.length > 1 && choices.test(words.at(-1) ?? "") && !sets.has(words[0] ?? "")) return "lookup"
  // `pods_log` shows a log; `log_call` writes one.
  if (words.length > 1 && words.at(-1) === "log" && !words.some((word) => logs.has(word))) return "lookup"
  // Some names begin with their object: `mail_search`, `order_status`, `queue_submit`.
  const first = words.findIndex((word) => verbIn(word) !== undefined && !weak.has(word))
  const isNoun = nouns.has(words[first] ?? "") && words.slice(first + 1).some((word) => verbOf.has(word))
  const does = (isNoun ? telling[1] : telling[0]) ?? known[0]
  return does === "finish" && words.length > 1 && !endsWork.test(words.join(" ")) ? "change" : does
}

/**
 * Returns the verb of a word, also behind a prefix: `reissue`, `unblock` and `deactivate` are changes because `issue`, `block` and
 * `activate` are.
 */
function verbIn(word: string): ToolVerb | undefined {
  const verb = verbOf.get(word)
  const within = verb === undefined ? verbOf.get(prefixed.exec(word)?.[1] ?? "") : undefined
  return within === "change" || within === "service" ? within : verb
}
const prefixed = /^(?:re|un|de|dis)([a-z]{4,})$/

/** Words that are as often the name of a thing as a verb. */
const nouns = wordSet(...lists.nouns)
const workEnds = anyOf(
  `${anyOf(lists.ends)} ?(?:final|the)? ?${anyOf(lists.ended)}?`,
  "task (?:complete|done|finish|completion)|attempt completion|exit \\w+|done",
)
/** Matches names that end the work itself; submitting or completing anything else is a change. */
const endsWork = new RegExp(`^(?:mcp .{0,40} )?${workEnds}$`)

const choices = /^(?:options|offers|availability)$/
const sets: ReadonlySet<string> = new Set([
  ...["set", "update", "change", "edit", "add", "save", "create", "delete", "remove", "reset", "clear"],
  ...["configure", "send", "accept", "apply", "enable", "disable"],
])

/** Verbs for writing or managing a log. */
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

/** Verbs that do not say what is done. */
const weak: ReadonlySet<string> = new Set(["run", "execute", "make", "start"])
