import type { Span } from "../src/message/message.ts"
import { type Labelled, linesOf } from "./rules-examples.ts"

/**
 * Messages in which words stand before a sentence: an announcement of a standing rule, or of something else. They are made of
 * `bench/rules/announcements.txt`, each lead with some bodies in the forms in which people write them.
 */

type Words = { readonly rules: string[]; readonly others: string[]; readonly bare: string[]; readonly facts: string[] }
type Language = Words & { readonly headings: string[]; readonly otherHeadings: string[] }

const sorts: Readonly<Record<string, keyof Language>> = {
  "+": "rules",
  "-": "others",
  "~": "bare",
  x: "facts",
  "#": "headings",
  "=": "otherHeadings",
}

function languages(): ReadonlyMap<string, Language> {
  const found = new Map<string, Language>()
  for (const line of linesOf("announcements.txt")) {
    const [lang = "", sign = ""] = line.split(" ", 2)
    const own = found.get(lang) ?? { rules: [], others: [], bare: [], facts: [], headings: [], otherHeadings: [] }
    found.set(lang, own)
    own[sorts[sign] ?? "facts"].push(line.slice(lang.length + 3))
  }
  return found
}

/** Number of messages made of each lead, and of each heading. */
const [formsOfLead, formsOfHeading] = [10, 6]

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
const ended = (text: string): string => (/[.!?。？]$/.test(text) ? text : `${text}.`)

type Part = { readonly text: string; readonly isRule: boolean }

/** Joins parts, and marks those that are rules. */
function messageOf(parts: readonly (string | Part)[]): Labelled {
  const rules: Span[] = []
  let text = ""
  for (const part of parts) {
    if (typeof part !== "string" && part.isRule) rules.push({ start: text.length, end: text.length + part.text.length })
    text += typeof part === "string" ? part : part.text
  }
  return { text, rules }
}

export function announcedBodies(): readonly Labelled[] {
  return [...languages()].flatMap(([lang, words]) => {
    const isWide = lang === "ja" || lang === "zh"
    const messages: Labelled[] = []
    const pick = (from: readonly string[], at: number): string => from[at % from.length] ?? ""
    const leads = [
      ...words.rules.map((lead) => ({ lead, isRule: true })),
      ...words.others.map((lead) => ({ lead, isRule: false })),
    ]
    for (const [n, { lead, isRule }] of leads.entries())
      for (let k = 0; k < formsOfLead; k++) {
        // Behind an announcement of a rule stands now and then something else.
        const isFact = isRule ? k === 9 : k % 3 === 2
        const bodies = isFact ? words.facts : words.bare
        const bare = pick(bodies, n * 7 + k * 11)
        const part = (text: string): Part => ({ text, isRule: isRule && !isFact })
        const body = part((n + k) % 3 === 0 ? bare : ended(bare))
        const sentence = part(ended(upper(bare)))
        const next = part(ended(upper(pick(bodies, n * 5 + k * 3 + 1))))
        const task = ended(upper(pick(words.facts, n * 3 + k * 5 + 2)))
        const [colon, gap] = isWide ? ["：", ""] : lang === "fr" ? [" :", " "] : [":", " "]
        const forms: readonly (readonly (string | Part)[])[] = [
          [`${lead}${colon}${gap}`, body],
          [`${ended(lead)}${gap}`, sentence],
          [`${lead}${colon}${gap}`, part(ended(bare)), ` ${task}`],
          [`${task}${gap}${lead}${colon}${gap}`, sentence],
          [`${lead} — `, body],
          [`${task} ${ended(lead)}${gap}`, sentence],
          [`${ended(lead)}${gap}`, sentence, gap, next],
          [`${lead}${colon}\n- `, part(bare), "\n- ", part(next.text.toLowerCase())],
          [`${lead}\n`, sentence],
          [`${lead}, `, body],
        ]
        messages.push(messageOf(forms[(n + k) % forms.length] ?? []))
      }
    const headings = [
      ...words.headings.map((heading) => ({ heading, isRule: true })),
      ...words.otherHeadings.map((heading) => ({ heading, isRule: false })),
    ]
    for (const [n, { heading, isRule }] of headings.entries())
      for (let k = 0; k < formsOfHeading; k++) {
        const mark = ["## ", "", "### ", "**"][(n + k) % 4] ?? ""
        const items = Array.from({ length: 2 + (k % 3) }, (_, at) => ({
          text: pick(words.bare, n * 7 + k * 5 + at * 3),
          isRule,
        }))
        const task = ended(upper(pick(words.facts, n + k)))
        const head = mark === "**" ? `**${heading}**\n` : `${mark}${heading}${mark === "" ? ":" : ""}\n`
        messages.push(messageOf([head, ...items.flatMap((item) => ["- ", item, "\n"]), k % 2 === 0 ? `\n${task}` : ""]))
      }
    return messages
  })
}
