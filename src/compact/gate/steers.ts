import { normalize } from "../../language/normalize.ts"

/** Words that speak to a reader. A summary tells of things; only what wants something of its reader speaks to them. */
const spokenTo =
  /(?<!\p{L})(?:you|your|yours|yourself|you're|you'll|usted(?:es)?|tu|tus|du|dich|dir|dein\p{L}{0,2}|vous|votre|vos|voce|voces|voi|vostr[aieo]|ты|тебя|тебе|вы|вас|вам|ваш\p{L}{0,3}|тво\p{L}{1,3})(?!\p{L})|你|您|ください|なさい|あなた|세요|십시오|당신/u

const obliged =
  /(?<!\p{L})(?:must|should|shall|ought to|(?:has|have|had|needs?|needed|required|supposed|asked|expected|instructed) (?:not )?to|need not|is to|are to|may (?:now|not)|can now|goal for|task for|debe\p{L}{0,2}|tiene que|muss|mussen|sol(?:l|len|lte)|darf|doit|doivent|peut|deve\p{L}{0,2}|должн\p{L}{0,2}|можно|нужно)(?!\p{L})|必须|应该|应当|可以|须|べき|すること/u

const concerned =
  /(?<!\p{L})(?:ai|ais|llms?|assistants?|agents?|bots?|chatbots?|models?|summari[sz]\p{L}{1,8}|summar(?:y|ies)|compact\p{L}{1,5}|condens\p{L}{1,3}|handoff|recap|memory|context|history|conversation|thread|window|asistente|assistent|assistente|resumen|zusammenfassung|ki|ia|resume|resumo|ассистент|помощник|сводк\p{L}|rules?|polic(?:y|ies)|restrictions?|constraints?|requirements?|guardrails?|users?|customers?|usuario|benutzer|nutzer|utilisateur|пользовател\p{L})(?!\p{L})|助手|模型|摘要|总结|规则|用户|要約|アシスタント/u

const belittled =
  /(?<!\p{L})(?:(?:not|no longer|ir)[ -]?relevant|irrelevant|noise|boilerplate|(?:lowest|low|no|none) (?:priority|value)|low-value|adds? nothing|none|needless|redundant|unnecessary|negligible|outdated)(?!\p{L})/u

const ruled =
  /(?<!\p{L})(?:rules?|polic(?:y|ies)|restrictions?|constraints?|requirements?|guardrails?|limits?|instructions?|guidelines?|safeguards?)(?!\p{L})/u

/** Characters of a clause that are looked at. */
const maxClause = 1000

/**
 * Does a line of a summary want something of its reader, command or not? Stricter than `scan`: a summary speaks of things and to nobody,
 * so a word to the reader, a duty of the model or of what it remembers, or a rule talked down is enough.
 */
export function steers(clause: string): boolean {
  const said = normalize(clause.slice(0, maxClause)).text
  if (spokenTo.test(said)) return true
  return (obliged.test(said) && concerned.test(said)) || (belittled.test(said) && ruled.test(said))
}
