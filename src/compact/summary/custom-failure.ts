import { isObject, tryParse } from "../../wire/json.ts"

/** What a text is that came where a summary was expected. */
export type FailureKind = "empty" | "html-page" | "error-object" | "stack-trace" | "error-message" | "refusal"

/** Errors and refusals are short; a longer text that begins like one goes on to say something. */
const longestMessage = 600

/** A text of so many headings and list items was written as a summary, whatever it begins with. */
const structuredLines = 3

/** So much of a text is looked at: what it is shows at its beginning. */
const readLength = 20_000

const frame =
  /^\s*(?:at\s+\S.{0,300}[:(]\S*:\d+|at\s+[\w$.<>]+\([^)]{0,200}\)|File "[^"]{1,300}", line \d+|\.{3} \d+ more|goroutine \d+ \[|\S{1,200}\.(?:go|rs|rb|php|java):\d+)/
const traceback =
  /^(?:Traceback \(most recent call last\)|(?:Uncaught\s+)?(?:[\w$.]{0,80}(?:Error|Exception))\b[^\n]{0,500}\n\s+at\s|panic: [^\n]{0,500}\n+goroutine|thread '[^'\n]{0,100}' panicked at)/

const errorName =
  /^(?:(?:uncaught|unhandled|fatal|internal|runtime|api|http|request|server|network|upstream)\s+){0,2}(?:[\w$.]{0,80}(?:error|exception)|failure|panic|fehler|erreur|errore|erro|ошибка|错误|エラー)\s{0,2}(?:\(?\s?\d{3}\)?\s{0,2})?[:：]/i
const status =
  /^(?:(?:http\S{0,10}|status|error|code|request failed|failed)[\s:(]{0,4}){0,4}(?:with\s)?(?:status\s)?(?:code\s)?[45]\d\d\b\)?[\s:,-]{0,4}(?:$|bad request|unauthori[sz]ed|payment required|forbidden|not found|request time-?out|conflict|payload too large|too many requests|rate limit|internal server error|bad gateway|service unavailable|gateway time-?out|overloaded|[{<])/i
const brokenService =
  /^(?:the\s)?(?:internal server error|bad gateway|service unavailable|service temporarily unavailable|gateway time-?out|too many requests|rate limit (?:exceeded|reached)|quota exceeded|overloaded|connection (?:refused|reset|timed out)|request timed out|timed out|timeout|fetch failed|upstream connect error|(?:invalid|incorrect|missing) api key|unauthori[sz]ed|forbidden|context length exceeded|prompt is too long|econn\w{3,10}|etimedout|enotfound|something went wrong|an (?:unexpected |internal )?error (?:has )?occurr?ed)\b/i

const declines =
  "(?:help|assist|comply|do (?:that|this|so)|provide|fulfil|summar|continue|process|complete|create|generate|produce|respond|answer|discuss|engage|share|write|access|see|support|with (?:that|this))"
const refusals: readonly RegExp[] = [
  /^(?:i am|i'm|we are|we're)?\s?(?:very |so |truly )?(?:sorry|afraid)\b.{0,40}\b(?:i|we)\s?(?:can't|cannot|can not|am unable|'m unable|am not able|'m not able|won't|are unable)/i,
  new RegExp(
    `^(?:unfortunately,? |regrettably,? )?(?:i|we)\\s?(?:can't|cannot|can not|won't|will not|must decline to|am unable to|'m unable to|am not able to|'m not able to|am not allowed to)\\s(?:\\w+ ){0,2}?${declines}`,
    "i",
  ),
  /^(?:i must|i have to|i'll have to|i) (?:decline|refuse)\b/i,
  /^as an ai(?: language)?(?: model| assistant)?,? i (?:can't|cannot|can not|am unable|am not able|don't)/i,
  /^(?:es )?tut mir leid.{0,30}\bich\b.{0,30}\b(?:nicht|kein)|^ich kann .{0,60}\bnicht (?:helfen|zusammenfassen|beantworten|nachkommen|fortfahren)/i,
  /^(?:je suis |je )?(?:désolée?|regrette).{0,30}\bje ne (?:peux|suis|puis)/i,
  /^lo siento.{0,30}\bno (?:puedo|me es posible)/i,
  /^(?:desculpe|sinto muito|lamento).{0,30}\bnão (?:posso|consigo)/i,
  /^mi dispiace.{0,30}\bnon (?:posso|sono in grado)/i,
  /^(?:извините|простите|к сожалению|мне жаль).{0,30}не (?:могу|имею)/i,
  /^(?:非常|很)?(?:抱歉|对不起|對不起).{0,20}(?:无法|不能|不可以|無法)/,
  /^申し訳(?:ありません|ございません).{0,40}(?:できません|できかね|いたしかね)/,
  /^죄송(?:합니다|하지만).{0,40}(?:없습니다|못)/,
]

/** Is this an error, a refusal or nothing at all, and not a summary? A summary may speak of errors, and even quote one: only a text that is one counts. */
export function looksLikeFailure(text: string): FailureKind | undefined {
  const start = text.slice(0, readLength)
  if (!/[\p{L}\p{N}]/u.test(start)) return "empty"
  const plain = start.replace(/[‘’ʼ]/g, "'").replace(/^[\s>*_#`"'“«[-]+/, "")
  if (/^<?(?:!doctype\s+html|html[\s>]|\?xml\s)/i.test(plain)) return "html-page"
  if (isErrorObject(text)) return "error-object"
  const lines = plain.split("\n").filter((line) => line.trim() !== "")
  if (traceback.test(plain)) return "stack-trace"
  if (lines.length > 2 && lines.filter((line) => frame.test(line)).length * 2 > lines.length) return "stack-trace"
  if (text.trim().length > longestMessage || isStructured(lines)) return undefined
  if (refusals.some((refusal) => refusal.test(plain))) return "refusal"
  const isError = errorName.test(plain) || status.test(plain) || brokenService.test(plain)
  return isError && lines.length <= 3 ? "error-message" : undefined
}

const isStructured = (lines: readonly string[]): boolean =>
  lines.filter((line) => /^\s{0,8}(?:[-*•+]\s|\d{1,3}[.)]\s|#{1,6}\s)/.test(line)).length >= structuredLines

/** What APIs answer with when they fail: an object that has an error and no summary. */
function isErrorObject(text: string): boolean {
  const trimmed = text.length > readLength ? "" : text.trim()
  if (!trimmed.startsWith("{")) return false
  const object = tryParse(trimmed)
  if (!isObject(object) || "sections" in object) return false
  return ["error", "errors", "detail", "exception", "stack", "statusCode", "error_code"].some((name) => {
    const value = object[name]
    return value !== undefined && value !== null && value !== false
  })
}
