const scripts: readonly RegExp[] = [
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Arabic}/u,
  /\p{Script=Hangul}/u,
  /\p{Script=Devanagari}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Thai}/u,
]

/** The script that a text is written in, Latin if it is none of the others: across scripts no words are shared. */
export const scriptOf = (text: string): number => scripts.findIndex((script) => script.test(text))
