import { withoutSpeaker } from "./find-chat.ts"
import { isCommand } from "./find-clauses.ts"
import { type Cue, cue } from "./find-cue.ts"
import { allows, bindsReader, bounds, demands, forbids, general, lasting, prefers } from "./find-cues.ts"
import { relative } from "./find-doubts.ts"
import { foreign } from "./find-foreign.ts"
import type { Seen } from "./find-view.ts"

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
export function signsOf({ text, body, label, declared }: Seen, abroad: boolean): Signs {
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
