/** What a field of a call is for, as its name says. */
export type Role =
  | "recipient"
  | "sender"
  | "subject"
  | "body"
  | "sql"
  | "command"
  | "code"
  | "amount"
  | "quantity"
  | "currency"
  | "region"
  | "path"
  | "url"
  | "environment"
  | "other"

const word = (words: string): RegExp => new RegExp(`(?:^|_)(?:${words})(?:_|$)`)

/** In the order in which they are asked: the more telling name first. */
const roles: readonly (readonly [Role, RegExp])[] = [
  [
    "recipient",
    /^(?:to|cc|bcc)$|^(?:to|cc|bcc)_(?:e?mails?|addr|address|addresses|recipients?|list|users?|number)$|(?:^|_)(?:recipients?|rcpts?|addressees?|attendees?|invitees?|guests?|participants?|collaborators?|audience|mailto)(?:_|$)|(?:send|mail|email|forward|share|shared|deliver|notify|invite|forwarded)_(?:to|with|users?|emails?)$|^(?:forward|notify|invite)$/,
  ],
  ["sender", word("from|sender|reply_to|author|on_behalf_of")],
  ["currency", word("currency|currencies|ccy")],
  ["sql", word("sql|query|queries|statements?|stmt")],
  ["code", word("code|python|javascript|snippet|program|cell")],
  ["command", word("commands?|cmd|cmdline|shell|bash|script|argv|exec|stdin|keystrokes")],
  ["subject", word("subject|title|topic|headline")],
  [
    "body",
    word(
      "body|text|contents?|message|msg|html|description|comments?|notes?|summary|markdown|caption|reason|excerpt|thread|prompt|instructions?|answer|response|reply|str|string|patch|diff|data",
    ),
  ],
  [
    "amount",
    word(
      "amounts?|price|total|costs?|sum|subtotal|fees?|payment|budget|spend|charge|bid|deposit|usd|eur|gbp|cents|value",
    ),
  ],
  ["quantity", word("quantity|qty|count|units?|seats?|licen[sc]es?|copies|pieces|nights|months|times")],
  ["region", word("regions?|zones?|location|datacenter|az")],
  [
    "path",
    word("paths?|files?|filename|filepath|dir|directory|folder|attachments?|cwd|workdir|src|dst|source|destination"),
  ],
  ["url", word("urls?|uri|href|hosts?|hostname|endpoint|server|domain|webhook|origin|callback|link|site|proxy|remote")],
  [
    "environment",
    word(
      "env|environment|stage|tier|cluster|database|db|schema|instance|profile|namespace|project|account|target|connection|dsn|context|workspace",
    ),
  ],
]

const known = new Map<string, Role>()
/** Field names repeat from call to call; strange ones do not, so only so many are remembered. */
const maxKnown = 2_000

function roleOfKey(key: string): Role {
  const met = known.get(key)
  if (met !== undefined) return met
  const role = roles.find(([, pattern]) => pattern.test(key))?.[0] ?? "other"
  if (known.size < maxKnown && key.length <= 64) known.set(key, role)
  return role
}

/** The role of the innermost name that has one. */
export function roleOf(keys: readonly string[]): Role {
  for (let at = keys.length - 1; at >= 0; at--) {
    const role = roleOfKey(keys[at] ?? "")
    if (role !== "other") return role
  }
  return "other"
}

/** `toAddress`, `To-Address` and `TO_ADDRESS` as one name. */
export const keyName = (key: string): string =>
  key
    .slice(0, 200)
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
