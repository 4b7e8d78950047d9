/** Exact values in any language: what a summary may repeat but never make up. */
const patterns: readonly RegExp[] = [
  /https?:\/\/[^\s"'`<>)\]]{1,2000}/g,
  /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g,
  /(?<![\w/\\.:-])(?:[a-z]:[\\/]|~?\.{0,2}\/)[\w.@+~-]{1,255}(?:[\\/][\w.@+~-]{1,255}){0,30}/gi,
  /(?<![\w/.-])[\w@+~-]{1,255}(?:\/[\w.@+~-]{1,255}){1,30}\.\w{1,10}\b/g,
  /(?<![\w.])[\w-]{1,100}\.(?:ts|tsx|js|jsx|py|go|rs|java|rb|c|h|cpp|cs|php|sh|sql|md|json|jsonl|ya?ml|toml|ini|cfg|conf|env|txt|csv|pdf|docx?|xlsx?|html?|css|xml|log|lock|png|jpe?g|zip|gz)\b/gi,
  /(?<![\w-])(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[a-z_])[\w-]{4,80}(?![\w-])/gi,
  /#\d{1,9}\b/g,
  /(?<![\w.,])\d[\d.,]{0,30}\d(?![\w])/g,
]

const quotations = /`([^`\n]{1,200})`|"([^"\n]{2,200})"|“([^”\n]{1,200})”|«([^»\n]{1,200})»|「([^」\n]{1,200})」/g

/** Ordinals and measures are words with a digit, not ids. */
const measure = /^\d{1,4}(?:[a-z]{1,3}|-[a-z]+)$/i

const trailing = /[.,;:!?)\]]+$/

/** The exact values that a line states: addresses, paths, file names, ids, amounts, and what it puts in quotation marks. */
export function valuesIn(line: string): readonly string[] {
  const stated = patterns.flatMap((pattern) => line.match(pattern) ?? []).map((value) => value.replace(trailing, ""))
  const quoted = [...line.matchAll(quotations)].map(
    (match) => match.slice(1).find((group) => group !== undefined) ?? "",
  )
  return [...new Set([...stated, ...quoted.map((value) => value.trim())])].filter(
    (value) => value.length > 1 && !measure.test(value),
  )
}

const isNumber = /^\d[\d.,]*$/

/** One spelling for each value: white space as one blank, numbers without grouping and closing zeros. */
const plain = (text: string): string => text.replace(/\s+/g, " ").toLowerCase()
const ungrouped = (text: string): string =>
  text
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replace(/(\d)\.(\d{0,12}?)0+(?!\d)/g, (_, whole: string, rest: string) =>
      rest === "" ? whole : `${whole}.${rest}`,
    )

const isEdge = (sign: string): boolean => !/[\p{L}\p{N}]/u.test(sign)

/** Does a value stand in this text, and not as a piece of a longer one? The text is prepared once, at the first question. */
export function createLookup(text: string): (value: string) => boolean {
  let words: string | undefined
  let numbers: string | undefined
  return (value) => {
    words ??= plain(text)
    if (!isNumber.test(value)) return stands(plain(value), words)
    numbers ??= ungrouped(words)
    return stands(ungrouped(value), numbers)
  }
}

function stands(value: string, text: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (isEdge(text.charAt(at - 1)) && isEdge(text.charAt(at + value.length))) return true
  }
  return false
}
