import { wordSet } from "./word-forms.ts"
import { anyOf } from "./word-lists.ts"
import lists from "./words.json" with { type: "json" }

/** Latin letters without their accents, so that a command is one with and without them. */
const unaccented = (text: string): string =>
  /^[\0-\x7f]*$/.test(text)
    ? text
    : text
        .normalize("NFD")
        .replace(/(?<=[a-z])\p{Mn}+/gu, "")
        .normalize("NFC")

/** Verbs in the form that commands, which a sentence of plain report does not start with. */
const verbs = wordSet(lists.commands.english, unaccented(lists.commands.others))

/** What may stand before the verb of a command. */
const leads = wordSet(lists.commands.leads)

const obligations = new RegExp(
  anyOf(
    `^${anyOf(lists.dutyBearers)}\\s+${anyOf(lists.duties)}\\b`,
    "^(?:it is|is) (?:mandatory|required|essential|imperative)",
    `^${anyOf(lists.dutiesElsewhere)}(?![\\p{L}])`,
  ),
  "u",
)

/** Forms that only command: French and Portuguese politeness, Russian imperatives, Japanese and Korean requests. */
const commandForms =
  /^(?:\p{L}{3,14}ez(?!\p{L})|(?:не )?\p{L}{2,12}[аяуи]йте(?!\p{L})|(?:не )?\p{L}{3,12}[аяу]й(?!\p{L}))|(?:ください|なさい|下さい|하세요|십시오|해 주세요|하라)\s?[。.!]?\s*$/u

const chineseCommand = new RegExp(`^${anyOf(lists.chineseCommands)}`)

/** Characters of a text that are read: a command stands at its start. */
const maxRead = 400

/** How far into a text the verb of a command is sought. */
const maxLeads = 4

/** What a line of a summary may carry before its first word: bullets, labels such as [Next], emphasis, quotation marks. */
const dress = /^(?:\s|[-*•>#+"'`(]|<[a-z/][^<>\n]{0,40}>|\d{1,3}[.)]|\[[^\]\n]{0,40}\])+/i

/** A condition or purpose before the command itself. */
const clauseBefore = /^(?:after|before|once|when|whenever|if|as soon as|to|in order to|for)\b[^,.]{1,120}, /

/** Does the text tell its reader to do something? English, Spanish, German, French, Russian and Chinese. */
export function directs(text: string): boolean {
  const bare = unaccented(text.slice(0, maxRead).replace(dress, "").toLowerCase()).replace(clauseBefore, "")
  if (obligations.test(bare) || chineseCommand.test(bare) || commandForms.test(bare)) return true
  const words = bare.match(/[\p{L}'’]+/gu) ?? []
  for (const word of words.slice(0, maxLeads + 1)) {
    if (verbs.has(word)) return true
    if (!leads.has(word)) return false
  }
  return false
}
