import { type LazyPattern, lazyPattern } from "../language/lazy.ts"
import { capitals, letters } from "../language/letters.ts"
import { anyOf } from "../language/word-lists.ts"
import type { Span } from "../message/message.ts"
import lists from "./paste-words.json" with { type: "json" }

/**
 * Recognizes pasted text in a user's message by its form. Lines of bounded length are matched, in lower case where capitals do not matter.
 */

const anyPattern = (...patterns: readonly string[]): LazyPattern => lazyPattern(patterns.join("|"))

/** Matches header fields of a mail, in the languages of the usual mail programs. */
const mailField =
  /^[\s*_>]{0,6}(?:from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|para|asunto|enviado|fecha|à|objet|envoyé|assunto|发件人|收件人|主题|日期|差出人|宛先|件名|日時)\s?[*_]{0,2}\s?[:：]\s?\S/
/** Matches a sender or a subject alone on its line. */
const mailHead =
  /^[\s*_]{0,6}(?:From|Subject|Von|Betreff|Asunto|Objet|发件人|主题|差出人|件名)[*_]{0,2}[:：]\s\S.{0,120}$/

/**
 * Patterns for lines that start a document whose end is unknown: a forwarded mail, a file with a header, a web page. Each pattern is bound
 * to the start of the line, so that no other position is tried; what may be anywhere has a pattern of its own.
 */
const opensDocument = anyPattern(
  "^[\\s>*]*[-_=*~]{2,}\\s*(?:begin |start of )?(?:original|forwarded|ursprüngliche|weitergeleitete|mensaje|mensagem|message|messaggio)\\b[^\\n]{0,60}$",
  "^\\s*(?:begin forwarded message|anfang der weitergeleiteten|début du message)",
  "^\\s*(?:fwd?|fw|wg|rv|aw|re)\\s?:\\s\\S",
  // On Monday, Ann wrote:
  "^\\s*(?:on|am|le|el|em|il)\\s.{6,160}(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto)\\b.{0,60}:?\\s*$",
  "^commit [0-9a-f]{6,40}\\b|^author:\\s.{1,80}<[^>]*@",
  "^<(?:!doctype|html|\\?xml|body|rss|feed)\\b",
  // Home | Products | About
  "^\\s*[^|\\n:.!?]{2,30}(?: [|·•»] [^|·•»\\n:.!?]{2,30}){2,8}\\s*$",
  "^\\s*(?:skip to (?:main )?content|accept (?:all )?cookies|table of contents|page \\d+ of \\d+|released under|all rights reserved|©|\\(c\\) ?\\d{4})",
  `^#{1,4} +${anyOf(lists.documentHeadings)}\\b`,
  "^- \\[[ x]\\] i (?:have |'ve )?(?:searched|read|checked|agree|verified|confirm)",
  "^h[1-6]\\. \\S|^={2,5} [^=]{2,60} ={2,5}\\s*$",
  "^(?:minutes|protokoll|compte rendu|acta|ata|notulen)(?: (?:of|from|vom|du|de|da|van))? .{0,40}\\d",
  "^\\\\(?:documentclass|begin|section|chapter)\\{",
  // [Attachment: notes.txt] and the file below it
  `^\\W{0,6}${anyOf(lists.attached)}(?: [${letters}0-9]{1,12})?\\s?[:：]?\\s{0,3}[^\\n:]{1,80}\\.[a-z]{2,5}(?: ?\\([^()\\n]{1,30}\\))?\\W{0,6}$`,
  "^\\W{2,12}(?:page|seite|página|pagina) \\d{1,5}\\s?\\W{2,12}$",
  // notes.txt: and the file below it
  "^[\\w./\\\\-]{1,80}\\.[a-z]{1,5}:\\s*$",
)

/** Matches the head of a comment: "ann commented 2 hours ago", "asked 3 years ago". */
const commentHead = anyPattern(
  "\\b(?:commented|replied|reviewed|posted|asked|answered|edited|opened this (?:issue|pull request)|requested changes|started a thread)\\b.{0,60}\\b(?:ago|yesterday|today|on [a-z]{3,9} \\d|at \\d|on \\d)",
)

/**
 * Patterns for lines that sites, trackers and mail programs put around what people write: pasted text has them somewhere, and may start
 * before them.
 */
const siteLine = anyPattern(
  `^\\s*${anyOf(lists.trimmings)}\\s*$`,
  "^.{0,60}(?:[·•|–—-] ?|\\bby .{2,40} )(?:\\d+ ?(?:s|m|min|h|hr|d|w|mo|y)\\b|(?:\\d+|an?|one|two) (?:minute|hour|day|week|month|year)s? ago\\b)",
  "^(?:u\\/)?[\\w.@-]{2,30} (?:\\d+|an?|one|two) (?:minute|hour|day|week|month|year)s? ago\\b",
  `^by [${letters}].{1,40} on [${letters}]{3,9} \\d{1,2}|^patch set \\d|^\\(\\d+ comments?\\)|^file \\S+\\.\\w{1,5}:$|^line \\d+: `,
  "^(?:opened|reported|filed|raised) by @?[\\w.-]{2,30}\\s*$",
  "^\\d+ (?:likes?|replies|comments|upvotes|retweets|views|points)\\b",
)

/** Same, anywhere in a line. */
const siteLinePart = anyPattern(
  "\\b(?:asked|answered|added a comment|left a comment|wrote a review|reviewed|modified|posted)\\b.{0,40}(?:\\bat \\d|\\bago\\b|\\(\\S|\\bon [a-z]{3,9} \\d)",
  "[★☆⭐]{2,}",
)
const isSiteLine = (line: string): boolean =>
  line.length <= maxSiteLine && (siteLine.test(line) || siteLinePart.test(line))

/** True if a paragraph, given in lower case, has such a line. */
const hasSiteLines = (lines: readonly string[]): boolean => lines.some(isSiteLine)
/** Maximum length of such a line; a longer one is somebody's sentence. */
const maxSiteLine = 120

const docTitle =
  /^(?:usage|install(?:ation)?|getting started|licen[cs]e|contributing|change ?log|overview|name|synopsis|description)\s*$/i

const underline = /^[=-]{3,}\s*$/

/** Returns the line of a paragraph at which a document starts. `small` are the same lines in lower case. */
export function documentLine(lines: readonly string[], small: readonly string[], isFirst: boolean): number | undefined {
  const isField = (n: number): boolean => mailField.test(small[n] ?? "")
  const isHead = (line: string, n: number): boolean => {
    if (underline.test(lines[n + 1] ?? "") && docTitle.test(line)) return true
    if (!colon.test(line)) return false
    if (mailHead.test(line) && (n === 0 || lines.length === n + 1 || isField(n + 1))) return true
    return isField(n) && (isField(n + 1) || isField(n + 2) || isField(n + 3))
  }
  const record = recordStart(small)
  const found = lines.findIndex((line, n) => {
    const low = small[n] ?? ""
    return (
      n === record ||
      isHead(line, n) ||
      opensDocument.test(low) ||
      commentHead.test(low) ||
      isFrontMatter(lines, n) ||
      (isFirst && isSiteLine(low))
    )
  })
  if (found >= 0) return found
  // The page of a project starts with its title, which does not mention rules.
  return !isFirst &&
    /^# +[\w@./-]{2,40}\s*$/.test(lines[0] ?? "") &&
    !/rule|guideline|constraint|instruction|task|context/i.test(lines[0] ?? "")
    ? 0
    : undefined
}

const isFrontMatter = (lines: readonly string[], n: number): boolean =>
  lines[n]?.trim() === "---" &&
  /^[\w-]{2,30}: \S/.test(lines[n + 1] ?? "") &&
  lines.slice(n + 2, n + 12).some((line) => line.trim() === "---")

const time = "\\d{1,2}[:.]\\d{2}(?:[:.]\\d{2})?(?:[.,]\\d{1,6})?(?: ?[ap]\\.?m\\.?)?"
const day = "\\d{1,4}[./-]\\d{1,2}[./-]\\d{1,4}"
const name = `[@${letters}][${letters}0-9_.'’-]{0,30}(?: [${letters}0-9][${letters}0-9.'’-]{0,24}){0,3}`

/** True for a line of a chat or a review that names who said it, or when. One is enough. */
const isChatLine = (line: string): boolean =>
  (hasTime.test(line) && timedLine.test(line)) || namedLine.test(line) || (line.includes("(") && sourcedLine.test(line))
const hasTime = /\d[:.]\d\d/
const timedLine = new RegExp(
  [
    `^\\s*\\[[^\\]\\n]{0,30}${time}[^\\]\\n]{0,20}\\]\\s*\\S`,
    `^\\s*${time}\\s+[-–—]?\\s*[${letters}@][${letters}0-9_.@'-]{0,30}(?: [${letters}]{1,24})?:\\s`,
    `^\\s*${day},? +${time}\\s*[-–—]\\s`,
    `^\\s*[${letters}@][${letters}0-9_.'@-]{0,30}(?: [${letters}0-9.'-]{1,24}){0,2},? +(?:[—–|·-] +|\\[|\\()?(?:(?:today|yesterday|heute|gestern|${day}|[${letters}]{3,9} \\d{1,2}(?:, \\d{4})?),? +(?:at +|um +)?)?${time}[\\])]?\\s*$`,
    `^\\s*${time}\\s*$`,
    "^\\s*(?:\\d{1,2}:)?\\d{2}:\\d{2}[,.]\\d{3} -->",
  ].join("|"),
)
const namedLine =
  /^\s*@(?!(?:claude|codex|copilot|gemini|agent|assistant|bot|ai)\b)[\w.-]{2,30}(?: \([^)]{1,40}\))?:\s|^\s*(?:speaker|participant|interviewer|moderator|sprecher) ?\w{0,3}:\s/
const sourcedLine = new RegExp(`^\\s*${name} \\([^)\\n]{0,30}[\\d@][^)\\n]{0,30}\\):\\s`)

/** Matches a name and what that person says. Two lines by one name, or by the parts of a dialogue, are a chat. */
const spelled = `[@${capitals}][${letters}0-9_.'’-]{0,30}(?: [${capitals}0-9][${letters}0-9.'’-]{0,24}){0,3}`
const speaker = new RegExp(
  `^\\s*(?:<([^<>\\s]{1,24})>|([a-z][\\w.-]{1,20})>|\\*{0,2}(${spelled}|[a-z][\\w.-]{1,20})\\*{0,2}\\s?:)\\s+\\S`,
)
const dialogue = /^(?:me|you|user|assistant|agent|customer|client|bot|human|ai|support|q|a|ich|moi|yo)$/i
/** Matches parts of a dialogue that nobody calls himself: one such line is enough. */
const assignedPart = /^(?:user|assistant|agent|customer|client|bot|human|support|system)$/i
/** Matches labels of the author's own points. */
const topicLabel = new RegExp(`^${anyOf(lists.topicLabels)}$`, "i")

/** Patterns for lines that a program printed. One is enough. */
const logLine = anyPattern(
  // Time or level of a log entry.
  "^\\s*\\[?\\d{4}[-/]\\d\\d[-/]\\d\\d[T ]\\d\\d:\\d\\d",
  "^\\s*\\[?(?:INFO|DEBUG|TRACE|WARN|ERROR|FATAL)\\]?[ :]\\s*\\S",
  "^[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d ",
  // Stack traces and error messages.
  "^\\s+at \\S+ ?\\(",
  "^Traceback \\(",
  "^(?:In|Out) ?\\[\\d+\\]:",
  '^\\s*File ".{1,200}", line \\d',
  "^[\\w.]{0,60}(?:Error|Exception): ",
  // Prompts of a shell, and output of shell programs.
  "^(?:\\$|❯|%|>>>|PS [A-Z]:\\\\[^>]*>) \\S",
  "^[\\w.-]+@[\\w.-]+[: ].{0,60}[$#] ",
  "^npm (?:ERR!|WARN|error)",
  "^(?:fatal|panic|remote|hint): \\S",
  "^(?:[\\w.@-]*/)*[\\w.-]+\\.[a-z]{1,5}:\\d+(?::\\d+)?(?:[: ]|$)",
  "^(?:exit code|exit status|stdout|stderr)\\b",
  // Diffs.
  "^(?:diff --git |@@ -?\\d|\\+\\+\\+ |--- [ab]/|index [0-9a-f]{7,}|\\[hunk )",
  "^\\+(?:\\s{2,}|\\t|[^\\s+])",
  // A command, settings before one, an HTTP response, a list of addresses, a header field.
  "^(?:cat|head|tail|less|curl|type)(?: -\\S+)* \\S+\\s*$",
  "^(?:[\\w.-]{1,30}=\\S+ +){2}",
  "^HTTP/\\d",
  "^\\s*(?:\\d{1,2}[.)] +)?(?:[a-z\\d-]+\\.)+[a-z]{2,12}(?:/\\S*)? +[-–—›|] +\\S",
  "^[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]+)+: \\S",
)

/** What a line of code starts with: a comment, the head of a file, a declaration, a statement, a bracket or a key of data. */
const codeComment = anyOf("//", "--\\s", "/\\*", '"""', "\\*/", "\\* @")
const codeHead = anyOf("#include\\b", "#!/", "import .{1,80} from ", "from \\S+ import ")
const declaration = anyOf(
  "(?:async )?def \\w+\\(",
  "class \\w+[^.]*[:{]\\s*$",
  "(?:export )?(?:async )?function \\w*\\(",
  "(?:const|let|var) \\w+ ?=",
  "public ",
  "private ",
)
const codeStatement = anyOf("return\\b.*;\\s*$", "if \\(.*\\) ?\\{", "<\\?php", "SELECT\\b.*\\bFROM\\b")
const dataLine = anyOf("[}\\])]+[;,]?\\s*$", '"[\\w$-]{1,60}"\\s?:')
/** Matches a line of data, or of code outside a fence. Two make a block. */
const codeLine = anyPattern(`^\\s*${anyOf(codeComment, codeHead, declaration, codeStatement, dataLine)}`)
const isCode = (line: string): boolean => codeLine.test(line) || /[;{}]/.test(line.trimEnd().slice(-1))
const markup = new RegExp(`</?${anyOf(lists.elements)}\\b[^<>]{0,200}>`, "i")

/** Matches fields of a ticket or another record. The first group are fields that people do not use in a list of their own wishes. */
const recordField = new RegExp(
  `(?:^|[|·] ?)\\s*[*_]{0,2}(?:(${anyOf(lists.tellingFields)})|${anyOf(lists.fields, "[a-z][a-z ]{1,20}")})\\s?[*_]{0,2}\\s?[:：][*_]{0,2}\\s?\\S`,
  "g",
)

/** Finds where a paragraph takes the form of a chat, of a program's output, of code or of data, and whether people wrote it. */
export function pasteShape(
  lines: readonly string[],
  small: readonly string[],
): { readonly at: number; readonly isTalk: boolean } | undefined {
  const chat = chatStart(lines, small)
  const log = lines.findIndex((line) => logLine.test(line) || (line.includes("<") && markup.test(line)))
  const data = dataStart(lines)
  const found = [
    { at: chat, isTalk: true },
    { at: log, isTalk: false },
    { at: data, isTalk: false },
  ].filter(({ at }) => at >= 0)
  return found.toSorted((one, two) => one.at - two.at || Number(two.isTalk) - Number(one.isTalk))[0]
}

/** A line without a colon, a time or an angle bracket names no speaker. */
const maySpeak = /[:<>]|\d\.\d\d/

function chatStart(lines: readonly string[], small: readonly string[]): number {
  if (!lines.some((line) => maySpeak.test(line))) return -1
  const plain = lines.findIndex((line, n) => maySpeak.test(line) && isChatLine(small[n] ?? ""))
  const speakers = lines.map((line) => {
    if (!maySpeak.test(line)) return undefined
    const [, nick, prompt, label] = speaker.exec(line) ?? []
    return nick ?? prompt ?? (label !== undefined && !topicLabel.test(label) ? label : undefined)
  })
  const named = speakers.filter((one) => one !== undefined)
  const isAllCapitals = named.length > 1 && named.every((one) => allCapitals.test(one))
  const isDialogue =
    isAllCapitals ||
    named.some((one) => assignedPart.test(one)) ||
    (named.length > 1 && (new Set(named).size < named.length || named.some((one) => dialogue.test(one))))
  const first = isDialogue ? speakers.findIndex((one) => one !== undefined) : -1
  return plain < 0 || (first >= 0 && first < plain) ? first : plain
}

const allCapitals = new RegExp(`^[${capitals}][${capitals} .]+$`)

/** Matches a key in a settings file whose text is on the lines below, and any key of one. */
const blockKey = /^\s*(?:- )?[\w.-]{1,40}:\s+[|>][+-]?\s*$/
const anyKey = /^\s*(?:- )?[\w.-]{1,40}:(?:\s|$)/

/** Matches an added or a removed line of a diff, which has both; a list has only one of the signs. */
const changedLine = /^([+-])\s?\S/

function dataStart(lines: readonly string[]): number {
  if (lines.some((line) => blockKey.test(line))) return lines.findIndex((line) => anyKey.test(line))
  const opensData = /^\s*[[{]/.test(lines[0] ?? "") && /"\s*:|^\s*\[\s*["{[\d]/.test(lines[0] ?? "")
  // Everything else shows only in two lines or more.
  if (lines.length < 2) return opensData ? 0 : -1
  const changes = lines.map((line) => changedLine.exec(line)?.[1])
  if (changes.includes("+") && changes.includes("-")) return changes.findIndex((mark) => mark !== undefined)
  const code = lines.findIndex(isCode)
  if (code >= 0 && lines.some((line, n) => n > code && isCode(line))) return code
  if (opensData) return 0
  if (lines.every((line) => /^(?: {4}|\t)/.test(line) && !/^\s+(?:[-*+•]|\d+[.)])\s/.test(line))) return 0
  const parts = lines.findIndex((line) => quantity.test(line))
  if (parts >= 0 && lines.filter((line) => quantity.test(line)).length >= minQuantities) return Math.min(parts, 1)
  const numbered = lines.findIndex((line, n) => lineNumber.test(line) && lineNumber.test(lines[n + 1] ?? ""))
  if (numbered >= 0) return numbered
  return lines.findIndex((line, n) => {
    const [own, next, third] = [cells(line), cells(lines[n + 1] ?? ""), cells(lines[n + 2] ?? "")]
    return own === next && (own > 2 || (own === 2 && own === third))
  })
}

/** Matches the numbers that a listing puts before its lines. */
const lineNumber = /^(?:\s+\d{1,5}\s|\d{1,5}(?:\t|→|\|\s))/

/** Returns the number of cells in a row of CSV; commas of prose are followed by a blank. */
const cells = (line: string): number =>
  cellEnd.test(line) ? line.replace(/"[^"]*"/g, "").split(/,(?! )|;(?! )|\t/).length : 1
const cellEnd = /[,;](?! )|\t/

/**
 * Matches a line that starts with a quantity and has no full stop ("500 g flour"): several are a list of ingredients, and what follows
 * belongs to it.
 */
const quantity = new RegExp(`^\\s*(?:\\d+(?:[.,/]\\d+)?|[½¼¾⅓⅔]) ?[${letters}][^.!?:]{1,60}$`)
const minQuantities = 2

/** Minimum number of fields of a record in one paragraph. */
const minFields = 2

const colon = /[:：]/
const colons = [":", "："]

/** True if there are at least two colons: a record has one in each of its fields. */
function hasColons(lines: readonly string[]): boolean {
  let count = 0
  for (const line of lines)
    for (const mark of colons)
      for (let at = line.indexOf(mark); at >= 0; at = line.indexOf(mark, at + 1)) if (++count >= minFields) return true
  return false
}

function recordStart(lines: readonly string[]): number {
  if (!hasColons(lines)) return -1
  let [fields, recordOnly] = [0, 0]
  for (const line of lines)
    if (colon.test(line)) {
      recordField.lastIndex = 0
      for (let found = recordField.exec(line); found !== null; found = recordField.exec(line)) {
        fields++
        if (found[1] !== undefined) recordOnly++
      }
    }
  return fields >= minFields && recordOnly > 0
    ? lines.findIndex((line, n) => n === 0 || line.search(recordField) >= 0)
    : -1
}

/**
 * True if the first line is a title above the second: short and without final punctuation. The caller has checked that it is no request.
 */
export const isTitled = ([first = "", second = ""]: readonly string[]): boolean =>
  title.test(first) && underTitle.test(second) && first.trim().split(/\s+/).length <= maxTitleWords
const title = new RegExp(`^\\s*[${capitals}0-9][^\\n]{2,60}[^\\s.!?:,;。！？：，；]\\s*$`)
const underTitle = new RegExp(`^\\s*(?:[-*+•] |\\d|[${capitals}])`)
const maxTitleWords = 8

/** True if a line is quoted, as mail programs and Markdown mark it. */
export const isQuoted = (line: string): boolean =>
  /^[\s\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]{0,8}(?:[-*•]\s{1,4})?(?:[>＞│┃▌]|&gt;)/.test(line)

/** True if a short line ends in a comma and the next one follows directly: this is how a letter starts, in any language. */
const opensLetter = (line: string, next: string | undefined): boolean =>
  next !== undefined && next.trim() !== "" && salutation.test(line)
const salutation = new RegExp(`^\\s*[${letters}][^,，.!?:;\\n]{0,38}[,，]\\s*$`)

/** True if a line in lower case greets the reader of a letter. */
const greets = (line: string): boolean => greeting.test(line)
const greeting = anyPattern(`^\\s*${anyOf(lists.greetings)}\\b(?:[^.!?\\n]{0,50}[,!:]?\\s*$|[^.!?,\\n]{0,30},\\s)`)

/** True if a line in lower case closes a letter, with or without the name of its writer. */
const signsOff = (line: string): boolean => signedName.test(line) || closing.test(line)
const wishes = "(?:regards|wishes|greetings)"
const closing = anyPattern(
  `^\\s*${anyOf(`(?:best|kind|warm|many|with)?\\s?(?:kind |best |warm )?${wishes}`, lists.closings)}[,.!]?\\s*$`,
)
const closingWords = anyOf(`(?:best|kind|warm|many) ${wishes}`, lists.closingsBeforeName)
const signedName = new RegExp(
  `^\\s*(?:${closingWords},?|${anyOf(lists.closings)},) [${letters}.]{2,20}(?: [${letters}.]{1,20}){0,3}\\s*$`,
)

type Line = Span & { readonly text: string; readonly read: string; readonly low: string }
type Paragraph = { readonly lines: readonly Line[]; readonly isBlock: boolean }

/**
 * Returns the index of the paragraph in which a letter starts: at a greeting after other words, or at the top if the message continues
 * after the signature.
 */
export function letterIn(paragraphs: readonly Paragraph[]): number | undefined {
  if (paragraphs.length < 2) return undefined
  const greeting = paragraphs.findIndex(
    ({ lines: [first, second] }, n) =>
      greets(first?.low ?? "") || (n > 0 && opensLetter(first?.read ?? "", second?.read)),
  )
  const trimmed = paragraphs.findIndex(({ lines, isBlock }) => !isBlock && hasSiteLines(lines.map(({ low }) => low)))
  if (trimmed > 0) return greeting > 0 ? Math.min(greeting, 1) : 1
  if (greeting !== 0) return greeting < 0 ? undefined : greeting
  const signed = paragraphs.findIndex(({ lines }) => lines.some(({ low }) => signsOff(low)))
  return signed >= 0 && signed < paragraphs.length - 1 ? 0 : undefined
}

/** Returns the span of a letter that stands above the thread that it answers, and whether it greets somebody by name. */
export function letterAbove(
  paragraphs: readonly Paragraph[],
  isFormed: (n: number) => boolean,
): { readonly span: Span; readonly isToSomebody: boolean } | undefined {
  const signed = paragraphs.findIndex(({ lines }) => lines.some(({ low }) => signsOff(low)))
  if (signed < 0 || !isFormed(signed + 1)) return undefined
  const lines = paragraphs.slice(0, signed + 1).flatMap((paragraph) => paragraph.lines)
  return {
    span: { start: lines[0]?.start ?? 0, end: lines.at(-1)?.end ?? 0 },
    isToSomebody: /\S\s+\S/.test(lines[0]?.text ?? ""),
  }
}

/** Returns the span of a message that is a signed letter as a whole, to somebody other than the reader. */
export function letterToSomebody(paragraphs: readonly Paragraph[]): Span | undefined {
  const [first, last] = [paragraphs[0]?.lines[0], paragraphs.at(-1)]
  if (first === undefined || last === undefined || !/\S\s+\S/.test(first.text) || toReader.test(first.low))
    return undefined
  const isLetter = greets(first.low) && last.lines.some(({ low }) => signsOff(low))
  return isLetter ? { start: first.start, end: last.lines.at(-1)?.end ?? 0 } : undefined
}
const toReader = /\b(?:claude|codex|copilot|gemini|gpt|chatgpt|agent|assistant|bot|ai)\b/
