import { lazy } from "../../language/lazy.ts"

/**
 * Values by forms that are only looked for in a second reading: names of machines without a domain, programs whose names are words, calls by
 * phone, folders behind the word for one.
 */
type MoreValues = {
  readonly kind: "domains" | "paths" | "commands" | "media"
  readonly pattern: RegExp
  readonly value: (found: string) => string
}

const same = (found: string): string => found

const machineWords =
  "hosts?|servers?|machines?|nodes?|box(?:es)?|vms?|instances?|computers?|workstations?|rechner|maschinen?"
const machineName = "(?:[a-z][a-z\\d]*(?:-[a-z\\d]+)*-?\\d{1,4}[a-z]?)"
const machineStart =
  "(?:srv|node|db|web|app|host|vm|gw|ns|mx|cache|build|proxy|lab|worker|mail|file|backup|redis|kafka|jump|bastion)"

/** Words with a figure that are no machines. */
const noMachine =
  "(?!(?:utf|sha|md|es|s|h|q|v|k|mp|ipv|http|python|node|java|covid|iso|a|b|c|d|x|top|day|week|year|page|step|phase|chapter|version)-?\\d)"

/** Programs whose names are no words, or words that nobody uses of anything else. */
const plainPrograms =
  "ls grep egrep ripgrep sed awk gcc g\\+\\+ clang jq perl ruby pytest powershell pwsh vim nano tmux ffmpeg gdb nmap telnet ftp sftp tar unzip openssl gpg mvn gradle poetry pipenv conda eslint prettier webpack kubectx podman vagrant mongosh sqlite3 gsutil rclone xargs htop strace tcpdump netstat ifconfig useradd userdel passwd visudo setfacl mkdir wc kustomize skaffold composer bundler phpunit golangci-lint javac dotnet nodemon"
    .split(" ")
    .join("|")
const wordPrograms =
  "cat make find head tail node sort touch python python3 diff echo less cut tee which cp ln top".replaceAll(" ", "|")

const providers: Readonly<Record<string, string>> = {
  gmail: "gmail.com",
  googlemail: "googlemail.com",
  hotmail: "hotmail.com",
  outlook: "outlook.com",
  yahoo: "yahoo.com",
  icloud: "icloud.com",
  gmx: "gmx.net",
  aol: "aol.com",
  protonmail: "protonmail.com",
}

const callable =
  "any(?:one|body)|people|customers?|clients?|suppliers?|vendors?|him|her|them|some(?:one|body)|nobody|no one|me(?= (?:on|at|by|before|after|please|again|any ?more|up|back)|[.,!]|$)|the (?:customers?|clients?|suppliers?|parents?|tenants?|guests?|office|neighbou?rs?|patients?|members?)|our (?:customers?|clients?|suppliers?|partners?|members?)|on my behalf"

/** Before the usual forms are looked for. */
export const firstValues = lazy((): readonly MoreValues[] => [
  { kind: "domains", pattern: /(?<![\w./])\d{1,3}(?:\.\d{1,3}){3}\/\d{1,2}(?![\w/])/g, value: same },
  {
    kind: "domains",
    pattern: new RegExp(
      `(?<![\\w.@-])(?:${Object.keys(providers).join("|")})(?= (?:e-?mail )?(?:address(?:es)?|accounts?|mailbox(?:es)?|users?|recipients?|inbox(?:es)?))`,
      "g",
    ),
    value: (found) => providers[found] ?? found,
  },
  { kind: "paths", pattern: /(?<![\w])[a-z]:[\\/][\w.\\/ -]*?(?=[\\/]?(?:[\s,.;:!]|$))/g, value: same },
  {
    kind: "paths",
    pattern: /(?<![\w])(?:drive |laufwerk )?[a-z]:(?=[\s,.;!]|$)(?<=(?:drive|laufwerk) [a-z]:)/g,
    value: (found) => `${found.slice(-2)}/`,
  },
  {
    kind: "paths",
    pattern: /(?<![\p{L}\d./~-])(?:[\p{L}\d_.-]+\/)+[\p{L}\d_.-]*[\p{L}\d_-](?<=[^\0-\x7f].*|\/\d{4})(?![\p{L}\d/@])/gu,
    value: same,
  },
  {
    kind: "paths",
    pattern:
      /(?<=(?:folder|directory)(?: called| named)? )(?!(?:is|are|and|or|on|in|of|for|with|that|which|to|as|at|by|called|named|belongs?|stays?|must|may|should|alone|here|there|structure|called|tree|without|unless|before)(?![\p{L}]))[\p{L}][\p{L}\d_.-]*(?:\/[\p{L}\d_.-]+)*\/?(?<![.])/gu,
    value: (found) => (found.endsWith("/") ? found : `${found}/`),
  },
  {
    kind: "paths",
    pattern: /(?<=(?:on|to|from|off) (?:the|my) )desktop(?! (?:app|version|site|client|computer|pc|view))/g,
    value: () => "~/Desktop",
  },
])

/** Behind the usual forms. */
export const lastValues = lazy((): readonly MoreValues[] => [
  {
    kind: "domains",
    pattern: new RegExp(
      `(?<=(?<![\\p{L}])(?:${machineWords})(?: (?:called|named))? )${noMachine}(?:${machineName}|[a-z]+-[a-z\\d-]+)(?![\\w/@.-]*\\w)|(?<=(?:${machineWords}|one) (?:called|named) )[a-z][a-z\\d-]{2,30}(?![\\w/@.-]*\\w)`,
      "gu",
    ),
    value: same,
  },
  {
    kind: "domains",
    pattern: new RegExp(
      `(?<=(?<![\\p{L}])(?:to|into|on|onto|from|at|reach|touch|access|use|ping|scan|in|off|à|sur|auf|mit) (?:the )?)${noMachine}(?:[a-z]+(?:-[a-z\\d]+)*-\\d{1,4}|${machineStart}-[a-z][a-z\\d-]*)(?![\\w/@.-]*\\w)`,
      "gu",
    ),
    value: same,
  },
  {
    kind: "domains",
    pattern: new RegExp(`(?<=‹domain› ?(?:,|and|or|nor|, and|, or) )${noMachine}${machineName}(?![\\w/@.-]*\\w)`, "gu"),
    value: same,
  },
  { kind: "commands", pattern: new RegExp(`(?<![\\w./@-])(?:${plainPrograms})(?![\\w@/-]|\\.\\w)`, "g"), value: same },
  {
    kind: "commands",
    pattern: new RegExp(
      `(?<=‹command› ?(?:,|and|or|, and|, or|nor) )(?:${wordPrograms})(?![\\w@/-]|\\.\\w)|(?<![\\w./@-])(?:${wordPrograms})(?=(?:,| and| or|, and|, or| nor) ‹command›)|(?<=(?:commands?|programs?|tools?)(?: (?:is|are)|:)? )(?:${wordPrograms})(?=[\\s,.;!]|$)`,
      "g",
    ),
    value: same,
  },
  {
    kind: "media",
    pattern: new RegExp(
      `(?<=(?<![\\p{L}])(?:never|don't|not|to|you|ever|no|and|or|nor) )(?:phone|telephone|ring|call)(?: up)?(?= (?:${callable})(?![\\p{L}]))|(?<!(?:api|function|tool|system|network|http|rpc|sdk|method|model|llm|library|web|external|outgoing|blocking|recursive) )(?<![\\p{L}])(?:phone |telephone )?calls(?= (?:to|with) (?!‹|the (?:api|server|backend|database|service)))|(?<=^no )calls|(?<=^(?:no|never) )texts(?![\\p{L}])`,
      "gu",
    ),
    value: (found) => (found === "texts" ? "sms" : "phone"),
  },
])
