/** A clause up to the next joint. Bounded: a clause is no longer. */
const clause = "[^,.;:!?。，；：！？\\n]{2,160}"

const condition = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:if|when|whenever|before|after|while|until|once|for (?:all|any|every|each)|in (?:all|any|every|this)|during|every time|si|cuando|antes de|despues de|después de|mientras|hasta|wenn|falls|bevor|nachdem|quand|lorsque|avant|quando|antes|depois)(?![\\p{L}\\p{N}]) ${clause}|(?:如果|当|每当|每次|在)[^,.;。，；]{2,60}?(?:时|前|后|之前|之后|的话|，)`,
  "giu",
)
const exception = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:unless|except|without|other than|apart from|a menos que|salvo|excepto|sin|außer|ohne|es sei denn|sauf|sans|à moins|exceto|sem|a não ser)(?![\\p{L}\\p{N}]) ${clause}|(?:除非|未经|未經|除了)[^,.;。，；]{2,60}`,
  "giu",
)

/** Clauses named of one rule; one with more is a page. */
const maxClauses = 6

const found = (text: string, pattern: RegExp): readonly string[] =>
  (text.match(pattern) ?? []).slice(0, maxClauses).map((part) => part.trim())

/** The clauses that say when a rule holds. */
export const conditionsIn = (text: string): readonly string[] => found(text, condition)

/** The clauses that say when a rule does not hold. */
export const exceptionsIn = (text: string): readonly string[] => found(text, exception)
