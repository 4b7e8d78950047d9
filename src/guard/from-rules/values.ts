import { firstValues, lastValues } from "./more-values.ts"
import { morePlaces, places } from "./places.ts"

/** The values that a rule names, by kind, and the rule with a mark in the place of each. */

const fileEndings =
  "bib|tex|prisma|graphql|bak|parquet|pkl|pickle|xls|doc|ppt|pptx|odt|jpeg|gif|mp4|tar|tgz|plist|properties|lua|scala|bat|ps1|kdbx|p12|pfx|jks|keystore|gpg|ts|tsx|js|jsx|mjs|cjs|json|jsonl|md|mdx|txt|yml|yaml|toml|lock|env|py|rb|go|rs|java|kt|cs|cpp|cc|c|h|hpp|php|sh|bash|zsh|sql|csv|tsv|xml|html|css|scss|vue|svelte|ini|cfg|conf|config|log|tf|tfvars|tfstate|pem|key|crt|db|sqlite|proto|gradle|swift|ipynb|pdf|docx|xlsx|png|jpg|svg|zip|gz|mod|sum"

const address = /(?<![\w.@:-])[\w.+-]+@(?:[a-z\d-]+\.)+[a-z]{2,24}(?![\w-])/g
const domain = new RegExp(
  `(?<![\\w./~@-])(?:https?://)?@?((?:\\*\\.)?(?:[a-z\\d](?:[a-z\\d-]*[a-z\\d])?\\.)+(?!(?:${fileEndings})(?![\\w-]|\\.\\w))[a-z]{2,24}|localhost|\\d{1,3}(?:\\.\\d{1,3}){3})(?:/(?=[\\s,;.)]|$))?(?![\\w/@-]|\\.[\\w])`,
  "g",
)
/** Endings that files and countries share: it is a host where something is got from or put to. */
const reachedDomain =
  /(?<=(?:connect|upload|download|fetch|request|talk|visit|brows|curl|wget|access)\p{L}*(?: \S+){0,3}(?: (?:to|from|of|at))? )(?:[a-z\d-]+\.)+(?:sh|rs|cc|md|zip|py|cs)(?![\w/-]|\.\w)/gu
const path = new RegExp(
  `(?<![\\w@/.~-])(?:(?:~|\\.{1,2})?/(?:[\\w.@*~-]+/?)+|(?:[\\w.@*-]+/)+(?![\\w*-]|\\.\\w)|(?:[\\w.@*-]+/)+(?:[\\w*-]*\\.[\\w.*-]*[\\w*-]|\\*+)|(?<=(?:^|in|from|under|of|to|below|inside|into|within|outside|touch|edit|change|modify|read|delete|access|off|leave|overwrite|remove|rename|move|and|or|except|but|not) ?)(?:[\\w.@*-]+/)+[\\w*-]+(?=[.,;:!]|$| (?:is|are|must|may|should|stays?|and|or|directly|ever|at|alone|untouched|without)(?![\\w]))|(?:[\\w.@*-]+/)+[\\w*-]+(?= (?:folder|directory|dir)(?![\\w]))|\\*\\.[a-z][a-z\\d]{0,9}(?!\\.\\w)|\\.(?:env|git|github|ssh|aws|npmrc|gitignore|vscode|dockerignore)(?:\\.[\\w*-]+)*(?:/[\\w.*-]+)*/?|[\\w*-]+(?:\\.[\\w*-]+)*\\.(?:${fileEndings})|dockerfile|makefile|jenkinsfile|gemfile|codeowners)(?![\\w@/-])`,
  "g",
)
/** Words with a slash between them that name no file. */
const noPath =
  /^(?:and\/or|he\/she|she\/he|his\/her|n\/a|i\/o|ci\/cd|tcp\/ip|client\/server|24\/7|read\/write|yes\/no|on\/off|true\/false|ssl\/tls|tls\/ssl|ui\/ux|a\/b|either\/or|input\/output|w\/o|\d+\/\d+|\/|process\.env|import\.meta\.env|\/v\d+(?:\/.*)?|\/api(?:\/.*)?)$/
const folder =
  /(?<![\w./-])(?:the |our |my |your )?((?!im|in|same|whole|entire|current|working|home|root|project|this|that|any|every|other|each|following|parent|right|wrong|the|dem|den|der)[a-z][\w.-]{1,30}) (?:folder|directory|dir|ordner|verzeichnis)(?![\w-])/g
const region =
  /(?<![a-z\d-])(?:(?:us|eu|ap|sa|ca|me|af|il|cn|mx|us-gov)-(?:north|south|east|west|central|northeast|southeast|northwest|southwest)-\d|(?:us|europe|asia|australia|northamerica|southamerica|me|africa)-(?:north|south|east|west|central|northeast|southeast|northwest|southwest)\d{1,2}|(?:(?:north|south|east|west|central)(?:central)?(?:us|europe|india|uae)|(?:australia|japan|korea|uk|france|germany|norway|switzerland|brazil|canada|sweden|poland|italy|israel|qatar)(?:north|south|east|west|central|southeast|westcentral)|(?:east|southeast)asia)\d?)(?![a-z\d-])/g

const languages: readonly (readonly [name: string, code: string])[] = [
  ["english|englisch|anglais|inglés|inglese|inglês|engels", "en"],
  ["german|deutsch|allemand|alemán|tedesco|alemão|duits", "de"],
  ["french|französisch|français|francés|francese|francês|frans", "fr"],
  ["spanish|spanisch|espagnol|español|castilian|spagnolo|espanhol|spaans", "es"],
  ["italian|italienisch|italien|italiano", "it"],
  ["portuguese|portugese|portugiesisch|portugais|portugués|português", "pt"],
  ["dutch|niederländisch|néerlandais|holandés|nederlands", "nl"],
  ["polish|polnisch|polonais|polaco", "pl"],
  ["swedish|schwedisch|suédois|sueco|zweeds", "sv"],
  ["danish|dänisch|danois|danés|deens", "da"],
  ["turkish|türkisch|turc|turco", "tr"],
  ["czech|tschechisch|tchèque|checo", "cs"],
  ["finnish|finnisch|finnois|finlandés", "fi"],
  ["hungarian|ungarisch|hongrois|húngaro", "hu"],
  ["japanese|japanisch|japonais|japonés", "ja"],
  ["korean|koreanisch", "ko"],
  ["chinese|mandarin|chinesisch|chinois|chino", "zh"],
  ["russian|russisch|russe|ruso", "ru"],
  ["arabic|arabisch|arabe", "ar"],
  ["hebrew|hebräisch|hébreu|hebreo", "he"],
  ["indonesian|indonesisch", "id"],
  ["vietnamese|vietnamesisch", "vi"],
  ["romanian|rumänisch|roumain|rumano", "ro"],
  ["thai", "th"],
  // The guard does not tell these from others.
  [
    "norwegian|norwegisch|norvégien|catalan|katalanisch|catalán|català|catalão|ukrainian|ukrainisch|bulgarian|croatian|serbian|slovak|slovenian|slovene|icelandic|estonian|latvian|lithuanian|irish|gaelic|welsh|basque|galician|persian|farsi|urdu|bengali|tamil|malay|tagalog|swahili|afrikaans|latin|esperanto",
    "other",
  ],
  ["greek|griechisch|grec|griego", "el"],
  ["hindi", "hi"],
]

const media: readonly (readonly [name: string, medium: string])[] = [
  ["slack", "slack"],
  [
    "(?:ms |microsoft )?(?<!(?:the|other|our|all|both|two|three|several|between|of|many|these|those|across|different|my|your|their|most|some|which) )teams(?= |$|[.,;])(?! (?:members?|leads?|of))",
    "teams",
  ],
  ["discord", "discord"],
  [
    "sms|text messages?|texting|text(?= (?:the |our |any )?(?:customers?|clients?|people|users?|anyone|anybody)(?! (?:in|on|by|via|through)))",
    "sms",
  ],
  ["chat(?! (?:channel|room) #)", "chat"],
  ["whatsapp", "whatsapp"],
  ["telegram", "telegram"],
  ["mattermost", "mattermost"],
  ["zulip", "zulip"],
  ["threema", "threema"],
  ["wechat", "wechat"],
  ["viber", "viber"],
  ["(?:the |our )?mailing ?lists?|e-?mails?|mail|mails|courriels?|correos? electrónicos?", "email"],
  ["phone(?: calls?)?(?! numbers?)|telephone(?! numbers?)|voicemails?|fax", "phone"],
  ["tickets?", "ticket"],
  ["jira", "jira"],
  ["zendesk", "zendesk"],
  ["social media|social networks?", "social"],
  ["facebook", "facebook"],
  ["twitter|tweet(?:s|ing)?", "twitter"],
  ["linkedin", "linkedin"],
  ["instagram", "instagram"],
  ["webhooks?", "webhook"],
  [
    "(?<=(?:in|into|inside|to|on|off|of|from|use|using|via|and|or|through|over|über|auf|dans|sur|en|only|except|than|nach|post|at|but|um|em|no|a|is|are|the|channel|room|canal|kanal),? )#\\p{L}[\\p{L}\\p{N}_-]+|#\\p{L}[\\p{L}\\p{N}_-]+(?=,? (?:is|are|only|stays?|must|may|and|or|has|never))",
    "room",
  ],
]

/** Programs that rules name, with the words behind them that make another command. */
const programs: Readonly<Record<string, string>> = {
  git: "push commit reset rebase merge clean checkout stash branch tag add cherry-pick filter-branch restore switch pull",
  gh: "pr repo release merge create delete",
  terraform: "destroy apply import taint",
  tofu: "destroy apply",
  pulumi: "destroy up",
  kubectl: "delete apply exec drain scale edit rollout",
  helm: "uninstall upgrade install delete rollback",
  docker: "push rm rmi system prune volume compose run exec kill stop",
  npm: "publish install uninstall update audit unpublish link",
  pnpm: "publish install add remove",
  yarn: "publish install add npm remove",
  bun: "publish install add",
  pip: "install uninstall",
  cargo: "publish install",
  apt: "install remove purge upgrade",
  "apt-get": "install remove purge upgrade",
  brew: "install uninstall upgrade",
  systemctl: "stop restart disable start mask",
  aws: "s3 ec2 iam rds delete",
  gcloud: "compute sql projects delete",
  az: "group vm delete",
  alembic: "upgrade downgrade",
  prisma: "migrate db reset push",
  ...Object.fromEntries(
    "rm sudo curl wget chmod chown dd mkfs shutdown reboot kill pkill killall ssh scp rsync su doas nc netcat ncat crontab iptables ufw psql mysql mongo redis-cli dropdb createdb shred rmdir mv npx heroku vercel flyctl ansible-playbook ngrok"
      .split(" ")
      .map((name) => [name, ""]),
  ),
}
const command = new RegExp(
  `(?<![\\w./@-])(${Object.keys(programs)
    .sort((one, other) => other.length - one.length)
    .join("|")})((?: (?:--?[\\w-]+(?:=[\\w-]+)?|(?!and |or |nor )[a-z][a-z-]*|\\d{3,4}))*)(?![\\w@/-]|\\.\\w)`,
  "g",
)
const toolName =
  /(?<![\w./@-])(?:[a-z]+_[a-z\d_]+|[a-z\d]+__[a-z\d_]+)(?![\w/@-]|\.\w)|(?<=(?:the|das|el|das) )(?!right|wrong|new|same|following|other|only|last|first|next|best|proper|given|above|below|whole)[a-z][\w-]{1,40}(?= tool(?!\w))|(?<=tools (?:[a-z][\w-]+,? )*(?:and|or) )[a-z][\w-]{2,40}(?= (?:must|may|is|should|can|are)(?!\w))/g

type Values = {
  readonly recipients: readonly string[]
  /** Domains, also of addresses without a name: `@example.com`. */
  readonly domains: readonly string[]
  readonly paths: readonly string[]
  readonly regions: readonly string[]
  readonly languages: readonly string[]
  readonly media: readonly string[]
  readonly commands: readonly string[]
  readonly tools: readonly string[]
}

/** What stands in the place of a value; a list of values of one kind becomes one mark. */
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

export type Marked = { readonly text: string; readonly values: Values }

/** Find the values in a rule in small letters, and put marks in their places; with `more`, also those of a second reading. */
export function markValues(plain: string, original: string, more = false): Marked {
  const found: Record<keyof Values, string[]> = {
    recipients: [],
    domains: [],
    paths: [],
    regions: [],
    languages: [],
    media: [],
    commands: [],
    tools: [],
  }
  const take = (
    text: string,
    kind: keyof Values,
    pattern: RegExp,
    read: (match: readonly string[]) => readonly string[],
  ) =>
    text.replace(pattern, (...match) => {
      const groups: readonly unknown[] = match
      const strings = groups.filter((one): one is string => typeof one === "string")
      const values = read(strings)
      if (values.length === 0) return strings[0] ?? ""
      found[kind].push(...values)
      return ` ${marks[kind]} `
    })
  let text = plain
  for (const { kind, pattern, value } of more ? firstValues() : [])
    text = take(text, kind, pattern, ([whole = ""]) => [value(whole)])
  text = take(text, "recipients", address, ([whole = ""]) => [whole])
  text = take(text, "regions", region, ([whole = ""]) => [whole])
  text = take(text, "domains", domain, ([, name = ""]) => [name])
  text = take(text, "domains", reachedDomain, ([whole = ""]) => [whole])
  text = take(text, "tools", toolName, ([whole = ""]) => [whole])
  for (const [, span = ""] of original.matchAll(/`([^`]{2,80})`/g)) {
    const whole = span.trim().toLowerCase().replace(/\s+/g, " ")
    const at = text.indexOf(whole)
    if (at < 0 || !Object.hasOwn(programs, whole.split(" ", 1)[0] ?? "")) continue
    found.commands.push(whole)
    text = `${text.slice(0, at)}${marks.commands}${text.slice(at + whole.length)}`
  }
  text = text.replace(command, (_, name: string, rest: string) => {
    const whole = commandOf(name, rest)
    found.commands.push(whole)
    return ` ${marks.commands} ${`${name}${rest}`.slice(whole.length)}`
  })
  text = take(text, "commands", /(?<![\p{L}-])force[- ]?push(?:es|ing|ed)?(?![\p{L}-])/gu, () => ["git push --force"])
  text = take(text, "paths", path, ([whole = ""]) => (noPath.test(whole) ? [] : [whole.replace(/\.$/, "")]))
  text = take(text, "paths", folder, ([, name = ""]) => (name === "" ? [] : [`${name}/`]))
  for (const [name, regions] of placesIn(original, more))
    text = take(text, "regions", name, ([whole = ""]) => regions(whole))
  for (const [name, code] of languages)
    text = take(text, "languages", new RegExp(`(?<![\\p{L}-])(?:${name})(?![\\p{L}-])`, "gu"), () => [code])
  for (const [name, medium] of media)
    text = take(text, "media", new RegExp(`(?<![\\p{L}#_-])(?:${name})(?![\\p{L}_-])`, "gu"), ([whole = ""]) =>
      medium === "room" ? [whole] : [medium],
    )
  // A signal is also something that is measured, and x a letter: as names they have a capital behind another word.
  if (/(?<=[\p{L},] )Signal(?!\p{L})/u.test(original))
    text = take(text, "media", /(?<![\p{L}-])signal(?![\p{L}-])/gu, () => ["signal"])
  if (/(?<=(?:on|to|auf|sur|en) )X(?![\p{L}\p{N}-])/u.test(original))
    text = take(text, "media", /(?<=(?:on|to|auf|sur|en) )x(?![\p{L}-])/gu, () => ["twitter"])
  for (const { kind, pattern, value } of more ? lastValues() : [])
    text = take(text.replace(/\s+/g, " "), kind, pattern, ([whole = ""]) => [value(whole)])
  return { text: joinLists(text), values: mapValues(found) }
}

/** The places that a text may name, with the regions there. */
function placesIn(
  original: string,
  more: boolean,
): readonly (readonly [name: RegExp, regions: (whole: string) => readonly string[]])[] {
  // "eu" is a pronoun in Portuguese, and "us" one in English.
  const short = /(?<![\p{L}-])(?:EU|UE|US|USA|UK)(?![\p{L}-])/u.test(original)
  const isPronoun = (whole: string): boolean => !short && /(?:^|\s)(?:eu|ue|us|usa|uk)(?:\s|$)/.test(whole)
  return [
    ...places.map(
      ([name, regions]) => [name, (whole: string) => (isPronoun(whole) ? [] : regions.split(" "))] as const,
    ),
    ...(more ? morePlaces() : []).map(
      ([name, regions]) =>
        [name, (whole: string) => [...regions.split(" "), whole].filter((one) => one !== "")] as const,
    ),
  ]
}

/** A command with as many words behind it as belong to it; the rest of the sentence does not. */
function commandOf(name: string, rest: string): string {
  const known = new Set((programs[name] ?? "").split(" "))
  const words: string[] = []
  for (const word of rest.trim().split(" ")) {
    if (word === "" || !(/^[-\d]/.test(word) || known.has(word))) break
    words.push(word)
  }
  return [name, ...words].join(" ")
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

const mapValues = (found: Record<keyof Values, string[]>): Values => ({
  recipients: unique(found.recipients),
  domains: unique(found.domains),
  paths: unique(found.paths),
  regions: unique(found.regions),
  languages: unique(found.languages),
  media: unique(found.media),
  commands: unique(found.commands),
  tools: unique(found.tools),
})

const unique = (list: readonly string[]): readonly string[] => [...new Set(list)]
