/** Words in the names of what a harness puts beside a person's words: where the agent is, what it may do, what it should know. */
const setting: ReadonlySet<string> = new Set(
  (
    "additional agents attached attachments background config configuration context details docs document documents editor env " +
    "environment ephemeral files guidelines hook ide info information instruction instructions knowledge layout memories memory " +
    "metadata mode permission permissions policies policy preferences project reminder reminders repo repository rule rules " +
    "runtime session settings skill skills system workspace"
  ).split(" "),
)

/** Those of them that say it alone; the others are common in a person's own markup. */
const settingAlone: ReadonlySet<string> = new Set(
  "context document documents env environment instructions memories memory reminder rules skills workspace".split(" "),
)

/** Words in the names of what a person asks, or of what happened since: with one of these it is conversation. */
const spoken: ReadonlySet<string> = new Set(
  (
    "analysis answer ask code command commands conversation description diff error example examples feedback goal history input " +
    "issue message messages notification objective output plan problem prompt query question request response result results " +
    "review snapshot stderr stdout story summary task tasks transcript"
  ).split(" "),
)

function isSetting(name: string): boolean {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "")
  if (words.some((word) => spoken.has(word))) return false
  return words.some((word) => (words.length === 1 ? settingAlone : setting).has(word))
}

/** An opening tag with its attributes: `<system-reminder>`, `<context source="a.md">`, `<permissions instructions>`. */
const openingTag = /^<([A-Za-z][\w.:-]*(?: [\w-]+)?)(?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*>/
/** No opening tag is longer; the rest of a text is not searched for its end. */
const maxTagLength = 512
const headingOfFile = /^#{1,6} [^\n]{0,400}?([\w.-]+\.mdc?)\b[^\n]*\n/
/** `[MEMORY START]`, `--- Context from: a.md ---`. */
const ruledLine = /^(?:\[.{1,400}\]|[-=*]{3,80} .{1,400} [-=*]{3,80})$/

/**
 * The name of the document that a text is, if it is nothing but documents that a harness wrapped: tagged blocks and white space
 * between them, such blocks under a heading that names a file, or lines between a ruled pair. A text that only mentions such a tag,
 * or has a word of its own beside it, is conversation.
 */
export function documentName(text: string): string | undefined {
  const start = skipBlank(text, 0)
  if (text[start] === "<") return taggedName(text, start)
  if (text[start] === "#") {
    const heading = headingOfFile.exec(text.slice(start, start + 1000))
    const body = heading === null ? text.length : skipBlank(text, start + heading[0].length)
    return heading === null || taggedName(text, body) === undefined ? undefined : heading[1]
  }
  return "[-=*".includes(text.charAt(start)) ? ruledName(text.slice(start).trimEnd()) : undefined
}

function taggedName(text: string, start: number): string | undefined {
  let first: string | undefined
  for (let at = start; at < text.length; ) {
    const tag = openingTag.exec(text.slice(at, at + maxTagLength))
    const name = tag?.[1]
    if (tag === null || name === undefined || !isSetting(name)) return undefined
    const closing = `</${name}>`
    const end = text.indexOf(closing, at + tag[0].length)
    if (end < 0) return undefined
    first ??= name
    at = skipBlank(text, end + closing.length)
  }
  return first
}

function ruledName(text: string): string | undefined {
  const opening = text.slice(0, Math.max(0, text.indexOf("\n"))).trimEnd()
  const closing = text.slice(text.lastIndexOf("\n") + 1)
  if (!ruledLine.test(opening) || !ruledLine.test(closing)) return undefined
  if (text.indexOf(closing) !== text.length - closing.length) return undefined
  const label = labelOf(opening).replace(/^begin (?:of )?| (?:start|begin)$/g, "")
  const end = labelOf(closing).replace(/^end (?:of )?| end$/g, "")
  const marked = labelOf(closing) !== end
  const [name] = label.split(":")
  return marked && label === end && name !== undefined && isSetting(name) ? label : undefined
}

const labelOf = (line: string): string => line.replace(/^[[\-=*\s]+|[\]\-=*\s]+$/g, "").toLowerCase()

const skipBlank = (text: string, from: number): number => {
  let at = from
  while (at < text.length && /\s/.test(text.charAt(at))) at++
  return at
}
