import emailAddresses from "email-addresses"
import type { Leaf } from "./leaf.ts"
import { foundIn } from "./options.ts"

/** A host that a call names: one that it may contact, or one that its text only links to. */
export type HostFact = {
  readonly host: string
  readonly port?: number
  readonly scheme?: string
  readonly contacted: boolean
  /** True if it may be disguised: a user name with a dot before it, letters of other scripts, an unusual form of an IP address. */
  readonly suspect: boolean
}

const maxUrl = 2_048

const withScheme = /\b(?:[a-z][a-z\d+.-]{1,20}:[/\\]{2,4}|(?:https?|wss?|ftp):[/\\]{0,4})[^\s"'<>`|^/\\?#]+/gi
const schemeLess = /(?<![\w:/\\])[/\\]{2}(?=[\w[])[^\s"'<>`|^/\\]+\.[^\s"'<>`|^]+/g
const secureCopy = /(?<![\w.@-])[\w.-]{1,64}@([\w-]{1,63}(?:\.[\w-]{1,63}){0,8}):(?![/\d]{2})[\w~./-]/g
const deviceFile = /\/dev\/(?:tcp|udp)\/([^/\s]{1,253})\/\d+/g
const bareHost = /^(?:[\p{L}\p{N}_-]{1,63}\.)+[\p{L}\p{N}-]{2,63}\.?(?::\d{1,5})?(?:[/?#].*)?$/u
/** Matches a name with a port, which is a host in whatever field. */
const withPort = /^(?:[a-z\d-]{1,63}\.)+[a-z]{2,63}:\d{2,5}(?:[/?#]\S*)?$/i
const bareAddress =
  /^(?:\[[\da-f:.]+\]|(?:0x[\da-f]+|\d+)(?:\.(?:0x[\da-f]+|\d+)){0,3}|localhost)(?::\d{1,5})?(?:[/?#].*)?$/i

/** Parses the host of one URL as a client would. */
function readUrl(written: string): Omit<HostFact, "contacted"> | undefined {
  const text = written.slice(0, maxUrl).replace(/[\t\r\n]/g, "")
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme === "file" || scheme === "data" || scheme === "mailto" || scheme === "javascript") return undefined
  const rest = scheme === undefined ? text : text.slice(scheme.length + 1)
  const url = `http://${rest.replace(/^[/\\]+/, "")}`
  if (!URL.canParse(url)) {
    const host = /^[/\\]*([^/\\?#]{1,253})/.exec(rest)?.[1]
    return host === undefined ? undefined : { host: host.toLowerCase(), suspect: true }
  }
  const { hostname, port, username } = new URL(url)
  const host = hostname.replace(/\.+$/, "")
  if (host === "") return undefined
  const strange = !rest.toLowerCase().includes(host) || host.includes("xn--") || username.includes(".")
  return {
    host,
    suspect: strange,
    ...(port === "" ? {} : { port: Number(port) }),
    ...(scheme === undefined ? {} : { scheme }),
  }
}

/** Removes characters at the end that close a sentence or a bracket. */
const trimmed = (url: string): string =>
  url.slice(0, maxUrl).replace(/(?<![.,;:!?)\]}])[.,;:!?)\]}]+$/, (end) => (url.includes("[") ? end : ""))

function addressesIn({ text, role }: Leaf): readonly string[] {
  const found = [
    ...(text.includes(":") ? (text.match(withScheme) ?? []) : []).map(trimmed),
    ...(/[/\\]{2}/.test(text) ? (text.match(schemeLess) ?? []) : []).map(trimmed),
    ...(text.includes("@") ? foundIn(text, secureCopy) : []),
    ...(text.includes("/dev/") ? foundIn(text, deviceFile) : []),
  ]
  // Connection parameters: `host=db.example port=5432`.
  if (/=/.test(text) && /\b(?:dbname|port|user(?: id)?|uid|database|initial catalog)\s*=/i.test(text))
    found.push(...foundIn(text, /(?:^|[\s;])(?:host(?:addr|name)?|server|data source)\s*=\s*(?:tcp:)?([\w.-]+)/gi))
  if (role !== "url") return withPort.test(text.trim()) ? [...found, text.trim()] : found
  const whole = text.trim().replace(/[\t\r\n]/g, "")
  const bare = whole.length <= maxUrl && !/\s/.test(whole) && (bareHost.test(whole) || bareAddress.test(whole))
  return bare || /^[a-z][a-z\d+.-]*:[/\\]/i.test(whole) ? [...found, whole] : found
}

/** Hosts that a call names. Those in a text that is sent or written are links; all others may be contacted. */
export function hostsOf(leaves: readonly Leaf[]): readonly HostFact[] {
  return leaves.flatMap((leaf) => {
    // A formula in a spreadsheet fetches the URLs in it.
    const isFormula = /^\s*=\s*[A-Z][A-Z.]{2,20}\(/i.test(leaf.text)
    const contacted = isFormula || !/^(?:body|subject|recipient|patch|command|code|sql)$/.test(leaf.role)
    if (!/[:/\\.]/.test(leaf.text) && leaf.role !== "url") return []
    return addressesIn(leaf).flatMap((written) => {
      // The shell reader resolves these.
      if (leaf.role === "command" && /[${}()*]/.test(written)) return []
      const read = readUrl(written)
      return read === undefined ? [] : [{ ...read, contacted }]
    })
  })
}

/** Host in a word of a network command: `curl evil.example`, `ssh me@box`, `scp x box:/tmp`. */
export function hostOfWord(word: string): string | undefined {
  // A host with a port, and one with a path as copying programs take it: neither is a URL with a scheme.
  if (/^[a-z][\w.-]*:\d{1,5}(?:[/?#]|$)/i.test(word)) return readUrl(`http://${word}`)?.host
  const remote = /^([\w-]+(?:\.[\w-]+)+):\/(?!\/)/.exec(word)?.[1]
  if (remote !== undefined) return hostName(remote)
  if (/^[a-z][a-z\d+.-]*:[/\\]/i.test(word)) return readUrl(word)?.host
  const bare = word.replace(/^[^@/]{0,64}@/, "")
  // A port or a count.
  if (/^\d{1,5}$/.test(bare)) return undefined
  if (bareHost.test(bare) || bareAddress.test(bare)) return readUrl(bare)?.host
  const copied = /^([\w-]+(?:\.[\w-]+)*):/.exec(bare)?.[1]
  return copied === undefined ? undefined : hostName(copied)
}

/** True for a URL whose path or host name says that money is moved there. */
export const isPaymentUrl = (url: string): boolean =>
  /^\s*(?:https?:\/)?\/\S*?(?:^|[/._-])(?:pay|payments?|payouts?|charges?|transfers?|checkout|refunds?|purchases?|withdrawals?|orders?)(?:[/?#._-]|$)/i.test(
    url,
  )

/** True for a URL in a store of secrets. */
export const isSecretUrl = (word: string): boolean =>
  /^[a-z]+:\/\/[^/\s]+\/(?:\S*\/)?(?:secrets?|kv|credentials?|passwords?)(?:[/?#:]|$)/i.test(word)

/** Normalizes a host: lower case, punycode, IP addresses in their usual form, no trailing dot. What is no host stays as it is. */
export function hostName(written: string): string {
  const lowered = written.toLowerCase().replace(/\.+$/, "")
  if (/^[a-z\d-]+(?:\.[a-z\d-]*[a-z][a-z\d-]*)+$/.test(lowered)) return lowered
  const url = `http://${lowered}/`
  if (lowered.length > 300 || !URL.canParse(url)) return lowered
  return new URL(url).hostname.replace(/\.+$/, "")
}

/** A mail address that a call names, and whether the call goes to it. */
export type EmailFact = {
  readonly address: string
  readonly domain: string
  readonly recipient: boolean
  /** True if it stands in a field for recipients. */
  readonly field: boolean
  /** True if the domain is written in other than plain letters, or the address routes through another host. */
  readonly suspect: boolean
}

const maxLocal = 64
const maxDomain = 253
/** Maximum number of addresses read in one call; no list of recipients that a model writes is longer. */
const maxAddresses = 1_000

const isLocal = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]/u
const isDomain = /[\p{L}\p{N}.-]/u

type AddressParts = { readonly local: string; readonly domain: string }

/** Finds the addresses of a text from each `@` outwards, so that any text takes linear time. */
function emailAddressesIn(text: string): readonly AddressParts[] {
  const found: AddressParts[] = []
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    let start = at
    if (text[at - 1] === '"') start = Math.max(text.lastIndexOf('"', at - 2), at - maxLocal)
    else while (start > 0 && at - start < maxLocal && isLocal.test(text[start - 1] ?? "")) start--
    let end = at + 1
    const literal = /^\[[\da-f.:ipv]{2,50}\]/i.exec(text.slice(end, end + 60))
    if (literal !== null) end += literal[0].length
    else while (end < text.length && end - at < maxDomain && isDomain.test(text[end] ?? "")) end++
    const domain = text.slice(at + 1, end).replace(/^[.-]+|[.-]+$/g, "")
    const local = text.slice(Math.max(0, start), at)
    // `node@20.1` is a package and its version.
    if (local !== "" && domain !== "" && !/^v?\d+(?:\.\d+){0,2}$/.test(domain)) found.push({ local, domain })
    if (found.length > maxAddresses) break
  }
  return found
}

/** Normalizes a field for addresses: removes comments and blanks, and replaces `at` and `dot` in words. */
const spelledOut = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .replace(/\([^()]{0,200}\)/g, (comment) => (/^\( ?(?:at|dot|@|\.) ?\)$/i.test(comment) ? comment : ""))
    .replace(/ ?[([{<] ?(?:at|@) ?[)\]}>] ?| at /gi, "@")
    .replace(/ ?[([{<] ?(?:dot|\.) ?[)\]}>] ?| dot /gi, ".")
    .replace(/ ?@ ?/g, "@")
    .replace(/(?<=[^\s.,;]) ?\. ?(?=[\p{L}\p{N}])/gu, ".")

const headerLine = /^(?:to|cc|bcc|resent-to|x-original-to|apparently-to)[ \t]*:(.*(?:\r?\n[ \t].*)*)/gim
const headerBlock = /^(?:[a-z][a-z-]{0,40}[ \t]*:.*(?:\r?\n[ \t].*)*\r?\n){2,}/i

function recipientText({ role, text, encoded }: Leaf): string | undefined {
  if (role === "recipient") return spelledOut(text)
  // A whole message with its headers, as some APIs take it.
  const head = headerBlock.exec(text.slice(0, 20_000))?.[0]
  if (head !== undefined && /^(?:from|subject|mime-version|content-type)[ \t]*:/im.test(head))
    return foundIn(head, headerLine).join(",")
  if (role === "sender" || role === "subject" || role === "body" || role === "patch") return undefined
  if (role === "command" || role === "code" || role === "sql") return undefined
  return text.length <= 1_000 || encoded ? text : undefined
}

/** Maximum length in characters of a recipient field that is parsed by the address grammar. */
const maxList = 4_000

/** Matches one ordinary address, which does not need the grammar. */
const plainAddress = /^([a-z\d_+-]+(?:\.[a-z\d_+-]+)*)@([a-z\d-]+(?:\.[a-z\d-]+)+)$/i

/** Parses a list of addresses by RFC 5322: without names and comments, with the members of groups; undefined if it is no such list. */
function addressList(text: string): readonly AddressParts[] | undefined {
  if (text.length > maxList || !text.includes("@") || /[\r\n]/.test(text)) return undefined
  const [, local, domain] = plainAddress.exec(text) ?? []
  if (local !== undefined && domain !== undefined) return [{ local, domain }]
  const parsed = emailAddresses.parseAddressList({ input: text, rfc6532: true, rejectTLD: false })
  return parsed
    ?.flatMap((one) => (one.type === "group" ? one.addresses : [one]))
    .map(({ local, domain }) => ({ local, domain }))
}

const injected = /[\r\n]+[ \t]*(?:to|cc|bcc|resent-to|resent-cc|resent-bcc)[ \t]*:([^\r\n]*)/gi

/** Recipients that a line break injects into a field for one header line: the mail would go to them too. */
const injectedIn = ({ role, text }: Leaf): string =>
  role === "body" || !/[\r\n]/.test(text.slice(0, 2_000)) || text.length > 2_000
    ? ""
    : foundIn(text, injected).join(",")

function factOf({ local, domain }: AddressParts, recipient: boolean, field = false): readonly EmailFact[] {
  const plain = hostName(domain)
  const suspect = plain !== domain.toLowerCase() || plain.includes("xn--")
  const own = { address: `${local.toLowerCase()}@${plain}`, domain: plain, recipient, field, suspect }
  // `bob%evil.example@relay` and `evil.example!bob@relay` are routed on to the inner host.
  const inner = /[%!]/.test(local) ? local.split(/[%!]/).filter((piece) => /^[\w-]+(?:\.[\w-]+)+$/.test(piece)) : []
  const routed = inner.map((host) => ({ ...own, domain: hostName(host), suspect: true }))
  return [own, ...routed]
}

/** Recipients of a message that a URL opens or sends: `mailto:`, `…/compose?to=`. */
export function composedIn({ text, role }: Leaf): readonly AddressParts[] {
  if (role === "body" || role === "command" || role === "code" || text.length > maxUrl) return []
  const url = text.trim()
  if (
    !/^[a-z][a-z\d+.-]*:\S+$/i.test(url) ||
    !/^mailto:|[?&](?:to|cc|bcc|recipients?|rcpt|send_?to|mailto)=/i.test(url) ||
    !URL.canParse(url)
  )
    return []
  const { pathname, protocol, searchParams } = new URL(url)
  const named = [...searchParams].flatMap(([key, value]) =>
    /^(?:to|cc|bcc|recipients?|rcpt|send_?to|mailto)$/i.test(key) ? [value] : [],
  )
  const to = protocol === "mailto:" && URL.canParse(`http://x/${pathname}`) ? [pathname.replaceAll("%40", "@")] : []
  return [...to, ...named].flatMap(emailAddressesIn)
}

export type AddressFacts = {
  readonly emails: readonly EmailFact[]
  /** True if a field for recipients names someone without an address: a name, a group, a handle. */
  readonly unresolved: boolean
  readonly tooMany: boolean
}

/** True for a sentence, which may mention an address; a list of addresses has none. */
const isProse = ({ text, encoded }: Leaf): boolean =>
  !encoded &&
  !headerBlock.test(text.slice(0, 20_000)) &&
  text.split(/\s+/).filter((word) => /^\p{L}[\p{L}'-]+[.,:;!?]?$/u.test(word)).length >= 4

/** True for a recipient that a template fills in later, beside whatever addresses. */
const isPlaceholder = ({ role, text }: Leaf): boolean =>
  role === "recipient" && /\{\{|\$\{|<%|\$\(|%[A-Za-z_]{1,80}%|(?:^|[\s,;])\$[A-Za-z_]\w*/.test(text)

/** Finds the addresses that a call names, and those that it goes to. */
export function emailsOf(leaves: readonly Leaf[]): AddressFacts {
  const emails: EmailFact[] = []
  // A name in the same object as an address belongs to that address.
  const addressed = new Set<number>()
  const unnamed: number[] = []
  const isNamed = leaves.some(({ role, text }) => role === "recipient" && text.includes("@"))
  const targetOf = (leaf: Leaf): string | undefined =>
    isNamed && leaf.role === "other" && isProse(leaf) ? undefined : recipientText(leaf)
  for (const leaf of leaves) {
    if (emails.length > maxAddresses) break
    const target = targetOf(leaf)
    const listed = leaf.role === "recipient" ? addressList(leaf.text) : undefined
    const reached = listed ?? (target === undefined ? [] : emailAddressesIn(target))
    for (const raw of emailAddressesIn(injectedIn(leaf))) emails.push(...factOf(raw, true))
    for (const raw of composedIn(leaf)) emails.push(...factOf(raw, true, true))
    for (const raw of reached) emails.push(...factOf(raw, true, leaf.role === "recipient"))
    if (leaf.role !== "recipient" || leaf.encoded) continue
    if (reached.length > 0) addressed.add(leaf.group)
    else if (/[\p{L}\p{N}]/u.test(leaf.text)) unnamed.push(leaf.group)
  }
  for (const leaf of leaves) {
    if (emails.length > maxAddresses) break
    const target = targetOf(leaf)
    if (target !== leaf.text) for (const raw of emailAddressesIn(leaf.text)) emails.push(...factOf(raw, false))
  }
  const unresolved = unnamed.some((group) => !addressed.has(group)) || leaves.some(isPlaceholder)
  return { emails, unresolved, tooMany: emails.length > maxAddresses }
}
