import { lazy } from "../../language/lazy.ts"
import { services } from "../facts/media.ts"
import lists from "./values.json" with { type: "json" }
import { joined } from "./vocabulary.ts"

/** The values that a rule names, by kind. */
export type RuleValues = Readonly<Record<ValueKind, readonly string[]>>

/** What stands in the place of a value; a list of values of one kind becomes one mark. Domains are also those of addresses: `@example.com`. */
export const marks = {
  recipients: "‹recipient›",
  domains: "‹domain›",
  paths: "‹path›",
  regions: "‹region›",
  languages: "‹language›",
  media: "‹medium›",
  commands: "‹command›",
  tools: "‹tool›",
} as const

export type ValueKind = keyof typeof marks

/** A text with marks in the places of its values. */
export type Marked = {
  readonly text: string
  readonly values: RuleValues
  /** A value was found by a form that other words have too: a word with a figure as a machine, a city as a region. */
  readonly isDoubtful: boolean
}

/** How values of a kind look. A form that gives none for what it found leaves the text as it is. */
type ValueForm = {
  readonly kind: ValueKind
  readonly pattern: RegExp
  /** The values of what was found: all of it, unless told. */
  readonly valuesOf?: (found: string, groups: readonly (string | undefined)[], original: string) => readonly string[]
  /** What stays of the text behind the mark. */
  readonly restOf?: (found: string) => string
  readonly isDoubtful?: true
}

const fileEndings = joined(lists.fileEndings)

const address = /(?<![\w.@:-])[\w.+-]+@(?:[a-z\d-]+\.)+[a-z]{2,24}(?![\w-])/g
const domain = new RegExp(
  `(?<![\\w./~@-])(?:https?://)?@?((?:\\*\\.)?(?:[a-z\\d](?:[a-z\\d-]*[a-z\\d])?\\.)+(?!(?:${fileEndings})(?![\\w-]|\\.\\w))[a-z]{2,24}|localhost|\\d{1,3}(?:\\.\\d{1,3}){3})(?:/(?=[\\s,;.)]|$))?(?![\\w/@-]|\\.[\\w])`,
  "g",
)
/** Endings that files and countries share: it is a host where something is got from or put to. */
const reachedDomain =
  /(?<=(?:connect|upload|download|fetch|request|talk|visit|brows|curl|wget|access)\p{L}*(?: \S+){0,3}(?: (?:to|from|of|at))? )(?:[a-z\d-]+\.)+(?:sh|rs|cc|md|zip|py|cs)(?![\w/-]|\.\w)/gu
const path = new RegExp(
  `(?<![\\w@/.~-])(?:(?:~|\\.{1,2})?/(?:[\\w.@*~-]+/?)+|(?:[\\w.@*-]+/)+(?![\\w*-]|\\.\\w)|(?:[\\w.@*-]+/)+(?:[\\w*-]*\\.[\\w.*-]*[\\w*-]|\\*+)|(?<=(?:^|in|from|under|of|to|below|inside|into|within|outside|touch|edit|change|modify|read|delete|access|off|leave|overwrite|remove|rename|move|and|or|except|but|not|is|are) ?)(?:[\\w.@*-]+/)+[\\w*-]+(?=[.,;:!]|$| (?:is|are|must|may|should|stays?|and|or|directly|ever|at|alone|untouched|without)(?![\\w]))|(?:[\\w.@*-]+/)+[\\w*-]+(?= (?:folder|directory|dir)(?![\\w]))|\\*\\.[a-z][a-z\\d]{0,9}(?!\\.\\w)|\\.(?:env|git|github|ssh|aws|npmrc|gitignore|vscode|dockerignore)(?:\\.[\\w*-]+)*(?:/[\\w.*-]+)*/?|[\\w*-]+(?:\\.[\\w*-]+)*\\.(?:${fileEndings})|dockerfile|makefile|jenkinsfile|gemfile|codeowners)(?![\\w@/-])`,
  "g",
)
/** Words with a slash between them that name no file. */
const noPath =
  /^(?:and\/or|he\/she|she\/he|his\/her|n\/a|i\/o|ci\/cd|tcp\/ip|client\/server|24\/7|read\/write|yes\/no|on\/off|true\/false|ssl\/tls|tls\/ssl|ui\/ux|a\/b|either\/or|input\/output|w\/o|\d+\/\d+|\/|process\.env|import\.meta\.env|\/v\d+(?:\/.*)?|\/api(?:\/.*)?)$/
const folder =
  /(?<![\w./-])(?:the |our |my |your )?((?!im|in|touch|change|edit|delete|read|open|leave|remove|modify|enter|use|same|whole|entire|current|working|home|root|project|this|that|any|every|other|each|following|parent|right|wrong|the|dem|den|der)[a-z][\w.-]{1,30}) (?:folder|directory|dir|ordner|verzeichnis)(?![\w-])/g
const region =
  /(?<![a-z\d-])(?:(?:us|eu|ap|sa|ca|me|af|il|cn|mx|us-gov)-(?:north|south|east|west|central|northeast|southeast|northwest|southwest)-\d|(?:us|europe|asia|australia|northamerica|southamerica|me|africa)-(?:north|south|east|west|central|northeast|southeast|northwest|southwest)\d{1,2}|(?:(?:north|south|east|west|central)(?:central)?(?:us|europe|india|uae)|(?:australia|japan|korea|uk|france|germany|norway|switzerland|brazil|canada|sweden|poland|italy|israel|qatar)(?:north|south|east|west|central|southeast|westcentral)|(?:east|southeast)asia)\d?)(?![a-z\d-])/g

const machineWords =
  "hosts?|servers?|machines?|nodes?|box(?:es)?|vms?|instances?|computers?|workstations?|rechner|maschinen?"
const machineName = "(?:[a-z][a-z\\d]*(?:-[a-z\\d]+)*-?\\d{1,4}[a-z]?)"
const machineStart =
  "(?:srv|node|db|web|app|host|vm|gw|ns|mx|cache|build|proxy|lab|worker|mail|file|backup|redis|kafka|jump|bastion)"

/** Words with a figure that are no machines. */
const noMachine =
  "(?!(?:utf|sha|md|es|s|h|q|v|k|mp|ipv|http|python|node|java|covid|iso|a|b|c|d|x|top|day|week|year|page|step|phase|chapter|version)-?\\d)"

const callable =
  "any(?:one|body)|people|customers?|clients?|suppliers?|vendors?|him|her|them|some(?:one|body)|nobody|no one|me(?= (?:on|at|by|before|after|please|again|any ?more|up|back)|[.,!]|$)|the (?:customers?|clients?|suppliers?|parents?|tenants?|guests?|office|neighbou?rs?|patients?|members?)|our (?:customers?|clients?|suppliers?|partners?|members?)|on my behalf"

/** Programs that rules name, with the words behind them that make another command. */
const programs: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...Object.entries(lists.programs).map(([name, words]) => [name, new Set(words.split(" "))] as const),
  ...lists.plainPrograms.flatMap((line) => line.split(" ")).map((name) => [name, new Set<string>()] as const),
])
const command = new RegExp(
  `(?<![\\w./@-])(${[...programs.keys()]
    .sort((one, other) => other.length - one.length)
    .join("|")})((?: (?:--?[\\w-]+(?:=[\\w-]+)?|(?!and |or |nor )[a-z][a-z-]*|\\d{3,4}))*)(?![\\w@/-]|\\.\\w)`,
  "g",
)
const toolName =
  /(?<![\w./@-])(?:[a-z]+_[a-z\d_]+|[a-z\d]+__[a-z\d_]+)(?![\w/@-]|\.\w)|(?<=(?:the|das|el|das) )(?!right|wrong|new|same|following|other|only|last|first|next|best|proper|given|above|below|whole)[a-z][\w-]{1,40}(?= tool(?!\w))|(?<=tools (?:[a-z][\w-]+,? )*(?:and|or) )[a-z][\w-]{2,40}(?= (?:must|may|is|should|can|are)(?!\w))/g

/** A command with as many words behind it as belong to it; the rest of the sentence does not. */
function commandOf(found: string): string {
  const [name = "", ...rest] = found.split(" ")
  const end = rest.findIndex((word) => !(/^[-\d]/.test(word) || programs.get(name)?.has(word)))
  return [name, ...(end < 0 ? rest : rest.slice(0, end))].join(" ")
}

const [plainPrograms, wordPrograms] = [lists.laterPrograms, lists.wordPrograms].map((list) =>
  joined(list, " ").replaceAll(" ", "|"),
)
const mailProviders: ReadonlyMap<string, string> = new Map(Object.entries(lists.mailProviders))

/** A room of a chat by its sign, where words beside it say that it is one. */
const room =
  /(?<=(?:in|into|inside|to|on|off|of|from|use|using|via|and|or|through|over|über|auf|dans|sur|en|only|except|than|nach|post|at|but|um|em|no|a|is|are|the|channel|room|canal|kanal),? )#\p{L}[\p{L}\p{N}_-]+|#\p{L}[\p{L}\p{N}_-]+(?=,? (?:is|are|only|stays?|must|may|and|or|has|never))/gu

/** Entries of a table, each with its names as a group of one pattern. */
function namesIn<Entry>(
  table: readonly (readonly [names: string, entry: Entry])[],
  [before, behind]: readonly [string, string],
): { readonly pattern: RegExp; readonly entryOf: (groups: readonly (string | undefined)[]) => Entry | undefined } {
  const groups = table.map(([names]) => `(${names.replace(/\((?!\?)/g, "(?:")})`)
  return {
    pattern: new RegExp(`${before}(?:${groups.join("|")})${behind}`, "gu"),
    entryOf: (found) => table[found.findIndex((group) => group !== undefined)]?.[1],
  }
}

const wholeWord = ["(?<![\\p{L}-])", "(?![\\p{L}-])"] as const

/** "eu" is a pronoun in Portuguese, and "us" one in English. */
const isPronoun = (found: string, original: string): boolean =>
  /(?:^|\s)(?:eu|ue|us|usa|uk)(?:\s|$)/.test(found) && !/(?<![\p{L}-])(?:EU|UE|US|USA|UK)(?![\p{L}-])/u.test(original)

/** Regions of the large clouds by where they stand. Names of everyday talk may be a value of a field themselves. */
function placeForms(): readonly ValueForm[] {
  const places = (key: "names" | "everyday") =>
    namesIn(
      lists.places.flatMap((place) => {
        const names = place[key]
        return names === undefined ? [] : [[joined(names), joined(place.regions, " ")] as const]
      }),
      wholeWord,
    )
  const [plain, everyday] = [places("names"), places("everyday")]
  return [
    {
      kind: "regions",
      pattern: plain.pattern,
      valuesOf: (found, groups, original) =>
        isPronoun(found, original) ? [] : (plain.entryOf(groups) ?? "").split(" "),
    },
    {
      kind: "regions",
      pattern: everyday.pattern,
      valuesOf: (found, groups) =>
        [...(everyday.entryOf(groups) ?? "").split(" "), found].filter((region) => region !== ""),
      isDoubtful: true,
    },
  ]
}

/** Services that the guard tells apart by name. */
const serviceNames = Object.values(services).flat()

/** Channels by name. Those that are also words have a capital behind another word as names. */
function mediaForms(): readonly ValueForm[] {
  const named = Object.entries(lists.media).map(([medium, names]) => [joined(names), medium] as const)
  const own = serviceNames.filter((name) => name !== "signal").map((name) => [name, name] as const)
  const media = namesIn([...named, ...own], ["(?<![\\p{L}#_-])", "(?![\\p{L}_-])"])
  return [
    { kind: "media", pattern: media.pattern, valuesOf: (_, groups) => [media.entryOf(groups) ?? ""] },
    { kind: "media", pattern: room },
    {
      kind: "media",
      pattern: /(?<![\p{L}-])signal(?![\p{L}-])/gu,
      valuesOf: (_, __, original) => (/(?<=[\p{L},] )Signal(?!\p{L})/u.test(original) ? ["signal"] : []),
    },
    {
      kind: "media",
      pattern: /(?<=(?:on|to|auf|sur|en) )x(?![\p{L}-])/gu,
      valuesOf: (_, __, original) =>
        /(?<=(?:on|to|auf|sur|en) )X(?![\p{L}\p{N}-])/u.test(original) ? ["twitter"] : [],
    },
  ]
}

/** Forms that a wider one would cut: networks, drives, folders behind the word for one. */
const narrowForms = (): readonly ValueForm[] => [
  { kind: "domains", pattern: /(?<![\w./])\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}(?![\w/])/g },
  {
    kind: "domains",
    pattern: new RegExp(
      `(?<![\\w.@-])(?:${[...mailProviders.keys()].join("|")})(?= (?:e-?mail )?(?:address(?:es)?|accounts?|mailbox(?:es)?|users?|recipients?|inbox(?:es)?))`,
      "g",
    ),
    valuesOf: (found) => [mailProviders.get(found) ?? found],
    isDoubtful: true,
  },
  { kind: "paths", pattern: /(?<![\w])[a-z]:[\\/][\w.\\/ -]*?(?=[\\/]?(?:[\s,.;:!]|$))/g },
  {
    kind: "paths",
    pattern: /(?<![\p{L}\d./~-])(?:[\p{L}\d_.-]+\/)+[\p{L}\d_.-]*[\p{L}\d_-](?<=[^\0-\x7f].*|\/\d{4})(?![\p{L}\d/@])/gu,
  },
  {
    kind: "paths",
    pattern:
      /(?<=(?:folder|directory)(?: called| named)? )(?!(?:is|are|and|or|on|in|of|for|with|that|which|to|as|at|by|called|named|belongs?|stays?|must|may|should|alone|here|there|structure|called|tree|without|unless|before|exclusively|only|ever|always|never|files?|contents?)(?![\p{L}]))[\p{L}][\p{L}\d_.-]*(?:\/[\p{L}\d_.-]+)*\/?(?<![.])/gu,
    valuesOf: (found) => [found.endsWith("/") ? found : `${found}/`],
  },
  {
    kind: "paths",
    pattern: /(?<=(?:on|to|from|off) (?:the|my) )desktop(?! (?:app|version|site|client|computer|pc|view))/g,
    valuesOf: () => ["~/Desktop"],
  },
]

/** Forms that are told by the values before them, or by one word: machines by name, programs whose names are words, calls by phone. */
const wideForms = (): readonly ValueForm[] => [
  {
    kind: "domains",
    pattern: new RegExp(
      `(?<=(?<![\\p{L}])(?:${machineWords})(?: (?:called|named))? )${noMachine}(?:${machineName}|[a-z]+-[a-z\\d-]+)(?![\\w/@.-]*\\w)|(?<=(?:${machineWords}|one) (?:called|named) )[a-z][a-z\\d-]{2,30}(?![\\w/@.-]*\\w)`,
      "gu",
    ),
    isDoubtful: true,
  },
  {
    kind: "domains",
    pattern: new RegExp(
      `(?<=(?<![\\p{L}])(?:to|into|on|onto|from|at|reach|touch|access|use|ping|scan|in|off|à|sur|auf|mit) (?:the )?)${noMachine}(?:[a-z]+(?:-[a-z\\d]+)*-\\d{1,4}|${machineStart}-[a-z][a-z\\d-]*)(?![\\w/@.-]*\\w)`,
      "gu",
    ),
    isDoubtful: true,
  },
  {
    kind: "domains",
    pattern: new RegExp(`(?<=‹domain› ?(?:,|and|or|nor|, and|, or) )${noMachine}${machineName}(?![\\w/@.-]*\\w)`, "gu"),
    isDoubtful: true,
  },
  { kind: "commands", pattern: new RegExp(`(?<![\\w./@-])(?:${plainPrograms})(?![\\w@/-]|\\.\\w)`, "g") },
  {
    kind: "commands",
    pattern: new RegExp(
      `(?<=‹command› ?(?:,|and|or|, and|, or|nor) )(?:${wordPrograms})(?![\\w@/-]|\\.\\w)|(?<![\\w./@-])(?:${wordPrograms})(?=(?:,| and| or|, and|, or| nor) ‹command›)|(?<=(?:commands?|programs?|tools?)(?: (?:is|are)|:)? )(?:${wordPrograms})(?=[\\s,.;!]|$)`,
      "g",
    ),
    isDoubtful: true,
  },
  {
    kind: "media",
    pattern: new RegExp(
      `(?<=(?<![\\p{L}])(?:never|don't|not|to|you|ever|no|and|or|nor) )(?:phone|telephone|ring|call)(?: up)?(?= (?:${callable})(?![\\p{L}]))|(?<!(?:api|function|tool|system|network|http|rpc|sdk|method|model|llm|library|web|external|outgoing|blocking|recursive) )(?<![\\p{L}])(?:phone |telephone )?calls(?= (?:to|with) (?!‹|the (?:api|server|backend|database|service)))|(?<=^no )calls|(?<=^(?:no|never) )texts(?![\\p{L}])`,
      "gu",
    ),
    valuesOf: (found) => [found === "texts" ? "sms" : "phone"],
    isDoubtful: true,
  },
]

/** Every form, in the order in which a text is searched for them. */
const forms = lazy((): readonly ValueForm[] => {
  const languages = namesIn(
    Object.entries(lists.languages).map(([code, names]) => [joined(names), code] as const),
    wholeWord,
  )
  return [
    ...narrowForms(),
    { kind: "recipients", pattern: address },
    { kind: "regions", pattern: region },
    { kind: "domains", pattern: domain, valuesOf: (_, [name = ""]) => [name] },
    { kind: "domains", pattern: reachedDomain },
    { kind: "tools", pattern: toolName },
    {
      kind: "commands",
      pattern: command,
      valuesOf: (found) => [commandOf(found)],
      restOf: (found) => found.slice(commandOf(found).length),
    },
    {
      kind: "commands",
      pattern: /(?<![\p{L}-])force[- ]?push(?:es|ing|ed)?(?![\p{L}-])/gu,
      valuesOf: () => ["git push --force"],
    },
    { kind: "paths", pattern: path, valuesOf: (found) => (noPath.test(found) ? [] : [found.replace(/\.$/, "")]) },
    { kind: "paths", pattern: folder, valuesOf: (_, [name = ""]) => [`${name}/`] },
    ...placeForms(),
    { kind: "languages", pattern: languages.pattern, valuesOf: (_, groups) => [languages.entryOf(groups) ?? ""] },
    ...mediaForms(),
    ...wideForms(),
  ]
})

/** The values of a text in plain words, and the text with marks in their places. `original` is the whole rule as it was written. */
export function markValues(plain: string, original: string): Marked {
  const found: Record<ValueKind, string[]> = {
    recipients: [],
    domains: [],
    paths: [],
    regions: [],
    languages: [],
    media: [],
    commands: [],
    tools: [],
  }
  let isDoubtful = false
  let text = markQuoted(plain, original, found.commands)
  for (const form of forms())
    text = text
      .replace(form.pattern, (whole: string, ...rest: readonly unknown[]) => {
        const groups = rest.slice(
          0,
          rest.findIndex((one) => typeof one === "number"),
        )
        const strings = groups.map((group) => (typeof group === "string" ? group : undefined))
        const values = form.valuesOf?.(whole, strings, original) ?? [whole]
        if (values.length === 0) return whole
        found[form.kind].push(...values)
        isDoubtful ||= form.isDoubtful === true
        return ` ${marks[form.kind]} ${form.restOf?.(whole) ?? ""}`
      })
      .replace(/\s+/g, " ")
  return { text: joinLists(text), values: uniqueValues((kind) => found[kind]), isDoubtful }
}

/** Each value of all kinds once. */
export const uniqueValues = (valuesOf: (kind: ValueKind) => readonly string[]): RuleValues => {
  const of = (kind: ValueKind): readonly string[] => [...new Set(valuesOf(kind))]
  return {
    recipients: of("recipients"),
    domains: of("domains"),
    paths: of("paths"),
    regions: of("regions"),
    languages: of("languages"),
    media: of("media"),
    commands: of("commands"),
    tools: of("tools"),
  }
}

/** A command in backticks is the whole of what stands there. */
function markQuoted(plain: string, original: string, commands: string[]): string {
  let text = plain
  for (const [, span = ""] of original.matchAll(/`([^`]{2,80})`/g)) {
    const whole = span.trim().toLowerCase().replace(/\s+/g, " ")
    const at = text.indexOf(whole)
    if (at < 0 || !programs.has(whole.split(" ", 1)[0] ?? "")) continue
    commands.push(whole)
    text = `${text.slice(0, at)}${marks.commands}${text.slice(at + whole.length)}`
  }
  return text
}

/** Marks of one kind with only joints between them are one. */
function joinLists(text: string): string {
  let joined = text.replace(/\s+/g, " ").trim()
  for (const mark of Object.values(marks))
    joined = joined.replace(
      new RegExp(
        `${mark}(?:(?: |,|;|/)*(?:and|or|nor|und|oder|et|ou|y|o|e|en|of|&)?(?: (?:at|in|to|the|under|from|on|by|any|über|an))? *${mark})+`,
        "g",
      ),
      mark,
    )
  return joined.replace(/ ([,.;:])/g, "$1")
}
