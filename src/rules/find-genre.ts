import type { Channel } from "../message/channel.ts"
import { type Cue, cue } from "./find-cue.ts"

/** How a text is meant: a page of rules, talk in which rules are rare, or data that may hold one. */
export type Genre = "rules" | "talk" | "data"

/** Names of files that hold rules for whoever works with them. */
const ruleFile =
  /(?:^|[\\/ ])(?!(?:es|style|css|js|ts)?-?lint|firewall|build|css)(?:\w{2,20}[-_]){0,2}(?:agents?|claude|gemini|copilot-instructions|codex|conventions?|contributing|rules|guidelines|style-?guide|memory|instructions|system[-_]?prompt|handbook|runbook)(?:\.\w{1,12})?\.(?:mdx?|mdc|txt|rst|ya?ml)$|\.(?:cursor|windsurf|cline|roo|goose)?rules$|[\\/](?:rules|policies|guidelines)[\\/]|polic(?:y|ies)/i

/** Headings under which rules stand. */
export const ruleHeading: Cue = cue(
  /\b(?:rules?|polic(?:y|ies)|guidelines?|guidance|conventions?|constraints?|restrictions?|requirements?|instructions?|standards?|best practices?|principles?|boundaries|guardrails?|do'?s (?:and|&) don'?ts?|do not|don'?t|never|always|must|prohibited|forbidden|permissions?|limits?|code of conduct|compliance|gotchas|pitfalls|style guide|preferences?|important|critical|security|quality|checklist|expectations|notes? to (?:the )?(?:agent|assistant|self)|standing orders?|reglas?|normas?|politicas?|instrucciones|requisitos|restricciones|directrices|regras|regeln|richtlinien|vorgaben|regles|consignes|directives|politique)\b|规则|規則|规定|規定|政策|准则|準則|守则|要求|限制|约束|注意事项|须知|指令|规范|ルール|規則|方針|禁止|注意|правила|политика|규칙|정책/,
)

/** Headings under which a text tells what there is. */
export const tellingHeading: Cue = cue(
  /^(?:\d+[.)] )?(?:the |key |main |core |public |available |project |system |high-level |quick |basic )*(?:architecture|overview|usage|features?|examples?|reference|apis?|endpoints?|background|history|changelog|glossary|classes|about|introduction|what (?:is|it)|how it works|tech stack|import path|file locations|entry points|problem|why)\b/,
)

/** The genre that a channel has by itself; a tool's output and a message of the user show theirs. */
export function genreOf(channel: Channel, source: string | undefined): Genre {
  if (source !== undefined && ruleFile.test(source)) return "rules"
  if (channel === "user" || channel === "assistant") return "talk"
  return channel === "tool" ? "data" : "rules"
}

/** Words by which a page says of itself that it holds rules. */
export const namesRules: Cue = cue(
  /\b(?:rules?|polic(?:y|ies)|guidelines?|conventions?|constraints?|restrictions?|standards?|best practices?|instructions|code of conduct|compliance|guardrails?|handbook|playbook|runbook|do'?s (?:and|&) don'?ts?|do not|never|must|prohibited|forbidden|agents?\.md|claude\.md|reglas?|normas?|politicas?|directrices|regras|regeln|richtlinien|regles|consignes)\b|规则|規則|规定|規定|政策|准则|守则|规范|制度|规章|条例|须知|ルール|規則|方針/,
)

/** So large a share of the sentences of a page must bind for it to be one of rules, and so many there must be. */
const namedShare = 0.3
const ruleShare = 0.5
const minRuleSentences = 3

/** Is data a page of rules, by its name for itself and its sentences? One that has such a title needs no more than one. */
export const isRulePage = (named: "titled" | "named" | "no", binding: number, sentences: number): boolean =>
  binding >= (named === "titled" ? 1 : minRuleSentences) &&
  binding >= sentences * (named === "no" ? ruleShare : namedShare)

/** Policies of machines, not for whoever reads them. */
const machinery = cue(
  /\b(?:retry|cache|caching|restart|eviction|backoff|scaling|retention_policy|pull|update|rotation|lint|linting|eslint|routing|firewall|iptables|css|grammar|validation|build|make|proxy|scheduling|replication|merge|referrer|security-policy|content security|cors|iam|bucket|password) (?:polic(?:y|ies)|rules?)\b/,
)

/** Words that a title of rules has at most. */
const maxTitle = 8

/** Is a line the title of a page of rules: a few words with the name of such a page among them, and no sentence? */
export const isRuleTitle = (seen: string): boolean =>
  namesRules.test(seen) &&
  !machinery.test(seen) &&
  !/[.!?。](?!\w)|\b(?:the|this|your|is|are|was|were|see|must|never|should|do not|not)\b.*\b/.test(seen) &&
  seen.split(" ").length <= maxTitle

/** Does a name of a field or a file say that rules stand in it? */
export const namesRuleField = (name: string): boolean =>
  ruleFile.test(name) ||
  /^(?:[a-z]+[_ -]?)?(?:policies|policy|rules|guidelines|guardrails|constraints|instructions|politicas?|normas|reglas|normativa|directrices)(?:[_ -]?(?:text|body|id|name|title))?$|政策|制度|规则|规定|守则/i.test(
    name.normalize("NFD").replace(/\p{M}/gu, ""),
  )
