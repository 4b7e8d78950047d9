import { directs } from "../language/imperative.ts"
import { normalize } from "../language/normalize.ts"
import { sentencesIn } from "../language/sentences.ts"
import { topicWords } from "./rule-topic.ts"
import { survivalOf } from "./survival.ts"

/** A summary line that says something else about the subject of a rule; both by their indexes. */
type LineAgainst = { readonly line: number; readonly rule: number }

/**
 * A line is about a rule if it has this share of the words of its subject, and at least `minWords` of them: one word is shared by chance.
 */
const minShare = 0.5
/** Higher share for a plain order, which may be only the next step. */
const minShareOfOrder = 0.6
const minWords = 2

/** Maximum number of findings of one summary; one with more has nothing but such lines. */
const maxFindings = 10_000

/** Matches words that allow, demand, forbid or weaken something. */
const norm = new RegExp(
  [
    "\\b(?:may|can|cannot|could|must|shall|should|ought|need|needs|require[sd]?|allow(?:s|ed)?|permit(?:s|ted)?|forbid(?:s|den)?|prohibit(?:s|ed)?|never|always|not|no|only|any|unless|except|free to|fine|ok|okay|acceptable|optional|mandatory|try|ideally|preferably|if possible|instead|now)\\b|n't\\b",
    "\\b(?:puede[ns]?|debe[ns]?|requieren?|permitid[ao]s?|prohibid[ao]s?|nunca|siempre|solo|salvo|excepto|no|ya)\\b",
    "\\b(?:darf|darfst|durfen|durft|muss|musst|mussen|soll|sollst|sollen|erlaubt|verboten|nie|niemals|immer|nicht|kein\\w*|nur|ausser)\\b",
    "\\b(?:peut|peuvent|doit|doivent|permis\\w*|interdit\\w*|jamais|toujours|pas|sauf|seulement)\\b",
    "可以|允许|准许|必须|应|不得|不要|不能|不必|禁止|无需|不再|除非|只|最好|尽量|一律",
  ].join("|"),
)
/** Matches reports of what was or was not done, which deny no rule. */
const reported =
  /\b(?:did|was|were|has|have|had|wurde[n]?|hat|haben)(?: not|n't| nicht)\b|\bno \p{L}+ (?:was|were|has|have|had)\b|已|没有?/gu

const takesBack =
  /\b(?:no longer|any ?more|lifted|revoked|rescinded|withdrawn|void|cancell?ed|waived|suspended|obsolete|superseded|dropped|removed|relaxed|does not apply|do not apply|ignore|disregard|forget|ya no|derogad\w*|anulad\w*|nicht mehr|aufgehoben|annule\w*)\b|撤销|废除|作废|取消|解除|不再/
const ruleNoun =
  /\b(?:rules?|limits?|restrictions?|requirements?|instructions?|bans?|polic(?:y|ies)|constraints?|prohibitions?|reglas?|normas?|regeln?|regles?)\b|规则|规定|限制|要求/
/** Matches words for all rules, without a subject. */
const sweeping = /\b(?:all|every|any|earlier|previous|prior|these|those|above|todas|alle|toutes)\b|所有|全部|以上|之前/

/** Matches words of a withdrawal that tell nothing about its subject. */
const withoutSubject = /\b(?:all|any|user|agent|are|is|the|now|void|rule\w*|earlier|previous|prior)\b/g

/**
 * Returns the lines of a summary that prescribe something about the subject of a rule in other words than the rule's, or take rules back.
 * The rule itself stands beside the summary verbatim, so a line that states it in other words is not needed, and whether it says the same
 * need not be judged. A rule that a line has verbatim does not count, nor do reports of what was done, questions and plans.
 */
export function linesAgainst(rules: readonly string[], lines: readonly string[]): readonly LineAgainst[] {
  const subjects = rules.map((rule) => subjectOf(normalize(rule).text))
  const against = (text: string): readonly number[] => {
    const statements = statementsIn(text)
    if (statements.length === 0) return []
    return subjects.flatMap((subject, rule) => (statements.some((said) => isAgainst(said, subject)) ? [rule] : []))
  }
  const findings: LineAgainst[] = []
  for (const [line, text] of lines.entries()) {
    const found = against(text).length === 0 ? [] : against(withoutRules(text, rules))
    findings.push(...found.slice(0, maxFindings - findings.length).map((rule) => ({ line, rule })))
  }
  return findings
}

/** Returns a line with blanks in place of the rules that it has verbatim. */
function withoutRules(line: string, rules: readonly string[]): string {
  let rest = line
  for (const { verdict, passage } of survivalOf(rules, line))
    if (verdict === "verbatim" && passage !== undefined)
      rest = rest.slice(0, passage.start) + " ".repeat(passage.end - passage.start) + rest.slice(passage.end)
  return rest
}

type Statement = {
  readonly words: ReadonlySet<string>
  readonly minShare: number
  readonly takesBack: boolean
  /** True if it takes back all rules. */
  readonly all: boolean
}

/** Returns the sentences of a line that prescribe something or take something back. */
function statementsIn(line: string): readonly Statement[] {
  return sentencesIn(line, { start: 0, end: line.length })
    .flatMap(({ start, end }) => line.slice(start, end).split(/(?<=;)\s|(?<=；)/))
    .filter((clause) => !/[?？]\s*$/.test(clause))
    .flatMap((clause) => {
      const sentence = normalize(clause).text
      const isWithdrawal = takesBack.test(sentence)
      const isNorm = isWithdrawal || norm.test(sentence.replace(reported, " "))
      if (!isNorm && !sentence.split(/[:：]/).some(directs)) return []
      const names = ruleNoun.test(sentence)
      const own = subjectOf(sentence.replace(withoutSubject, " "))
      const all = isWithdrawal && names && sweeping.test(sentence) && own.size <= 1
      return [
        {
          words: subjectOf(sentence),
          minShare: isNorm ? minShare : minShareOfOrder,
          takesBack: isWithdrawal && names,
          all,
        },
      ]
    })
}

/** Returns the words of a sentence's subject: its content words without values and without whether it forbids. */
const subjectOf = (text: string): ReadonlySet<string> =>
  new Set([...topicWords(text)].filter((word) => word !== "not" && !/^[\p{N}$€£¥%]/u.test(word)))

function isAgainst(statement: Statement, subject: ReadonlySet<string>): boolean {
  if (statement.all) return true
  const shared = [...subject].filter((word) => statement.words.has(word)).length
  if (shared === 0 || shared < Math.min(minWords, subject.size)) return false
  return statement.takesBack || shared >= subject.size * statement.minShare
}
