import type { Leaf } from "./leaf.ts"

/** A host that a call names: one that it may talk to, or one that its text only links to. */
export type HostFact = {
  readonly host: string
  readonly port?: number
  readonly scheme?: string
  readonly contacted: boolean
  /** Written to pass for another: userinfo before it, letters of other scripts, an odd form of an IP address. */
  readonly suspect: boolean
}

const maxUrl = 2_048

const withScheme = /\b(?:[a-z][a-z\d+.-]{1,20}:[/\\]{2,4}|(?:https?|wss?|ftp):[/\\]{0,4})[^\s"'<>`|^/\\?#]+/gi
const schemeLess = /(?<![\w:/\\])[/\\]{2}(?=[\w[])[^\s"'<>`|^/\\]+\.[^\s"'<>`|^]+/g
const secureCopy = /(?<![\w.@-])[\w.-]{1,64}@([\w-]{1,63}(?:\.[\w-]{1,63}){0,8}):(?![/\d]{2})[\w~./-]/g
const deviceFile = /\/dev\/(?:tcp|udp)\/([^/\s]{1,253})\/\d+/g
const bareHost = /^(?:[\p{L}\p{N}_-]{1,63}\.)+[\p{L}\p{N}-]{2,63}\.?(?::\d{1,5})?(?:[/?#].*)?$/u
const bareAddress =
  /^(?:\[[\da-f:.]+\]|(?:0x[\da-f]+|\d+)(?:\.(?:0x[\da-f]+|\d+)){0,3}|localhost)(?::\d{1,5})?(?:[/?#].*)?$/i

/** The host of one address as a client would read it. */
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

/** Signs that end a sentence or close a bracket, not an address. */
const trimmed = (url: string): string =>
  url.slice(0, maxUrl).replace(/(?<![.,;:!?)\]}])[.,;:!?)\]}]+$/, (end) => (url.includes("[") ? end : ""))

function addressesIn({ text, role }: Leaf): readonly string[] {
  const found = [
    ...(text.includes(":") ? (text.match(withScheme) ?? []) : []).map(trimmed),
    ...(/[/\\]{2}/.test(text) ? (text.match(schemeLess) ?? []) : []).map(trimmed),
    ...(text.includes("@") ? [...text.matchAll(secureCopy)] : []).flatMap(([, host]) => host ?? []),
    ...(text.includes("/dev/") ? [...text.matchAll(deviceFile)] : []).flatMap(([, host]) => host ?? []),
  ]
  if (role !== "url") return found
  const whole = text.trim().replace(/[\t\r\n]/g, "")
  const bare = whole.length <= maxUrl && !/\s/.test(whole) && (bareHost.test(whole) || bareAddress.test(whole))
  return bare || /^[a-z][a-z\d+.-]*:[/\\]/i.test(whole) ? [...found, whole] : found
}

/** The hosts that a call names. Those in a text that is sent or written are links; all others may be talked to. */
export function hostsOf(leaves: readonly Leaf[]): readonly HostFact[] {
  return leaves.flatMap((leaf) => {
    const contacted = leaf.role !== "body" && leaf.role !== "subject" && leaf.role !== "recipient"
    if (!/[:/\\.]/.test(leaf.text) && leaf.role !== "url") return []
    return addressesIn(leaf).flatMap((written) => {
      // A script's own reading fills these in.
      if (leaf.role === "command" && /[${}()*]/.test(written)) return []
      const read = readUrl(written)
      return read === undefined ? [] : [{ ...read, contacted }]
    })
  })
}

/** Words of a network command that name a host: `curl evil.example`, `ssh me@box`, `scp x box:/tmp`. */
export function hostOfWord(word: string): string | undefined {
  if (/^[a-z][a-z\d+.-]*:[/\\]/i.test(word)) return readUrl(word)?.host
  const bare = word.replace(/^[^@/]{0,64}@/, "")
  // A port, a count.
  if (/^\d{1,5}$/.test(bare)) return undefined
  if (bareHost.test(bare) || bareAddress.test(bare)) return readUrl(bare)?.host
  const copied = /^([\w-]+(?:\.[\w-]+)*):/.exec(bare)?.[1]
  return copied === undefined ? undefined : hostName(copied)
}

/** A host as networks take it: lower case, punycode, IP addresses in their usual form, no trailing dot; what is no host stays as it is. */
export function hostName(written: string): string {
  const lowered = written.toLowerCase().replace(/\.+$/, "")
  if (/^[a-z\d-]+(?:\.[a-z\d-]*[a-z][a-z\d-]*)+$/.test(lowered)) return lowered
  const url = `http://${lowered}/`
  if (lowered.length > 300 || !URL.canParse(url)) return lowered
  return new URL(url).hostname.replace(/\.+$/, "")
}
