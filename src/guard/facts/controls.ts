import { anyOf } from "../../language/word-lists.ts"
import { entriesOf } from "../../message/present.ts"
import words from "./control-words.json" with { type: "json" }
import type { PathFact } from "./paths.ts"
import { anyWord, wordsOf } from "./words.ts"

/** Names of security controls in settings, services and statements. */
const controls: readonly (readonly [control: string, RegExp])[] = entriesOf({
  audit:
    /^(?:audit|audits|auditing|auditd|auditctl|pgaudit|noaudit|auditlog|auditlogs|auditlogging|audittrail|cloudtrail)$/,
  logging: /^(?:logging|rsyslog|syslog|journald|histfile|binlog|telemetry)$/,
  authentication: /^(?:mfa|2fa|totp|authentication|sso|captcha|otp|authn)$/,
  access: /^(?:rls|authorization|authz|rbac|sandboxing|seccomp|selinux|apparmor|gatekeeper|uac)$/,
  network: /^(?:firewall|firewalld|ufw|iptables|nft|nftables|waf|networkpolicy|ddos|ratelimit|throttling|csrf)$/,
  detection: new RegExp(`^${anyOf(words.detection)}$`),
  encryption: /^(?:encryption|encrypted|tls|ssl|hsts)$/,
  security:
    /^(?:security|guardrail|guardrails|safety|protection|protections|safeguard|safeguards|verification|signing|moderation)$/,
})

const controlPhrases: readonly (readonly [control: string, RegExp])[] = entriesOf({
  logging:
    /\b(?:query|statement|general|slow|access|error|sql|bin|event|security|user|activity|transaction|api|request|flow) logs?\b|\blog (?:statement|bin|connections|duration|min|level|destination|collector|retention)\b/,
  network: /\brate limit\w*|\bnetwork polic\w+|\bblock public\b/,
  access: /\brow level security\b|\baccess controls?\b|\bbranch protection\b|\bleast privilege\b|\btwo factor\b/,
})

const off = new RegExp(`^${anyOf(words.off)}$`)

const on = /^(?:enable|enabled|enabling|on|start|restart|create|true|activate)$/

/** Maximum distance in words between a control and the word that switches it off. */
const reach = 6
const distances = Array.from({ length: 2 * reach + 1 }, (_, at) => at - reach)

/** Commands and statements that switch a control off in words of their own. */
const offPhrases: readonly (readonly [control: string, RegExp])[] = entriesOf({
  access: new RegExp(
    anyOf(
      "\\bsetenforce (?:0|permissive)\\b|\\bselinux enforce\\b|\\bcsrutil disable\\b",
      "\\bspctl (?:master|global) disable\\b|\\bselinux (?:0|permissive|disabled)\\b",
      "\\bexecutionpolicy (?:bypass|unrestricted)\\b|\\baa (?:teardown|disable|complain|remove unknown)\\b",
      "\\bnopasswd\\b",
      "\\b(?:attach|put|add|create|bind|grant)\\b.{0,120}\\b(?:administrator ?access|cluster admin|roles owner|iam full ?access)\\b",
      "\\bpod security\\b.{0,40}\\bprivileged\\b",
      "\\b(?:password ?authentication|permit ?root ?login|permit ?empty ?passwords) (?:s )?(?:no )?(?:(?:password|permit)\\w*(?: \\w+){0,2} )?yes\\b",
      "\\bchmod (?:r )?(?:[2467]\\d{3}|[ugoa]{0,3} s)\\b",
      "\\b(?:password|passwort|passwd)\\b.{0,60}\\bmin(?:imum)? ?length [0-5]\\b",
      "\\brulesets? (?:delete|disable|remove)\\b|\\b(?:delete|disable|remove) rulesets?\\b",
    ),
  ),
  network: new RegExp(
    anyOf(
      "\\ballow(?: |ed )(?:all|any)\\b.{0,120}\\b(?:inbound|ingress)\\b",
      "\\b(?:nsg|security groups?|firewall|acl|ingress|inbound)\\b.{0,120}\\ballow(?: |ed )(?:all|any)\\b",
      "\\bufw (?:force )?(?:disable|reset)\\b",
      "\\biptables (?:t \\w+ )?(?:f|flush|x|p (?:input|forward|output) accept)\\b|\\bnft flush\\b|\\bpfctl d\\b",
      "\\bnet ?firewall ?profile\\b.{0,40}\\bfalse\\b|\\b0 0 0 0 0\\b",
      "\\bfirewall (?:cmd )?(?:state off|disable)\\b|\\bufw (?:default )?allow (?:from any$|in$|incoming|0 0 0 0)",
      "\\badvfirewall set \\w+ state off\\b|\\bfirewall(?: cmd)?\\b.{0,60}\\badd (?:port \\d+ \\d+|source 0)",
      "\\bfirewall(?: cmd)?\\b.{0,60}\\b(?:zone trusted|panic off|set default zone trusted)\\b",
      "\\b(?:waf|firewall)\\b.{0,60}\\b(?:count|monitor|detection|report|log) only\\b",
    ),
  ),
  audit:
    /\bauditctl (?:e 0|d)\b|\bstop logging\b|\bdelete trail\b|\bnoaudit\b|\bauditpol clear\b|\baudit trail (?:none|false|0)\b|\bupdate trail\b.{0,80}\bno (?:include|enable|is)\b/,
  logging: new RegExp(
    anyOf(
      `\\b${anyOf(words.logSettings)} (?:to )?(?:0|1|off|none|false|no)\\b`,
      "\\bhistory c\\b|\\bunset histfile\\b|\\bhist(?:file)?size 0\\b|\\bhistfile dev null\\b",
      "\\bdev null\\b.{0,20}\\bhistory\\b|\\bset o history\\b|\\blog ?level (?:none|off|silent|quiet|fatal)\\b",
      "\\bwevtutil (?:cl|clear log)\\b|\\bclear event ?log\\b",
      `\\b(?:rm|truncate|shred|unlink|overwrite)\\b.{0,30}\\bvar log ${anyOf(words.logFiles)}`,
      "\\bjournalctl\\b.{0,40}\\bvacuum (?:time|size|files) 0*1?[a-z]?\\b",
    ),
  ),
  detection: /\bdisable(?:realtimemonitoring| realtime monitoring)\b|\bdelete detector\b|\bno enable\b/,
  encryption:
    /\b(?:sslmode disable|ssl off|sslverify false|node tls reject unauthorized 0|no check certificate|verify false|tls skip verify|schedule key deletion|kms disable key|strict ?host ?key ?checking no)\b/,
  security: new RegExp(
    anyOf(
      "\\bno verify\\b|\\bdangerously \\w+(?: \\w+)?\\b|\\bdisable \\w{0,20}security\\w*\\b",
      "\\bdelete public access block\\b|\\bpublic access block\\b.{0,80}\\bfalse\\b",
      "\\bvalidatingwebhookconfigurations?\\b|\\bmutatingwebhookconfigurations?\\b",
      "\\bfailure ?policy\\b.{0,40}\\bignore\\b|\\bask ?for ?password 0\\b|\\bchmod 777 etc\\b|\\bdrop policy\\b",
      `\\b${anyOf(words.kernelSettings)} 0\\b`,
    ),
  ),
})

const controlPlaces = anyOf(
  `var/log/${anyOf(words.auditFiles)}`,
  "var/ossec",
  `etc/${anyOf(words.controlSettings)}`,
  "sys/kernel/security",
)
/** Matches files with the settings and the records of controls. */
const controlFile = new RegExp(`^/${controlPlaces}`)

export const changesControl = ({ path, access }: PathFact): boolean =>
  access !== "read" && (controlFile.test(path) || /^~\/\.(?:bash|zsh)_history$/.test(path))

/** True if a command or a set of fields names a control, and does not say that it is switched on. */
export function namesControl(text: string): boolean {
  const words = wordsOf(text.slice(0, 20_000))
  if (words.some((word) => on.test(word) || /^(?:deny|require|required|enforce|enforced|block|protect)$/.test(word)))
    return false
  const line = words.join(" ")
  return controls.some(([, name]) => anyWord(words, name)) || controlPhrases.some(([, pair]) => pair.test(line))
}

/** Controls that a statement, a command or a set of fields switches off. */
export function controlsOff(text: string): readonly string[] {
  const words = wordsOf(text.slice(0, 20_000))
  const line = words.join(" ")
  const found = offPhrases.filter(([, saying]) => saying.test(line)).map(([control]) => control)
  const switches = new Set(words.flatMap((word, at) => (off.test(word) || isZero(words, at) ? [at] : [])))
  if (switches.size === 0) return found
  const near = (at: number): boolean =>
    distances.some((distance) => switches.has(at + distance) && !isSwitchedOn(words, at, at + distance))
  for (const [control, name] of controls) if (words.some((word, at) => name.test(word) && near(at))) found.push(control)
  for (const [control, pair] of controlPhrases) {
    const match = pair.exec(line)
    if (match !== null && near(line.slice(0, match.index).split(" ").length - 1)) found.push(control)
  }
  return found
}

/** True for a zero that switches something off: `= 0` does, `WHERE id = 0` does not. */
const isZero = (words: readonly string[], at: number): boolean =>
  words[at] === "0" && at > 0 && !/^(?:id|limit|offset|\d+)$/.test(words[at - 1] ?? "")

/** True if a word between the two says that the control is switched on. */
const isSwitchedOn = (words: readonly string[], one: number, other: number): boolean =>
  words
    .slice(Math.min(one, other), Math.max(one, other))
    .some((word) => on.test(word) && word !== "enabled" && word !== "enable")
