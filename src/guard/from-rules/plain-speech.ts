import { lazy } from "../../language/lazy.ts"

/**
 * The many ways to forbid, to ask for a question and to confine, each as the one that the families are read in: "I forbid you to run",
 * "refrain from running" and "running … is not permitted" are all "never run". Nothing but the way of saying changes.
 */
export function plainSpeech(text: string): string {
  let read = text
  for (const [pattern, plain] of [...waysToForbid(), ...waysToAsk(), ...waysToConfine()])
    read = read.replace(pattern, plain)
  return read === text ? text : read.replace(/\s+/g, " ").trim()
}

/** Before it a clause starts. */
const start = "(?<=^(?:please |and |but |also |so |then )*|[,;:.] (?:please |and |but |so |also )*)"

const notPermitted =
  "(?:banned|not (?:permitted|allowed|acceptable|ok|okay|an option)|prohibited|out of bounds|off[- ]limits|an? (?:absolute |strict )?no-go(?: area| zone)?|taboo|a no|out of the question|off the table|untouchable|sacrosanct|a red line)"

type Way = readonly [said: RegExp, plain: string]

const waysToForbid = lazy((): readonly Way[] => [
  // Who speaks forbids it.
  [new RegExp(`${start}i(?: hereby| strictly)? forbid you (?:to|from) `, "gu"), "never "],
  [new RegExp(`${start}i (?:don't|do not|never)(?: ever)? want (?:to see )?you (?:to )?(?=\\p{L})`, "gu"), "never "],
  [new RegExp(`${start}i (?:won't|will not|can't|don't) (?:have|see|let) you (?=\\p{L}+)`, "gu"), "never "],
  [new RegExp(`${start}i want (?:zero|no) `, "gu"), "no "],
  [
    new RegExp(
      `${start}i (?:don't|do not|never)(?: ever)? want to (?:see|find|read|hear of) (?:an?|any|one|a single) `,
      "gu",
    ),
    "no ",
  ],
  [new RegExp(`${start}i (?:insist on|want) (‹?\\p{L}+›?) for all `, "gu"), "always use $1 for all "],
  [new RegExp(`${start}i only want `, "gu"), "only "],
  // You are not to.
  [
    new RegExp(
      `${start}you(?:'re| are)? (?:(?:must|shall|should|may|can|will|are) )?(?:(?:not|never)(?: ever)?(?: (?:allowed|permitted|supposed|authorized))?(?: to)?|under no circumstances(?: to)?|forbidden (?:to|from)|prohibited from|banned from) (?=\\p{L})`,
      "gu",
    ),
    "never ",
  ],
  [new RegExp(`${start}you have no (?:authority|right|permission|mandate) to `, "gu"), "never "],
  [new RegExp(`${start}you have no business (?:in|with|on|near) `, "gu"), "stay away from "],
  // At no time.
  [
    /(?:under|in|on) no (?:circumstances?|conditions?|account|case) (?:are|may|should|must|can|shall|will) you (?:to |ever )?/gu,
    "never ",
  ],
  [
    /(?:under|in|on) no (?:circumstances?|conditions?|account|case) (?:is|are) (.{1,60}?) to be (?=\p{L})/gu,
    "$1 must never be ",
  ],
  [/(?:under|in|on) no (?:circumstances?|conditions?|account|case),? (?=\p{L})/gu, "never "],
  [new RegExp(`${start}at no (?:time|point) (?=\\p{L})`, "gu"), "never "],
  // Leave it.
  [new RegExp(`${start}(?:refrain|abstain|desist) from (?=\\p{L}+ing(?:\\s|$))`, "gu"), "never "],
  [new RegExp(`${start}(?:quit|stop|cease|avoid) (?=\\p{L}+ing(?:\\s|$))`, "gu"), "never "],
  [new RegExp(`${start}(?:steer|stay|keep|stand) clear of `, "gu"), "stay away from "],
  [
    /(?<!\p{L})(?:keep|stay) (?:well |right |entirely |completely )?(?:out|away) (?:of|from) (.{1,60}?) (?:entirely|completely|altogether|at all)(?=[.!,;]|$)/gu,
    "stay away from $1",
  ],
  // It is not permitted, and what is done stands before or behind.
  [
    new RegExp(
      `(?<!\\p{L})(is|are|isn't|aren't) (?:strictly |absolutely |completely |altogether )?${notPermitted}(?: (?:for you|altogether|entirely|completely|at all times))*(?![\\p{L}-])`,
      "gu",
    ),
    "$1 off-limits",
  ],
  [new RegExp(`${start}it(?:'s| is) (?:strictly )?(?:forbidden|off-limits)(?: for you)? to `, "gu"), "never "],
  [
    new RegExp(`${start}(\\p{L}+ing) ([^,;:]{1,80}?) (?:is|are) (?:strictly )?(?:forbidden|off-limits)`, "gu"),
    "never $1 $2",
  ],
  [
    new RegExp(`${start}(\\p{L}{2,}) (?:no|nothing|nobody) ([^,;:]{0,80}?), (?:was|which|that) `, "gu"),
    "never $1 anything $2 that ",
  ],
  [
    new RegExp(`${start}(?:nobody|no one), (?:and (?:that|this) includes you|you included|not even you),? `, "gu"),
    "nobody ",
  ],
])

const waysToAsk = lazy((): readonly Way[] => [
  [
    /(?<!\p{L})(?:hold off|wait)(?: on| with) (.{1,60}?) (?:until|till) (?:you've |you have |you )?(?:heard? from me|hear back from me|i .{1,20}?)(?=[.!,;]|$)/gu,
    "ask me before $1",
  ],
  [
    /(?<!\p{L})(?:needs?|requires?|takes?) an? (?:explicit |clear )?(?:yes|nod|thumbs up|green light|go) from me/gu,
    "needs my approval",
  ],
  [/(?<!\p{L})get an? (?:explicit |clear )?(?:yes|nod|thumbs up|green light|go) from me/gu, "get my approval"],
  [
    /(?<!\p{L})i (?:want|have|need|would like|'d like|expect) to be (?:consulted|asked|notified|told|informed) (?:ahead of|prior to|before|first for)/gu,
    "ask me before",
  ],
  [
    /(?<!\p{L})let me (?:approve|confirm|see|review|check|ok|okay) (.{1,60}?) before (?:it|they) (?:go|goes|leaves?|(?:is|are) sent|gets? sent)(?: (?:out|off))*/gu,
    "ask me before you send $1",
  ],
  [
    /(?<!\p{L})let me (?:approve|confirm|see|review|check|ok|okay) (.{1,60}?) before (?=you )/gu,
    "check $1 with me before ",
  ],
  [/(?<!\p{L})ahead of (?=any|every|each|a )/gu, "before "],
])

const waysToConfine = lazy((): readonly Way[] => [
  [/(?<!\p{L})the sole (?=\p{L})/gu, "the only "],
  // "It goes to … or it doesn't go": what is named is all.
  [
    /,? or (?:it|they|that|nothing) (?:doesn't|don't|does not|do not|isn't|is not|aren't|won't|will not)(?: \p{L}+){0,4}(?=[.!]*$)/gu,
    ", nothing else",
  ],
  [/(?<=must be |are |is )kept off (?:every|all|any|the) /gu, "never on "],
  [/(?<!\p{L})solely(?!\p{L})/gu, "only"],
  [/(?<!\p{L})(?:confine|restrict|limit|keep) (your|all|any|every) (\p{L}+) (?:to|within|inside|in) /gu, "$2 only in "],
  [/(?<!\p{L})(?:are|is) (?:restricted|confined|limited) to (?!\D{0,5}\d)(?:use (?:of|on) )?/gu, "only to "],
])
