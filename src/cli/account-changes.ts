import type { Changes, Shortened } from "./changes.ts"
import { count, indent, number, type Paper, paragraph } from "./paper.ts"
import { clip } from "./printable.ts"
import { shortenWords } from "./words.ts"

/** So many results are listed one by one. */
const maxListed = 6

/** What became of the messages: kept, shortened, left out, mended, pinned. */
export function accountChanges(
  { untouched, shortened, dropped, mended }: Changes,
  messages: number,
  pins: readonly string[],
  paper: Paper,
): readonly string[] {
  const { user, assistant, results } = dropped.by
  const kept = `${number(untouched)} of ${count(messages, "message")} to the letter, the prompt stack, and the user's latest words.`
  const sides = `${number(user)} of the user, ${number(assistant)} of the assistant, ${number(results)} with tool results`
  const gone = `${count(dropped.messages, "message")}, ${count(dropped.tokens, "token")}: ${sides}.`
  return [
    ...paragraph("Kept", kept, paper),
    ...(shortened.length > 0 ? accountShortened(shortened, paper) : []),
    ...(dropped.messages > 0 ? paragraph("Left out", gone, paper) : []),
    ...(mended > 0 ? paragraph("Mended", `${count(mended, "fault")} that a provider would refuse.`, paper) : []),
    ...(pins.length > 0 ? paragraph("Pinned", `${count(pins.length, "rule")}, to the letter.`, paper) : []),
  ]
}

function accountShortened(shortened: readonly Shortened[], paper: Paper): readonly string[] {
  const saved = shortened.reduce((sum, { beforeTokens, afterTokens }) => sum + beforeTokens - afterTokens, 0)
  const which = shortened.length > maxListed ? `; the ${maxListed} that saved most` : ""
  const listed = shortened.slice(0, maxListed)
  const reasonWidth = Math.max(...listed.map(({ reason }) => shortenWords[reason].length))
  const lines = listed.map(({ tool, about, beforeTokens, afterTokens, reason }) => {
    const sizes = `${number(beforeTokens).padStart(7)} -> ${number(afterTokens).padStart(5)}`
    const room = paper.width - indent - sizes.length - reasonWidth - 3
    const what = clip(`${tool} ${about}`, room).padEnd(room)
    return `${" ".repeat(indent)}${what} ${sizes}  ${paper.dim(shortenWords[reason])}`
  })
  const head = `${count(shortened.length, "result")}, ${count(saved, "token")} saved${which}:`
  return [...paragraph("Shortened", head, paper), ...lines]
}
