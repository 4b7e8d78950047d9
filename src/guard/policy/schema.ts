import { actions } from "../facts/action.ts"

/** The Cedar namespace of all entities and actions. */
export const namespace = "Holdfast"

type AttributeType = "Set<String>" | "Bool" | "Long" | "String"

/** An attribute of `context` and its description. All attributes are always present, so no policy has to check. */
type Attribute = readonly [type: AttributeType, about: string]

/** All attributes that a policy may read. The table is the schema, its documentation, and the order of facts. */
export const attributes = {
  tool: ["String", "name of the tool, in small letters"],
  actions: ["Set<String>", `what the call is, one or more of: ${actions.join(", ")}`],
  changes: ["Bool", "it may change something outside; assumed of what is not known"],
  productionChanges: [
    "Bool",
    "it may change something of production; files of this machine that are not named after it are none",
  ],
  recipients: ["Set<String>", "e-mail addresses that it goes to"],
  recipientDomains: ["Set<String>", "domains of those addresses, in punycode"],
  unresolvedRecipients: ["Bool", "it goes to someone who is named without an address"],
  hosts: ["Set<String>", "hosts that it may talk to, in punycode, without port"],
  linkedHosts: ["Set<String>", "hosts that only stand in a text that it sends or writes"],
  suspectAddresses: ["Bool", "a host or address is written to pass for another"],
  network: ["Bool", "it talks to a network"],
  paths: ["Set<String>", "files and directories in one spelling; `~` for any home directory"],
  changedPaths: ["Set<String>", "those of them that it may write or delete"],
  secretPaths: ["Set<String>", "those of them that hold keys, credentials, tokens"],
  sqlVerbs: ["Set<String>", "first words of its SQL statements"],
  sqlTargets: ["Set<String>", "tables, databases and the like that they name"],
  sqlUnbounded: ["Bool", "an UPDATE or DELETE that leaves no row out"],
  commands: ["Set<String>", "names of the shell commands that it runs"],
  effects: [
    "Set<String>",
    "what they do: read, write, delete, network, install, privilege, send, deploy, execute, remote-code, pay; unknown for a program that is not known",
  ],
  destructive: ["Set<String>", "what it takes away for good: data, files, infrastructure, repository"],
  environments: ["Set<String>", "environments that it names: production, staging, development"],
  spend: ["Long", "the largest sum of money that it names, in hundredths"],
  spent: ["Long", "what the session has spent before, in hundredths"],
  agentSpent: ["Long", "what all sessions of its agent have spent before, in hundredths"],
  agentSpentToday: ["Long", "the same, since midnight UTC"],
  tenantSpent: ["Long", "what all sessions of its tenant have spent before, in hundredths"],
  tenantSpentToday: ["Long", "the same, since midnight UTC"],
  currencies: ["Set<String>", "currencies of the sums, in three letters"],
  amountNamed: ["Bool", "it names a sum of money at all"],
  regions: ["Set<String>", "cloud regions, such as eu-west-1"],
  media: [
    "Set<String>",
    "ways on which it reaches people: email, slack, teams, sms, chat, ticket, webhook and others, and services by name, such as whatsapp",
  ],
  rooms: ["Set<String>", "rooms that it speaks in by their names, such as #general"],
  languages: ["Set<String>", "languages of its texts, in two letters; und for an unknown one"],
  personal: [
    "Set<String>",
    "personal data: ssn, card, iban, phone, email, passport, birth-date, national-id, account, health, address",
  ],
  secrets: ["Set<String>", "kinds of keys and passwords whose values it carries"],
  controlsOff: [
    "Set<String>",
    "security controls that it switches off: audit, logging, authentication, access, network, detection, encryption, security",
  ],
  marks: ["Set<String>", "oddities: obscured, encoded, hidden-characters, look-alike"],
  matches: ["Set<String>", "`outside:name`, `inside:name` and `within:name` for each named matcher"],
  text: ["String", "all of its texts as plain words in small letters, one blank between and around them"],
} as const satisfies Readonly<Record<string, Attribute>>

export type AttributeName = keyof typeof attributes

/** The attributes for earlier spending. */
export const spentNames = ["spent", "agentSpent", "agentSpentToday", "tenantSpent", "tenantSpentToday"] as const

export type SpentName = (typeof spentNames)[number]

const isAttribute = (name: string): name is AttributeName => Object.hasOwn(attributes, name)

export const attributeNames: readonly AttributeName[] = Object.keys(attributes).filter(isAttribute)

/** The schema in Cedar's language: an agent performs an action with a tool, and the context holds the facts of the call. */
export const schemaText: string = [
  `namespace ${namespace} {`,
  "  /// The session in which an agent calls, by its id or by the name that the client gave it.",
  "  entity Session;",
  "  /// Who calls; the session's agent.",
  "  entity Agent in [Session];",
  "  /// What is called.",
  "  entity Tool;",
  "  type Facts = {",
  ...attributeNames.flatMap((name) => [`    /// ${attributes[name][1]}`, `    ${name}: ${attributes[name][0]},`]),
  "  };",
  `  action ${actions.map((action) => `"${action}"`).join(", ")} appliesTo {`,
  "    principal: [Agent],",
  "    resource: [Tool],",
  "    context: Facts",
  "  };",
  "}",
].join("\n")
