import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import type { TemplateUse } from "../policy/templates.ts"
import type { RuleStatement } from "./statement.ts"

/** The kinds of rules that the guard can judge. */
export type PolicyFamily =
  | "recipients"
  | "spend"
  | "channels"
  | "regions"
  | "language"
  | "production-data"
  | "secrets"
  | "personal-data"
  | "security-controls"
  | "paths"
  | "hosts"
  | "tools"
  | "ask-before"

/** What a rule is as a policy, and how sure that is; or why it is about a family and is none. Nothing if it is not about the family. */
export type FamilyReading =
  | { readonly policy: TemplateUse; readonly confidence: number }
  | { readonly why: string }
  | undefined

/** It says so in words that leave no choice; it names fewer people than the policy covers; it has to be read between the lines. */
export const [sure, likely, broad, guessed] = [0.95, 0.85, 0.75, 0.6]

/** Any of the words, whole. */
export const any = (list: string): LazyPattern =>
  lazyPattern(`(?<![\\p{L}\\p{N}_-])(?:${list})(?![\\p{L}\\p{N}_-])`, "u")

/** A rule that a person may set aside by saying so asks that person. */
export const decided = ({ asks }: RuleStatement): { readonly decision?: "ask" } => (asks ? { decision: "ask" } : {})

/** It is about some of the messages or files only, and a policy would bind all of them. */
export const someTexts = any(
  "reports?|invoices?|contracts?|newsletters?|statements?|offers?|quotes?|quotations?|payslips?|salar(?:y|ies)|drafts?|documents?|attachments?|summar(?:y|ies)|logs?|receipts?|minutes|incidents?|alerts?|press releases?|announcements?|updates?",
)

export const someOnly = { why: "it is about some messages only, which the guard cannot tell from others" } as const

export const twoThings = { why: "it says two things at once; state them one by one" } as const

export const inPlaceOf = any("instead(?: of)?|rather than|stattdessen|statt|plutôt|au lieu de|en lugar|en vez|em vez")

export const limiting = any(
  "not (?:a|one) (?:cent|penny|dollar|buck|euro|pound) more|and no more|tops|at the (?:very )?most|(?:pricier|dearer|costlier|more expensive) than|past|more than|over|above|exceed(?:s|ing)?|at most|max|maximum|up to|under|below|within|limit(?:ed|s)?|cap(?:ped)?|less than|beyond|greater than|higher than|ceiling|upwards|the most|dépass\\p{L}*|passar de|superar|ab \\d+|mehr als|über|höchstens|maximal|plus de|au-delà|más de|máximo|mais de",
)

export const production = any(
  "production|prod|prod-(?:db|database|server)[\\w-]*|live (?:customer )?(?:database|db|system|systems|data|records|site|environment|server|servers)|produção|produzione|produktion|produktions\\p{L}+|produktiv\\p{L}*|producción|production(?:database|db)",
)

export const secretNouns = any(
  "secrets?|clés? d'api|tokens?(?= (?:ever |must |may |should )*(?:ends? up|in (?:a )?commits?))|api[- ]?keys?|passwords?|passphrases?|credentials?|(?:access|auth|api|bearer|session|secret|refresh) tokens?|tokens? (?:and|or|nor|,) (?:passwords?|keys?|secrets?)|passwords? (?:and|or|nor) (?:api )?tokens?|private keys?|ssh keys?|credential store|key ?store|vault|keys? (?:and|or) (?:passwords?|tokens?|credentials?|secrets?)|zugangsdaten|passwörter|kennwörter|geheimnisse|schlüssel|mots? de passe|identifiants|contraseñas?|credenciales|secretos|claves?|\\.env(?: files?)?",
)

/** Words for where somebody lives; an address by itself may be one of the network. */
const homeAddressWords =
  "(?:home|private|postal|street|residential|personal|mailing) address(?:es)?|(?:my|his|her|their|our|\\p{L}+'s?) (?:home )?address(?:es)?|(?<!mail )addresses of (?:the |our |my )?(?:donors?|members?|customers?|guests?|tenants?|patients?|staff|volunteers?|employees?|clients?|users?)|(?:my|his|her|their) street|privatadresse\\p{L}*|wohnadresse\\p{L}*|anschrift(?:en)?|adressen von \\p{L}+|adresse (?:personnelle|privée|postale)|dirección (?:particular|personal|postal)|direcciones de \\p{L}+|domicilio|morada(?:s)?|endereços? (?:dos?|das?|pessoa\\p{L}+) ?\\p{L}*|indirizzo di casa"
export const homeAddress = any(homeAddressWords)

/** Words for what is known of somebody's health; a health check is one of a server. */
const healthWords =
  "patient (?:data|records?|information|files)|health (?:data|information|records?|details|status)|medical (?:data|information|records?|details|history|histories|conditions?)|diagnos[ei]s|diagnosen|illness(?:es)?|medications?|prescriptions?|lab results?|sick leave|gesundheitsdaten|krankheit(?:en)?|patientendaten|krankenakten?|données (?:de santé|médicales)|informations? médicales?|dossiers? médica(?:l|ux)|datos (?:de salud|médicos)|información médica|historial médico|dados (?:de saúde|médicos)|dati sanitari"
export const health = any(healthWords)

export const personNouns = any(
  `${homeAddressWords}|${healthWords}|personal(?:ly)? (?:data|identifiable(?: information| data)?|information|details|identifying (?:information|data))|pii|personenbezogene\\p{L}*|persönliche\\p{L}* daten|données (?:personnelles|à caractère personnel)|datos personales|dados pessoais|credit ?card(?: numbers?| data| details)?|card (?:numbers?|data|details)|ssns?|social security numbers?|phone numbers?|telefonnummern?|ibans?|handynummern?|e-?mail addresses of|customers' e-?mail addresses|(?:patients?|customers?)'? names|cpf|passport(?: numbers?)?|dates? of birth|birth ?dates?|birthdays|geburtsdat\\p{L}*|bank account numbers?|account numbers?|national ids?|tax ids?`,
)
