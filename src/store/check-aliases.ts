import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { Alias } from "./store.ts"

/** Longer than the ids that clients and providers give, and short enough for every index, escaped or not. */
const NAME_CHARACTERS = 300

/** More than a transcript has messages. SQLite writes so many in half a second (measured), in which the process does nothing else. */
const MOST_NAMES = 20_000

/** Names that can be borne, each once; an `option-invalid` Problem for any other. */
export function checkNames(names: readonly string[]): readonly string[] {
  checkCount(names)
  for (const name of names) checkText("name", name)
  return [...new Set(names)]
}

/** Aliases that can be kept, one for each name, the last; an `option-invalid` Problem for any other. */
export function checkAliases(aliases: readonly Alias[]): readonly Alias[] {
  checkCount(aliases)
  for (const { name, entry } of aliases) {
    checkText("name", name)
    if (entry !== undefined) checkText("entry", entry)
  }
  return [...new Map(aliases.map(({ name, entry }) => [name, { name, ...present({ entry }) }])).values()]
}

function checkCount({ length }: readonly unknown[]): void {
  if (length > MOST_NAMES) refuse("aliases", `at most ${MOST_NAMES} at once`, String(length))
}

function checkText(option: string, text: unknown): void {
  const expected = `a text of 1 to ${NAME_CHARACTERS} characters`
  if (typeof text !== "string") refuse(option, expected, typeof text)
  else if (text.length < 1 || text.length > NAME_CHARACTERS) refuse(option, expected, `${text.length} characters`)
}

function refuse(option: string, expected: string, found: string): never {
  throw new HoldfastError({ code: "option-invalid", option, expected, found })
}
