import { normalize } from "../language/normalize.ts"
import { digestHeading } from "../message/own-text.ts"
import { saysAlways } from "./find-lead.ts"
import { documentHeading, memoryHeading, operatorHeading, pinsHeading, toolHeading } from "./headings.ts"
import { acted, doubtIn } from "./survival-around.ts"
import { maxText, readText } from "./survival-reading.ts"

/** Our own fences, in which rules are handed over. */
const opening = /^<(pins(?:-\d{1,3})?|operator-rules|summary) by="holdfast"[^<>\n]{0,200}>$/

const name = String.raw`(?: "[^"\n]{0,240}")?`
const exactly = (line: string): string => line.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
/** The lines in them that say whose rules these are, to the letter: any other line may do something to the rules under it. */
const headings: readonly RegExp[] = [
  pinsHeading,
  operatorHeading,
  digestHeading,
  ...[toolHeading, documentHeading, memoryHeading].map((heading) => heading("\0")),
].map((line) => new RegExp(`^${exactly(line).replace("\0", name)}$`))

/** What a rule stood under, before it in its line. */
const context = /^- \(([^()\n]{1,200})\) (?=\S)/

/** A line is taken for one of ours up to this length. */
const maxHeading = 600

/** A lead before a colon, from where a sentence starts. */
const lead =
  /(^|\n|[.!?。！？]["')”’»]?[^\S\n])([ \t]{0,8}(?:(?:[-*+•]|\d{1,3}[.)])[ \t]{1,4})?)([^\n:：.!?。！？]{4,140}[:：])/g

const blank = (text: string): string => " ".repeat(text.length)

/**
 * A text with blanks for what stands around rules and does nothing to them: the headings of our own fences, and leads such as "For
 * everything that follows:". Places stay what they were. Whoever writes a fence like ours is believed: a text does not tell who wrote it.
 */
export const withoutFrames = (text: string): string =>
  withoutLeads(withoutHeadings(text.slice(0, maxText))) + text.slice(maxText)

/** A lead that goes leaves the start of its line behind, so that the line before does not run on. */
const withoutLeads = (text: string): string =>
  text.replace(lead, (whole, before: string, bullet: string, said: string) => {
    if (!saysAlways(normalize(said.slice(0, -1)).text.trim())) return whole
    return before + bullet + (before === "\n" && bullet.trim() === "" ? `- ${blank(said).slice(2)}` : blank(said))
  })

function withoutHeadings(text: string): string {
  if (!text.includes(' by="holdfast"')) return text
  let closing: string | undefined
  return text
    .split("\n")
    .map((line) => {
      const tag = opening.exec(line)?.[1]
      if (tag !== undefined) closing = `</${tag}>`
      else if (line === closing) closing = undefined
      return closing === undefined || line.length > maxHeading ? line : bareLine(line)
    })
    .join("\n")
}

function bareLine(line: string): string {
  if (headings.some((heading) => heading.test(line))) return blank(line)
  const [whole = "", over = ""] = context.exec(line) ?? []
  return whole !== "" && isHarmless(over) ? `- ${blank(whole).slice(2)}${line.slice(whole.length)}` : line
}

const isHarmless = (over: string): boolean =>
  readText(over, "en").sentences.every((sentence) => doubtIn(sentence) === undefined && !acted(sentence))
