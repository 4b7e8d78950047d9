import { capitals, letters } from "../language/letters.ts"

/**
 * How pasted text shows in a user's message: by its own shape, or by the words that introduce it. Matched on lines of bounded length, in
 * lower case where the pattern has no capital letter.
 */

const any = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join("|"))

/** Fields of a mail's head, in the languages of the usual mail programs. */
const mailField =
  /^[\s*_>]{0,6}(?:from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|gesendet|datum|de|para|asunto|enviado|fecha|à|objet|envoyé|assunto|发件人|收件人|主题|日期|差出人|宛先|件名|日時)\s?[*_]{0,2}\s?[:：]\s?\S/
/** A sender or a subject alone on its line. */
const mailHead =
  /^[\s*_]{0,6}(?:From|Subject|Von|Betreff|Asunto|Objet|发件人|主题|差出人|件名)[*_]{0,2}[:：]\s\S.{0,120}$/

/**
 * Lines with which a document starts that goes on to who knows where: a handed-on mail, a file with a head, a page. Each pattern is bound
 * to the start of the line, so that no other place is tried; what may stand anywhere has a pattern of its own.
 */
const opensDocument: RegExp = any(
  "^[\\s>*]*[-_=*~]{2,}\\s*(?:begin |start of )?(?:original|forwarded|ursprüngliche|weitergeleitete|mensaje|mensagem|message|messaggio)\\b[^\\n]{0,60}$",
  "^\\s*(?:begin forwarded message|anfang der weitergeleiteten|début du message)",
  "^\\s*(?:fwd?|fw|wg|rv|aw|re)\\s?:\\s\\S",
  // On Monday, Ann wrote:
  "^\\s*(?:on|am|le|el|em|il)\\s.{6,160}(?:wrote|schrieb|a écrit|escribió|escreveu|ha scritto)\\b.{0,60}:?\\s*$",
  "^commit [0-9a-f]{7,40}\\b|^author:\\s.{1,80}<[^>]*@",
  "^<(?:!doctype|html|\\?xml|body|rss|feed)\\b",
  // Home | Products | About
  "^\\s*[^|\\n:.!?]{2,30}(?: [|·•»] [^|·•»\\n:.!?]{2,30}){2,8}\\s*$",
  "^\\s*(?:skip to (?:main )?content|accept (?:all )?cookies|table of contents|page \\d+ of \\d+|released under|all rights reserved|©|\\(c\\) ?\\d{4})",
  "^#{1,4} +(?:usage|install(?:ation|ing)?|getting started|quick ?start|licen[cs]e|contributing|change ?log|release notes|what's changed|bug report|feature request|describe (?:the|your) .{2,40}|steps to reproduce|to reproduce|reproduction|expected behaviou?r|actual behaviou?r|current behaviou?r|additional context)\\b",
  "^- \\[[ x]\\] i (?:have |'ve )?(?:searched|read|checked|agree|verified|confirm)",
  "^h[1-6]\\. \\S",
  "^(?:minutes|protokoll|compte rendu|acta|ata|notulen)(?: (?:of|from|vom|du|de|da|van))? .{0,40}\\d",
  "^\\\\(?:documentclass|begin|section|chapter)\\{",
  // notes.txt: and the file below it
  "^[\\w./\\\\-]{1,80}\\.[a-z]{1,5}:\\s*$",
)

/** ann commented 2 hours ago · asked 3 years ago */
const commentHead = any(
  "\\b(?:commented|replied|reviewed|posted|asked|answered|edited|opened this (?:issue|pull request)|requested changes|started a thread)\\b.{0,60}\\b(?:ago|yesterday|today|on [a-z]{3,9} \\d|at \\d|on \\d)",
)

/** Lines that sites, trackers and mail programs put around what people write: a text has them somewhere, and its start may be before them. */
const trimmings: RegExp = any(
  "^\\s*(?:share|reply|like|upvote|follow|report|reply to this (?:email|thread) directly|improve this answer|attachments?|activity|acceptance criteria|comments?(?: \\(?\\d+\\)?)?|unsubscribe|view in browser|sent from my .{2,30}|maintainer|contributor)\\s*$",
  "^.{0,60}(?:[·•|–—-] ?|\\bby .{2,40} )(?:\\d+ ?(?:s|m|min|h|hr|d|w|mo|y)\\b|(?:\\d+|an?|one|two) (?:minute|hour|day|week|month|year)s? ago\\b)",
  "^(?:u\\/)?[\\w.@-]{2,30} (?:\\d+|an?|one|two) (?:minute|hour|day|week|month|year)s? ago\\b",
  `^by [${letters}].{1,40} on [${letters}]{3,9} \\d{1,2}|^patch set \\d|^\\(\\d+ comments?\\)|^file \\S+\\.\\w{1,5}:$|^line \\d+: `,
  "^\\d+ (?:likes?|replies|comments|upvotes|retweets|views|points)\\b",
)

/** The same, anywhere in a line. */
const trimmingsWithin = any(
  "\\b(?:asked|answered|added a comment|left a comment|wrote a review|reviewed|modified|posted)\\b.{0,40}(?:\\bat \\d|\\bago\\b|\\(\\S|\\bon [a-z]{3,9} \\d)",
  "[★☆⭐]{2,}",
)
const isTrimming = (line: string): boolean =>
  line.length <= maxTrimming && (trimmings.test(line) || trimmingsWithin.test(line))

/** Does a paragraph have such lines, given in lower case? */
export const hasTrimmings = (lines: readonly string[]): boolean => lines.some(isTrimming)
/** They are short: what is longer is somebody's sentence. */
const maxTrimming = 120

const docTitle =
  /^(?:usage|install(?:ation)?|getting started|licen[cs]e|contributing|change ?log|overview|name|synopsis|description)\s*$/i

const underline = /^[=-]{3,}\s*$/

/** The line of a paragraph at which a document starts. `small` are the same lines in lower case. */
export function documentLine(lines: readonly string[], small: readonly string[], isFirst: boolean): number | undefined {
  const isField = (n: number): boolean => mailField.test(small[n] ?? "")
  const isHead = (line: string, n: number): boolean => {
    if (underline.test(lines[n + 1] ?? "") && docTitle.test(line)) return true
    if (!colon.test(line)) return false
    if (mailHead.test(line) && (lines.length === n + 1 || isField(n + 1))) return true
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
      (isFirst && isTrimming(low))
    )
  })
  if (found >= 0) return found
  // The page of a project: its title, and nothing of rules in it.
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

/** A line of a chat or a review: who said it, or when. One is enough. */
const chatLine = new RegExp(
  [
    `^\\s*\\[[^\\]\\n]{0,30}${time}[^\\]\\n]{0,20}\\]\\s*\\S`,
    `^\\s*${time}\\s+[-–—]?\\s*[${letters}@][${letters}0-9_.@'-]{0,30}(?: [${letters}]{1,24})?:\\s`,
    `^\\s*${day},? +${time}\\s*[-–—]\\s`,
    `^\\s*[${letters}@][${letters}0-9_.'@-]{0,30}(?: [${letters}0-9.'-]{1,24}){0,2},? +(?:[—–|·-] +|\\[|\\()?(?:(?:today|yesterday|heute|gestern|${day}|[${letters}]{3,9} \\d{1,2}(?:, \\d{4})?),? +(?:at +|um +)?)?${time}[\\])]?\\s*$`,
    "^\\s*@(?!(?:claude|codex|copilot|gemini|agent|assistant|bot|ai)\\b)[\\w.-]{2,30}(?: \\([^)]{1,40}\\))?:\\s",
    `^\\s*${time}\\s*$`,
    `^\\s*${name} \\([^)\\n]{0,30}[\\d@][^)\\n]{0,30}\\):\\s`,
    "^\\s*(?:speaker|participant|interviewer|moderator|sprecher) ?\\w{0,3}:\\s",
    "^\\s*(?:\\d{1,2}:)?\\d{2}:\\d{2}[,.]\\d{3} -->",
  ].join("|"),
)

/** Somebody's name and what they say. Two lines by one name, or by the parts of a dialogue, are a chat. */
const spelled = `[@${capitals}][${letters}0-9_.'’-]{0,30}(?: [${capitals}0-9][${letters}0-9.'’-]{0,24}){0,3}`
const speaker = new RegExp(`^\\s*(?:<([^<>\\s]{1,24})>|\\*{0,2}(${spelled}|[a-z][\\w.-]{1,20})\\*{0,2}\\s?:)\\s+\\S`)
const dialogue = /^(?:me|you|user|assistant|agent|customer|client|bot|human|ai|support|q|a|ich|moi|yo)$/i
/** Labels of the author's own points. */
const topicLabel =
  /^(?:note|notes|rules?|important|always|never|do|don'?ts?|must|remember|reminder|ps|p\.s|also|warning|caution|constraints?|requirements?|policy|style|tone|format|language|tests?|code|commits?|todo|task|goal|context|example|question|update|edit|fyi|and|or|if|when|please)$/i

/** A line that a program printed. One is enough. */
const logLine =
  /^\s*\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^\s*\[?(?:INFO|DEBUG|TRACE|WARN|ERROR|FATAL)\]?[ :]\s*\S|^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |^\s+at \S+ ?\(|^Traceback \(|^\s*File ".{1,200}", line \d|^[\w.]{0,60}(?:Error|Exception): |^(?:\$|❯|%|>>>|PS [A-Z]:\\[^>]*>) \S|^[\w.-]+@[\w.-]+[: ].{0,60}[$#] |^npm (?:ERR!|WARN|error)|^(?:[\w.@-]*\/)*[\w.-]+\.[a-z]{1,5}:\d+(?::\d+)?(?:[: ]|$)|^(?:exit code|exit status|stdout|stderr)\b|^(?:diff --git |@@ -?\d|\+\+\+ |--- [ab]\/|index [0-9a-f]{7,}|\[hunk )|^\+(?:\s{2,}|\t|[^\s+])|^(?:cat|head|tail|less|curl|type)(?: -\S+)* \S+\s*$|^(?:[\w.-]{1,30}=\S+ +){2}|^HTTP\/\d|^[A-Z][A-Za-z]*(?:-[A-Z][A-Za-z]+)+: \S/

/** Lines of code without a fence, and of data. Two make a block. */
const codeLine =
  /^\s*(?:\/\/|--\s|\/\*|"""|\*\/|\* @|#include\b|#!\/|import .{1,80} from |from \S+ import |(?:async )?def \w+\(|class \w+[^.]*[:{]\s*$|(?:export )?(?:async )?function \w*\(|(?:const|let|var) \w+ ?=|public |private |return\b.*;\s*$|if \(.*\) ?\{|<\?php|SELECT\b.*\bFROM\b|[}\])]+[;,]?\s*$|"[\w$-]{1,60}"\s?:)/
const isCode = (line: string): boolean => codeLine.test(line) || /[;{}]/.test(line.trimEnd().slice(-1))
const markup =
  /<\/?(?:html|head|body|div|p|span|table|tr|td|th|ul|ol|li|h[1-6]|br|script|style|meta|section|article|nav|footer|header|img|form|button|blockquote|iframe)\b[^<>]{0,200}>/i

/** Fields of a ticket or another record; of the first ones a person has no use in a list of their own wishes. */
const recordField =
  /(?:^|[|·] ?)\s*[*_]{0,2}(?:(reporter|assignee|assigned to|priority|severity|labels?|milestone|created|updated|reported by|resolution|sku|ticket|acceptance(?: criteria)?|status|opened by|story points|version|what happened|environment|os|browser)|(?:summary|description|comments?|component|type|title|id|author|due|steps|expected|actual|name|e-?mail|phone|address|order|amount|category|tags|url|notes?|[a-z][a-z ]{1,20}))\s?[*_]{0,2}\s?[:：][*_]{0,2}\s?\S/g

/** A paragraph that has the shape of a chat, of a program's output, of code or of data: where that starts, and whether people wrote it. */
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

/** Without a colon, a time or a name in brackets a line has nobody who says it. */
const maySpeak = /[:<]|\d\.\d\d/

function chatStart(lines: readonly string[], small: readonly string[]): number {
  if (!lines.some((line) => maySpeak.test(line))) return -1
  const plain = lines.findIndex((line, n) => maySpeak.test(line) && chatLine.test(small[n] ?? ""))
  const speakers = lines.map((line) => {
    if (!maySpeak.test(line)) return undefined
    const [, nick, label] = speaker.exec(line) ?? []
    return nick ?? (label !== undefined && !topicLabel.test(label) ? label : undefined)
  })
  const named = speakers.filter((one) => one !== undefined)
  const isShouted = named.length > 1 && named.every((one) => shouted.test(one))
  const isDialogue =
    isShouted || (named.length > 1 && (new Set(named).size < named.length || named.some((one) => dialogue.test(one))))
  const first = isDialogue ? speakers.findIndex((one) => one !== undefined) : -1
  return plain < 0 || (first >= 0 && first < plain) ? first : plain
}

const shouted = new RegExp(`^[${capitals}][${capitals} .]+$`)

function dataStart(lines: readonly string[]): number {
  const code = lines.findIndex(isCode)
  if (code >= 0 && lines.some((line, n) => n > code && isCode(line))) return code
  if (/^\s*[[{]/.test(lines[0] ?? "") && /"\s*:|^\s*\[\s*["{[\d]/.test(lines[0] ?? "")) return 0
  if (lines.length > 1 && lines.every((line) => /^(?: {4}|\t)/.test(line) && !/^\s+(?:[-*+•]|\d+[.)])\s/.test(line)))
    return 0
  const numbered = lines.findIndex((line, n) => lineNumber.test(line) && lineNumber.test(lines[n + 1] ?? ""))
  if (numbered >= 0) return numbered
  return lines.findIndex((line, n) => isRow(line) && cells(line) === cells(lines[n + 1] ?? ""))
}

/** Numbers that a listing puts before its lines. */
const lineNumber = /^(?:\s+\d{1,5}\s|\d{1,5}(?:\t|→|\|\s))/

/** Cells of a row of CSV; commas of prose have a blank behind them. */
const cells = (line: string): number =>
  cellEnd.test(line) ? line.replace(/"[^"]*"/g, "").split(/,(?! )|;(?! )|\t/).length : 1
const cellEnd = /[,;](?! )|\t/
const isRow = (line: string): boolean => cells(line) > 2

/** Fields of a record in one paragraph from which on it is one. */
const minFields = 2

const colon = /[:：]/

function recordStart(lines: readonly string[]): number {
  let [fields, telling] = [0, 0]
  for (const line of lines)
    if (colon.test(line))
      for (const [, own] of line.matchAll(recordField)) {
        fields++
        if (own !== undefined) telling++
      }
  return fields >= minFields && telling > 1
    ? lines.findIndex((line, n) => n === 0 || line.search(recordField) >= 0)
    : -1
}

/** A short line that ends in a comma with the next line right behind it is how a letter starts, in any language. */
export const opensLetter = (line: string, next: string | undefined): boolean =>
  next !== undefined && next.trim() !== "" && salutation.test(line)
const salutation = new RegExp(`^\\s*[${letters}][^,，.!?:;\\n]{0,38}[,，]\\s*$`)

/** Does a line in lower case greet the reader of a letter? */
export const greets = (line: string): boolean =>
  /^\s*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|greetings|to whom|hallo|liebe[rs]?|guten (?:tag|morgen)|sehr geehrte[rs]?|bonjour|ch(?:er|ère|ers)|madame|hola|estimad[oa]s?|buen[oa]s (?:d[ií]as|tardes)|ciao|ol[áa]|prezad[oa]s?|caro)\b(?:[^.!?\n]{0,50}[,!:]?\s*$|[^.!?,\n]{0,30},\s)/.test(
    line,
  )

/** Does a line in lower case close a letter? */
export const signsOff = (line: string): boolean =>
  /^\s*(?:(?:best|kind|warm|many|with)?\s?(?:kind |best |warm )?(?:regards|wishes|greetings)|best|cheers|sincerely|yours(?: \w+)?|thanks|thank you|many thanks|mit freundlichen grüßen|viele grüße|liebe grüße|mfg|cordialement|bien à vous|saludos|atentamente|un saludo|abraços|atenciosamente|sent from my .{2,30})[,.!]?\s*$/.test(
    line,
  )

/** What is read or written, and can be pasted: words for texts, singular and plural. */
const texts =
  "(?:e-?mail|mail|letter|message|text|terms|contract|clause|article|comment|review|thread|chat|transcript|quote|note|post|page|readme|skill|ticket|tweet|statement|paragraph|passage|memo|document|newsletter|feedback|excerpt|snippet|log|output|listing|minutes|reply|answer|response|description|report|doc|docs|documentation|spec|issue text|stack ?trace|traceback|error message|file contents?|draft|script|story|poem|essay|speech|prompt|song|query|sentence|wording|wiki|manual|handbook|banner|sign|board|bericht|nachricht|brief|vertrag|artikel|correo|mensaje|carta|texto|courriel|lettre|texte|邮件|文本|文章|メール|文章)s?"

/** What people ask for a text that they hand over; the second ones they ask for other things as well. */
const reads = `(?:summari[sz]e|summary of|sum up|translate|rate|improve|finish|continue|complete|polish|critique|grade|evaluate|compare|clean up|tidy up|edit|proof-?read|rephrase|paraphrase|shorten|explain|interpret|analy[sz]e|classify|categori[sz]e|extract|reply to|respond to|comment on|rewrite|transcribe|(?:look|glance) at|think (?:of|about)|make of|thoughts on|opinion on|feedback on|say (?:about|to)|fass|zusammenfassen|übersetze?n?|erklär[${letters}]{1,2}|resume|resumir?|traduce|traducir|traduis|traduire|résume[rz]?|explique|总结|翻译|要約|翻訳)`
const handles =
  "(?:answer|address|read|check|review|debug|format|convert|turn|put|(?:make|create|write|draft)\\b[^.?!\\n]{0,40}\\b(?:from|of|on|to))"
const these = "(?:this|these|below|following|dies(?:e[nms]?)?|esto|este|ceci|cela)"
/** A demonstrative that has its text behind it: the sentence ends with it, or says what is to become of the text. */
const sentenceEnd = `(?:\\s+(?:in|into|for|to|as|from|back|with|out)\\b[^.?!\\n]{0,40})?,?\\s*(?:please)?[.?!:：]?\\s*(?:$|(?=[${letters}]))`

/** Whom others are: not the speaker and not the reader. */
const others = `(?!(?:i|we|you|this|that|what|who|which|and|or|as|so|to|not|also|just|all|please|always|never)\\b)(?:the |my |our |an? |their |his |her )?[${letters}][${letters}'-]{0,24}(?: [${letters}'-]{2,24})?`
const told =
  "(?:wrote|writes|says?|said|suggested|recommended|proposed|mentions?|mentioned|emailed|warned|explained|sent|replied|answered|told(?! us\\b)|posted|asked|reads|states|stated|commented|mailed|texted|reported|printed|returned|complained|claims?|schrieb|sagte|a écrit|escribió|dijo)"

/**
 * The words of the lists above, alone: a pattern that is built of a list cannot match without one of them. The lists are long, and each
 * pattern of them takes tens of milliseconds to compile, so that most are never compiled.
 */
const asksFor = any(reads, handles)
const namesText = any(`\\s${texts}`)
const tells = any(` ${told}`)

/** Words of a paragraph that announce the text in the next one. */
const announced: RegExp = any(
  // The start of the sentence is looked for once a word is found: the other way round it costs a third of all reading.
  `(?<![${letters}])(?:reword|rephrase|paraphrase|proof-?read|translate|tl;? ?dr)(?![${letters}])(?<=^[^.!\\n]{0,60})[^.!\\n]{0,50}$`,
  "\\b(?:this|these|it|that)(?:'s|’s| is| are| was)? (?:taken |copied |quoted )?from (?:the|an?|my|our|his|her|their)\\b|^\\W*from (?:the|our|my|his|her|their) [^.?!\\n]{2,60}$|\\bpaste of\\b",
  "\\b(?:is|are|was|were) (?:this|that|these|it) (?:really |actually |even |all )?(?:ok|okay|correct|true|right|legit|legal|fine|spam|a scam|phishing|normal|fair|good|safe|accurate|wrong|a joke)\\b[^.!\\n]{0,60}\\?",
  "\\b(?:do|should|must|can|could) (?:we|i) (?:have to |need to )?(?:react|reply|answer|respond|ignore|trust|agree|accept|sign|use (?:it|this))\\b[^.!\\n]{0,60}\\?",
  "\\b(?:what|how) (?:should|do|would|could|can) (?:i|we|you) (?:answer|reply|respond|react|say|tell)\\b",
  "\\b(?:got|received|found|saw|read|came across|copied|grabbed) (?:this|these|the following|it (?:from|on|in))\\b",
  "\\b(?:this|here)(?:'s| is) (?:their|his|her|what (?!i\\b|we\\b|you\\b|to\\b))",
  "\\b(?:see|as|quoted|copied|pasted|shown|text|mail|message|listed) below\\b|\\bbelow[.:：]?\\s*$|\\b(?:pasted|pasting|copy-?pasted|forwarding|forwarded|quoting)\\b",
)
/** What is asked for is done with a text that a demonstrative stands for. */
const asksForThis = any(
  `(?<![${letters}])${reads}\\b[^.?!\\n]{0,60}\\b(?:${these}|that|it)\\b${sentenceEnd}`,
  `(?<![${letters}])${handles}\\b[^.?!\\n]{0,40}\\b${these}\\b${sentenceEnd}`,
)
/** What is asked for is done with a text that is named. */
const asksForText = any(
  `(?<![${letters}])(?:${reads}|${handles})\\b[^.?!\\n]{0,40}\\b(?:this|these|that|those|his|her|their|my|the|each|following|attached)\\s(?:[${letters}-]{2,20}\\s)?${texts}\\b`,
)
const asksAboutText = any(
  `\\b(?:this|these|that|those|following|attached)\\s(?:[${letters}-]{2,20}\\s)?${texts}\\b[^.!\\n]{0,80}\\?`,
)
const textOfOthers = any(
  `\\b(?!(?:today|it|that|what|here|there|let|who)['’]s)[${letters}]{2,24}['’]s (?:[${letters}-]{2,20} ){0,2}${texts}\\s*[.:：]?\\s*$`,
)
const handsText = any(
  `\\b(?:this is|these are|here is|here are) (?:the |my |our )?[${letters}]{2,24}['’]s? (?:[${letters}-]{2,20} )?${texts}\\b`,
  `\\b(?:this|here)(?:'s| is) (?:the|an?|my) (?:[${letters}-]{2,20} ){0,3}${texts}\\b`,
)
const asksWhatOthersWant = any(
  `\\bwhat (?:do|does|did|is|are|would|should) (?:${others}) (?:want|mean|say|ask|need|think|tell|asking|saying|trying|wanting|like|expect)`,
)
const othersTell = any(
  `\\bwhat (?:${others}) (?:just |also |really )?${told}\\b`,
  `\\b(?:${others}) (?:just |also )?${told}(?: (?:me|us|this|back|that|something like))?\\s*[.:：]?\\s*$`,
)
const asksWhat = any("\\bwhat (?:do|did|is|are|would|should)")
const possessive = any("['’]s")
const hands = any("\\b(?:this|here|these)(?: is | are |'s )")

/** Does a sentence hand over the text behind it? The patterns of long lists come behind the words that they need. */
function handsOver(sentence: string): boolean {
  if (announced.test(sentence)) return true
  if (asksWhat.test(sentence) && asksWhatOthersWant.test(sentence)) return true
  const asks = asksFor.test(sentence)
  if (asks && asksForThis.test(sentence)) return true
  if (tells.test(sentence) && othersTell.test(sentence)) return true
  if (!namesText.test(sentence)) return false
  return (
    (asks && asksForText.test(sentence)) ||
    (sentence.includes("?") && asksAboutText.test(sentence)) ||
    (possessive.test(sentence) && textOfOthers.test(sentence)) ||
    (hands.test(sentence) && handsText.test(sentence))
  )
}

/** The same in languages without blanks or with other letters. */
const announcedElsewhere =
  /(?:总结|翻译|解释|回复|看看|看一下|分析|润色|改写).{0,12}(?:这|下面|以下)|(?:下面|以下|这[封段篇条个份]).{0,12}(?:邮件|文字|文章|内容|消息|评论|合同|日志|报错)|(?:これ|以下|次の|この(?:メール|文章|文)).{0,20}(?:要約|翻訳|訳|説明|返信|見て|どう)|(?:переведи|перескажи|суммируй|объясни|ответь на|посмотри).{0,30}(?:это|этот|эту|ниже)|(?:이|다음|아래).{0,12}(?:요약|번역|설명|답장)/

/** Letters of other scripts than the Latin one. */
const foreign = /[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

/** A question about what is at hand, or none but a nod for it: "thoughts?" */
const asksAbout = any(
  "\\b(?:your (?:take|opinion|view|thoughts)|any thoughts|opinions?)\\b[^.!\\n]{0,40}[?？]\\s*$",
  "\\b(?:clause|section|article|paragraph|item|line) \\d[^.!\\n]{0,80}[?？]\\s*$",
  "\\b(?:this|these|he|she|they|er|sie|damit|ils|elle|esto)\\b[^.!\\n]{0,80}[?？]\\s*$",
  `^\\W*(?:[${letters}]{2,16}\\s){0,1}[${letters}]{2,16}[?？]+\\s*$`,
)
/** Work on what was spoken of before, which a question can ask for too. */
const works =
  /\b(?:fix|implement|add|change|update|refactor|run|deploy|commit|push|build|remove|delete|rename|move|ready|start|begin|continue|merge|install|create)\b/i

/** A reply is asked for: to what, the next paragraph shows if it is long enough to be a letter. */
const repliesTo = any("\\b(?:draft|write|compose|prepare|suggest)\\b[^.?!\\n]{0,30}\\b(?:reply|answer|response)\\b")
const minLetter = 160

/** A sentence with such a word says what always holds, and hands nothing over. */
const binds = /\b(?:always|never|must|from now on|whenever|don['’]?t|do not|every|any|rules?|unless|before you)\b/i

/** Does a paragraph in lower case announce that a text of somebody else follows? `ahead` is how many characters follow. */
export function announcesPaste(paragraph: string, ahead: number): boolean {
  if (ahead === 0) return false
  return paragraph.split(/(?<=[.?!])\s+/).some((sentence) => {
    if (foreign.test(sentence) && announcedElsewhere.test(sentence)) return true
    if (binds.test(sentence)) return false
    if (handsOver(sentence) || (asksAbout.test(sentence) && !works.test(sentence))) return true
    return ahead > minLetter && repliesTo.test(sentence)
  })
}

/** Words with which people lead into their own points. */
const ownLead =
  /\b(?:rules?|constraints?|requirements?|instructions?|guidelines?|conventions?|preferences?|polic(?:y|ies)|reminders?|remember(?:ed)?|keep|bear|notes?(?! from)|matters?|pin|save|memori[sz]e|forget|stick|respect|obey|write down|once|listen|clear|heads up|attention|session|engagement|duration|whole|entire|rest of|holds?|appl(?:y|ies)|valid|stands?|counts?|(?:very |most )?important(?:ly)?|critical|crucial|essential|non-?negotiable|serious(?:ly)?|insist|demand|repeat|stress|emphasi[sz]e|vital|mandatory|mind|follow|do (?:this|these|it)|like this|as follows|looks?|every|each|format|style|tone|layout|structure|template|specification|always|never|must|from now on|going forward|going to|for (?:all|every|each|the rest|everything|anything)|throughout|until|what (?:i|we) |i(?:'ll|’ll)? (?:say|want|need|prefer|expect|ask)|you (?:should|must|can|need))\b/i
/** Somebody else is named as the source. */
const ofOthers = any(
  `^\\W*(?:their|his|her|(?!(?:it|that|what|here|there|let|today|team|company|user)\\b)[${letters}][${letters}]{1,24}['’]s)\\s`,
  `\\b(?:${others}) (?:just |also )?(?<!\\b(?:i|we|you|to|ll) )${told}\\b`,
)

const textOrData = `(?:${texts}|code|error|file|config|diff|issue|bug|data|json|csv|table|conversation|context|contents?)`

/** A lead before a colon that points at a text or says how it was come by. */
const leadsIn: RegExp = any(
  "\\b(?:context|message|mail|note|text|copied|pasted|quote|news|update|ticket|comment) from [^.?!]{2,40}$|^from (?:the|his|her|their|my|our) [^.?!]{2,40}$",
  "^(?!\\W*(?:this|that|these|those|it)(?: one)? (?:is|are|goes|has|must|will)\\b).*\\b(?:this|these|the following|below)\\b[^.?!]{0,30}$",
  "\\b(?:i|we) (?:just )?(?:got|get|received|see|found|scanned|copied|heard)\\b[^.?!]{0,60}$",
)
/** One that asks to read a text, says who said it, or names it; the last word of some is the text itself. */
const leadsInAsking = any(`(?<![${letters}])${reads}\\b[^.?!]{0,60}$`)
const leadsInTelling = any(
  `(?<!\\b(?:i|we|you|to|ll) (?:just |already )?)\\b${told}(?:\\s(?:to )?(?:me|us|him|her|them|back|this|that|earlier|yesterday|today|on [^.?!]{2,30}|in [^.?!]{2,30}))?(?:,? [${letters}]{3,12})?$`,
)
const leadsInHanding = any(
  `\\bhere(?:'s|’s| is| are| comes)\\b[^.?!]{0,40}\\b(?:what (?!i\\b|we\\b|you\\b|to\\b)|${textOrData})\\b[^.?!]{0,60}$`,
)
const leadsInNaming = any(
  `^(?!\\W*(?:in|for|when|if|on|before|after|with|to)\\b).*\\b(?:an?|the|this)(?: [${letters}]{2,20})? ${textOrData}(?: (?:was|is|were|said|shows?|looks like))?$`,
  `\\b(?:${texts}) (?:was|is|were|are)$`,
)
const asksReading = any(reads)
const tellsLead = any(told)
const namesLead = any(textOrData)

const leads = (said: string, isLast: boolean): boolean =>
  leadsIn.test(said) ||
  leadsInElsewhere.test(said) ||
  textLabel.test(said) ||
  (isLast && anyTextLabel.test(said)) ||
  (asksReading.test(said) && leadsInAsking.test(said)) ||
  (tellsLead.test(said) && leadsInTelling.test(said)) ||
  (/\bhere/i.test(said) && leadsInHanding.test(said)) ||
  (namesLead.test(said) && leadsInNaming.test(said))

/** A word for a text and nothing else; before a sentence in the same line many of them are the topics of people's own points. */
const label = "^\\W{0,4}(?:(?:the|an?|his|her|their|original|full|whole|incoming|customer|client)\\s){0,2}"
const source = "(?:\\s(?:from|of|by|in|on|text|follows)\\b[^.?!]{0,40})?$"
const textLabel = any(
  `${label}(?:e-?mail|mail|letter|message|quote|quoted|paste|pasted|forwarded|fwd|citation|transcript|article|original|ticket|slack|whatsapp|discord|teams|text|error|issue)${source}`,
)
const anyTextLabel = any(`${label}(?:${texts.replace(/\)s\?$/, ")")}|bug|source|context|data|file)${source}`)
const leadsInElsewhere =
  /(?:邮件|文字|文章|内容|消息|如下|下面|以下|写道|说|メール|以下|письмо|сообщение|текст|написал[аи]?|isto|abaixo|e-mail|correo|mensaje|testo|questo)\s*$/

/** Colons of one line that are looked at. */
const maxColons = 3

/** Where in a line, in lower case, the words end that introduce a paste with a colon. `next` is the line behind it. */
export function colonCut(line: string, next: string | undefined): number | undefined {
  if (!colon.test(line)) return undefined
  const colons = [...line.matchAll(/[:：](?=\s|$)|：/g)].slice(0, maxColons)
  for (const { index } of colons) {
    const rest = line.slice(index + 1)
    const isLast = rest.trim() === ""
    if (introduces(line.slice(0, index), isLast ? next : rest, isLast)) return index + 1
  }
  return undefined
}

function introduces(lead: string, behind: string | undefined, isLast: boolean): boolean {
  const said = lead.slice(Math.max(lead.lastIndexOf("."), lead.lastIndexOf("?"), lead.lastIndexOf("!")) + 1).slice(-200)
  const isOthers = ofOthers.test(said)
  if (!isOthers && ownLead.test(said)) return false
  if (/^\W*(?:their|his|her)\s/i.test(said)) return true
  if (!leads(said, isLast)) return false
  // A list under a word for texts is the author's: "Commit message:" and how it is to be.
  return behind === undefined || isOthers || !listed.test(behind) || pointsAt.test(said)
}
const listed = /^\s*(?:[-*+•]|\d{1,2}[.)])\s/
const pointsAt = any("\\b(?:this|these|we got|i got|received|found|below)\\b")
