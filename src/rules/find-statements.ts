import type { Span } from "../message/message.ts"
import { sentencesIn, type TextBlock } from "./find-blocks.ts"
import { type Cue, cue } from "./find-cue.ts"
import {
  allows,
  bindsReader,
  bounds,
  demands,
  forbids,
  foreign,
  general,
  lasting,
  prefers,
  relative,
  withoutSpeaker,
} from "./find-cues.ts"
import { type Seen, seenOf } from "./find-view.ts"

/** A sentence, heading or table row of a text, and what the cues see in it. */
export type RuleStatement = Span & {
  readonly block: TextBlock
  /** Its block's place among all blocks. */
  readonly at: number
  readonly seen: Seen
  readonly signs: Signs
}

/** The statements of a text in order. */
export function statementsIn(text: string, blocks: readonly TextBlock[], abroad: boolean): readonly RuleStatement[] {
  const statements: RuleStatement[] = []
  for (const [at, block] of blocks.entries()) {
    const whole = block.kind === "row" || block.kind === "heading"
    for (const { start, end } of whole ? [block] : sentencesIn(text, block)) {
      if (end - start < minLength && !/[^\0-\x7f]/.test(text.slice(start, end))) continue
      if (statements.length === maxStatements) return statements
      const seen = seenOf(text.slice(start, Math.min(end, start + maxRow)))
      statements.push({ start, end, block, at, seen, signs: signsOf(seen, abroad) })
    }
  }
  return statements
}

/** Characters of a table row or heading that are read. */
const maxRow = 2000

/** Nothing shorter says anything in Latin script. */
const minLength = 4

/** Statements read of one text: a page of rules has hundreds. */
const maxStatements = 20_000

/** "Only" before a kind of thing, not before a number of them. */
const onlyFirst = cue(
  /^(?:please )?(?:[a-z]+ )?only\b(?! (?:the|one|two|three|four|five|\d+|a|an|some|half|part|my|his|her)\b)/,
)

/** The reader, in other languages. */
const you = cue(/你|您|助手|\b(?:tu|usted|du|vous|voce|debes|tienes que|puedes|musst|darfst|dois|devez)\b/)

/** What the cues say of a sentence, each for itself. */
export type Signs = {
  readonly forbids: boolean
  readonly demands: boolean
  readonly bounds: boolean
  readonly allows: boolean
  readonly prefers: boolean
  readonly lasts: boolean
  readonly commands: boolean
  readonly general: boolean
  readonly addresses: boolean
}

/** What the cues say; `abroad` asks for those of other languages than English too. */
function signsOf({ text, body, label, declared }: Seen, abroad: boolean): Signs {
  const alien = /[^\0-\x7f]/.test(text)
  const any = abroad || alien
  const commands =
    isCommand(body) || (label.split(" ").length > 2 && isCommand(label)) || (any && foreign.commands.test(body))
  const bare = withoutSpeaker(text)
  const told = commands ? bare.replace(relative, " ") : bare
  const has = (english: Cue, other: Cue): boolean => english.test(told) || (any && other.test(told))
  const never = /^(?:never|don'?ts?|do not|avoid|not allowed|forbidden|prohibited)$/.test(label)
  return {
    forbids: never || has(forbids, foreign.forbids) || forbids.test(withoutSpeaker(body)),
    demands: has(demands, foreign.demands) || /^(?:always|must|required|do)$/.test(label),
    bounds: has(bounds, foreign.bounds) || onlyFirst.test(body),
    allows: allows.test(text),
    prefers: has(prefers, foreign.prefers),
    lasts: declared || has(lasting, foreign.lasting),
    commands,
    general: general.test(text) || (alien && /所有|任何|一切|每|す[べへ]て|全て/.test(text)),
    addresses: bindsReader.test(text) || you.test(text),
  }
}

/** Where a clause ends and the next may start with its verb. */
const joints = /, |; |: | [-–—]+ | → | -> | => |\) |, ?then | then /

/** Clauses looked at of one sentence. */
const maxClauses = 8

/** Words that open a condition, purpose or place, behind which the command itself may stand. */
const subordinates =
  /^(?:if|when|whenever|before|after|once|while|unless|until|where|wherever|for|to|in|on|as|at|by|with|without|during|because|since|given|instead|rather|upon|under|from|every|each|any|whatever|should|prior|within|except|in case|regardless|depending|although|even|outside|inside|per|via|using|throughout|when you|new|note)\b/

/** A purpose or time and its command without a comma between. */
const within = /^(?:to|when|before|after|if|for)\b.{3,120}? (?:run|use|call|invoke|add) qcode/

/** The clauses of a sentence, first to last. */
const clausesIn = (text: string): readonly string[] => text.split(joints, maxClauses)

/** Does the sentence command: with its first clause, or with one behind a condition? English. */
function isCommand(text: string): boolean {
  const [first = "", ...rest] = clausesIn(text)
  if (commands(first) || within.test(text)) return true
  return subordinates.test(withoutAdverbs(first)) && rest.some((clause) => commands(clause))
}

/** Verbs that open a sentence only to command. */
const plain =
  "abort accumulate apologize authenticate compensate greet reassure refund reimburse thank welcome advance advertise allocate amend anchor arrange avoid round indent capitalize bail batch boil bootstrap bracket broaden bundle buffer cap chain challenge chunk classify coalesce comment commit communicate compare compile compress conclude confine constrain cross-check customize cut debug decouple dedupe degrade delay diff dig disambiguate display dispose document double-check downgrade draft drain drive duplicate edit emulate engage enumerate err estimate exempt experiment export fail fall fan fork format forward freeze front-load grep guess guide hand handwrite hard-code hardcode hold host hold-off infer index intend keep kill label lay list load lock mark measure memoize mind model mount mute nest note-down observe obfuscate operate order page paraphrase partition perceive ping plan polish pool port post pre-compute predict present probe process profile prompt provision qualify query quit rate reason receive recheck reconcile record recover reference reformat regard reindex reinstall relay relax reload remap reorder report represent research reseed resize respawn restate retarget retest reverse roll sabotage-test scaffold scale score scroll seed segment sequence settle sharpen shield ship short-circuit signal skim smoke-test snapshot sort speak spawn spell standardize start state steer stop store stream stress-test subclass subtract swallow tackle talk tee template terminate thread throttle time tolerate trace trade traverse undo unit-test unlock unset unwrap view vet void weigh whitelist widen withdraw wire-up work zero abide abstain accept acknowledge adapt add adhere adjust adopt aim align allow alert analyze announce annotate answer append apply approach approve archive ask assert assess assign assume attach audit authorize await backup be become begin bind block book bring browse build bump calculate cancel capture carry catch categorize choose cite clarify clean clear click clone close coerce collapse collect combine come comply compose compute confirm conform connect consider consolidate construct consult contain continue convert coordinate correct create decide declare declutter deduplicate deescalate defer define delegate delete deliver demonstrate deny depend deploy deprecate derive describe detect determine disable discard disclose discuss dispatch disregard distinguish divide do don't download drop eliminate email embed emit emphasize enable encapsulate encode encourage encrypt end enforce enquire ensure enter erase err escalate establish evaluate evolve examine exclude execute exercise exit expand expect explain explore expose express extend extract facilitate factor favor favour feel fetch fill find finish fix flag flatten focus follow force forget formulate gate gather generate get give go grant group guarantee guard halt handle have hide highlight honor honour hook identify ignore implement import improve include incorporate increase indicate infer inform inherit initialize inject inline insert inspect install instrument integrate intercept interpret introduce invalidate investigate invite invoke isolate iterate join justify keep know launch lean learn leave let leverage lift limit lint listen locate log look lower maintain make manage map mask match maximize mention merge migrate mimic minimize mirror mock modify monitor move name narrow navigate negotiate normalize notify obey obtain offer omit open opt optimize organize output override own pair parametrize parameterize parse pass paste patch pause pay perform persist pick pin place play populate practice prefer prefix preload prepare preserve pretend prevent print prioritize proceed produce prohibit promote propagate propose protect prove provide prune publish pull purchase push put quote raise reach read reassess rebase rebuild recall recommend recompute redact redirect reduce refactor refer refine reflect refrain refresh refuse regenerate register reject release rely remember remind remove rename render reopen repeat rephrase replace reply reproduce request require rerun reserve reset resist resolve respect respond restart restore restrict retain rethink retrieve retry return reuse revert review revise rewrite rotate route run sanitize satisfy save say scan schedule scope search seek select send separate serialize serve set share shorten show shut sign simplify skip solve specify spend split spot squash stage stay stick stop strip strive structure study stub submit subscribe substitute suggest summarize supply support suppress surface suspect swap switch sync tag tailor take talk target teach tell test think throw tie tighten title toggle touch track transfer transform translate treat trigger trim trust try turn tweak type unify update upgrade upload use utilize validate verify visit wait walk want warn watch weigh wire withhold wrap write yield"

/** Verbs that are nouns as well: they command if what follows is what a verb has behind it. */
const alsoNouns =
  "access address answer approach archive audit author balance bind block book branch bridge browse budget build bump cache call cap capture change charge check claim clean click clone code comment commit compile contact contract control copy cost count cover credit cross cut date deal debug default defer delay demand deploy design detail display document draft drop edit email encounter end escape exercise exit export extract factor feature fetch file fill filter fix flag flow fold focus force fork form format function gate group guard guide handle help hook host import increase index inform input install interface issue iterate join label land layer lead leave level lift limit line link lint list load lock log look loop mail map mark mask match measure merge message mind mirror mock model monitor go move mute name need object offer open order output own pack package page pair parse pass patch pause pay phase pin place plan play post practice preview price print process produce profile program project prompt pull purchase push query quote raise range rank rate reach read record refactor reference refresh release reply report request research reserve reset resort respect rest result retry return review revert rewrite risk roll root route run sample save scale scan schedule scope score search secure sense separate set shape share ship show sign size skip slot sort source spawn speed spend split squash stack stage standard start state step stop store stream stress string strip structure study stub style subject submit suffix summary supply support surface switch sync tag talk target task team test thread throw tie time title toggle top touch trace track trade train transfer transform trap treat trigger trim trust turn tweak type update upgrade upload use value vendor version view visit voice wait walk warm warn watch weigh wire work wrap write yield"

const verbs: ReadonlySet<string> = new Set(plain.split(" "))
const nouns: ReadonlySet<string> = new Set(alsoNouns.split(" "))

/** Nouns first: in a list of what there is they open a line as often as not. */
const rarelyNouns: ReadonlySet<string> = new Set(
  "run use keep make read write add set ask leave return treat pass send get put install follow handle stop let avoid create update verify wait look open show limit skip merge save wrap end push pay try say take share split spend reply render produce place offer raise replace stay".split(
    " ",
  ),
)

/** What stands behind a verb and not behind a noun. */
const objects =
  /^(?:the|an?|all|any|every|each|your|our|their|its|his|her|my|this|that|these|those|only|to|with|via|from|into|onto|in|on|at|before|after|against|as|it|them|us|me|both|new|existing|no|not|out|up|down|off|by|using|when|if|until|whether|how|what|where|and|or|either|always|never|qcode|qquote|qlink|one|two|three|\d+|user|users|changes|tests|code|files|errors|everything|nothing|anything|similar|relevant|external|internal|available|additional|related|specific|multiple|small|large|clear|meaningful|explicit|proper|correct|real|public|private|shared|full)\b/

/** Not commands though they look it: nouns made of two words, pointers to other texts. */
const never =
  /^(?:see\b|(?:test|build|build-time|run|error|code|type|log|file|access|release|state|user|source|support) (?:coverage|suite|structure|system|server|time|handling|errors?|patterns?|files?|commands?|scripts?|control|notes|management|target|output|logs?|data|types?|names?|paths?|ingestion|utilities|helpers?|config(?:uration)?|definitions?|steps?)\b(?! (?:before|after|only|when|if|in|to|with|from|using|into)))/

const adverbs =
  /^(?:(?:please|also|then|and|so|but|just|now|kindly|simply|always|only|first|next|finally|instead|otherwise|generally|usually|ideally|carefully|explicitly|immediately|proactively|actively|strictly|consistently|periodically|regularly|automatically|directly|fully|either|at minimum|at least|by default|where possible|when possible|if possible|ok|okay|yes|hey|hi|still|or|thus|therefore|as always|in general|whenever possible|going forward|moving forward|from now on|in (?:the )?future|henceforth|as a (?:general )?rule|remember to|remember),? )+/

/** The clause without the adverbs before its verb. */
const withoutAdverbs = (clause: string): string => clause.replace(adverbs, "")

/** Does the clause start with a verb that commands? English. */
function commands(clause: string): boolean {
  const bare = withoutAdverbs(clause)
  const word =
    /^(?:re-|double-|cherry-|self-)?([a-z']+(?:-(?:test|check|code|load|up|off|out|in|circuit|compute))?)\b/.exec(
      bare,
    )?.[1] ?? ""
  if (never.test(bare)) return false
  const rest = bare.slice(bare.indexOf(word) + word.length)
  if (
    /^[-:]\S|^\/(?![a-z]+ )|^(?:s'|'s)/.test(rest) ||
    (/^ ?[:：]/.test(rest) && bare === clause) ||
    /^ (?:is|are|was|were|has|have|had|can|may|of)\b/.test(rest)
  )
    return false
  if (word === "import" && / from\b/.test(rest)) return true
  if (nouns.has(word) && !rarelyNouns.has(word))
    return objects.test(rest.trimStart()) || (verbs.has(word) && isPhrase(rest))
  return verbs.has(word) || nouns.has(word) || actsOn.test(bare)
}

/** A bare word before an article can hardly be anything but a verb. */
const actsOn =
  /^(?!(?:in|on|at|for|with|from|by|to|of|is|are|was|were|am|all|both|half|such|what|that|only|not|about|after|before|when|if|while|because|since|although|though|and|or|but|so|as|than|like|unlike|into|onto|over|under|via|per|during|within|without|between|among|against|behind|beyond|despite|except|inside|outside|near|through|toward|upon|once|until|unless|whether|here|there|also|just|even|still|yet|maybe|perhaps|then|thus|quite|rather|many|few|some|most|more|less|see|has|have|had|did|will|would|could|should|may|might|must|can|see|said|got|made|saw|took|gave|sent|found|ran|went|came|told|thanks|hi|hello|hey|hope|who|how|where|why|which|whose|it|he|she|we|you|they|i|el|la|los|no|never|always|que|de)\b)[a-z]{3,}(?<!s|ed|ing|ly) (?:the|an?|your|every|each|any|them|it|our|their) [a-z]/

/** A plural or a second noun behind, and no third-person verb: "Log errors with context". */
const isPhrase = (rest: string): boolean =>
  /^ (?:[a-z-]+ )?[a-z-]+s (?:to|with|before|after|into|from|only|when|if|unless|by|using|via)\b|^ (?:[a-z-]+ ){0,3}[a-z-]+s (?:in|from|for|on) (?:everything|anything|all|any|every|each)\b/.test(
    rest,
  )
