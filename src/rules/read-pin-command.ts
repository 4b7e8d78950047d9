/** What a user asks for at the head of a message: a rule to pin, or a pin to take away. `rest` is what stands behind it, to the letter. */
export type PinCommand =
  | { readonly type: "pin"; readonly text: string; readonly rest: string }
  | { readonly type: "unpin"; readonly id: string; readonly rest: string }

const command = /^\s*\/(pin|unpin)(?=\s)[^\S\n\r]*/i
const lineEnd = /\r\n|[\n\r]/g
const id = /^[\w.:-]{1,128}$/

/** A pin is a rule, not a page; a longer text is a message like any other. */
const maxPin = 4000

/**
 * The command that a message begins with, if it does: `/pin` with the rule behind it on its line, or alone on its line with the rule on the
 * next ones up to a blank one; `/unpin` with an id. Anywhere else, behind a quotation mark or in code, it is text.
 */
export function readPinCommand(message: string): PinCommand | undefined {
  const [head = "", name = ""] = command.exec(message) ?? []
  if (name === "") return undefined
  const line = lineFrom(message, head.length)
  const own = message.slice(head.length, line.end).trim()
  if (name.toLowerCase() === "unpin")
    return id.test(own) ? { type: "unpin", id: own, rest: message.slice(line.next) } : undefined
  if (own !== "") return pinOf(own, message.slice(line.next))
  const next = paragraphFrom(message, line.next)
  return pinOf(message.slice(line.next, next.end).trim(), message.slice(next.next))
}

const pinOf = (text: string, rest: string): PinCommand | undefined =>
  text === "" || text.length > maxPin || !/[\p{L}\p{N}]/u.test(text) ? undefined : { type: "pin", text, rest }

/** Where the line at a place ends, and where the next one starts. */
function lineFrom(text: string, start: number): { readonly end: number; readonly next: number } {
  lineEnd.lastIndex = start
  const found = lineEnd.exec(text)
  return found === null
    ? { end: text.length, next: text.length }
    : { end: found.index, next: found.index + found[0].length }
}

/** Where the lines from a place on come to a blank one. */
function paragraphFrom(text: string, start: number): { readonly end: number; readonly next: number } {
  let end = start
  for (let at = start; at < text.length; ) {
    const line = lineFrom(text, at)
    if (text.slice(at, line.end).trim() === "") return { end, next: line.next }
    end = line.end
    at = line.next
  }
  return { end, next: text.length }
}
