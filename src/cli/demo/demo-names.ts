/** The scripted model's name; nothing that goes by it is a real model. */
export const demoModel = "holdfast-demo"

/** All that the scripted model serves, as an upstream's list of models has it. */
export const demoModels = "holdfast-demo*"

/** Its window: small, so that a session of some twenty calls outgrows it twice. */
export const demoWindowTokens = 14_000

export const isDemoModel = (model: unknown): model is string => typeof model === "string" && model.startsWith(demoModel)
