export type { Answer, Model } from "./model.ts"
export { createModel } from "./model.ts"
export type { ModelOptions, Question } from "./question.ts"
export { withinMs } from "./within-ms.ts"
