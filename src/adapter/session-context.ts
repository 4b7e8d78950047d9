import { wireText } from "../message/ids.ts"
import { present } from "../message/present.ts"
import { type Fields, overlay, write } from "../wire/overlay.ts"
import { turnSettings } from "./turn-body.ts"
import type { TurnContext } from "./turn-context.ts"
import type { TurnAgent } from "./turn-options.ts"
import type { TurnRequest, TurnSession } from "./turn-session.ts"
import { declareTools, type TurnTool } from "./turn-tool.ts"

/** The context of a session: it remembers and sees to the budget, and only the settings of the call are laid over its body. */
export function createSessionContext(
  session: TurnSession,
  { model, instructions }: TurnAgent,
  tools: readonly TurnTool[],
  stream: boolean,
): TurnContext {
  const { format, maxOutputTokens } = model
  const fields = settingsOver(turnSettings(model, stream))
  const declared = declareTools(model, tools)
  const request: TurnRequest = {
    format,
    model: model.model,
    stream,
    ...present({
      maxOutputTokens,
      system: instructions === "" ? undefined : instructions,
      tools: declared.length === 0 ? undefined : declared,
    }),
  }
  return {
    take: async (messages) => {
      await session.append(messages)
    },
    record: async (response, messages) => {
      await session.record({ ...response, messages }, response.usage)
    },
    prepare: async ({ refused }) => {
      const asked = refused ? { ...request, occasion: { refused } } : request
      const { wire, body, trace } = await session.prepare(asked)
      const text = wire ?? (typeof body === "string" ? body : JSON.stringify(body))
      return { body: overlay(wireText(text), fields), trace }
    },
  }
}

/** Of the two names for the output limit only the one that the server knows. */
function settingsOver(settings: Readonly<Record<string, unknown>>): Fields {
  const fields = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, write(value)]))
  return "max_tokens" in settings ? { max_completion_tokens: undefined, ...fields } : fields
}
