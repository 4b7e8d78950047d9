import { wordSet } from "./word-forms.ts"
import { anyOf } from "./word-lists.ts"
import lists from "./words.json" with { type: "json" }

/** Removes accents from Latin letters, so that a command matches with and without them. */
const unaccented = (text: string): string =>
  /^[\0-\x7f]*$/.test(text)
    ? text
    : text
        .normalize("NFD")
        .replace(/(?<=[a-z])\p{Mn}+/gu, "")
        .normalize("NFC")

/** Verbs in the imperative, with which a plain report does not start. */
const verbs = wordSet(lists.commands.english, unaccented(lists.commands.others))

/** Words that may precede the verb of a command. */
const leads = wordSet(lists.commands.leads)

const obligations = new RegExp(
  anyOf(
    `^${anyOf(lists.dutyBearers)}\\s+${anyOf(lists.duties)}\\b`,
    "^(?:it is|is) (?:mandatory|required|essential|imperative)",
    `^${anyOf(lists.dutiesElsewhere)}(?![\\p{L}])`,
  ),
  "u",
)

/** Matches forms that are only used for commands: French and Portuguese polite forms, Russian imperatives, Japanese and Korean requests. */
const commandForms =
  /^(?:\p{L}{3,14}ez(?!\p{L})|(?:не )?\p{L}{2,12}[аяуи]йте(?!\p{L})|(?:не )?\p{L}{3,12}[аяу]й(?!\p{L}))|(?:ください|なさい|下さい|하세요|십시오|해 주세요|하라)\s?[。.!]?\s*$/u

const chineseCommand = new RegExp(`^${anyOf(lists.chineseCommands)}`)

/** Maximum number of characters that are examined: a command is at the start of a text. */
const maxRead = 400

/** Maximum number of words before the verb of a command. */
const maxLeads = 4

/** Matches what a summary line may have before its first word: bullets, labels such as [Next], emphasis, quotation marks. */
const linePrefix = /^(?:\s|[-*•>#+"'`(]|<[a-z/][^<>\n]{0,40}>|\d{1,3}[.)]|\[[^\]\n]{0,40}\])+/i

/** Matches a condition or purpose before the command itself. */
const clauseBefore = /^(?:after|before|once|when|whenever|if|as soon as|to|in order to|for)\b[^,.]{1,120}, /

/**
 * True if the text tells its reader to do something. English, Spanish, German, French, Russian and Chinese, and a few forms of other
 * languages.
 */
export function directs(text: string): boolean {
  const bare = unaccented(text.slice(0, maxRead).replace(linePrefix, "").toLowerCase()).replace(clauseBefore, "")
  if (obligations.test(bare) || chineseCommand.test(bare) || commandForms.test(bare)) return true
  const words = bare.match(/[\p{L}'’]+/gu) ?? []
  for (const word of words.slice(0, maxLeads + 1)) {
    if (verbs.has(word)) return true
    if (!leads.has(word)) return false
  }
  return false
}
