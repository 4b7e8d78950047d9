import type { Span } from "../message/request.ts"

/** Words in the names of what a harness or a person puts between tags: the state of things, and quoted material. */
const aside: ReadonlySet<string> = new Set(
  (
    "reminder reminders environment details diagnostics hook stdout stderr output outputs result results error errors warning warnings " +
    "context state mode status notification caveat file files selection diff aborted attachment attachments info data feedback log logs " +
    "trace traceback snapshot terminal editor ide issue description document documents article email transcript conversation code example " +
    "examples source page content command mail letter ticket comment comments review reviews chat thread quote quoted quotation paste pasted " +
    "forwarded post web webpage html readme text report memo passage excerpt search snippet untrusted external input retrieved customer"
  ).split(" "),
)
/** Names of the moment, whatever else is in them. */
const always = /reminder|environment|permissions|mode$|stdout|stderr|diagnostics|notification/
/** Names of what other people wrote, whatever they call it. */
const ofOthers = /customer|client|sender|forwarded|quoted|pasted|external|untrusted|retrieved|third[_-]?party/
/** Words in the names of what someone asks or lays down. */
const own = /rule|instruction|guideline|polic|requirement|constraint|query|request|task|prompt|message|preference|memor/

const opening = /<([a-z][\w.:-]{1,60}(?: [a-z-]{2,40})?)(?:\s[^<>]{0,300})?>/gi

/** Tags looked at in one text. */
const maxTags = 200

/** The stretches of a text between tags that hold no one's own words: what a harness put there, and what someone quotes. */
export function asidesIn(text: string): readonly Span[] {
  if (!text.includes("</")) return []
  const spans: Span[] = []
  let end = 0
  let read = 0
  for (const { 0: tag, 1: name = "", index } of text.matchAll(opening)) {
    if (++read > maxTags) break
    if (index < end || !isAside(name.toLowerCase())) continue
    const close = closingOf(text, name, index + tag.length)
    if (close < 0) continue
    end = close
    spans.push({ start: index, end })
  }
  return spans
}

/** Where a tag is closed. Text that closes its own tag early is still between the tags: the last of too many closes it. */
function closingOf(text: string, name: string, from: number): number {
  const close = text.indexOf(`</${name}`, from)
  const next = text.indexOf(`<${name}`, from)
  const last = text.lastIndexOf(`</${name}`)
  return close >= 0 && (next < 0 || next > last) ? last : close
}

function isAside(name: string): boolean {
  if (always.test(name) || ofOthers.test(name)) return true
  return !own.test(name) && name.split(/[^a-z]+/).some((word) => aside.has(word))
}
