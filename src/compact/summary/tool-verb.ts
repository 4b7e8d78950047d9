/** What a tool does by its name: looks something up, changes something, moves about on a screen, thinks, ends the work, keeps a list. */
export type ToolVerb = "lookup" | "change" | "gesture" | "think" | "finish" | "ask" | "list"

const verbs: Readonly<Record<ToolVerb, string>> = {
  lookup:
    "get list search find read fetch query lookup view show check describe calculate compute count browse retrieve inspect status grep glob ls cat open visit navigate goto extract download load recall ask_model verify validate estimate analyze info details weather translate websearch webfetch",
  change:
    "create update delete cancel book send add remove set modify transfer pay refund post put exchange return approve assign close move rename upload publish schedule register insert change edit write execute deploy start stop restart enable disable merge commit push reserve order purchase issue grant revoke reset apply toggle save invite reply notify run make patch replace install submit_order",
  gesture: "click type press scroll wait hover screenshot snapshot drag key mouse tap swipe focus back forward",
  think: "think thought reason reflect ponder",
  finish: "finish submit complete completion done final answer exit terminate",
  ask: "ask question clarify followup confirm",
  list: "todo todos plan tasks checklist todowrite",
}

const verbOf = new Map<string, ToolVerb>()
const order: readonly ToolVerb[] = ["lookup", "change", "gesture", "think", "finish", "ask", "list"]
for (const verb of order) for (const word of verbs[verb].split(" ")) if (!verbOf.has(word)) verbOf.set(word, verb)

/** Names longer than this are nobody's tool. */
const maxNameLength = 120

/** By the first word of the name that is known; a list wins over everything because `update_plan` changes nothing but the plan. */
export function toolVerb(tool: string): ToolVerb | undefined {
  const words = tool
    .slice(0, maxNameLength)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
  const known = words.flatMap((word) => verbOf.get(word) ?? [])
  return known.includes("list") ? "list" : known[0]
}
