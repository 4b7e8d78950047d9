/** Levels of objects, lists and texts within texts that are read; a real call has five. */
export const maxDepth = 24
/** Values read in one call; the largest batch edits have some hundreds. */
export const maxLeaves = 5_000
/** Characters read in one call, decoded ones included: as much as the longest answer of a model has (128,000 tokens). */
export const maxLength = 500_000
/** Encodings within encodings that are undone. */
export const maxUnfoldings = 4
/** Encoded runs of one text that turned out to say something; long names in a program only look like some. */
export const maxRuns = 400
/** Commands read in one script. */
export const maxCommands = 500
/** Words of one command. */
export const maxWords = 2_000
/** Scripts within scripts: `bash -c "$(…)"`. */
export const maxScriptDepth = 8
/** Statements read in one SQL text. */
export const maxStatements = 500
/** Facts of one kind that go into a judgement; more than that is a fact of its own. */
export const maxFacts = 256
/** Characters in which the language of one text is looked for. */
export const maxLanguageLength = 100_000
