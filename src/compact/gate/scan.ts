import { directs } from "../../language/imperative.ts"
import { normalize, normalizedText, originalSpan, type Survey, survey } from "../../language/normalize.ts"
import { namedPatterns } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { type Channel, instructs, type Span } from "../../message/message.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import { decodings } from "./decodings.ts"
import { concept, type Finding, type FindingKind, type Sighting, type Strength } from "./finding.ts"
import words from "./gate-words.json" with { type: "json" }
import { mergeSpans, spanBeforeWithholding, withhold } from "./mark-data.ts"
import { gateSentences, type Sentence, type Sketch, type Word } from "./sentence.ts"

export type Scanned = { readonly findings: readonly Finding[]; readonly text: string }

type ScanOptions = { readonly channel: Channel }
const scanNames = optionNames<ScanOptions>()("channel")

/** Maximum number of rescans: removing one injection can join the halves of another. */
const maxRounds = 6

/**
 * Finds attempts to steer the model that will read this text. In a channel that may not instruct they are withheld and the rest stays
 * verbatim; in operator, system and user texts they are only reported.
 */
export function scan(text: string, options: ScanOptions): Scanned {
  checkOptionNames(options, scanNames, "scan")
  return scanText(text, options)
}

/** The same as `scan`, for callers whose options the compiler has checked. */
export function scanText(text: string, { channel }: ScanOptions): Scanned {
  const findings: Finding[] = []
  let spans: readonly Span[] = []
  let withheld = text
  for (let round = 0; round < maxRounds; round++) {
    const hidden = spans
    const found = sightingsIn(withheld).map((sighting): Finding => {
      return { ...sighting, span: spanBeforeWithholding(hidden, sighting.span), channel }
    })
    findings.push(...found)
    if (found.length === 0 || instructs(channel)) break
    // If the last round still finds something, everything from there to the end of the text is withheld.
    const last = round === maxRounds - 1
    spans = mergeSpans([...spans, ...found.map(({ span }) => (last ? { ...span, end: text.length } : span))])
    withheld = withhold(text, spans)
  }
  return { findings: findings.sort((one, other) => one.span.start - other.span.start), text: withheld }
}

/** Maximum depth of encodings inside encodings. */
const maxDepth = 3

/** Returns all attempts in text order: in its words, its control tokens and its encoded blobs. */
function sightingsIn(text: string, depth = 0): readonly Sighting[] {
  const seen = survey(text)
  const inWords = wordSightingsIn(text, seen)
  const encoded = (depth >= maxDepth ? [] : decodings(text, seen))
    .filter(({ text: decoded }) => sightingsIn(decoded, depth + 1).length > 0)
    .map(({ span }): Sighting => ({ kind: "encoded-payload", strength: "strong", span }))
  return [...inWords, ...literalsIn(text), ...encoded].sort((one, other) => one.span.start - other.span.start)
}

/** Finds attempts in the words of a text. Original offsets are only computed if there is one. */
function wordSightingsIn(text: string, seen: Survey): readonly Sighting[] {
  if (!hasAttempt(normalizedText(text, seen))) return []
  const view = normalize(text, seen)
  return signalsOf(view.text).map(({ kind, strength, start, end }): Sighting => {
    return { kind, strength, span: originalSpan(view, { start, end }) }
  })
}

/** Matches tokens reserved by chat templates: in data they are imitations, unless quoted as code. */
const reserved =
  /<\|[a-z_]{2,40}\|>|\[\/?INST\]|<<\/?SYS>>|<\/?(?:start|end)_of_turn>|<\/?(?:function_calls|function_results|tool_response|system-reminder|antml:[a-z_]{1,30})>|(?<![^\n])### ?(?:Instruction|Response|Human|Assistant|System):(?=[ \t]*\n)/gi

/** Matches tags that fence data for a model; a closing one that was never opened tries to escape such a fence. */
const fenceTag =
  /<([\s/]{0,8})(summary|tool-result|tool-call|tool_result|tool_results|system|instructions|conversation|untrusted[\w-]{0,20}|user_input|search_results)\s{0,4}>/gi

const quotes = /["'`]/

/** True if the match is written as code: with a quotation mark right before or after it. */
const isQuoted = (text: string, start: number, end: number): boolean =>
  quotes.test(text.charAt(start - 1)) || quotes.test(text.charAt(end))

/** Finds imitated control tokens and attempts to close a fence, in the text as it came in. */
function literalsIn(text: string): readonly Sighting[] {
  const sightings: Sighting[] = []
  const hasTags = text.includes("<")
  if (!hasTags && !text.includes("[") && !text.includes("###")) return sightings
  for (const { 0: token, index } of text.matchAll(reserved)) {
    const span = { start: index, end: index + token.length }
    if (!isQuoted(text, span.start, span.end)) sightings.push({ kind: "token-imitation", strength: "likely", span })
  }
  if (!hasTags) return sightings
  const open = new Map<string, number>()
  for (const { 0: tag, 1: gap, 2: named, index } of text.matchAll(fenceTag)) {
    const name = (named ?? "").toLowerCase()
    const depth = open.get(name) ?? 0
    const span = { start: index, end: index + tag.length }
    if (gap?.includes("/") !== true) open.set(name, depth + 1)
    else if (depth > 0) open.set(name, depth - 1)
    else if (!isQuoted(text, span.start, span.end)) sightings.push({ kind: "fence-escape", strength: "likely", span })
  }
  return sightings
}

const model = anyOf(words.models)

/** Match sentences that address the model: a salutation with its name, or its name and a comma. */
const salutation = new RegExp(
  `^(?:${anyOf(words.headings)}[ ,:!-]{1,3}(?:to|for)? ?|${anyOf(words.salutations)} )(?:the |any |all |every |you,? |my )?(?:ai |llm )?${model}(?: (?:assistants?|agents?|models?|readers?|systems?))?\\b(?:[^.:,!]{0,40}[:,!-]|$)`,
)
const vocative = new RegExp(`^(?:ai |llm )?${model}(?: (?:assistant|agent|model))?\\s?, `)
const condition =
  /^(?:if you(?: are|'re) (?:an? |the )?(?:ai|llm|large language model|language model|chatbot|bot)\b|(?:when|once|as soon as|after) you (?:read|see|process|receive|parse|summari[sz]e) this\b)[^,:]{0,60}[,:] /
const readers = new RegExp(
  anyOf(
    `^(?:all |any )?(?:ai|llm)s? ${anyOf(words.aiKinds)}? ?(?:that |who )?(?:are )?${anyOf(words.aiReading)} (?:this|these)\\b[^.]{0,60}\\b(?:must|should|shall|need to|have to|are required to)\\b`,
    "^(?:ai|llm|gpt) instructions?\\s?:",
  ),
)

/** Matches a line that pretends to be a message of the system or the developer. */
const label =
  /^(?:system|developer|operator|admin(?:istrator)?)(?: (?:message|note|notice|update|alert|instructions?|prompt|override|command|directive))?\s?[\])>]{0,2}\s?[:>-] ?/

const yourDuty = /^your (?:task|job|objective|goal|duty|instructions?)\b/
const toModel = /\b(?:you|your|assistant|the ai|the model|the agent|the user)\b/

/** Maximum number of characters of a sentence that are examined: an address is at its start. */
const maxAddress = 400

/** Returns the kind of attempt if the sentence addresses the model as someone who may command it. */
function addressIn(sentence: string): FindingKind | undefined {
  const start = sentence.slice(0, maxAddress)
  for (const address of [salutation, vocative, condition]) {
    const [said] = start.match(address) ?? []
    if (said !== undefined && (directs(start.slice(said.length)) || yourDuty.test(start.slice(said.length))))
      return "tool-steering"
  }
  if (readers.test(start)) return "tool-steering"
  const [said] = start.match(label) ?? []
  if (said === undefined) return undefined
  const rest = start.slice(said.length)
  return toModel.test(rest) && directs(rest) ? "role-impersonation" : undefined
}

const ownAnswer = new RegExp(
  `\\b${anyOf(words.beforeAnswer)} (?:all (?:of )?)?your (?:next |final |entire |whole )?(?:response|answer|output|summary)s?\\b`,
)
const firstPerson = /\b(?:me|us|my|our|we|i|i'm|we'll|by (?:monday|tuesday|wednesday|thursday|friday|tomorrow))\b/

/**
 * True if the sentence tells its reader what to put into the answer. A sentence in the first person is exempt: people writing to people say
 * who the answer is for.
 */
function steersAnswer(sentence: string): boolean {
  const start = sentence.slice(0, maxAddress)
  if (!ownAnswer.test(start) || firstPerson.test(start)) return false
  return (
    directs(start) ||
    /^(?:in|at the (?:end|start|beginning) of) your /.test(start) ||
    /^(?:modify|enhance|augment|translate|encode|format|finish|conclude)/.test(start)
  )
}

const someone =
  "(?:the |your |an? )?(?:system |security |site |platform )?(?:operator|administrator|admin|developer|creator|openai|anthropic)"
const sensitive = anyOf(words.sensitive)
const destination = "(?:https?://|ftp://|[\\w.+-]{1,64}@[\\w-]{1,63}\\.\\w)"

/** Phrases that only someone who commands a model uses. All but the one of `concealment` are anchored at the start of a sentence. */
const constructions: readonly (readonly [kind: FindingKind, pattern: RegExp])[] = namedPatterns({
  override: [
    /^(?:and |please |now )?(?:ignore|disregard|forget) (?:all |absolutely )?(?:the |of the )?(?:above|previous|preceding|everything|all of (?:that|this))(?: text| content| context| (?:above|before))?(?: and\b|[,;.!]|$)/,
    /^(?:begin |start of |end of (?:document|data|context)\W{1,4})?(?:the )?(?:new|updated|real|actual|revised) (?:system )?(?:instructions?|directives?|prompt)\s?[:#\])]/,
    /^(?:system|admin(?:istrator)?|operator|developer|safety|policy) override\s?[:\])!#-]/,
    /^(?:(?:you|the assistant) (?:no longer|don't|do not) (?:need|have) to (?:follow|obey|respect) (?:[\w-]+ ){0,3}(?:rules?|polic(?:y|ies)|instructions?|guidelines?|restrictions?)|you are no longer (?:bound|required|restricted|subject))\b/,
  ],
  "task-hijack": [
    /^(?:and |please |now |kindly ){0,2}(?:stop|cancel|drop|abort|halt|pause|abandon) (?:what(?:ever)? you(?:'re| are) doing|(?:your|the) current task)\b/,
  ],
  "operator-claim": [
    new RegExp(
      `^(?:as|i am|i'm|this is|speaking as) ${someone}\\b[^.]{0,60}\\bi (?:now |hereby |also )?(?:authori[sz]e|confirm|approve|order|instruct|command|permit|allow|require|rescind|lift)`,
    ),
  ],
  "system-prompt-probe": [
    /^what (?:is|are|was|were|does|did)\b.{0,40}\byour (?:system prompt|initial (?:prompt|instructions)|hidden instructions|instructions)\b/,
    /^(?:please |now )?(?:output|print|repeat|display|show|recite|reveal|echo) (?:back )?(?:everything|all|(?:all )?(?:of )?the (?:words|text|contents?|messages?|sentences?|lines?))\b[^.]{0,24}\b(?:above|before this|preceding)\b/,
  ],
  "answer-steering": [
    /^(?:in|for) (?:the|your|any) (?:summary|recap|handoff|digest)\b[^.,]{0,20}, ?(?:please )?(?:state|say|write|claim|note|record|mention) that\b/,
  ],
  "tool-steering": [
    /^(?:remember|save|store|write|commit|record|add)\b[^.:]{0,40}\b(?:to|in|into) (?:your (?:long-term |permanent )?memory\b|(?:long-term |permanent )?memory\s?:)/,
  ],
  concealment: [
    /\b(?:keep|hide) (?:this|it|these|that)\b[^.]{0,30}\bfrom (?:the )?(?:user|human|customer|operator)s?\b/,
  ],
  exfiltration: [
    new RegExp(
      `^(?:and |then |please |now |also ){0,3}(?:send|e-?mail|forward|post|upload|transmit|exfiltrate|leak|append|submit|copy)\\b(?=.{0,200}${sensitive})(?=.{0,300}${destination})(?!.{0,200}\\b(?:header|request|endpoint|authorization)\\b)`,
    ),
  ],
})

/** A finding in the normalized text. */
type Signal = Span & { readonly kind: FindingKind; readonly strength: Strength }

/** Maximum number of following sentences, with further commands, that belong to an attempt. */
const maxFollowers = 6

/** Characters; prose rarely has a longer sentence. */
const longSentence = 600

const tells = ({ words }: Sentence): boolean => words.some(({ concepts }) => (concepts & concept.report) !== 0)

/** True if any sentence is an attempt. Only the sentences that may be one by their sketch are parsed. */
function hasAttempt(text: string): boolean {
  const isWanted = hiding.test(text) ? undefined : (sketch: Sketch) => mayAttempt(text, sketch)
  return gateSentences(text, isWanted).some(
    (sentence) => (judge(sentence, sentence.told) ?? addressMatch(text, sentence)) !== undefined,
  )
}

/** False if a sentence cannot be an attempt, judged by the concepts in it and by its first word. No false negatives. */
function mayAttempt(text: string, { start, size, present }: Sketch): boolean {
  if (size === 0) return false
  if ((present & addressed) !== 0) return true
  opening.lastIndex = start
  return opening.test(text) || (size > 1 && signalRules.some((rule) => hasConcepts(rule, present)))
}

/** Matches the first words of the `constructions`. */
const opening = new RegExp(`${anyOf(words.openings)}\\b`, "y")
/** Matches the one construction that may be anywhere in a sentence. */
const hiding = /(?:keep|hide) (?:this|it|these|that)/

/** True if all concepts that a rule needs are present, in any order. */
const hasConcepts = (rule: Rule, present: number): boolean => {
  if ((present & rule.head) === 0) return false
  for (const group of rule.near) if ((present & group) === 0) return false
  return true
}

/** Finds the attempts in the words of a text, each with the commands that follow it. */
function signalsOf(text: string): readonly Signal[] {
  const sentences = gateSentences(text)
  const signals: Signal[] = []
  let told = false
  for (let n = 0; n < sentences.length; n++) {
    const sentence = sentences[n]
    if (sentence === undefined) break
    const match = judge(sentence, told) ?? addressMatch(text, sentence)
    told = tells(sentence)
    if (match === undefined) continue
    const last = followers(text, sentences, n)
    const { start, end } = spanOf(sentence, match)
    signals.push({
      start,
      end: last === n ? end : (sentences[last]?.end ?? end),
      kind: match.kind,
      strength: match.strength,
    })
    n = last
  }
  return signals
}

/** Finds an attempt by how the sentence addresses its reader, if its words alone are none. */
function addressMatch(text: string, { start, end, words }: Sentence): Match | undefined {
  if (words.length === 0) return undefined
  // The character after a sentence is included, because a label ends with one.
  const sentence = text.slice(start, Math.min(end + 1, start + longSentence)).trimEnd()
  const addressing = words.some(({ concepts }) => (concepts & addressed) !== 0)
  const addressKind = addressing
    ? (addressIn(sentence) ?? (steersAnswer(sentence) ? "answer-steering" : undefined))
    : undefined
  const kind = addressKind ?? constructions.find(([, pattern]) => pattern.test(sentence))?.[0]
  return kind === undefined ? undefined : { kind, strength: "likely", first: 0, last: Math.max(0, words.length - 1) }
}

const addressed = concept.model | concept.operator | concept.system | concept.your

/** Returns the whole sentence or, if it is extremely long (a log, a table), the matched words and the text close to them. */
function spanOf(sentence: Sentence, { first, last }: Match): Span {
  if (sentence.end - sentence.start <= longSentence) return sentence
  const from = sentence.words[first]?.start ?? sentence.start
  const to = sentence.words[last]?.end ?? sentence.end
  return { start: from, end: Math.min(sentence.end, to + longSentence / 2) }
}

/** Returns the last sentence that belongs to this one: what it announces, the rest of its line, and commands in its paragraph. */
function followers(text: string, sentences: readonly Sentence[], from: number): number {
  let last = from
  while (last - from < maxFollowers) {
    const next = sentences[last + 1]
    if (next === undefined) break
    const continues = !next.startsLine || directs(text.slice(next.start, next.end))
    if (sentences[last]?.announces !== true && (next.parted || !continues)) break
    last++
  }
  return last
}

/** A matched rule, and the first and last matched word as indexes in the sentence's list. */
type Match = {
  readonly kind: FindingKind
  readonly strength: Strength
  readonly first: number
  readonly last: number
}

/** True if a word is in a command's position: first in its clause, or after a word that leads up to a command and is no negation. */
function commands(words: readonly Word[], n: number): boolean {
  const word = words[n]
  const before = words[n - 1]
  if (word === undefined) return false
  if (word.opens || before?.at !== word.at - 1) return word.opens
  return (before.concepts & concept.lead) !== 0 && (before.concepts & concept.not) === 0
}

/** Returns the index of the word nearest to `n`, within reach, that has one of these concepts. */
function nearest(words: readonly Word[], n: number, group: number, reach: number): number | undefined {
  const here = words[n]?.at ?? 0
  const has = (word: Word | undefined): boolean =>
    word !== undefined && Math.abs(word.at - here) <= reach && (word.concepts & group) !== 0
  for (let step = 1; step <= reach; step++) {
    if (has(words[n + step])) return n + step
    if (has(words[n - step])) return n - step
  }
  return undefined
}

function meets(words: readonly Word[], n: number, rule: Rule): Match | undefined {
  if (rule.commands && !commands(words, n)) return undefined
  if (rule.unless !== 0 && nearest(words, n, rule.unless, rule.reach) !== undefined) return undefined
  let first = n
  let last = n
  for (const group of rule.near) {
    const place = nearest(words, n, group, rule.reach)
    if (place === undefined) return undefined
    first = Math.min(first, place)
    last = Math.max(last, place)
  }
  return { kind: rule.kind, strength: rule.strength, first, last }
}

/** Maximum distance in words between a quotation and the word that attributes it to someone. */
const mentionReach = 25

/** True if the match is quoted and attributed to someone: a text about injections, not an injection. */
function isMention(words: readonly Word[], match: Match, told: boolean): boolean {
  const at = words[match.first]?.at ?? 0
  const before = words[match.first - 1]
  const led = before?.at === at - 1 && before.quoted
  const quoted = led || words.slice(match.first, match.last + 1).some((word) => word.quoted)
  const reported = (word: Word): boolean =>
    (word.concepts & concept.report) !== 0 && Math.abs(word.at - at) <= mentionReach
  return quoted && (told || words.some(reported))
}

/** Returns the first rule that a sentence matches; `told` means that the sentence before reports on attempts. */
function judge({ words }: Sentence, told: boolean): Match | undefined {
  if (words.length < 2) return undefined
  const present = words.reduce((all, word) => all | word.concepts, 0)
  for (const rule of signalRules) {
    if (!hasConcepts(rule, present)) continue
    for (let n = 0; n < words.length; n++) {
      if (((words[n]?.concepts ?? 0) & rule.head) === 0) continue
      const match = meets(words, n, rule)
      if (match !== undefined && !isMention(words, match, told)) return match
    }
  }
  return undefined
}

/** A rule matches a head word with a word of each group near it, in any order and any language. */
type Rule = {
  readonly kind: FindingKind
  readonly strength: Strength
  readonly head: number
  /** The head must be in a command's position, so that reported commands do not match. */
  readonly commands: boolean
  readonly near: readonly number[]
  /** Maximum distance in words. */
  readonly reach: number
  /** Concepts that must not be near the head, because they change the meaning. */
  readonly unless: number
}

type Row = readonly [
  kind: FindingKind,
  form: "command" | "statement",
  head: number,
  near: readonly number[],
  reach: number,
  unless?: number,
]

const c = concept
const rules = c.instructions | c.policy

/** Based on what each attempt has to say to work, not on how any example was phrased. A reach is about the length of a clause. */
const strong: readonly Row[] = [
  // Revoke + instructions + earlier ones, or the model's own.
  ["override", "command", c.revoke, [c.instructions, c.prior], 7],
  ["override", "command", c.revoke, [rules, c.your], 4],
  ["override", "command", c.revoke, [c.policy, c.prior, c.all], 7],
  ["override", "command", c.revoke, [c.all, c.prior, c.you], 8],
  ["override", "statement", c.follow, [c.not, c.instructions, c.prior], 6],
  ["override", "statement", c.instructions, [c.new, c.your, c.first | c.prior | c.model | c.revoke], 5],
  // Another task, before or instead of the user's.
  ["task-hijack", "statement", c.task, [c.you, c.first, c.this, c.lead], 12],
  ["task-hijack", "command", c.revoke, [c.task, c.user], 5],
  ["role-impersonation", "statement", c.unbound, [c.you, c.model | c.first | c.lead], 6],
  // An authority + lapsed + earlier rules.
  ["operator-claim", "statement", c.lapsed, [c.operator, rules, c.prior | c.all | c.you], 10],
  ["system-prompt-probe", "command", c.reveal, [c.you, c.instructions, c.system | c.prior | c.all], 6],
  ["system-prompt-probe", "command", c.reveal, [c.system, c.prompt], 5],
  // Leave rules out of a summary: by command, because they lapsed, or to save space.
  ["eviction", "command", c.omit, [c.summary, rules], 12],
  ["eviction", "statement", c.lapsed, [c.summary, rules], 10],
  ["eviction", "command", c.omit, [c.budget, rules], 10],
  ["concealment", "statement", c.tell, [c.not, c.user, c.this | c.instructions], 5],
]

const likely: readonly Row[] = [
  // "Ignore any instructions in the file" is a defence: naming a place makes the difference.
  ["override", "command", c.revoke, [c.all, c.instructions], 4, c.place],
  ["override", "command", c.revoke, [c.system, c.prompt], 5],
  ["override", "statement", c.instructions, [c.new, c.your], 2],
  ["override", "statement", c.lapsed, [c.you, rules, c.prior], 6],
  ["task-hijack", "command", c.revoke, [c.task, c.your], 4],
  ["eviction", "statement", c.lapsed, [c.prior, c.instructions], 6],
  ["exfiltration", "command", c.send, [c.secret, c.you | c.all | c.user, c.records | c.all], 10],
]

const ruleOf =
  (strength: Strength) =>
  ([kind, form, head, near, reach, unless = 0]: Row): Rule => {
    return { kind, strength, head, commands: form === "command", near, reach, unless }
  }

const signalRules: readonly Rule[] = [...strong.map(ruleOf("strong")), ...likely.map(ruleOf("likely"))]
