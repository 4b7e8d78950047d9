import type { LazyPattern } from "../../language/lazy.ts"
import { wordSet } from "../../language/word-forms.ts"
import { any } from "./family.ts"
import type { RulePart } from "./parts.ts"

/** Any of the words in any of their regular forms: `send` is also `sends`, `sending` and `sended`, which does no harm. */
export function inForms(list: string): LazyPattern {
  const all = list.split(/\s+/).flatMap((word) => {
    if (word === "") return []
    const stem = word.replace(/e$/, "")
    const last = word.at(-1) ?? ""
    const doubled = /[^aeiou][aeiou][bdgklmnprt]$/.test(word) ? [`${word}${last}ed`, `${word}${last}ing`] : []
    const changed = word.endsWith("y") ? [`${word.slice(0, -1)}ies`, `${word.slice(0, -1)}ied`] : []
    return [word, `${word}s`, `${word}es`, `${word}'s`, `${stem}ed`, `${stem}ing`, ...doubled, ...changed]
  })
  return any([...new Set(all)].map((word) => word.replace(/_/g, " ")).join("|"))
}

export const mailWords = inForms(
  "outgoing incoming internal external mail e-mail email message send sent receive contact notify inform deliver recipient addressee mailbox inbox letter newsletter invitation correspondence cc bcc post write reply answer forward invoice copy minutes",
)

/** Somebody at a domain, not a machine there. */
export const peopleWords = inForms(
  "anyone anybody someone somebody everyone everybody nobody people folk person staff colleague customer client member employee address team partner investor friend contact addresses folks no_one",
)

export const netWords = inForms(
  "external package website web ip connect ssh telnet ping scan fetch download upload request call api query visit open browse scrape crawl curl wget reach access talk host server machine site website page url link network internet proxy mirror registry webhook endpoint traffic login deploy restart pull push load use touch service consult look_up hit domain surf go log_in log work",
)

/** Words for what runs or stores in a cloud. */
export const cloudWords = inForms(
  "server machine vm instance region zone datacenter datacentre centre center cluster workload deploy deployment host hosting replicate replica backup bucket cdn cloud infrastructure provision stack container disk byte resource launch spin compute storage database",
)

export const resourceWords = inForms(
  "server machine vm instance region zone data_centre data_center datacenter datacentre location cluster workload resource deploy deployment host store storage replicate replica backup bucket database data cdn cloud infrastructure run spin launch provision create disk stack container node bytes file record keep stay leave put place residency tenant environment",
)

export const changeWords = inForms(
  "write wrote written edit change modify alter update overwrite create add save saved touch rename move refactor reformat put store output generate work commit format rewrite fix patch adjust tamper hands leave diff",
)
export const deleteWords = inForms("deletion delete remove erase wipe purge rm trash discard clear empty clean")
export const lookWords = inForms(
  "unread read open look view see enter access go inspect browse cat peek visit list scan search near set_foot exist off-limits forbidden leave_the stay",
)

export const reachWords = inForms(
  "send sent contact message reach notify inform write talk tell answer reply post announce communicate communication notification channel alert question text ring phone call speak chat update reminder inquiry query use customer client parent supplier tenant guest member partner patient applicant driver word publish",
)

/** Texts that go to others. */
export const sentTexts = inForms(
  "mail e-mail email message letter reply answer response newsletter post ticket correspondence communication invitation announcement offer quote send sent write support customer client supplier partner tenant guest parent patient applicant member notice tweet comment public",
)
/** Texts that are kept, where the guard does not look at the language. */
export const keptTexts = inForms(
  "documentation docs readme comment code commit wiki site website ui variable identifier label log string docstring changelog translate translation interface page test file minutes notes comptes release_notes",
)

/** Words of grammar, of emphasis and of command, which narrow nothing. */
const plainWords = wordSet(
  "a an the this that these those any all every each no none never not nor or and but so also too either neither both such same own",
  "i me my mine we us our ours you your yours it its they them their he she who whom whose which what whatever whoever anything nothing something everything one ones",
  "is are be been being am isn't aren't do does don't doesn't done can can't cannot may must mustn't shall should shouldn't will won't would have has having had need needs let lets get gets got go goes come comes make makes made want wants like",
  "at of to in on by for with from into onto out off over about within inside outside beyond under below via through per than as if then there here where when up down near around only just exclusively solely always ever again more most less other others else elsewhere another different sole alone yes ok okay fine free",
  "please thanks allowed permitted forbidden banned prohibited taboo off-limits limits bounds out-of-bounds table question avoid refrain stop quit cease skip exclude block restrict restricted limit limited confine confined keep keeps kept stay stays remain remains leave leaves left stick use uses used using way ways thing things stuff place places part parts rest option options job task work works working behalf name time times case rule exception exceptions reason reasons circumstances matter hands foot feet concern whole entire entirely completely strictly directly straight automatically ourselves yourself",
  "agent agents assistant bot ai model new old own two three four five single first second last next today's daily general really simply exactly full whatsoever regardless including included because since",
)

/** Words of a part that neither its grammar nor its family explains: each may narrow what is said. */
export const strangeWords = ({ marked }: RulePart, ...families: readonly LazyPattern[]): readonly string[] =>
  marked
    .split(/[^\p{L}\p{N}'‹›-]+/u)
    .filter(
      (word) =>
        word !== "" && !/[‹\d]/.test(word) && !plainWords.has(word) && !families.some((words) => words.test(word)),
    )
