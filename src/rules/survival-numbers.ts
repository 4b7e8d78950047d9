/** Number words by value; `one` and its kin count only before a larger one or a measure. */
const small: ReadonlyMap<string, number> = new Map(
  Object.entries({
    two: 2,
    three: 3,
    four: 4,
    five: 5,
    six: 6,
    seven: 7,
    eight: 8,
    nine: 9,
    ten: 10,
    eleven: 11,
    twelve: 12,
    thirteen: 13,
    fourteen: 14,
    fifteen: 15,
    sixteen: 16,
    seventeen: 17,
    eighteen: 18,
    nineteen: 19,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    sixty: 60,
    seventy: 70,
    eighty: 80,
    ninety: 90,
    one: 1,
    dos: 2,
    tres: 3,
    cuatro: 4,
    cinco: 5,
    seis: 6,
    siete: 7,
    ocho: 8,
    nueve: 9,
    diez: 10,
    quince: 15,
    veinte: 20,
    treinta: 30,
    cuarenta: 40,
    cincuenta: 50,
    sesenta: 60,
    setenta: 70,
    ochenta: 80,
    noventa: 90,
    cien: 100,
    ciento: 100,
    doscientos: 200,
    trescientos: 300,
    cuatrocientos: 400,
    quinientos: 500,
    seiscientos: 600,
    ochocientos: 800,
  }),
)
const large: ReadonlyMap<string, number> = new Map(
  Object.entries({ hundred: 100, thousand: 1000, million: 1e6, mil: 1000, millon: 1e6, millones: 1e6, k: 1000 }),
)
const ideographic: ReadonlyMap<string, number> = new Map([..."零一二三四五六七八九"].map((sign, at) => [sign, at]))
const ideographicScale: ReadonlyMap<string, number> = new Map(Object.entries({ 十: 10, 百: 100, 千: 1000, 万: 10_000 }))
/** Signs behind which a Chinese numeral is a number, and not a part of some word. */
const measures = new Set([..."名个天元次位人条份年月周小分秒块美倍台家项笔件度种轮页欧"])

/** Words of the longest number that is read. */
const maxWords = 8

export type NumberRead = { readonly value: number; readonly words: number }

/** The number that these words start with, if they do. */
export function numberAt(words: readonly string[], at: number): NumberRead | undefined {
  const first = words[at] ?? ""
  if (ideographic.has(first) || ideographicScale.has(first) || first === "两") return ideographicAt(words, at)
  if (!small.has(first) && !large.has(first)) return undefined
  let sum = 0
  let run = 0
  let read = 0
  for (; read < maxWords; read++) {
    const word = words[at + read] ?? ""
    const unit = small.get(word)
    const scale = large.get(word)
    if (unit !== undefined) run += unit
    else if (scale !== undefined && (read > 0 || word === "hundred" || word === "thousand" || word === "mil")) {
      run = Math.max(run, 1) * scale
      if (scale >= 1000) [sum, run] = [sum + run, 0]
    } else if (!(word === "and" && read > 0 && small.has(words[at + read + 1] ?? "") && run >= 100)) break
  }
  if (read === 0 || (read === 1 && first === "one")) return undefined
  return { value: sum + run, words: read }
}

function ideographicAt(words: readonly string[], at: number): NumberRead | undefined {
  let sum = 0
  let run = 0
  let read = 0
  for (; read < maxWords; read++) {
    const sign = words[at + read] ?? ""
    const digit = sign === "两" ? 2 : ideographic.get(sign)
    const scale = ideographicScale.get(sign)
    if (digit !== undefined) run = digit
    else if (scale !== undefined) [sum, run] = [sum + Math.max(run, 1) * scale, 0]
    else break
  }
  return measures.has(words[at + read] ?? "") ? { value: sum + run, words: read } : undefined
}

const currencies: ReadonlyMap<string, string> = new Map(
  Object.entries({
    $: "usd",
    usd: "usd",
    dollar: "usd",
    dollars: "usd",
    dolar: "usd",
    dolares: "usd",
    bucks: "usd",
    "€": "eur",
    eur: "eur",
    euro: "eur",
    euros: "eur",
    "£": "gbp",
    gbp: "gbp",
    pounds: "gbp",
    libras: "gbp",
    "¥": "cny",
    cny: "cny",
    rmb: "cny",
    yuan: "cny",
    元: "cny",
    块: "cny",
    "₹": "inr",
    inr: "inr",
    rupees: "inr",
    pesos: "mxn",
    mxn: "mxn",
    percent: "%",
    jpy: "jpy",
    yen: "jpy",
    chf: "chf",
  }),
)

/** The currency that a sign or word names. */
export const currencyOf = (word: string): string | undefined => currencies.get(word)
