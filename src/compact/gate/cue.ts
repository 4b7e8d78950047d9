import { appealIn, appealWords } from "./appeal.ts"
import { constructions } from "./construction.ts"
import type { FindingKind } from "./finding.ts"
import { foreignSpeeches } from "./foreign-speech.ts"
import { type Speech, type SpeechGroup, speechGroups } from "./speech.ts"

const groups: readonly SpeechGroup[] = [constructions, ...speechGroups]

/** Words without which no construction of another language in Latin script works, as the view writes them. */
const foreignWords =
  "ahora adelante sofort jetzt nun desormais maintenant dorenavant agora ora ki ia l'ia ki-assistent ki-assistenten asistente assistente l'assistente l'assistant l'utilisateur l'utente sprachmodell modele confirmacion confirmar autorizacion permiso preguntar ruckfrage bestatigung genehmigung pflicht grenze plafond limite regle restriction confirmation administrador administrateur administrator operador operateur operatore betreiber amministratore l'amministratore desarrollador entwickler resumir resumen resumo resume resumez resuma resumant zusammenfassen zusammenfassung zusammenfasst riassunto riassumere riassumi fasse usuario cliente benutzer nutzer utilisateur"

/** Each list of each group is one bit; a sentence that has both bits of a group may be built as one of the group is. */
const needs: readonly (readonly [string, string])[] = [...groups.map((group) => group.needs), appealWords]
const appealBits = 3 << (2 * groups.length)
const foreignBit = 1 << (2 * needs.length)

/** What each word lets a sentence be. */
const cues: ReadonlyMap<string, number> = (() => {
  const found = new Map<string, number>()
  const add = (words: string, bit: number): void => {
    for (const word of words.split(" ")) found.set(word, (found.get(word) ?? 0) | bit)
  }
  needs.forEach((pair, n) => {
    pair.forEach((words, side) => {
      add(words, 1 << (2 * n + side))
    })
  })
  add(foreignWords, foreignBit)
  return found
})()

export const cueWords: readonly string[] = [...cues.keys()]

/** What a word lets a sentence be; a word of another script lets it be foreign. */
export const cuesOf = (word: string): number =>
  word.charCodeAt(0) >= 0x370 ? foreignBit : (cues.get(word) ?? 0) | (word.endsWith("pflicht") ? foreignBit : 0)

const candidates: readonly (readonly [bits: number, speeches: readonly Speech[]])[] = [
  ...groups.map(({ speeches }, n): readonly [number, readonly Speech[]] => [3 << (2 * n), speeches]),
  [foreignBit, foreignSpeeches],
]

/** How much of a sentence is looked at. */
const maxBuild = 400

/** The attempt that the build of a sentence gives away, whatever its nouns; the cues tell which builds it can have. */
export function buildOf(sentence: string, present: number): FindingKind | undefined {
  const start = sentence.slice(0, maxBuild)
  for (const [bits, speeches] of candidates) {
    if ((present & bits) !== bits) continue
    const built = speeches.find(([, pattern]) => pattern.test(start))
    if (built !== undefined) return built[0]
  }
  return (present & appealBits) === appealBits ? appealIn(start) : undefined
}
