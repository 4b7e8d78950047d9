/** A language whose words survival knows. */
export type Language = "en" | "es" | "zh"

const undouble = (word: string): string => word.replace(/([bdfgklmnprtz])\1$/, "$1")

/** Forms that no rule makes, by their endings, so that "overwritten" and "resold" go with the rest. */
const irregular: readonly (readonly [RegExp, string])[] = [
  [/written$|wrote$/, "write"],
  [/taken$|took$/, "take"],
  [/given$|gave$/, "give"],
  [/sold$/, "sell"],
  [/told$/, "tell"],
  [/held$/, "hold"],
  [/built$/, "build"],
  [/sent$/, "send"],
  [/spent$/, "spend"],
  [/fed$/, "feed"],
  [/paid$/, "pay"],
  [/kept$/, "keep"],
  [/made$/, "make"],
  [/shown$/, "show"],
  [/chosen$/, "choose"],
  [/spoken$/, "speak"],
  [/broken$/, "break"],
  [/hidden$/, "hide"],
  [/bought$/, "buy"],
  [/brought$/, "bring"],
  [/taught$/, "teach"],
  [/driven$/, "drive"],
  [/drawn$/, "draw"],
  [/^lent$/, "lend"],
  [/seen$|saw$/, "see"],
  [/known$|knew$/, "know"],
  [/thrown$|threw$/, "throw"],
  [/left$/, "leave"],
  [/lost$/, "lose"],
  [/found$/, "find"],
  [/caught$/, "catch"],
  [/met$/, "meet"],
  [/won$/, "win"],
  [/begun$|began$/, "begin"],
]

/** Ends of all of them, so that most words are spared the look. */
const looksIrregular =
  /(?:ten|ote|ken|ook|ven|ave|old|eld|ilt|ent|fed|aid|ept|ade|own|sen|den|ght|awn|een|saw|nown|knew|rown|rew|eft|ost|ound|met|won|gun|gan)$/

function regular(word: string): string {
  if (!looksIrregular.test(word)) return word
  for (const [ending, base] of irregular) if (ending.test(word)) return word.replace(ending, base)
  return word
}

/** An English word without its endings, so that forms of one word meet: "cancelling", "cancelled", "cancels". */
function stemEnglish(written: string): string {
  const word = regular(written)
  if (word.length <= 3 || !/[aeiouy]/.test(word)) return word
  if (!/[sntgdey]$/.test(word)) return undouble(word)
  const single = /(?:ss|us|is)$/.test(word)
    ? word
    : word
        .replace(/ies$/, "y")
        .replace(/(ch|sh|x|ss|z)es$/, "$1")
        .replace(/s$/, "")
  const noun = single.replace(/^(.{5,}?)ations?$/, "$1").replace(/^(.{5,})ment$/, "$1")
  const verb = noun.replace(/^(.{3,})(?:ing|ed)$/, (_, stem: string) => undouble(stem))
  return undouble(verb.length > 3 ? verb.replace(/e$/, "") : verb).replace(/y$/, "i")
}

/** A Spanish word without clitics and endings: "publicarse", "publica", "publiquen" less so. */
function stemSpanish(word: string): string {
  if (word.length <= 4) return word
  const bare = word.replace(/^(.{2,}(?:ar|er|ir|ando|iendo))(?:se|las|los|la|lo|les|le)$/, "$1")
  return bare
    .replace(
      /^(.{3,}?)(?:aciones|acion|amientos?|imientos?|adas?|ados?|idas?|idos?|ando|iendo|aron|ieron|aban?|aran?|eran?|iran?|amos|emos|imos|ar|er|ir|as|es|os|an|en|ad|ed|a|e|o|s)$/,
      "$1",
    )
    .replace(/qu$/, "c")
    .replace(/gu$/, "g")
}

export const stem = (word: string, language: Language): string =>
  word.charCodeAt(0) >= 0x2e80 ? word : language === "es" ? stemSpanish(word) : stemEnglish(word)
