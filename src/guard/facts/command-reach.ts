import { anyOf } from "../../language/word-lists.ts"
import { type Environment, environmentsIn, targetEnvironments } from "./action.ts"
import type { Effect } from "./command-table.ts"
import words from "./command-words.json" with { type: "json" }
import type { RunCommand } from "./commands.ts"
import { hostOfWord } from "./hosts.ts"
import { type Open, open } from "./leaf.ts"
import { foundIn, optionValues } from "./options.ts"
import { asPattern, unknownPart } from "./shell-words.ts"
import { anyWord } from "./words.ts"

const isUnknown = (text: string): boolean => text.includes(unknownPart)

/** Collects what the commands of a script reach: hosts, mail recipients, and what of it is unresolved. */
type ReachedTargets = { readonly hosts: string[]; readonly mailed: string[]; readonly open: Open }

// Hosts

const valuedOptions: Readonly<Record<string, RegExp | undefined>> = {
  curl: new RegExp(anyOf("^-[HdXouAeFTbcmwKEyYzCQrt]$", `^--${anyOf(words.curlOptions)}$`)),
  wget: /^-[OoUPaetTwQ]$|^--(?:header|output-\w+|user-agent|directory-prefix|post-data|post-file|body-data|body-file|method|user|password|timeout|tries|referer)$/,
  ssh: /^-[bBcDEeFIiJLlmOopQRSWw]$/,
  scp: /^-[cDFiJloPSX]$/,
  sftp: /^-[bBcDFiJloPRsSX]$/,
  rsync: /^-[ef]$|^--(?:exclude|include|rsh|filter|files-from|bwlimit|chmod)$/,
  nc: /^-[ipqswXx]$/,
  git: /^-[cCbo]$|^--(?:branch|depth|origin|git-dir|work-tree)$/,
  dig: /^-[tcpqx]$/,
}

/** Matches programs that reach a host which is not in their words: a registry, a cloud, a git remote. */
const hiddenHosts = new RegExp(`^${anyOf(words.hiddenHosts)}$`)

export function readHosts(
  reading: ReachedTargets,
  { name, places, piped, given }: RunCommand,
  words: readonly string[],
): void {
  const valued =
    valuedOptions[
      name === "https" || name === "http" || name === "xh" ? "curl" : name === "ncat" || name === "netcat" ? "nc" : name
    ]
  let found = 0
  for (const [at, word] of words.entries()) {
    const before = words[at - 1] ?? ""
    const option =
      /^(?:--(?:connect-to|resolve|proxy|preproxy|socks5\S*|url|host|endpoint-url|registry|index-url|extra-index-url|server|doh-url|remote|uri)|-x|-J|-i|-h)$/
    if ((/^(?:-K|--config)$/.test(before) || /^-\w*K./.test(word)) && name === "curl") {
      open(reading.open, "hosts", "the addresses that curl calls are in a file")
      continue
    }
    if (valued?.test(before) === true && !option.test(before)) continue
    if (/^--?[\w-]+$/.test(word)) continue
    const inside = /^--?[\w-]+=(.*)$/s.exec(word)?.[1] ?? word
    found += readHost(reading, inside, { name, before, isFirst: found === 0 })
  }
  // A configuration file or an option may redirect a host name.
  if (/^(?:ssh|scp|sftp|mosh|autossh)$/.test(name) && anyWord(words, /^-\w*F/))
    open(reading.open, "hosts", `what the names of hosts lead to for ${name} is in a file`)
  for (const word of words) {
    const real = /^(?:-o)?(?:HostName|ProxyJump|ProxyCommand)[= ](.+)$/i.exec(word)?.[1]
    if (real !== undefined) readHost(reading, real, { name, before: "", isFirst: true })
  }
  for (const place of places) found += readHost(reading, place, { name: "ssh", before: "", isFirst: true })
  if (/^wget$/.test(name) && anyWord(words, /^-\w*i|^--input-file/))
    open(reading.open, "hosts", "the addresses that wget calls are in a file")
  if (found === 0 && /^(?:gh|hub)$/.test(name)) reading.hosts.push("api.github.com")
  else if (
    found === 0 &&
    /^(?:ftp|lftp|sftp|telnet|nc|ncat|netcat|socat|openssl|tftp)$/.test(name) &&
    (piped || given.length > 0)
  )
    open(reading.open, "hosts", `the host that ${name} reaches is told on its input`)
  else if (found === 0 && (hiddenHosts.test(name) || name === "git"))
    open(reading.open, "hosts", `the host that ${name} reaches is not in the command`)
  else if (found === 0 && words.some(isUnknown))
    open(reading.open, "hosts", `the host that ${name} reaches is in a variable`)
}

const fileEnding = new RegExp(`^[\\w.-]+\\.${anyOf(words.fileEndings)}$`)

const isLoopback = (host: string): boolean =>
  /^(?:127(?:\.\d+){3}|localhost|\[::1\]|\[::ffff:7f.*\]|0\.0\.0\.0)$/.test(host)

type HostWord = { readonly name: string; readonly before: string; readonly isFirst: boolean }

/** Adds the hosts in one word and returns their number. */
export function readHost(reading: ReachedTargets, word: string, { name, before, isFirst }: HostWord): number {
  if (before === "--connect-to" || before === "--resolve") {
    const pieces = word.split(":")
    const to = before === "--resolve" ? pieces.slice(2).join(":") : (pieces[2] ?? "")
    if (to !== "") reading.hosts.push(to.replace(/^\[|\]$/g, ""))
    return 0
  }
  let found = 0
  for (const piece of word.split(/,(?=\S)/)) {
    const bare = piece.replace(/^['"]+|['"]+$/g, "").slice(0, 2_048)
    const authority = /^(?:[a-z][a-z\d+.-]*:\/\/)?(?:[^@/]*@)?([^/?#]*)/i.exec(bare)?.[1] ?? ""
    const isHostly = /^[a-z][a-z\d+.-]*:\/\//i.test(bare) || !/[/\s]/.test(bare)
    if (
      isHostly &&
      asPattern(authority).includes("*") &&
      /^(?:curl|wget|https?|xh|ssh|scp|sftp|rsync|nc|ncat|netcat|telnet|ping|dig|nslookup|host|git|ftp|lftp|aria2c|socat|nmap|whois|traceroute)$/.test(
        name,
      )
    ) {
      open(reading.open, "hosts", `the host that ${name} reaches is in a variable`)
      found++
      continue
    }
    const host = hostOfWord(bare.replaceAll(unknownPart, "x"))
    // A loopback address in an unusual form is probably disguised.
    if (host !== undefined && isLoopback(host) && !authority.toLowerCase().includes(host))
      open(reading.open, "hosts", "an address is written in a form that hides where it leads")
    const isName =
      /^(?:ssh|ping|dig|nslookup|host|telnet|nc|ncat|netcat|nmap|whois|traceroute|ftp|mosh|curl|wget)$/.test(name) &&
      /^[a-z\d][\w.-]*$/i.test(bare.replace(/^[^@]*@/, "")) &&
      !/^\d+$/.test(bare)
    if (host !== undefined && !fileEnding.test(host)) reading.hosts.push(host)
    else if (host === undefined && isName && isFirst && found === 0 && !fileEnding.test(bare))
      reading.hosts.push(bare.replace(/^[^@]*@/, "").toLowerCase())
    else continue
    found++
  }
  return found
}

// Mail

const mailers = /^(?:mail|mailx|sendmail|mutt|neomutt|swaks|msmtp|ssmtp|s-nail|nail|mpack|himalaya)$/

/** Matches programs whose words are searched for, printed or recorded. */
export const searches = /^(?:[efz]?grep|rg|ag|ack|echo|printf|cat|sed|awk|find|fd|git|ls|man|which)$/
const recipientOption =
  /^--?(?:to|cc|bcc|who|rcpt|recipients?|attendees?|invitees?|invite|guests?|participants?|share-with|notify)(?:=|$)/
/** Matches a word for sending something to somebody. */
const sending = /mail|send|notif|invit|share|messag|deliver|newsletter|forward/i
const bareAddress = (word: string): string => word.replace(/^--?[\w-]+=/, "")
/** Matches sub-commands for mail of other programs. */
const mailServices = /^\S+ (?:\S+ ){0,4}(?:send-?(?:\w+-)?e?mails?|(?:e?mails?|messages?)[ :.-]send|sendmail)(?= |$)/

/** Reads mail sent over raw SMTP, or by a program that is not listed. */
function readUnlistedMail(
  reading: ReachedTargets,
  { name, given }: RunCommand,
  words: readonly string[],
  line: string,
  effects: ReadonlySet<Effect>,
): void {
  if (/^(?:telnet|nc|ncat|netcat|openssl|socat)$/.test(name)) {
    const told = foundIn(given.join("\n"), /^\s*rcpt to:\s*<?([^>\s]+)/gim)
    reading.mailed.push(...told)
    if (told.length === 0 && /[ :](?:25|465|587|2525|smtps?|submission)(?= |$)|starttls smtp/.test(line))
      open(reading.open, "recipients", `${name} talks to a mail server, and to whom it sends is not in its words`)
  }
  // An address given to a program that may send something.
  const isAddressed = words.some(
    (word) => /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/.test(word) && !/^\w+@[\w.-]+:|:\/\//.test(word),
  )
  if (
    effects.has("unknown") &&
    /mail|smtp|sieve|imap|dovecot|postfix|exim|newsletter/.test(line) &&
    !isAddressed &&
    !mailers.test(name)
  )
    open(reading.open, "recipients", `${name} has to do with mail, and nobody has said what it does`)
  if (isAddressed && (effects.has("unknown") || /^[a-z]+-[a-z]{3}/.test(name)) && !mailers.test(name))
    open(reading.open, "recipients", `${name} is given an address, and nobody has said what it does with it`)
  if (/^git send-email\b/.test(line) && anyWord(words, /^--(?:to|cc|header)-cmd|^--identity/))
    open(reading.open, "recipients", "who gets the mail is found by another command")
}

export function readMail(
  reading: ReachedTargets,
  command: RunCommand,
  words: readonly string[],
  line: string,
  effects: ReadonlySet<Effect>,
): void {
  const { name, given, piped } = command
  const curled = name === "curl" && /--mail-rcpt|smtps?:/.test(line)
  readUnlistedMail(reading, command, words, line, effects)
  const isService = !mailers.test(name) && !searches.test(name) && mailServices.test(line)
  // The value of an option such as `--to` is a recipient, whatever the program.
  for (const [at, word] of words.entries())
    if (
      word.includes("@") &&
      !searches.test(name) &&
      recipientOption.test(word.includes("=") ? word : (words[at - 1] ?? ""))
    )
      reading.mailed.push(bareAddress(word))
  if (isService) {
    const sent = words.filter(
      (word, at) => word.includes("@") && !/^--?(?:from|source|sender|reply-to)\b/.test(words[at - 1] ?? word),
    )
    reading.mailed.push(...sent.flatMap((word) => word.split(/[\s,;={}[\]"']+/)))
    if (sent.length === 0) open(reading.open, "recipients", `${name} sends mail, and to whom is not in the command`)
  }
  // An address in a command with a word for sending is a recipient, whatever the program.
  if (!isService && !mailers.test(name) && !curled && (!searches.test(name) || /^git send-email\b/.test(line)))
    if (anyWord(words, sending))
      reading.mailed.push(
        ...words.filter((word) => /^(?:--?[\w-]+=)?[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(word)).map(bareAddress),
      )
  if (!mailers.test(name) && !curled) return
  const valued =
    /^-[srSaAFtqX]$|^--(?:subject|attach|from|server|header|body|auth\S*|port|mail-from|upload-file|user|url)$/
  const recipients = words.filter(
    (word, at) => (!word.startsWith("-") || word.includes("@")) && !valued.test(words[at - 1] ?? ""),
  )
  reading.mailed.push(...recipients.map((word) => word.replaceAll(unknownPart, "")))
  const reads = anyWord(words, /^-\w*t$|^--read-recipients$/)
  // A header continues in lines that begin with a blank.
  const headers = given.join("\n").replace(/\r?\n[ \t]+/g, " ")
  if (reads) reading.mailed.push(...foundIn(headers, /^(?:resent-)?(?:to|cc|bcc):(.*)$/gim))
  if (recipients.some(isUnknown) || (reads && (piped || headers === "")))
    open(reading.open, "recipients", `the recipient of ${name} is known only when it runs`)
  else if (!curled && recipients.every((word) => !word.includes("@")) && !reads && words.length > 0)
    open(reading.open, "recipients", `${name} sends to someone who is named without an address`)
}

// Regions and amounts

/** Marks regions as unresolved that are known only at run time, or that the command does not name. */
export function readRegions(
  { open: into }: ReachedTargets,
  { name, words, sets }: RunCommand,
  line: string,
  effects: Set<Effect>,
): void {
  if (optionValues(words, /^(?:--(?:region|location|zone)|-l)$|^--(?:region|location|zone)=(.*)/s).some(isUnknown))
    open(into, "regions", `the region that ${name} is told is known only when it runs`)
  if (/ regions? (?:add|set|backup|update) \S/.test(line))
    open(into, "regions", `${name} is told a place by a name of its own`)
  const isSet = [...sets.keys()].some((key) => /region|zone|location/i.test(key))
  if (effects.has("deploy") && /^(?:aws|gcloud|az|doctl)$/.test(name) && !namedRegion.test(line) && !isSet)
    open(into, "regions", `${name} uses the region that is configured where it runs`)
}

/** Matches a region in a command, given by an option or in a name. */
const namedRegion =
  /--?(?:region|location|zone|l)\b|\b[a-z]{2}-[a-z]+-\d|\b[a-z]+-[a-z]+\d\b|\bs3(?:api)?\b|\biam\b|\broute53\b|\bcloudfront\b/i

/** Matches a field for an amount of money in what is sent somewhere. */
export const pricedField =
  /(?:^|[\s"'{,&?[])(?:unit_?|total_?|source_?|target_?)?(?:amount|price|total)(?:_?(?:cents|minor|money|value|micros))?["'\]]*\s*[:=]\s*["'{[]?\s*[\d$"]/i

const pricedOption = /^--(?:[\w-]*-)?(?:amount|price|total|payment)(?:-\w+)*(?:=|$)/

/** Reads whether a command pays, and whether the amount is known. */
export function readPayment(
  { open: into }: ReachedTargets,
  name: string,
  words: readonly string[],
  effects: Set<Effect>,
): void {
  if (
    anyWord(words, pricedOption) ||
    (/^(?:aws|gcloud|az|doctl|heroku|namecheap|godaddy|ovhcloud|linode-cli|hcloud)$/.test(name) &&
      anyWord(
        words.slice(0, 3),
        /^(?:purchase|buy|order|checkout|subscribe|renew|register-domain|create-savings-plan)/,
      )) ||
    /^(?:stripe|paypal|braintree)$/.test(name)
  ) {
    effects.add("pay")
    if (words.some((word, at) => pricedOption.test(words[at - 1] ?? word) && word.includes(unknownPart)))
      open(into, "amounts", `the sum that ${name} is told is known only when it runs`)
  }
}

/** True for a build or a test: one for production does not act on production. */
export const isBuild = (line: string): boolean =>
  /^(?:npm|pnpm|yarn|bun|npx|(?:docker|podman) (?:buildx )?build|docker compose build|make|git|node|vite|webpack|tsc|next|rake assets|go|cargo|pip3?|mvn|gradle|echo|helm template|kubectl diff)\b/.test(
    line,
  ) && !/^git push/.test(line)

const targetOption = new RegExp(`^${anyOf("-[hdnHea]", `--${anyOf(words.targetOptions)}`, "-chdir|-var-file|-var")}$`)
const connection = /^[a-z][a-z\d+]{2,20}:\/\//i

/** Matches the output of a build: a folder in it may be named after production without being part of it. */
const builtFiles = /(?<![\w/])(?:\.\/)?(?:build|dist|out|target|node_modules|\.next|coverage|public)\/\S*/g
export const withoutBuiltFiles = (text: string): string =>
  (text.includes("/") ? text.replace(builtFiles, " ") : text).replace(/--build-arg[= ]\S+/g, " ")

/** Environments that a command names: production anywhere, others only where it says what it acts on. */
export function environmentsOf({ name, words, places, sets }: RunCommand): readonly Environment[] {
  if (isBuild([name, ...words.slice(1)].join(" "))) return []
  const values = [...sets].flatMap(([key, values]) => [key, ...values])
  const line = withoutBuiltFiles([...words, ...places, ...values].join(" ").slice(0, 20_000))
  const found = new Set<Environment>(environmentsIn(line, false).filter((one) => one === "production"))
  const targets = [...places, ...[...sets.values()].flat()]
  for (const [at, word] of words.entries()) {
    if (at === 0) continue
    const [, option = "", value = ""] = /^(-{1,2}[\w-]+)=(.*)$/s.exec(word) ?? []
    if (targetOption.test(words[at - 1] ?? "") || connection.test(word)) targets.push(word)
    if (targetOption.test(option)) targets.push(value)
  }
  // A database by its name or file, and the target of a client's command.
  if (
    /^(?:sqlite3?|duckdb|dropdb|createdb|psql|mysql|mariadb|mongosh|mongo|redis-cli|mysqladmin|kubectx|kubens)$/.test(
      name,
    )
  )
    targets.push(...words.slice(1).filter((word) => !/^-|\s/.test(word)))
  for (const environment of targetEnvironments(targets)) found.add(environment)
  return [...found]
}
