/** Longest value kept: what agents pass on as one argument is shorter, and a longer text is content rather than a fact. */
export const maxValueLength = 160

/** Shortest value kept: below that almost any context holds it by chance. */
export const minValueLength = 2

/** Longest label: a few words, so that a line is mostly values. */
export const maxLabelLength = 32

/** Facts held; a long day's session has a few thousand, and ranking them takes milliseconds. */
export const maxFacts = 8_000

/** Facts left after an overflow, so that the sorting is paid once in a thousand new facts. */
export const keptFacts = 3_000

/** Mentions read from one part: one flooding output may fill half the ledger and no more. */
export const maxMentionsPerPart = 1_500

/** Characters read from either end of one text; what lies between in a larger one is bulk that a call will name if it matters. */
export const maxScannedPerEnd = 250_000

/** Calls whose result may still come; agents run a handful in parallel. */
export const maxOpenCalls = 256

/** Longer than what people type after they have said what they want; in a user's message more than that is output or paste. */
export const maxTypedLength = 1_500

/** A tool's answer that is no longer is a sentence or two, written for the reader. */
export const maxAnswerLength = 400
