import { entriesOf, type Words } from "../../message/present.ts"
import type { Leaf } from "./leaf.ts"
import { anyWord, wordsOf } from "./words.ts"

/** Medium by which a call reaches people. */
type Medium = Words<"email slack teams discord sms chat ticket phone social webhook wiki calendar pager public">

const names: readonly (readonly [Medium, RegExp])[] = entriesOf({
  email: /^(?:e?mails?|gmail|smtp|outlook|sendgrid|mailgun|ses|mailchimp|postmark|sendmail|mailx|mutt|mailto|inbox)$/,
  slack: /^(?:slack|slackcat)$/,
  teams: /^(?:teams|msteams)$/,
  discord: /^discord$/,
  sms: /^(?:sms|twilio|mms|imessage)$/,
  chat: /^(?:chat|whatsapp|telegram|signal|messenger|matrix|irc|mattermost|zulip|hangouts|threema|wechat|viber)$/,
  ticket: /^(?:tickets?|jira|zendesk|servicenow|linear|asana|trello|freshdesk|issue|issues|helpdesk)$/,
  phone: /^(?:phone|call|dial|voice|voicemail|fax)$/,
  social: /^(?:tweet|twitter|linkedin|facebook|instagram|mastodon|bluesky|reddit)$/,
  webhook: /^(?:webhook|webhooks)$/,
  wiki: /^(?:wiki|confluence|notion|sharepoint)$/,
  calendar: /^(?:calendar|meeting|invite)$/,
  pager: /^(?:pagerduty|opsgenie|pager)$/,
  public: /^(?:public|publicly|tweet|blog|forum|wordpress|press)$/,
})

/** Services that policies can name besides their medium: a message by WhatsApp is a chat, and is by WhatsApp. */
export const services: Readonly<Record<string, readonly string[]>> = {
  chat: ["whatsapp", "telegram", "signal", "mattermost", "zulip", "threema", "wechat", "viber"],
  ticket: ["jira", "zendesk", "servicenow", "freshdesk"],
  social: ["twitter", "linkedin", "facebook", "instagram", "mastodon", "bluesky", "reddit"],
}
const serviceNames: ReadonlyMap<string, string> = new Map([
  ...Object.values(services).flatMap((some) => some.map((name): readonly [string, string] => [name, name])),
  ["tweet", "twitter"],
])

const fields = /^(?:channel|via|medium|transport|method|type|service|platform|provider|destination_type|delivery)$/
/** URLs of services; a text without one of the `signs` has none, which is faster to check. */
const addresses: readonly (readonly [Medium, signs: readonly string[], RegExp])[] = [
  ["slack", ["slack.com"], /hooks\.slack\.com|slack\.com\/api/],
  ["teams", ["webhook"], /(?:outlook|office)\.(?:office\.)?com\/webhook|webhook\.office\.com/],
  ["discord", ["discord"], /discord(?:app)?\.com\/api/],
  ["email", ["smtp", "mailto:", "api."], /\bsmtps?:\/\/|\bmailto:|api\.(?:sendgrid|mailgun|postmarkapp)\./],
  ["chat", ["telegram"], /api\.telegram\.org/],
]

/** Media by which a call reaches people: by the tool's name, by a field, or by a URL of a service. */
export function mediaOf(
  tool: string,
  leaves: readonly Leaf[],
  commands: readonly string[],
  mailed: boolean,
): ReadonlySet<string> {
  const told = leaves.flatMap(({ field, folded, role }) => {
    if (folded.length > 60) return []
    return fields.test(field) || role === "recipient" ? wordsOf(folded.replace(/\S*@\S*/g, " ")) : []
  })
  const words = [...wordsOf(tool.slice(0, 200)), ...told, ...commands]
  const found = new Set<string>(names.filter(([, name]) => anyWord(words, name)).map(([medium]) => medium))
  for (const word of words) {
    const service = serviceNames.get(word)
    if (service !== undefined) found.add(service)
  }
  for (const { folded, role } of leaves) {
    if (role === "body" || role === "subject") continue
    for (const [medium, signs, address] of addresses)
      if (signs.some((sign) => folded.includes(sign)) && address.test(folded)) found.add(medium)
  }
  if (leaves.some(({ field, value }) => /^(?:is_)?public(?:ly)?$/.test(field) && value === true)) found.add("public")
  if (mailed) found.add("email")
  if (found.size === 0 && talksInRoom(tool, leaves)) found.add("chat")
  return found
}

const rooms =
  /^(?:channel|channel_?id|channel_?name|channels|room|room_?id|chat_?id|conversation|conversation_?id|space)$/i
/** Chat rooms that a call names, each with `#` before its name; the id of a room is no name. */
export const roomsOf = (leaves: readonly Leaf[]): ReadonlySet<string> =>
  new Set(
    leaves.flatMap(({ field, folded, role }) => {
      const name = folded.trim()
      if (!rooms.test(field) && role !== "recipient") return []
      if (roomName.test(name)) return [name]
      return role !== "recipient" && bareName.test(name) ? [`#${name}`] : []
    }),
  )
const roomName = /^#[\p{L}\p{N}][\p{L}\p{N}_-]{0,79}$/u
const bareName = /^(?![cdg][\da-z]{8,12}$)\p{L}[\p{L}\p{N}_-]{0,79}$/u
const talk = /^(?:message|messages|msg|post|posts|notify|notification|announce|say|reply|comment|broadcast)$/

/** True for a message to a room without a service's name in the tool's: `post_message` to `#status`. */
function talksInRoom(tool: string, leaves: readonly Leaf[]): boolean {
  const says = wordsOf(tool.slice(0, 200)).some((word) => talk.test(word))
  return leaves.some(
    ({ field, folded }) => rooms.test(field) && (folded.startsWith("#") || (says && /^[\w.-]+$/.test(folded))),
  )
}
