import { lowered } from "../language/letters.ts"
import { sentencesIn } from "../language/sentences.ts"
import { anyOf } from "../language/word-lists.ts"
import type { Span } from "../message/message.ts"
import { createRecent } from "../message/recall.ts"
import { asidesIn, isAside, isOfHarness, subtractSpans } from "./asides.ts"
import { handlesText, ownAtEnd, requestCut, surelyOwnIn } from "./beside-pastes.ts"
import {
  announcesPaste,
  asksAboutEarlier,
  colonCut,
  isRequest,
  needsNext,
  pointsAtNext,
  speaksForSelf,
} from "./introductions.ts"
import { documentLine, isQuoted, isTitled, letterAbove, letterIn, letterToSomebody, pasteShape } from "./paste-signs.ts"
import { requestEnd } from "./rewording.ts"
import { speakerScore, surelyAnothers, surelyOwn, surelyPasted } from "./who-speaks.ts"

/** Lines between blank lines, or a delimited block with its delimiters. */
type Paragraph = { readonly lines: readonly Line[]; readonly isBlock: boolean }
/** `read` is the part of a line that is matched, `low` the same in lower case. */
type Line = Span & { readonly text: string; readonly read: string; readonly low: string }

/**
 * Where a paste starts and how far it extends: to the end of its paragraph or of the message, or to where its quotation marks are closed.
 * `talk` is a chat, which ends a paragraph but may continue in the next.
 */
type Cut = {
  readonly start: number
  readonly extent: "paragraph" | "talk" | "rest" | "quotation"
  readonly end?: number
  /** Sentences behind it that are the user's again. */
  readonly own?: readonly Span[]
}

/** Maximum number of characters of a line that are matched: what marks a paste is at its start. */
const maxRead = 300
/** Number of characters at the end of a paragraph in which an introduction is searched for. */
const maxIntroduction = 600

/**
 * Returns the spans of a user's message that are the user's own words, in order and not overlapping. The rest was pasted: mails, chats,
 * issues, reviews, logs, files, quoted lines. In doubt text counts as pasted: a rule that is missed can be said again, a planted one would
 * be obeyed. Linear in the length of the text. The file is long because all forms of a paste are tried on the same paragraphs, in one order.
 */
export const ownWords = (text: string): readonly Span[] => wordsIn(text, "own")

/** Same without what only the speaker model takes for the user's own: what ends a rule has to be the user's by its place. */
export const certainWords = (text: string): readonly Span[] => wordsIn(text, "certain")

function wordsIn(text: string, which: keyof UserSpans): readonly Span[] {
  if (expandsCommand.test(text)) return commandArguments(text)
  const from = timeStampLength(text)
  if (from > 0) return shifted(wordsIn(text.slice(from), which), from)
  if (!mayHavePaste(text)) return [{ start: 0, end: text.length }]
  if (text.length <= maxHead + maxTail) return userSpans(text)[which]
  const head = userSpans(text.slice(0, maxHead))[which]
  const start = text.length - maxTail
  // If a paste is still open at the end of the first part, it covers the second.
  if (head.at(-1)?.end !== maxHead) return head
  return [...head, ...shifted(userSpans(text.slice(start))[which], start)]
}
const shifted = (spans: readonly Span[], by: number): readonly Span[] =>
  spans.map(({ start, end }) => ({ start: start + by, end: end + by }))

/**
 * Returns the length of the time that some clients put before what the user typed ("[Mon 9 Nov 2026, 12:31] …"), or 0. A chat or a log has
 * several such lines, or a name or a level after the time.
 */
function timeStampLength(text: string): number {
  const [stamp = ""] = timeStamp.exec(text) ?? []
  return stamp === "" || chatOrLogStart.test(text.slice(stamp.length)) || stampedLine.test(text.slice(stamp.length))
    ? 0
    : stamp.length
}
const timeStamp =
  /^\[(?=[^\]\n]{0,40}\d:\d\d)(?:\p{L}{2,10}[.,]{0,2} |\d{1,4}[\d.,:/+T-]{0,20}Z?(?: |(?=\])|, ?)){1,8}(?:\p{L}{2,5})?\] (?=\S)/u
const chatOrLogStart =
  /^(?:[[<@*#]|\p{Lu}{3,9}(?![\p{L}'’])|[\p{L}\p{N}_.@-]{1,30}(?: \p{Lu}[\p{L}.]{0,20}){0,2}(?:[:>：]|\[\d))/u
const stampedLine = /^\W{0,2}(?:\d{4}-\d\d-\d\d|\p{L}{3},? \d|\d{1,2}[:./]\d\d)/mu

/** Matches a message in which a client replaced the name of a command by its text: only the arguments are the user's words. */
const expandsCommand = /^\s{0,20}<command-(?:message|name|args)>/
const [argumentsOpen, argumentsClose] = ["<command-args>", "</command-args>"]
function commandArguments(text: string): readonly Span[] {
  const at = text.indexOf(argumentsOpen)
  const [start, end] = [at + argumentsOpen.length, text.indexOf(argumentsClose)]
  return at < 0 || end <= start ? [] : [{ start, end }]
}

/** Number of characters of a longer text that are read at its start and at its end; nobody types that much, so the rest was pasted. */
const maxHead = 300_000
const maxTail = 100_000

const mayHavePaste = (text: string): boolean =>
  text.includes("\n") ||
  text.includes(":") ||
  text.includes("\r") ||
  text.includes("：") ||
  text.includes("</") ||
  isQuoted(text) ||
  opensData.test(text) ||
  requestEnd(lowered(text.slice(0, maxRead))) !== undefined
const opensData = /^\s*[[{]/

/** Cached, because rules, withdrawals and notes are each searched for in the same message within one turn. */
const userSpans = createRecent((text): UserSpans => {
  const modelled: Span[] = []
  const own = subtractSpans({ start: 0, end: text.length }, pastesIn(text, modelled))
  return { own, certain: modelled.length === 0 ? own : own.flatMap((span) => subtractSpans(span, modelled)) }
}, 1000)
type UserSpans = { readonly own: readonly Span[]; readonly certain: readonly Span[] }

/** Returns the spans that were pasted, and adds to `modelled` what only the speaker model takes out of them. */
function pastesIn(text: string, modelled: Span[]): readonly Span[] {
  const asides = asidesIn(text)
  const lines = linesOf(text, asides)
  const { paragraphs } = paragraphsOf(lines)
  const letter = letterIn(paragraphs)
  const discussed = discussedParagraphs(paragraphs)
  const pasted: Span[] = [...asides, ...betweenElements(text, asides, modelled)]
  // Whether the words before announced a text, or were a chat: after a chat only the last paragraph may be the user's again.
  let [isAnnounced, isTalk, pointsBelow, isAsked] = [false, false, false, false]
  const restAt = (start: number, behind: readonly Span[] = [], ofLine?: number): readonly Span[] => {
    const back = ownBehind(text, paragraphs, start, ofLine)
    modelled.push(...behind, ...back.slice(1))
    return [...pasted, ...restFrom(text, lines, start, [...behind, ...back])]
  }
  const isFormed = (n: number): boolean => {
    const { lines: own = [], isBlock = false } = paragraphs[n] ?? {}
    return isBlock || (own[0] !== undefined && (isQuoted(own[0].text) || cutIn(own, n)?.start === own[0].start))
  }
  const above = letter === 0 ? letterAbove(paragraphs, isFormed) : undefined
  const toSomebody = letter === undefined ? letterToSomebody(paragraphs) : undefined
  if (toSomebody !== undefined) modelled.push(toSomebody)
  if (above !== undefined)
    return restAt(-1, sentencesSaid(text, above.span, above.isToSomebody ? surelyOwn : surelyAnothers))
  for (const [n, { lines: own, isBlock }] of paragraphs.entries()) {
    const { start, end } = spanOf(own)
    if (isBlock || (isAnnounced && (isQuotation(text.slice(start, end)) || isLastQuote(paragraphs, n)))) {
      pasted.push({ start, end })
      isAnnounced = false
      continue
    }
    const quoted = quotedLines(own)
    const cut: Cut | undefined =
      n === letter
        ? { start, extent: "rest" }
        : (cutIn(own, n) ?? (pasted.length === 0 ? requestCut(text, own, paragraphs[n + 1]) : undefined))
    const hasWords = cut === undefined || cut.start > start
    if (isAnnounced && pointsBelow && n !== letter && isFormed(n + 1) && isOwnAside(text, { start, end })) {
      modelled.push({ start, end })
      continue
    }
    if (isAnnounced && isAsked && cut === undefined && isLastStatement(paragraphs, n) && isOwnRemark(text, own)) {
      modelled.push({ start, end })
      continue
    }
    if (hasWords && isAnnounced) return restAt(start, [], isAsked ? surelyPasted : undefined)
    if (hasWords && isTalk && n < paragraphs.length - 1) return restAt(start)
    pasted.push(...quoted)
    if (cut?.extent === "rest" && cut.start < end) return restAt(cut.start, cut.own)
    if (cut?.extent === "quotation") {
      pasted.push({ start: cut.start, end: cut.end ?? end })
      isAnnounced = false
      continue
    }
    const said = lowered(text.slice(Math.max(quoted.at(-1)?.end ?? start, end - maxIntroduction), end))
    const announces =
      cut === undefined ? end < text.length && announcesPaste(said, text.length - end) : cut.start >= end
    pointsBelow = announces && isBelow.test(said)
    isAsked = cut === undefined && (hasQuestion.test(said) || isRequest(said)) && !needsNext(said)
    if (discussed.has(n)) {
      pasted.push({ start, end })
      isAnnounced = announces
    } else if (cut !== undefined && cut.start < end) {
      pasted.push({ start: cut.start, end })
      isTalk = cut.extent === "talk" || isAnnounced
      isAnnounced = false
    } else isAnnounced = announces
  }
  return pasted
}

/**
 * Returns the spans of the last paragraph that are the user's own although a paste starts before it. `ofLine` is set behind a mere question,
 * where there need not be a paste: then the last paragraph may be where it starts, too.
 */
function ownBehind(
  text: string,
  paragraphs: readonly Paragraph[],
  start: number,
  ofLine: number | undefined,
): readonly Span[] {
  const last = spanOf(paragraphs.at(-1)?.lines ?? [])
  const asked = start < last.start || ofLine !== undefined ? questionAtEnd(paragraphs) : 0
  return asked === 0 ? [] : ownAtEnd(text, last, asked, ofLine)
}

const hasQuestion = /[?？]/

/** Matches words for a place further down, with other words between: "see the alert below". */
const isBelow = /(?<!\p{L})(?:below|unten|abajo|ci-dessous|abaixo|sotto|onder)(?!\p{L})/u

/** Below this score a sentence that a paste may hold as well is the user's. */
const probablyOwn = 0
/** Maximum length of a remark between the words that announce a paste and the paste. */
const maxRemark = 300

/** True for a short paragraph in which the user speaks of himself, or as the speaker model has it. */
const isOwnAside = (text: string, { start, end }: Span): boolean =>
  end - start <= maxRemark &&
  (speaksForSelf(lowered(text.slice(start, end))) || speakerScore(text, { start, end }) < probablyOwn)

/** True for the last paragraph, and for the one before it if that asks for something. */
const isLastStatement = (paragraphs: readonly Paragraph[], n: number): boolean =>
  n === paragraphs.length - 1 ||
  (n === paragraphs.length - 2 && isRequest(paragraphs[n + 1]?.lines.map(({ low }) => low).join("\n") ?? ""))

/** True for a paragraph of one or two sentences on one line if the speaker model takes all of them for the user's. */
function isOwnRemark(text: string, [line, ...more]: readonly Line[]): boolean {
  if (line === undefined || more.length > 0 || line.text.length > maxRemark) return false
  const sentences = sentencesIn(text, line)
  return sentences.length <= 2 && surelyOwnIn(text, sentences, probablyOwn).length === sentences.length
}

/** Returns the sentences of a span that the speaker model takes for the user's. */
const sentencesSaid = (text: string, span: Span, maxScore: number): readonly Span[] =>
  surelyOwnIn(text, sentencesIn(text, span), maxScore)

/** True if all lines of a paragraph are quoted, and none of the later ones. */
const isLastQuote = (paragraphs: readonly Paragraph[], n: number): boolean =>
  paragraphs[n]?.lines.every(({ text }) => isQuoted(text)) === true &&
  !paragraphs.slice(n + 1).some(({ lines }) => lines.some(({ text }) => isQuoted(text)))

/** Minimum length of a quoted line that was wrapped, so that the line below goes on with it. */
const minWrapped = 60

/** Returns the quoted lines of a paragraph, and those that go on with a quoted one without a mark of their own. */
function quotedLines(lines: readonly Line[]): readonly Line[] {
  let isInside = false
  return lines.filter(({ read }, n) => {
    const before = lines[n - 1]?.read ?? ""
    const goesOn =
      isInside &&
      /^\s*\p{Ll}/u.test(read) &&
      !/[.!?:;…。！？]["”“»')]*\s*$/.test(before) &&
      (before.length >= minWrapped || isQuoted(lines[n + 1]?.text ?? ""))
    isInside = isQuoted(read) || goesOn
    return isInside
  })
}

/** Returns what stands between two elements of the same name: text in an element can close it and open another. */
function betweenElements(text: string, asides: readonly Span[], modelled: Span[]): readonly Span[] {
  const nameOf = ({ start }: Span): string =>
    /^<([\w.:-]+)/.exec(text.slice(start, start + maxTag))?.[1]?.toLowerCase() ?? ""
  return asides.slice(1).flatMap((aside, n) => {
    const before = asides[n]
    if (before === undefined || nameOf(before) !== nameOf(aside) || isOfHarness(nameOf(aside))) return []
    const between = { start: before.end, end: aside.start }
    const own = sentencesSaid(text, between, surelyOwn)
    modelled.push(...own)
    return subtractSpans(between, own)
  })
}
const maxTag = 64

/**
 * What a text leaves open at its end: the line that opens a block, the tag of an element, or the paragraph that announces a text, or asks
 * something that need not be about the text behind it.
 */
type LeftOpen = { readonly kind: "block" | "element" | "announced" | "asked"; readonly by: string }

/**
 * Returns what a text leaves open for the text behind it, of which there are `ahead` characters. What is `apart` from it is announced only
 * by its last sentence, and not by a request about what was pasted before that.
 */
export function leftOpenIn(text: string, ahead: number, apart: boolean): LeftOpen | undefined {
  const lines = linesOf(text, asidesIn(text))
  const { paragraphs, opened } = paragraphsOf(lines)
  if (opened !== undefined && !isPaired(text, opened)) return { kind: "block", by: opened }
  for (const { lines, isBlock } of paragraphs)
    for (const { read } of isBlock ? [] : lines) {
      const [tag, name = ""] = lineTag.exec(read) ?? []
      if (tag !== undefined && isAside(name.toLowerCase())) return { kind: "element", by: tag.trim() }
    }
  const last = paragraphs.at(-1)
  const own = ownWords(text)
  if (last === undefined || last.isBlock || own.at(-1)?.end !== text.length) return undefined
  const { start, end } = spanOf(last.lines)
  const cut = cutIn(last.lines, paragraphs.length - 1)
  const by = text.slice(Math.max(start, end - maxIntroduction), end)
  const said = apart ? by.slice(sentencesIn(by, { start: 0, end: by.length }).at(-1)?.start) : by
  const announces =
    cut !== undefined
      ? cut.start >= end
      : (!apart || own.length === 1) &&
        !last.lines.every((line) => isQuoted(line.text)) &&
        announcesPaste(lowered(said), ahead)
  return announces ? { kind: cut !== undefined || pointsAtNext(lowered(said)) ? "announced" : "asked", by } : undefined
}

/** True if a mark that seems to open a block closes what was opened in the middle of a line. */
function isPaired(text: string, opened: string): boolean {
  const [mark] = /`{3,}|"""|'''/.exec(opened) ?? []
  return mark !== undefined && text.split(mark).length % 2 === 1
}
/** Matches an opening tag that has a line of its own. */
const lineTag = /^\s*<([a-z][\w.:-]{1,60})(?:\s[^<>]{0,300})?>\s*$/i

const spanOf = (lines: readonly Line[]): Span => ({ start: lines[0]?.start ?? 0, end: lines.at(-1)?.end ?? 0 })

/** Number of characters that are read of a paragraph to tell whether another one is about it. */
const maxDiscussed = 400

/**
 * Returns the paragraphs that another one is about: all before a last one that asks about them, those under a title beside a request, and
 * excerpts of a list. Requests and what somebody says in the first person are not among them.
 */
function discussedParagraphs(paragraphs: readonly Paragraph[]): ReadonlySet<number> {
  const discussed = new Set<number>()
  const last = paragraphs.at(-1)
  if (paragraphs.length < 2 || last === undefined) return discussed
  const texts = paragraphs.map(({ lines }) =>
    lines
      .map(({ low }) => low)
      .join("\n")
      .slice(0, maxDiscussed),
  )
  const requests = texts.map((paragraphText, n) => paragraphs[n]?.isBlock !== true && isRequest(paragraphText))
  const requestCount = requests.filter((is) => is).length
  const excerpts = excerptsIn(texts)
  const looksBack = !last.isBlock && asksAboutEarlier(texts.at(-1) ?? "")
  for (const [n, { lines, isBlock }] of paragraphs.entries()) {
    if (isBlock || requests[n] === true) continue
    const isSpokenOf = looksBack && n < paragraphs.length - 1
    const isUnderTitle = (): boolean => isTitled(lines.map(({ read }) => read)) || isUnderTitleLine(paragraphs, n)
    if ((isSpokenOf || excerpts.has(n) || (requestCount > 0 && isUnderTitle())) && !speaksForSelf(texts[n] ?? ""))
      discussed.add(n)
  }
  return discussed
}

/** True if the paragraph before is only a title, and not one of the speaker's own points. */
function isUnderTitleLine(paragraphs: readonly Paragraph[], n: number): boolean {
  const [above, own] = [paragraphs[n - 1], paragraphs[n]]
  const [line, ...more] = above?.lines ?? []
  if (line === undefined || more.length > 0 || above?.isBlock === true) return false
  return isTitled([line.read, own?.lines[0]?.read ?? ""]) && !ownTitle.test(line.low)
}
const ownTitle =
  /\b(?:rules?|constraints?|guidelines?|requirements?|preferences?|instructions?|tasks?|goals?|context|regeln|règles|reglas|regras|regole)\b/

const item = /^[ \t]{0,8}(\d{1,3})[.)][ \t]/
const items = /^[ \t]{0,8}(\d{1,3})[.)][ \t]/gm
const namedNumbers = /[\p{L}#] ?(\d{1,3})(?![\p{L}\p{N}])/gu

const hasDigit = /\d/

/** Returns the items of a list elsewhere that the message named before: "I'm stuck on exercise 7." and then "7. Given a list …". */
function excerptsIn(texts: readonly string[]): ReadonlySet<number> {
  const [excerpts, named, listed] = [new Set<number>(), new Set<string>(), new Set<number>()]
  for (const [n, paragraphText] of texts.entries()) {
    if (!hasDigit.test(paragraphText)) continue
    const number = item.exec(paragraphText)?.[1] ?? ""
    if (Number(number) >= 2 && named.has(number) && !listed.has(Number(number) - 1)) excerpts.add(n)
    for (const [, number = ""] of paragraphText.matchAll(namedNumbers)) named.add(number)
    for (const [, number] of paragraphText.matchAll(items)) listed.add(Number(number))
  }
  return excerpts
}

/**
 * Returns the earliest offset in a paragraph at which pasted text starts. If it is the end of the paragraph, the next one is announced as
 * pasted.
 */
function cutIn(all: readonly Line[], at: number): Cut | undefined {
  const lines = all.filter(({ text }) => !isQuoted(text))
  const [texts, small] = [lines.map(({ read }) => read), lines.map(({ low }) => low)]
  const cuts: Cut[] = []
  const placeOf = (line: number): number => lines[line]?.start ?? all.at(-1)?.end ?? 0
  const document = documentLine(texts, small, at === 0)
  if (document !== undefined) cuts.push({ start: placeOf(document), extent: "rest" })
  const shape = pasteShape(texts, small)
  if (shape !== undefined) cuts.push({ start: placeOf(shape.at), extent: shape.isTalk ? "talk" : "paragraph" })
  for (const [n, line] of lines.entries()) {
    const colon = colonCut(line.low, small[n + 1])
    if (colon === undefined) continue
    const isLast = line.text.slice(colon).trim() === ""
    const closed = isLast ? undefined : quotationAt(line.text, colon)
    if (closed !== undefined) {
      cuts.push({ start: line.start + colon, extent: "quotation", end: line.start + closed })
      break
    }
    // Quoted lines, a list or another recognized form right after it have an end of their own.
    if (isLast && isQuoted(all[all.indexOf(line) + 1]?.text ?? "")) break
    if (!isLast || shape === undefined || shape.at !== n + 1)
      cuts.push({ start: isLast ? placeOf(n + 1) : line.start + colon, extent: "rest" })
    break
  }
  return cuts.toSorted((one, two) => one.start - two.start)[0]
}

/** Matches a sentence in quotation marks; the text after them is the quoting speaker's own. */
const quotedSentence =
  /^\s*(?:"[^"\n]{20,2000}"|“[^“”\n]{20,2000}”|„[^“”„\n]{20,2000}[“”]|«[^«»\n]{20,2000}»|「[^「」\n]{8,1000}」)(?=$|[\s.,;:!?)—–-])/

/**
 * Returns the end of the quotation that starts at an offset of a line. Undefined if there is none, or more than one, because then it is
 * uncertain who speaks after them.
 */
function quotationAt(line: string, from: number): number | undefined {
  const rest = line.slice(from)
  const found = quotedSentence.exec(rest)?.[0]
  return found === undefined || quoteMarks.test(rest.slice(found.length).replaceAll("'", ""))
    ? undefined
    : from + found.length
}

/** True if a paragraph is one quotation. */
const isQuotation = (paragraph: string): boolean =>
  /^\s*(?:"[^"]{8,4000}"|“[^“”]{8,4000}”|„[^“”„]{8,4000}[“”]|«[^«»]{8,4000}»)\s*$/.test(paragraph)

/**
 * Returns the length of a question about what stands before it that the last paragraph starts with, 1 for a request to work on it, or 0 for
 * neither: the user speaks there, whatever was pasted, unless the paste itself ends like this.
 */
function questionAtEnd(paragraphs: readonly Paragraph[]): number {
  const last = paragraphs.at(-1)
  if (paragraphs.length < 2 || last === undefined || last.isBlock) return 0
  const [first = ""] = (last.lines[0]?.low ?? "").split(/(?<=[?？])\s/)
  if (/[?？]$/.test(first) && first.length <= maxQuestion && asksAboutEarlier(first)) return first.length
  return handlesText(first) ? 1 : 0
}
const maxQuestion = 120
/** Matches the title of a prompt section in capital letters, and the titles under which the author of the prompt speaks again. */
const section = /^[A-Z][A-Z _-]{2,40}:\s*$/
const ownSection = /^(?:.* )?(?:INSTRUCTIONS?|RULES?|TASKS?|CONSTRAINTS?|REQUIREMENTS?|GUIDELINES?)(?: .*)?:\s*$/

/**
 * Returns the spans from `start` to the end of the message, without the user's own at the end that ask about it; in a prompt with sections,
 * up to the last section of instructions.
 */
function restFrom(text: string, lines: readonly Line[], start: number, back: readonly Span[]): readonly Span[] {
  if ((back[0]?.start ?? -1) >= start) return subtractSpans({ start, end: text.length }, back)
  const first = lines.findIndex((line) => line.end > start)
  const isSectioned = lines.slice(Math.max(0, first - 1), first + 2).some((line) => section.test(line.text))
  const last = isSectioned
    ? lines.findLast((line) => line.start > start && section.test(line.text) && ownSection.test(line.text))
    : undefined
  return [{ start, end: last?.start ?? text.length }]
}

const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g

/** Returns the lines of a text except those inside tags. */
function linesOf(text: string, asides: readonly Span[]): readonly Line[] {
  const lines: Line[] = []
  let start = 0
  let aside = 0
  const take = (end: number): void => {
    while ((asides[aside]?.end ?? text.length) < start) aside++
    const hidden = asides[aside]
    if (hidden !== undefined && start >= hidden.start && end <= hidden.end) return
    const line = text.slice(start, end)
    // Exports of chats write a direction mark before each line.
    const bare = line.replace(/^[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/, "")
    const read = bare.length > maxRead ? bare.slice(0, maxRead) : bare
    lines.push({ start, end, text: line, read, low: lowered(read) })
  }
  lineEnd.lastIndex = 0
  for (let match = lineEnd.exec(text); match !== null; match = lineEnd.exec(text)) {
    take(match.index)
    start = match.index + match[0].length
  }
  take(text.length)
  return lines
}

/**
 * Matches a line that opens a block which another line closes: code fences, quotation marks alone on a line, a string over several lines of
 * code, BEGIN.
 */
const opening =
  /^[ \t>]*(?:(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=[`~]))?(?:(`{3,}|~{3,})|("""|'''|<<<|\[(?:quote|code|paste)\])\s*$|-{2,}[ ]?(?:BEGIN|START)\b|BEGIN:V[A-Z]+\s*$|[-=]{2,} ?8<.*$|(?:[\w$]{1,20} ){0,3}[\w$.]{1,60} ?[=:(] ?[fr]?(`|"""|''')(?:(?!\3).){0,400}$)/i

/** True if a line opens a block. The first checks are cheap and rule out most lines, which start with a letter and have no marks. */
const opens = (line: string): boolean =>
  (!letterFirst.test(line) || line.includes("`") || line.includes('"""') || line.includes("'''")) && opening.test(line)
/** All ASCII letters except B, for "BEGIN:V". */
const letterFirst = /^[AC-Zac-z]/

function closes(line: string, opened: string): boolean {
  const [, fence = "", mark = "", quote = ""] = opening.exec(opened) ?? []
  const bare = line.trim()
  if (fence !== "") return bare.startsWith(fence) && /^[`~]+$/.test(bare)
  if (quote !== "") return line.includes(quote)
  if (mark === "<<<") return bare === ">>>"
  if (mark.startsWith("[")) return bare.toLowerCase() === `[/${mark.slice(1).toLowerCase()}`
  if (mark !== "") return bare.endsWith(mark)
  if (/^-/.test(opened.trim())) return /^-{2,}[ ]?(?:END|STOP)\b/i.test(bare) || bare === opened.trim()
  return bare.toLowerCase() === opened.trim().toLowerCase().replace("begin", "end")
}

/** Returns the paragraphs, and the line that opens a block which is never closed. */
function paragraphsOf(lines: readonly Line[]): {
  readonly paragraphs: readonly Paragraph[]
  readonly opened: string | undefined
} {
  const paragraphs: Paragraph[] = []
  let open: Line[] = []
  let opened: string | undefined
  const closeParagraph = (isBlock: boolean): void => {
    if (open.length > 0) paragraphs.push({ lines: open, isBlock })
    open = []
  }
  for (const line of lines) {
    const { read } = line
    if (opened !== undefined) {
      open.push(line)
      if (!closes(read, opened)) continue
      opened = undefined
      closeParagraph(true)
    } else if (opens(read)) {
      closeParagraph(false)
      opened = read
      open.push(line)
    } else if (read.trim() === "" && line.text.trim() === "") closeParagraph(false)
    else open.push(line)
  }
  // A block that is never closed holds all that follows.
  closeParagraph(opened !== undefined)
  return { paragraphs, opened }
}

/** Matches quotation marks around a sentence: text of a minimum length, or one that ends in punctuation. */
const quotation = new RegExp(
  `(?<=^|[\\s([:,=—–*_~/>\u200b-\u200f-])${anyOf(
    '"""[^"]{4,2000}"""|"(?=\\S)[^"]{8,2000}?(?<=\\S)"|＂[^＂]{8,2000}＂|″[^″]{8,2000}″',
    '“[^”]{8,2000}[”“]|”[^”]{8,2000}”|„[^“”"]{8,2000}[“”"]|«[^»]{8,2000}»|»[^«]{8,2000}«|‹[^›]{8,2000}›|›[^‹]{8,2000}‹',
    "‘(?=\\S)[^‘\\n]{8,400}?’|‚[^‘’\\n]{8,400}[‘’]|「[^」]{4,1000}」|『[^』]{4,1000}』|``[^`]{8,2000}''|&quot;[^&]{8,2000}&quot;",
    "'(?=\\S)[^'\\n]{8,400}?(?<=[.!?,])'",
  )}(?=$|[\\s.,;:!?)\\]—–*_~/<\u200b-\u200f-])`,
  "g",
)

/** Matches a message that is quoted as a whole, as some programs pass on what was typed on a command line. */
const wholeQuoted = /^\s*(?:"(?!"")[\s\S]*"|“[\s\S]*”|'[\s\S]*')\s*$/

/**
 * Returns the quotations in a text: words of others, or words that are only mentioned. Quotation marks around a whole message do not count.
 */
export function quotationsIn(text: string): readonly Span[] {
  if (text.length > maxHead + maxTail) {
    // The user's own words are only in the two ends.
    const start = text.length - maxTail
    const ofTail = quotationsIn(text.slice(start)).map((span) => ({ start: span.start + start, end: span.end + start }))
    return [...quotationsIn(text.slice(0, maxHead)), ...ofTail]
  }
  if (!quoteMarks.test(text)) return []
  const from = wholeQuoted.test(text) ? text.search(/\S/) + 1 : 0
  const said = from === 0 ? text : text.slice(from, text.trimEnd().length - 1)
  const spans: Span[] = []
  quotation.lastIndex = 0
  for (let found = quotation.exec(said); found !== null; found = quotation.exec(said))
    spans.push({ start: from + found.index, end: from + found.index + found[0].length })
  return spans
}
const quoteMarks = /["“”„«»‹›「『'‘‚＂″]|``|&quot;/

/** True if at least half of a span is inside one of the others. */
export const isWithin = ({ start, end }: Span, others: readonly Span[]): boolean =>
  others.some((other) => 2 * (Math.min(end, other.end) - Math.max(start, other.start)) >= end - start)

/**
 * True if a sentence stands in a plain line: no quoted or commented line, heading, table row, markup, code, struck text, or line between
 * two rules of hyphens. What ends a rule has to be said plainly.
 */
export function isPlainLine(text: string, { start, end }: Span): boolean {
  const from = text.lastIndexOf("\n", start - 1) + 1
  const lineBreak = text.indexOf("\n", end)
  const to = lineBreak < 0 ? text.length : lineBreak
  const line = text.slice(from, to)
  if (!plainStart.test(line) || markup.test(line)) return false
  if ((text.slice(from, start).split("`").length - 1) % 2 === 1) return false
  const [before = "", after = ""] = [text.slice(0, from).trimEnd(), text.slice(to).trimStart()]
  return !(/(?:^|\n)\s*-{3,}$/.test(before.slice(-80)) && /^-{3,}/.test(after))
}
/** A line starts with a letter, digit, name, picture or opening mark, after a bullet or number. */
const plainStart =
  /^\s*(?:(?:[-*•+]|\d{1,3}[.)])\s+)?[*_]{0,3}["“„«‘'(¿¡@]?(?:#(?=\S))?[\p{L}\p{N}\p{Extended_Pictographic}]/u
const markup = /<!--|<\/?[a-z][^<>\n]{0,200}>|~~|^\s*\|.*\|\s*$/i
