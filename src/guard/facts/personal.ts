import { namedPatterns } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import type { Words } from "../../message/present.ts"
import type { Leaf } from "./leaf.ts"
import words from "./personal-words.json" with { type: "json" }
import { anyWord, wordsOf } from "./words.ts"

export type PersonalKind = Words<"ssn card iban phone email passport birth-date national-id account health address">

/** Matches digits with the separators that people use; nothing may adjoin either end. */
const numbers = /(?<![\w.-]|\d[ /])\+?\(?\d(?:[\d()]|[ .\-/]{1,3}(?=[\d(])){5,40}(?![\w-])/g
const iban = /(?<![a-z\d])[a-z]{2}\d{2}(?:[ -]?[a-z\d]{2,4}){3,8}(?![a-z\d])/gi

/** Verifies the check digit of a payment card. */
function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at])
    const doubled = at % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** Verifies the check digits of an IBAN. */
function passesIban(text: string): boolean {
  const plain = text.replace(/[ -]/g, "").toUpperCase()
  if (plain.length < 15 || plain.length > 34) return false
  let rest = 0
  for (const sign of plain.slice(4) + plain.slice(0, 4)) {
    const value = Number.parseInt(sign, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const isSsn = (digits: string): boolean => /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits)

const nationalNumbers = anyOf(
  words.nationalIds,
  `${anyOf(words.insurers)}(?:[\\s_-]?(?:card|id))?[\\s_-](?:numbers?|num|no\\.?|nr\\.?)`,
)
const named: readonly (readonly [PersonalKind, RegExp])[] = namedPatterns({
  ssn: [/\b(?:ssn|social[\s_-]?security(?:[\s_-]?(?:number|no|num))?)\b/],
  card: [/\b(?:card[\s_-]?number|credit[\s_-]?card|cvv|cvc|pan)\b/],
  passport: [/\bpassport(?:[\s_-]?(?:number|no))?\b/],
  "birth-date": [
    /\b(?:dob|date[\s_-]?of[\s_-]?birth|birth[\s_-]?date|born(?: on)?(?=["']?[\s:=]{1,3}["']?\d)|geb(?:oren)?(?: am)?(?=[.\s]{1,3}\d)|geburtsdatum|n[ée]e? le(?=\s\d)|nacid[oa] el(?=\s\d)|nat[oa] il(?=\s\d))(?![a-z])/,
  ],
  "national-id": [
    new RegExp(`\\b${nationalNumbers}(?![a-z])`),
    /\b(?:(?:kranken|sozial|renten)?versicher(?:ten|ungs)|steuer(?:identifikations)?|ausweis|patienten|personal)[\s_-]?(?:nummer|nr\.?|id)(?![a-z])/,
  ],
  account: [/\b(?:account[\s_-]?number|routing[\s_-]?number|bank[\s_-]?account)\b/],
  iban: [/\biban\b/],
})

/** Matches the code of a diagnosis (ICD) near a word for it. */
const diagnosis =
  /\b(?:diagnos\w*|patient\w*|icd(?:-?1[01])?|befund\w*|dx)\b[^\n]{0,80}?\b[a-tv-z]\d{2}(?:\.\d{1,2})?(?![\w-])/

const illnessWays = anyOf(words.illness, `(?:his|her|their|my|your|patient'?s?) ${anyOf(words.ofPatients)}\\b`)
/** Matches phrases about patients: an illness or a medicine. */
const illness = new RegExp(`\\b${illnessWays}`)

/** Matches a street with a house number. */
const street = new RegExp(
  anyOf(
    `\\b\\d{1,5}[a-z]? (?:\\p{L}[\\p{L}'.-]{1,24} ){1,3}${anyOf(words.streets)}\\b`,
    "\\b\\d{1,4}(?: bis| ter)?,? (?:rue|avenue|boulevard|chemin|allée|impasse) (?:\\p{L}[\\p{L}'’.-]{0,24} ?){1,5}",
    "\\b(?:calle|avenida|rua|via|viale|piazza|plaza|praça|travessa) (?:\\p{L}[\\p{L}'’.-]{0,24} ){1,5}(?:n[.º°o]{0,2} ?)?\\d{1,4}\\b",
  ),
  "u",
)
/** The same where the type of street is the end of its name. Matched from that end, since any word may be the start of one. */
const streetInOneWord =
  /(?<=(?<!\p{L})\p{L}{2,30})(?:straße|strasse|str\.|weg|platz|gasse|allee|straat|laan) \d{1,4}[a-z]?\b/u
/** Matches a house number, postal code and town, as most of Europe writes them. */
const houseInTown = /\p{L}{2,30}\.? \d{1,4} ?[a-z]?, ?(?:[a-z]{1,2}[ -])?(?:\d{4,5}|\d{2}-\d{3}) \p{L}{3}/u
const hasStreet = (text: string): boolean => street.test(text) || streetInOneWord.test(text) || houseInTown.test(text)

/** Maximum length in characters of a value that asks for a kind of data by its name: `{ field: "ssn" }`. */
const maxNameLength = 60

function kindsOfNumber(written: string, about: string): readonly PersonalKind[] {
  const digits = written.replace(/\D/g, "")
  const groups = written
    .trim()
    .split(/[^\d]+/)
    .filter((group) => group !== "")
    .map((group) => group.length)
  const shape = groups.join("-")
  const kinds: PersonalKind[] = []
  const spread = groups.length >= 9 && groups.every((length) => length === 1)
  if (digits.length === 9 && isSsn(digits) && (shape === "3-2-4" || spread || /\b(?:ssn|social)\b/.test(about)))
    kinds.push("ssn")
  if (digits.length >= 13 && digits.length <= 19 && /^[3-6]|^2[2-7]/.test(digits) && passesLuhn(digits))
    kinds.push("card")
  const international = written.startsWith("+") && digits.length >= 8 && digits.length <= 15
  if (international || /^1?-?3-3-4$/.test(shape) || (digits.length === 10 && written.includes("("))) kinds.push("phone")
  return kinds
}

const digitWords: readonly string[] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
const spelled = /\b(?:(?:zero|o(?:h|ne)|t(?:wo|hree)|f(?:our|ive)|s(?:ix|even)|eight|nine)\b[\s,.-]{0,3}){9,19}/g

/** Replaces nine or more digits in words, one after the other, by digits. */
const spelledDigits = (text: string): string =>
  text.replace(spelled, (run) => {
    const digits = run.match(/[a-z]+/g)?.map((word) => Math.max(0, digitWords.indexOf(word))) ?? []
    return `${digits.join("")} `
  })

/** Matches a number that is said to be a telephone number, however short. */
const telephone =
  /\b(?:tele)?(?:phone|fon|mobile|cell|tel|handy|fax)\b(?: (?:number|no|is))?[.: ]{1,3}\+?\d[\d ()/.-]{5,}/
/** Matches a full name with a date up to 2009, which is a date of birth. */
const bornOn =
  /\p{Lu}\p{Ll}+ \p{Lu}[\p{L}'-]+,? \(?[*†]?(?:\d{1,2}[./-]\d{1,2}[./-](?:19\d\d|200\d)|(?:19\d\d|200\d)-\d\d-\d\d)(?!\d)/u

function kindsIn({ folded, keys, field, role, text }: Leaf): readonly PersonalKind[] {
  const kinds: PersonalKind[] = []
  const about = `${keys.join(" ")} ${folded.length <= 2_000 ? folded : ""}`.replaceAll("_", " ")
  for (const { 0: written } of spelledDigits(folded).matchAll(numbers)) kinds.push(...kindsOfNumber(written, about))
  for (const { 0: written } of folded.matchAll(iban)) if (passesIban(written)) kinds.push("iban")
  const start = folded.slice(0, 100_000)
  const hasDigit = /\d/.test(folded)
  if (illness.test(start) || (hasDigit && diagnosis.test(start))) kinds.push("health")
  if (hasDigit && hasStreet(start)) kinds.push("address")
  if (folded.includes("@") && /[^\s@]@[\p{L}\p{N}-]+\./u.test(folded) && role !== "recipient" && role !== "sender")
    kinds.push("email")
  if (hasDigit && telephone.test(start)) kinds.push("phone")
  if (hasDigit && bornOn.test(text.slice(0, 100_000))) kinds.push("birth-date")
  const key = field.replaceAll("_", " ")
  const short = folded.length <= maxNameLength && role !== "subject" ? `${key} | ${folded.replaceAll("_", " ")}` : key
  // A sentence without a digit mentions such data and has none of it.
  const isProse = role === "body" && !hasDigit && folded.trim().split(/\s+/, 4).length > 3
  const masked = /[*x•]{2}/.test(folded)
  for (const [kind, pattern] of named) {
    if (masked || folded.trim() === "") continue
    if (pattern.test(isProse ? key : short)) kinds.push(kind)
    // Named, and followed by something with digits in an unusual form.
    else if (hasDigit && kind !== "ssn" && kind !== "card" && isFollowedByDigits(folded, start, pattern))
      kinds.push(kind)
  }
  return kinds
}

function isFollowedByDigits(folded: string, start: string, pattern: RegExp): boolean {
  const match = pattern.exec(start)
  return (
    match !== null &&
    /^[^\w]{0,6}(?:(?:is|no|number|#)[^\w]{0,3}){0,3}[a-z]{0,3}[\d](?:[\w/.-]{4,}|[\d -]{5,})/.test(
      folded.slice(match.index + match[0].length, match.index + match[0].length + 60),
    )
  )
}

/** Kinds of personal data that a call carries or asks for by name. */
export function personalKinds(leaves: readonly Leaf[]): ReadonlySet<PersonalKind> {
  return new Set(leaves.flatMap(kindsIn))
}

/** True for a tool that is named after people: it passes on data about them. */
export const tellsOfPeople = (tool: string): boolean =>
  anyWord(
    wordsOf(tool),
    /^(?:customers|users|contacts|patients|employees|members|leads|people|profiles|subscribers|clients|guests|students|candidates|applicants|tenants)$/,
  )

/** True if an object has a name with contact data that is not a recipient of the call. */
export function hasContacts(leaves: readonly Leaf[]): boolean {
  const named = new Set(
    leaves.flatMap(({ field, group, text }) =>
      /^(?:(?:first|last|full|given|family|sur|customer|patient|contact|client)_?name|surname)$/.test(field) &&
      text.trim() !== ""
        ? [group]
        : [],
    ),
  )
  return leaves.some(
    ({ field, group, role, text }) =>
      named.has(group) &&
      role !== "recipient" &&
      /phone|mobile|^tel|e?mail$|address$/.test(field) &&
      /\d{4}|@/.test(text),
  )
}
