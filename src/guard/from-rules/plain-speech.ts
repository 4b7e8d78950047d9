import { lazy } from "../../language/lazy.ts"

/**
 * The many ways to forbid, to ask for a question and to confine, each as the one that the families are read in: "I forbid you to run",
 * "refrain from running" and "running … is not permitted" are all "never run". Nothing but the way of saying changes.
 */
export function plainSpeech(text: string): string {
  let read = text
  for (const [pattern, plain] of [
    ...leads(),
    ...turnsOfSpeech(),
    ...turnsAway(),
    ...waysToForbid(),
    ...waysToAsk(),
    ...waysToConfine(),
  ])
    read = read.replace(pattern, plain)
  return read === text ? text : read.replace(/\s+/g, " ").trim()
}

/** Before it a clause starts. */
const start = "(?<=^(?:please |and |but |also |so |then )*|[,;:.] (?:please |and |but |so |also )*)"

const notPermitted =
  "(?:banned|not (?:permitted|allowed|acceptable|ok|okay|an option)|prohibited|out of bounds|off[- ]limits|an? (?:absolute |strict )?no-(?:go|touch|fly)(?: area| zone)?|taboo|a no|(?:blocked|barred|disabled|closed|out)(?= (?:for|to) you)|verboten|unacceptable|none of your (?:business|concern)|no (?:business|concern) of yours|not (?:part of )?your (?:job|business|concern|department)|not for you|not your(?:s| place)|never the answer|not the (?:solution|answer)|not fine|not cool|not on|out of the question|off the table|untouchable|sacrosanct|a red line)"

type Way = readonly [said: RegExp, plain: string]

/** Leads that only say that somebody wants it. */
const leads = lazy((): readonly Way[] => [
  [
    new RegExp(
      `${start}(?:i'd like you to|i would like you to|i want you to|i need you to|i expect you to|i'm asking you to|make sure (?:that )?you|make sure to|be sure to|remember to|see to it that you|it's important (?:that you|to)|it is important (?:that you|to)|your job is to|whatever (?:you do|happens|the (?:reason|problem|cause) is),?|no matter what(?: happens)?,?|a (?:friendly )?reminder:|(?:note|nb|fyi|heads up|reminder|rule|important|remember):|(?:just )?so you know,?|by the way,?|one (?:more )?thing:|in general,?|for (?:security|legal|privacy|compliance|cost|safety|good|obvious) reasons,?|as a rule,?|just|simply) (?=\\p{L}|#|‹)`,
      "gu",
    ),
    "",
  ],
  [
    /(?<!\p{L})(?:exactly |just )?(?:as|the way|how) (?:it is|they are|it stands|they stand|it's)(?=[.!,;]|$)/gu,
    "unchanged",
  ],
  [
    /(?<!\p{L})(is|are) on (?:the|my|our|a) (?:do-not-\p{L}+|block|black|deny|banned|no-go|forbidden)(?: |-)?list(?!\p{L})/gu,
    "$1 off-limits",
  ],
  [/,? (?:at any (?:time|point)|i\.e\.|without exceptions?|no exceptions?)(?=[.!,; ]|$)/gu, ""],
  [/(?<!\p{L})(?:at all times|from now on|going forward|henceforth),?(?!\p{L})/gu, "always"],
  [/,? until further notice(?=[.!,;]|$)/gu, ""],
  [/,? (?:and|that) (?:that )?includes you(?: too)?(?=[.!,;]|$)/gu, ""],
  [/,? (?:now or (?:later|ever)|now and forever|today or tomorrow)(?=[.!,;]|$)/gu, ""],
  [/(?<!\p{L})(?:get|be|stay) in touch with(?!\p{L})/gu, "contact"],
  [
    /(?<!\p{L})only (?:after|once|with|when|if) (?=asking|checking|my (?:approval|ok|okay|consent|permission|go|blessing|say-so|yes))/gu,
    "not without ",
  ],
  [/(?<!\p{L})the one and only(?!\p{L})/gu, "the only"],
  [/(?<!\p{L})(?:login|log-in|sign-in|access) (?:details|data|info|information)(?!\p{L})/gu, "credentials"],
  [
    /(?<!\p{L})(?:two|2)-?(?: |-)?(?:factor|step) (?:login|verification|auth|sign-in|logins|authentication)/gu,
    "two-factor authentication",
  ],
  [/(?<!\p{L})private (?:data|information|details|info)(?!\p{L})/gu, "personal data"],
])

/** Nobody but people does it: you do not. */
const othersOnly =
  "(?:i|me|we|us|humans?|a human|people|an admin|admins|administrators|the (?:admins?|owner|maintainers?|ops team|release team|team|boss))"

/** Turns of speech that forbid without a word that does. */
const turnsOfSpeech = lazy((): readonly Way[] => [
  [
    new RegExp(
      `(?<!\\p{L})(?:no one|nobody) (?:but|except|other than|besides) ${othersOnly}(?: (?:may|can|should))?(?!\\p{L})`,
      "gu",
    ),
    "you never",
  ],
  [
    new RegExp(
      `(?<!\\p{L})only ${othersOnly} (?:may|can|should|shall|do|does|get to|gets to|am allowed to|are allowed to|is allowed to)(?!\\p{L})`,
      "gu",
    ),
    "you must never",
  ],
  [
    new RegExp(
      `${start}i(?:'d| would|'ll| will)? (?:be (?:very |really )?(?:furious|unhappy|angry|annoyed|upset|cross)|hate it|be mad) if you(?: ever)? `,
      "gu",
    ),
    "never ",
  ],
  [
    new RegExp(
      `${start}(?:i|we)(?:'d| would) (?:much )?(?:rather|prefer)(?: it)?(?: that| if)? you (?:didn't|did not|don't|never)(?: ever)? `,
      "gu",
    ),
    "never ",
  ],
  [
    new RegExp(`${start}(?:i|we)(?:'d| would) (?:much )?(?:rather|prefer) not (?:to )?(?:see|find|have) `, "gu"),
    "never have ",
  ],
  [new RegExp(`${start}(?:i|we) only (?:allow|permit|want|accept) `, "gu"), "only "],
  [new RegExp(`${start}don't you (?:dare|ever)(?: to)? `, "gu"), "never "],
  [new RegExp(`${start}i (?:never|don't(?: ever)?) want to (?:see|find|hear of|catch) (?:you )?`, "gu"), "never have "],
  [
    new RegExp(`${start}(?:i|we) (?:never|don't(?: ever)?) want (?:any |a |a single )?(?!you )(?=\\p{L}|‹)`, "gu"),
    "no ",
  ],
  [new RegExp(`${start}i won't (?:approve|accept|tolerate|allow|have) `, "gu"), "no "],
  [
    new RegExp(
      `${start}(?:you (?:have to |must |need to |can |should )?)?(?:get by|make do|do|work|manage|live|cope|get along) without (?:using |the |any )*(?!(?:network|internet|asking|my|an?)(?!\\p{L}))(?=\\p{L})`,
      "gu",
    ),
    "never use ",
  ],
])

/** Turns of speech that keep somebody away from something. */
const turnsAway = lazy((): readonly Way[] => [
  [/(?<!\p{L})(?:you've|you have|you) (?:got )?no (?:access|right of access) to /gu, "stay away from "],
  [/(?<!\p{L})(?:you've got|you have got) no business /gu, "you have no business "],
  [/(?<!\p{L})you have no business (?=[\p{L}-]+ing )/gu, "never "],
  [
    /(?<!\p{L})(?:keep|take|get) (?:your )?(?:hands|fingers|nose|paws|mitts) (?:off|out of|away from)(?: of)?(?!\p{L})/gu,
    "stay away from",
  ],
  [
    /(?<!\p{L})(?:don't|do not|never)(?: ever)? (?:even )?(?:go near|come near|get near|set foot in|lay (?:a hand|hands|a finger) on)(?!\p{L})/gu,
    "stay away from",
  ],
  [/(?<!\p{L}|you )have no (?:place|business(?: being)?) (?=in|on)/gu, "must never be "],
  [/(?<!\p{L})has no (?:place|business(?: being)?) (?=in|on)/gu, "must never be "],
  [
    new RegExp(
      `${start}(?:not (?:a single|one|a)(?! \\p{L}+ more)|no more|there (?:must|should|shall|may|can|is to|are to) be no|let there be no) `,
      "gu",
    ),
    "no ",
  ],
  [
    new RegExp(`${start}leave (?:all |any |the )?([^,;:]{2,60}?) to (?:me|us|people|humans)(?=[.!,;]|$)`, "gu"),
    "never use $1",
  ],
  [new RegExp(`${start}no word (?=on |about )`, "gu"), "never post "],
])

const waysToForbid = lazy((): readonly Way[] => [
  // Who speaks forbids it.
  [new RegExp(`${start}i(?: hereby| strictly)? forbid you (?:to|from) `, "gu"), "never "],
  [
    new RegExp(`${start}(?:i|we) (?:don't|do not|never)(?: ever)? want (?:to see )?you (?:to )?(?=\\p{L})`, "gu"),
    "never ",
  ],
  [new RegExp(`${start}i (?:won't|will not|can't|don't) (?:have|see|let) you (?=\\p{L}+)`, "gu"), "never "],
  [new RegExp(`${start}i want (?:zero|no) `, "gu"), "no "],
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
      `(?<!\\p{L})(is|are|isn't|aren't) (?:strictly |absolutely |completely |altogether )?${notPermitted}(?: (?:for you|to you|altogether|entirely|completely|at all times))*(?![\\p{L}-])`,
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
  [/(?<!\p{L})solely(?!\p{L})/gu, "only"],
  [/(?<!\p{L})(?:confine|restrict|limit|keep) (your|all|any|every) (\p{L}+) (?:to|within|inside|in) /gu, "$2 only in "],
  [/(?<!\p{L})(?:are|is) (?:restricted|confined|limited) to (?!\D{0,5}\d)(?:use (?:of|on) )?/gu, "only to "],
])
