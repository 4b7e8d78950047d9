import { isTypedRule, isWholeTask, mainOf } from "./find-chat.ts"
import {
  asksForWords,
  describes,
  evenIf,
  habit,
  idle,
  local,
  pointing,
  recounts,
  reports,
  supposes,
} from "./find-doubts.ts"
import { foreign } from "./find-foreign.ts"
import type { Genre } from "./find-genre.ts"
import type { Signs } from "./find-signs.ts"
import {
  anyCase,
  anyone,
  approval,
  bareNegative,
  fails,
  fromNow,
  holds,
  iBind,
  iWish,
  kindOnly,
  lastsPlainly,
  losDeben,
  mayOnly,
  ofAKind,
  oneWay,
  otherwise,
  permits,
  setsLimit,
  staff,
  staysSo,
  strongly,
  whenThenAsk,
  whoever,
  wholly,
  wideMust,
  wish,
} from "./find-talk-cues.ts"
import type { Seen } from "./find-view.ts"

/** In talk and in data a sentence must say that it lasts, or bind without speaking of the matter at hand. */
export function bindsInTalk(seen: Seen, signs: Signs, genre: Genre): boolean {
  const { text } = seen
  if (genre === "data" && isQuiet(seen, signs)) return false
  const typed =
    genre === "talk" && isTypedRule(text) && !isWholeTask(text) && !recounts.test(text) && !reports.test(text)
  const doubted = genre === "talk" && seen.declared ? isTold(seen) : isDoubtful(seen, signs)
  if (!typed && (doubted || (genre === "talk" && !seen.declared && isWholeTask(text)))) return false
  if (typed && !local.test(text.replace(/\bhere\b|\bnext to\b/, " "))) return true
  const points =
    (signs.commands || bareNegative.test(text)) &&
    pointing.test(mainOf(text)) &&
    !whoever.test(text) &&
    !otherwise.test(text)
  const near = points || local.test(text) || foreign.local.test(text)
  const force = signs.forbids || signs.demands || signs.bounds
  if (signs.lasts && (force || signs.prefers || signs.commands))
    return !near || seen.declared || lastsPlainly.test(text)
  if (fromNow.test(text) || (genre === "talk" && (whenThenAsk.test(text) || (signs.commands && anyCase.test(text)))))
    return true
  if (seen.declared && (force || signs.commands || signs.prefers || (genre === "talk" && !sums.test(text)))) return true
  if (genre === "talk" && seen.announced && !near && (force || signs.commands || signs.prefers)) return true
  if (signs.general && force && wholly.test(text)) return true
  if (near) return genre === "talk" && signs.commands && anyone.test(text) && !foreign.local.test(text)
  if (setsLimit.test(text) || staysSo.test(text) || kindOnly.test(text)) return true
  if (approval.test(text) && (force || signs.commands)) return true
  if (signs.general && force) return true
  if (genre === "data") return staff.test(text)
  if (oneWay.test(text)) return true
  if (signs.forbids) return !wish.test(text)
  if (signs.bounds)
    return (
      signs.commands ||
      (signs.prefers && iWish.test(text)) ||
      iBind.test(text) ||
      signs.addresses ||
      signs.demands ||
      mayOnly.test(text) ||
      ofAKind.test(text)
    )
  if (signs.demands && (ofAKind.test(text) || wideMust.test(text) || losDeben.test(text))) return true
  if (signs.commands && holds.test(text)) return true
  if (signs.addresses && strongly.test(text)) return true
  if (signs.commands && whoever.test(text)) return true
  if (signs.allows && permits.test(text)) return true
  return signs.prefers && iWish.test(text)
}

/** What was done, in numbers: "42 files changed". */
const sums = /\b\d+ [a-z-]+ [a-z]+ed\b|\b(?:was|were|did|had)\b/

/** In data most sentences say nothing that binds; those are not read further. */
function isQuiet({ text, declared }: Seen, signs: Signs): boolean {
  if (signs.forbids || signs.demands || signs.bounds || signs.lasts || signs.commands || declared) return false
  return ![setsLimit, staysSo, kindOnly, fromNow, staff].some((cue) => cue.test(text))
}

/** Told of the past, of a case that is made up, or of others: no rule, whatever it calls itself. */
const isTold = ({ text }: Seen): boolean =>
  asksForWords.test(text) ||
  fails.test(text) ||
  supposes.test(text) ||
  reports.test(text.replace(evenIf, " ")) ||
  past.test(text)
const past = /\b(?:yesterday|last (?:week|month|year|night|time|quarter)|used to|was|were|had|did)\b/

function isDoubtful({ text }: Seen, signs: Signs): boolean {
  if (asksForWords.test(text) || habit.test(text) || fails.test(text)) return true
  if (
    idle.test(text) &&
    !/\bi (?:don't|do not|never) want\b|[,;] (?:so |and |but |please )*(?:never|always|do not|don't)\b/.test(text)
  )
    return true
  if (
    recounts.test(text) ||
    supposes.test(text) ||
    (reports.test(text.replace(evenIf, " ")) && !whoever.test(text)) ||
    foreign.recounts.test(text)
  )
    return true
  if (foreign.describes.test(text) && !/你|您/.test(text)) return true
  return (
    describes.test(text) &&
    !signs.commands &&
    !/^(?:please |so |and |also )?(?:do not|don't|never|always|only|all|every|no)\b/.test(text)
  )
}
