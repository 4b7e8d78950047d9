import { isSeal } from "./ids.ts"
import { field, type Json, listAt, textAt } from "./json.ts"

type Turn = { readonly role: string; readonly parts: readonly Json[] }

/** Merges adjacent contents of one role into turns. */
function turnsOf(body: Json): readonly Turn[] {
  const turns: Turn[] = []
  for (const content of listAt(body, "contents")) {
    const role = textAt(content, "role") === "model" ? "model" : "user"
    const last = turns.at(-1)
    if (last?.role === role) turns[turns.length - 1] = { role, parts: [...last.parts, ...listAt(content, "parts")] }
    else turns.push({ role, parts: listAt(content, "parts") })
  }
  return turns
}

const named = (turn: Turn | undefined, key: "functionCall" | "functionResponse"): readonly string[] =>
  (turn?.parts ?? []).flatMap((part) => {
    const found = field(part, key)
    return found === null ? [] : [`${textAt(found, "name")}#${textAt(found, "id") ?? ""}`]
  })

const sameNames = (calls: readonly string[], responses: readonly string[]): boolean =>
  calls.length === responses.length && calls.toSorted().join() === responses.toSorted().join()

function pairObjection(turns: readonly Turn[]): string | undefined {
  for (const [n, turn] of turns.entries()) {
    const calls = named(turn, "functionCall")
    if (calls.length > 0 && !sameNames(calls, named(turns[n + 1], "functionResponse"))) {
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
    }
    if (named(turn, "functionResponse").length > 0 && named(turns[n - 1], "functionCall").length === 0) {
      return "Please ensure that function response turn comes immediately after a function call turn."
    }
  }
  return undefined
}

function sealObjection(turns: readonly Turn[]): string | undefined {
  const signatures = turns.flatMap(({ parts }) => parts.map((part) => textAt(part, "thoughtSignature")))
  const isBroken = signatures.some((signature) => signature !== undefined && !isSeal("thought", signature))
  return isBroken ? "Corrupted thought signature." : undefined
}

/** Requires a signature on the first call of each of the model's turns since the user last spoke. */
function signatureObjection(turns: readonly Turn[]): string | undefined {
  const spoke = turns.findLastIndex((turn) => turn.role === "user" && named(turn, "functionResponse").length === 0)
  const unsigned = turns.slice(spoke + 1).some((turn) => {
    const first = turn.parts.find((part) => field(part, "functionCall") !== null)
    return first !== undefined && field(first, "thoughtSignature") === null
  })
  return unsigned ? "Function call is missing a thought_signature in functionCall parts." : undefined
}

/**
 * Requires after each turn with calls as many responses, matching in name and id; unaltered signatures; and signatures present if the model
 * requires them.
 */
export function geminiObjection(body: Json, signs: boolean): string | undefined {
  const turns = turnsOf(body)
  return pairObjection(turns) ?? sealObjection(turns) ?? (signs ? signatureObjection(turns) : undefined)
}
