import { deskToolList } from "./desk-tools.ts"

type Fields = Readonly<Record<string, unknown>>

export type AgentMessage = { readonly role: "user" | "assistant"; readonly content: readonly Fields[] }

/** Room for an answer. */
const maxTokens = 1000

const breakpoint = { cache_control: { type: "ephemeral" } }

const system =
  "You are the assistant of the order desk of Tern Coffee, a made-up roastery. Use the tools to find out what was asked, say what you found in a sentence or two, and keep the exact names and numbers."

/** The agent's request: its whole history every time, with breakpoints behind the system part and the last block, as agents set them. */
export function agentBody(model: string, history: readonly AgentMessage[]): object {
  const messages = history.map(({ role, content }, n) => ({
    role,
    content:
      n === history.length - 1 ? content.map((block, at) => withBreakpoint(block, at === content.length - 1)) : content,
  }))
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    system: [{ type: "text", text: system, ...breakpoint }],
    tools: deskToolList,
    messages,
  }
}

const withBreakpoint = (block: Fields, isLast: boolean): Fields => (isLast ? { ...block, ...breakpoint } : block)
