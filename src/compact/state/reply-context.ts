import { type AssistantStatement, tableDrafts, thoughtDrafts } from "./assistant-findings.ts"
import { agreedDraft, answeredDraft, conclusionDrafts, isShort, offeredDraft, toldDrafts } from "./assistant-notes.ts"
import type { NoteDraft } from "./note-draft.ts"
import type { UserTalk } from "./user-notes.ts"
import type { Work } from "./work.ts"

/** Finds what the user's latest message replies to: a statement, a list to choose from, or a proposal that was accepted. */
export type ReplyContext = {
  readonly work: Work
  readonly talk: UserTalk
  /** The assistant's statement that the user's latest message replies to, and whether it waited for the user. */
  before: { readonly answer: AssistantStatement; readonly waits: boolean; readonly isNoted: boolean } | undefined
  /** The list that the user was last asked to choose from. */
  offered: AssistantStatement | undefined
  /** The proposal that the user last accepted, and the reply that accepted it. */
  agreed: { readonly proposal: AssistantStatement; readonly reply: string; readonly at: number } | undefined
  /** True if the user's latest message is too short to be understood without what it replies to. */
  isBrief: boolean
}

/** Once the user has replied again, the statement before the previous reply becomes an ordinary conclusion. */
export const previousConclusion = ({ before }: Pick<ReplyContext, "before">): readonly NoteDraft[] =>
  before === undefined ? [] : conclusionDrafts(before.answer, before.isNoted)

/** Drafts of what the user's latest message replies to. */
export function replyContextDrafts(reading: ReplyContext): readonly NoteDraft[] {
  const { before, isBrief, offered } = reading
  const listed = isBrief && offered !== undefined && offered === before?.answer ? [] : choiceDrafts(reading)
  const choice = [...listed, ...agreedDrafts(reading)]
  if (before === undefined) return choice
  const { answer, waits, isNoted } = before
  if (waits) return [...(isBrief ? [answeredDraft(answer)] : []), ...choice, ...conclusionDrafts(answer, isNoted)]
  const thoughts = isNoted ? [] : isShort(answer) ? tableDrafts(answer) : thoughtDrafts(answer)
  return [...choice, ...toldDrafts(answer), ...thoughts]
}

const namedWithin = 2
const ofList =
  /\b(?:number|option|no\.|nr\.|nummer|variante?|opci[oó]n|opção|opzione|optie|possibility|choice|choix)\s(\d{1,2}|[A-H])\b(?! (?:of|items?|pieces?) (?!your\b|the list|that list))|\b(\d{1,2}|[A-H]) (?:of|on|from|in) (?:your|the|that) list\b/i

/** Drafts of the list that the user was asked to choose from, until it was acted on; the choice may lie several messages back. */
function choiceDrafts({ offered, work, talk }: ReplyContext): readonly NoteDraft[] {
  if (offered === undefined) return []
  // "Number 4 of your list" refers to the list, however old it is.
  const later = talk.filter(({ at }) => at > offered.at)
  const named = later.slice(-namedWithin).flatMap(({ text }) => ofList.exec(text)?.slice(1).find(Boolean) ?? [])[0]
  if (named !== undefined) return [offeredDraft(offered, named)]
  const reply = talk.find(({ at }) => at > offered.at)?.text ?? ""
  const isByNumber = byNumber.test(reply)
  const isOld = (talk.at(-1)?.at ?? 0) - offered.at > (isByNumber ? recentChoice : recentOffer)
  const isActedOn =
    [...work.runs.values()].some(({ kind, at }) => kind === "act" && at > offered.at) ||
    [...work.files.values()].some(({ at, change }) => change !== undefined && at > offered.at)
  if (isOld || (isActedOn && !isByNumber && !namesNumber.test(reply))) return []
  const draft = offeredDraft(offered, reply)
  // Once acted on, the list only explains what the numbers in the user's words referred to.
  return [isActedOn ? { ...draft, kind: "finding", worth: numbersWorth } : draft]
}

/** Drafts of a proposal that the user accepted before the latest message, until it was acted on. */
function agreedDrafts({ agreed, before, offered, work, talk }: ReplyContext): readonly NoteDraft[] {
  if (agreed === undefined || agreed.proposal === before?.answer || agreed.proposal === offered) return []
  const isOld = (talk.at(-1)?.at ?? 0) - agreed.at > recentOffer
  const isActedOn = [...work.runs.values()].some(({ kind, at }) => kind === "act" && at > agreed.at)
  return isOld || isActedOn ? [] : [agreedDraft(agreed.proposal, agreed.reply)]
}

const numbersWorth = 5
/** Matches item numbers in a reply: "Yes, stop it, fix 1; leave 3 as it is". */
const namesNumber = /(?<![\d.,:/-])[1-9](?![\d.,:/%-]|\s?(?:h|min|s|days?|x)(?!\p{L}))/u

/** Messages after which a choice that was not acted on is considered dropped. */
const recentOffer = 12
/** Same limit if the user named numbers of the list. */
const recentChoice = 40
/** Matches a reply that begins with a number or letter of a list, and means nothing without it. */
export const byNumber = /^\W{0,3}(?:\p{L}{1,8}\s)?(?:\d{1,2}|[a-h])(?=[\s,.;:)!]|$)/iu
