import { anyOf } from "../../language/word-lists.ts"
import type { Leaf } from "./leaf.ts"
import lists from "./words.json" with { type: "json" }

const side = anyOf("north|south|east|west|central|northeast|southeast|northwest|southwest")
const googlePlaces = anyOf("us|europe|asia|australia|northamerica|southamerica|me|africa")
const azureRegions = anyOf(
  "(?:north|south|east|west|central)(?:central)?(?:us|europe|india|uae)",
  `${anyOf(lists.regions.azureCountries)}(?:north|south|east|west|central|southeast|northwest)`,
  "(?:east|southeast)asia|westcentralus",
)
const codes: readonly RegExp[] = [
  // AWS and services with the same scheme, with or without the letter of the zone.
  new RegExp(
    `(?<![a-z\\d])((?:us|eu|ap|sa|ca|me|af|il|cn|mx|us-gov|us-iso)[-_ ]${side}[-_ ]\\d)[a-f]?(?![a-z\\d])`,
    "g",
  ),
  // Google.
  new RegExp(`(?<![a-z\\d])(${googlePlaces}-${side}\\d{1,2})(?:-[a-f])?(?![a-z\\d])`, "g"),
  // Azure.
  new RegExp(`(?<![a-z\\d])(${azureRegions}\\d?)(?![a-z\\d])`, "g"),
]

/** Every region name contains one of these; a long text without one is not searched further. */
const anySide = /north|south|east|west|central/
const minSearched = 200

/** Regions by the names that providers have for their locations. */
const places: Readonly<Record<string, string>> = lists.regions.places

const shortCodes = /(?<![a-z\d])(us|eu|ap|sa|ca)(e|w|c|n|s|ne|se|nw|sw)(\d)(?![a-z\d])/g
const sides: Readonly<Record<string, string>> = lists.regions.sides

/** Normalizes the name of a region: `US_West_2a` becomes `us-west-2`. */
export const regionName = (written: string): string => {
  const text = written
    .trim()
    .toLowerCase()
    .replace(/[_\s]+/g, "-")
  return /^[a-z-]+-[a-z]+-\d[a-f]$/.test(text) || /^[a-z]+-[a-z]+\d{1,2}-[a-f]$/.test(text)
    ? text.replace(/-?[a-f]$/, "")
    : text
}

/** Matches fields for a location of any kind: their value is a region if it is the name of one. */
const placeField = /^(?:where|place|site|area|geo|geography|in|at)$/
const isPlace = (folded: string): boolean =>
  Object.hasOwn(places, folded.trim().replace(/^(?:n\.|north|northern) /, ""))

/** Regions that a call names; a field for a region counts whatever its value. */
export function regionsOf(leaves: readonly Leaf[]): readonly string[] {
  return leaves.flatMap(({ role: said, field, folded: written }) => {
    const role = said === "other" && placeField.test(field) && isPlace(written) ? "region" : said
    // A shell joins pieces that are split by quotes.
    const folded = role === "command" ? written.replace(/["'\\]/g, "") : written
    if (role === "body" || role === "subject" || role === "sender" || role === "recipient") return []
    const isNamed = folded.length < minSearched || anySide.test(folded)
    const found = (isNamed ? codes : []).flatMap((code) =>
      [...folded.matchAll(code)].map(([, region = ""]) => regionName(region)),
    )
    if (role !== "region" && role !== "environment") return found
    for (const [, continent, side = "", number] of folded.matchAll(shortCodes))
      found.push(`${continent}-${sides[side]}-${number}`)
    const known = Object.keys(places).filter((place) => folded.includes(place))
    const named = known.flatMap((place) => places[place] ?? [])
    if (found.length + named.length > 0 || role !== "region") return [...found, ...named]
    return folded.length <= 100 && folded.trim() !== "" ? [regionName(folded)] : []
  })
}
