import { actions, things } from "./survival-concepts.ts"
import { currencyOf, numberAt } from "./survival-numbers.ts"
import { type Operator, operators } from "./survival-operators.ts"
import { type Language, stem } from "./survival-stem.ts"
import type { Unit } from "./survival-units.ts"

/**
 * Words of German, French and Portuguese, so that what is said around a rule of theirs is understood; ideas are compared by their words
 * alone there. Forms that mean something else in English or Spanish are left out.
 */
const operatorsAbroad: Readonly<Partial<Record<Operator, string>>> = {
  not: "nicht kein keine keinen keinem keiner nichts niemand nirgends niemals nie auf_keinen_fall keinesfalls unter_keinen_umstanden nao",
  concord: "ne pas jamais aucun aucune rien nenhum nenhuma ninguem nem",
  forbid: "verboten untersagt unzulassig verbietet interdit interdite interdits interdites proibido proibida vedado",
  require:
    "muss mussen musst immer stets erforderlich pflicht zwingend notig notwendig verpflichtet doit doivent dois devez toujours obligatoire faut necessaire deve devem sempre obrigatorio precisa precisam",
  should: "soll sollen sollte sollten sollst devrait devraient deveria deveriam",
  soft: "moglichst versuche versuchen versuch lieber bevorzugt vorzugsweise idealerweise vermeide vermeiden normalerweise meistens ublicherweise wenn_moglich nach_moglichkeit empfohlen ratsam eventuell vielleicht grundsatzlich essayez essaie essayer evitez evite eviter preferable si_possible normalement generalement idealement tente tentar preferencialmente geralmente se_possivel",
  permit:
    "darf durfen darfst kann konnen kannst erlaubt gestattet zulassig peut peuvent peux pouvez permis permise autorise autorisee pode podem permitida",
  waive:
    "nicht_notig nicht_mehr_notig nicht_erforderlich nicht_mehr_erforderlich nicht_notwendig nicht_mehr_notwendig muss_nicht mussen_nicht musst_nicht brauchst_nicht brauchen_nicht freiwillig facultatif facultative inutile pas_besoin plus_necessaire plus_obligatoire pas_necessaire pas_obligatoire nao_precisa nao_precisam nao_e_necessario desnecessario",
  only: "nur ausschliesslich ausschlielich lediglich seulement uniquement exclusivement somente apenas",
  beyond: "ausserhalb außerhalb extern externe externen externer externes fora",
  except:
    "ausser außer es_sei_denn ausgenommen ausnahme ausnahmen bis mit_ausnahme sauf excepte hormis jusqu jusque exceto a_nao_ser excecao excecoes",
  without: "ohne sans sem",
  before: "bevor vor avant",
  above: "uber mehr_als mindestens ubersteigt uberschreitet plus_de au_moins mais_de acima",
  below: "unter weniger_als hochstens maximal bis_zu moins_de au_plus abaixo",
  every: "alle allen jeder jede jedes jeden samtliche toutes chaque",
  some: "vorerst heute vorlaufig einige manche teilweise momentan diese_woche quelques",
  lapse:
    "nicht_mehr aufgehoben zuruckgezogen widerrufen ungultig veraltet hinfallig ignoriere ignorieren vergiss ausser_kraft außer_kraft abgeschafft uberholt uberholte uberholten veraltete veralteten aufgehobene widerrufene ungultige gestrichene gestrichen obsolet entfallt entfallen ne_s_applique_plus n_est_plus ne_sont_plus ne_vaut_plus ne_plus annulee levee leve abrogee abroge perime perimee ignorez oubliez revoquee supprimee caduque revogada revogado suspensa nao_vale_mais nao_se_aplica nao_mais",
  former:
    "fruher fruhere fruheren fruheres ehemals ehemalige bisher bisherige damals vormals ursprunglich ancien ancienne anciens anciennes auparavant autrefois precedente antiga antigo",
  false:
    "falsch unwahr scherz witz irrtum irrtumlich angeblich gelogen faux fausse erreur plaisanterie mentira brincadeira",
  hedge:
    "beispiel beispiele zum_beispiel angenommen vorschlag entwurf erwahnte ob hypothetisch jemand exemple exemples supposons brouillon quelqu exemplo",
  rule: "regel regeln vorgabe vorgaben richtlinie richtlinien vorschrift vorschriften anweisung anweisungen beschrankung verbot anforderung regle regles consigne consignes politique exigence regra regras restricao instrucao",
  pronoun: "dies diese dieser dieses diesen das obige obigen cette cela ceci celle celui essa esse isso isto",
  condition: "wenn falls sobald wahrend bei nach seit quand lorsque pendant quando durante",
  past: "wurde wurden hatte hatten",
  reason: "weil damit sonst parce car porque",
  light:
    "der die den dem ein eine einen einem einer und oder ist sind sei zu zum zur an auf mit von im werden wird du sie ihr wir uns unser unsere bitte auch noch weiterhin folgende folgendes folgenden gilt gelten benutzer wichtig les des du et est sont aux au dans sur par pour qui vous disait l d n s c qu de la nous il votre suivante suivant utilisateur os um uma dos em ao usuario",
}

/** What a word or phrase means to survival: what it does to a rule, what it is about, or both. */
type Sense = {
  readonly operators: ReadonlySet<Operator>
  readonly concept?: string
  readonly action: boolean
}

const isIdeographic = (word: string): boolean => word.charCodeAt(0) >= 0x2e80

const keyOf = (phrase: string): string =>
  isIdeographic(phrase) ? [...phrase.replace(/_/g, "")].join(" ") : phrase.replace(/_/g, " ")

const operatorNames = new Set<string>(Object.keys(operators))
const isOperator = (name: string): name is Operator => operatorNames.has(name)

const exact: ReadonlyMap<string, Sense> = (() => {
  const senses = new Map<string, { operators: Set<Operator>; concept?: string; action: boolean }>()
  const senseOf = (phrase: string) => {
    const key = keyOf(phrase)
    const found = senses.get(key) ?? { operators: new Set<Operator>(), action: false }
    senses.set(key, found)
    return found
  }
  for (const [name, listed] of [...Object.entries(operators), ...Object.entries(operatorsAbroad)]) {
    if (isOperator(name)) for (const phrase of listed.split(" ")) senseOf(phrase).operators.add(name)
  }
  for (const [rows, action] of [[actions, true] as const, [things, false] as const]) {
    for (const [name, ...lists] of rows) {
      for (const phrase of lists.flatMap((list) => list.split(" "))) {
        const sense = senseOf(phrase)
        sense.concept ??= name
        sense.action ||= action
      }
    }
  }
  return senses
})()

/** Stems of the words that stand for an idea, by language; operators are told by their very form. */
const stems: Readonly<Record<Language, ReadonlyMap<string, Sense>>> = (() => {
  const tables = { en: new Map<string, Sense>(), es: new Map<string, Sense>(), zh: new Map<string, Sense>() }
  for (const [rows, action] of [[actions, true] as const, [things, false] as const]) {
    for (const [name, english, spanish] of rows) {
      const note = (table: Map<string, Sense>, list: string, language: Language): void => {
        for (const phrase of list.split(" ")) {
          const key = phrase
            .split("_")
            .map((word) => stem(word, language))
            .join(" ")
          if (!table.has(key)) table.set(key, { operators: new Set(), concept: name, action })
        }
      }
      note(tables.en, english, "en")
      note(tables.es, spanish, "es")
    }
  }
  return tables
})()

/** Phrases by their words, one after another. */
type Branch = { readonly next: Map<string, Branch>; sense?: Sense }

function treeOf(phrases: ReadonlyMap<string, Sense>): Branch {
  const root: Branch = { next: new Map() }
  for (const [key, sense] of phrases) {
    let branch = root
    for (const word of key.split(" ")) {
      const next = branch.next.get(word) ?? { next: new Map() }
      branch.next.set(word, next)
      branch = next
    }
    branch.sense = sense
  }
  return root
}

const exactTree = treeOf(exact)
const stemTrees: Readonly<Record<Language, Branch>> = {
  en: treeOf(stems.en),
  es: treeOf(stems.es),
  zh: treeOf(stems.en),
}

function longest(tree: Branch, words: readonly string[], at: number): readonly [Sense, number] | undefined {
  let found: readonly [Sense, number] | undefined
  let branch: Branch | undefined = tree
  for (let length = 1; branch !== undefined && at + length <= words.length; length++) {
    branch = branch.next.get(words[at + length - 1] ?? "")
    if (branch?.sense !== undefined) found = [branch.sense, length]
  }
  return found
}

/** The longest phrase that means something from a word on, and its length: by its very words, or else by their stems. */
function phraseAt(
  words: readonly string[],
  stemmed: readonly string[],
  at: number,
  language: Language,
): readonly [Sense, number] | undefined {
  const exactly = longest(exactTree, words, at)
  const loosely = longest(stemTrees[language], stemmed, at)
  return loosely !== undefined && loosely[1] > (exactly?.[1] ?? 0) ? loosely : exactly
}

const marksOf: Readonly<Record<"en" | "es", ReadonlySet<string>>> = {
  en: new Set(
    "the a an of to be is are and or not never must may for with without any by on in before after only must no do at than more per use".split(
      " ",
    ),
  ),
  es: new Set(
    "el la los las un una de del al que se no nunca sin con para por y o en es son su antes solo debe deben".split(" "),
  ),
}

/** The language of some words, or the one that is given if they do not tell. */
function languageOf(words: readonly string[], otherwise: Language): Language {
  let ideographs = 0
  const counts = { en: 0, es: 0 }
  for (const word of words) {
    if (isIdeographic(word)) ideographs++
    if (marksOf.en.has(word)) counts.en++
    if (marksOf.es.has(word)) counts.es++
  }
  if (ideographs * 3 > words.length) return "zh"
  if (counts.en === counts.es) return otherwise === "zh" ? "en" : otherwise
  return counts.en > counts.es ? "en" : "es"
}

/** What a stretch of a text says at one place: an idea, an exact value, what it does to the rule, or a mark between clauses. */
export type Term = {
  /** The idea or value, by a name that every way to say it shares. */
  readonly concept?: string
  /** What sort of value it is, if it is one: another of the same sort in its place is another rule. */
  readonly sort?: string
  readonly action: boolean
  /** A word that no table has. */
  readonly unknown?: true
  readonly operators: ReadonlySet<Operator>
  readonly mark?: "comma" | "colon" | "quote" | "strike"
  readonly surface: string
  /** Its first unit, and the one behind its last. */
  readonly from: number
  readonly to: number
}

const none: ReadonlySet<Operator> = new Set()

/** What sort of exact value a text is. */
function sortOf(text: string): string {
  if (text.includes("://")) return "url"
  if (/^[^@]+@/.test(text)) return "email"
  if (/[/\\]/.test(text)) return "path"
  if (/^[#@]/.test(text)) return "handle"
  if (/^\d{1,2}:\d{2}$/.test(text)) return "time"
  if (/^\d+[-.]\d+[-.]\d+$/.test(text)) return "date"
  return /\.[a-z]{2,}$/.test(text) ? "domain" : "id"
}

const textOf = (units: readonly Unit[], at: number): string => units[at]?.text ?? ""
const isWord = (unit: Unit | undefined): boolean => unit?.kind === "word" || unit?.kind === "sign"

const isArticle = (word: string): boolean => word === "a" || word === "an"

/** A number in figures or words, with its currency before or behind it, as one term. */
function quantityAt(units: readonly Unit[], words: readonly string[], at: number): Term | undefined {
  const sign = units[at]?.kind === "money" ? currencyOf(textOf(units, at)) : undefined
  const from = sign === undefined ? at : at + 1
  const article = isArticle(textOf(units, from)) && /^(?:hundred|thousand)$/.test(textOf(units, from + 1)) ? 1 : 0
  const unit = units[from]
  const read = unit?.kind === "number" ? { value: unit.text, words: 1 } : numberAt(words, from + article)
  if (read === undefined) return undefined
  let to = from + article + read.words
  let value = String(read.value)
  const scale = /^(?:k|thousand|mil|千|万)$/.test(textOf(units, to)) && unit?.kind === "number" ? textOf(units, to) : ""
  if (scale !== "") {
    value = String(Number(value) * (scale === "万" ? 10_000 : 1000))
    to++
  }
  const chinese =
    textOf(units, to) === "美" && textOf(units, to + 1) === "元"
      ? "usd"
      : textOf(units, to) === "欧" && textOf(units, to + 1) === "元"
        ? "eur"
        : undefined
  const behind = chinese ?? currencyOf(textOf(units, to))
  if (behind !== undefined) to += chinese === undefined ? 1 : 2
  const currency = sign ?? behind ?? ""
  const concept = currency === "" ? value : currency === "%" ? `${value}%` : `${value} ${currency}`
  return { concept, sort: "number", action: false, operators: none, surface: concept, from: at, to }
}

/** Endings by which an English word is taken for a verb. */
const verbal = /.{3}(?:ed|ing|ate|ates|ize|izes|ise|ify)$/

/** And a Spanish one. */
const infinitive = /.{3}[aei]r(?:se|l[aeo]s?)?$/

const marks: Readonly<Record<string, Term["mark"]>> = {
  comma: "comma",
  colon: "colon",
  quote: "quote",
  strike: "strike",
}

/** The language that some units are in, or the one given if they do not tell. */
export const languageIn = (units: readonly Unit[], otherwise: Language): Language =>
  languageOf(
    units.filter(isWord).map(({ text }) => text),
    otherwise,
  )

/** The terms of some units in their language. */
export function termsOf(units: readonly Unit[], language: Language): readonly Term[] {
  const words = units.map((unit) => (isWord(unit) ? unit.text : ""))
  const stemmed = words.map((word) => (word === "" ? "" : stem(word, language)))
  const terms: Term[] = []
  for (let at = 0; at < units.length; ) {
    const term = termAt(units, words, stemmed, at, language)
    terms.push(term)
    at = term.to
  }
  return terms
}

function termAt(
  units: readonly Unit[],
  words: readonly string[],
  stemmed: readonly string[],
  at: number,
  language: Language,
): Term {
  const unit = units[at]
  const surface = unit?.text ?? ""
  const bare = { action: false, operators: none, surface, from: at, to: at + 1 }
  if (unit === undefined) return bare
  if (unit.kind === "value") return { ...bare, concept: surface, sort: sortOf(surface) }
  if (unit.kind === "number" || unit.kind === "money") return quantityAt(units, words, at) ?? bare
  if (!isWord(unit)) {
    const mark = marks[unit.kind]
    return mark === undefined ? bare : { ...bare, mark }
  }
  const phrase = phraseAt(words, stemmed, at, language)
  const quantity = phrase === undefined || phrase[1] === 1 ? quantityAt(units, words, at) : undefined
  if (quantity !== undefined) return quantity
  if (phrase !== undefined) {
    const [{ operators, concept, action }, length] = phrase
    const said = { ...bare, operators, action, surface: words.slice(at, at + length).join(" "), to: at + length }
    return concept === undefined ? said : { ...said, concept }
  }
  return {
    ...bare,
    unknown: true,
    action: language === "en" ? verbal.test(surface) : language === "es" && infinitive.test(surface),
    concept: unit.kind === "sign" ? surface : (stemmed[at] ?? surface),
  }
}
