import { hostName } from "./hosts.ts"
import type { Leaf } from "./leaf.ts"

/** An address that a call names, and whether the call goes to it. */
export type EmailFact = {
  readonly address: string
  readonly domain: string
  readonly recipient: boolean
  /** The domain is written in other letters than plain ones, or the address routes through another host. */
  readonly suspect: boolean
}

const maxLocal = 64
const maxDomain = 253
/** Addresses read in one call; no list of recipients that a model writes is longer. */
const maxAddresses = 1_000

const isLocal = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]/u
const isDomain = /[\p{L}\p{N}.-]/u

type Raw = { readonly local: string; readonly domain: string }

/** The addresses of a text, found from each `@` outwards, so that any text takes linear time. */
function addressesIn(text: string): readonly Raw[] {
  const found: Raw[] = []
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
    if (local !== "" && domain !== "") found.push({ local, domain })
    if (found.length > maxAddresses) break
  }
  return found
}

/** A field that holds addresses and nothing else, without comments, blanks round the signs and the ways to write them out. */
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
    return [...head.matchAll(headerLine)].map(([, list]) => list).join(",")
  if (role === "sender" || role === "subject" || role === "body") return undefined
  if (role === "command" || role === "code" || role === "sql") return undefined
  return text.length <= 1_000 || encoded ? text : undefined
}

function factOf({ local, domain }: Raw, recipient: boolean): readonly EmailFact[] {
  const plain = hostName(domain)
  const suspect = plain !== domain.toLowerCase() || plain.includes("xn--")
  const own = { address: `${local.toLowerCase()}@${plain}`, domain: plain, recipient, suspect }
  // `bob%evil.example@relay` and `evil.example!bob@relay` go on to the inner host.
  const inner = /[%!]/.test(local) ? local.split(/[%!]/).filter((piece) => /^[\w-]+(?:\.[\w-]+)+$/.test(piece)) : []
  const routed = inner.map((host) => ({ ...own, domain: hostName(host), suspect: true }))
  return [own, ...routed]
}

export type Addressed = {
  readonly emails: readonly EmailFact[]
  /** A field for recipients names someone without an address: a name, a group, a handle. */
  readonly unresolved: boolean
  readonly tooMany: boolean
}

/** The addresses that a call names, and those that it goes to. */
export function emailsOf(leaves: readonly Leaf[]): Addressed {
  const emails: EmailFact[] = []
  let unresolved = false
  for (const leaf of leaves) {
    if (emails.length > maxAddresses) break
    const target = recipientText(leaf)
    const reached = target === undefined ? [] : addressesIn(target)
    for (const raw of reached) emails.push(...factOf(raw, true))
    if (leaf.role === "recipient" && !leaf.encoded && reached.length === 0 && /[\p{L}\p{N}]/u.test(leaf.text))
      unresolved = true
    if (target !== leaf.text) for (const raw of addressesIn(leaf.text)) emails.push(...factOf(raw, false))
  }
  return { emails, unresolved, tooMany: emails.length > maxAddresses }
}
