import { writtenSections } from "./schema.ts"
import type { SchemaName } from "./summary.ts"

/** What a summarizer is told of a section, and how a heading of somebody else's making is known to mean it. */
export type SectionGuide = { readonly name: string; readonly holds: string; readonly heads: RegExp }

type Guide = Omit<SectionGuide, "name">

const guides: Readonly<Record<string, Guide>> = {
  primary_requests: {
    holds: "what the user asked for, and every limit or preference they set",
    heads: /\b(?:request|goal|intent|objective)/,
  },
  key_concepts: {
    holds: "the technical ideas, tools and decisions that later work rests on, with the reason of each decision",
    heads: /\b(?:concept|knowledge|decision|technolog|background|context)/,
  },
  files_and_code: {
    holds: "files and other things that were read, changed or made, and what matters about each",
    heads: /\b(?:file|code|artifact|resource)/,
  },
  errors_and_fixes: {
    holds: "what went wrong, what was tried, and what mended it or did not",
    heads: /\b(?:error|fix|fail|problem|bug|issue)/,
  },
  status: {
    holds: "what is finished and how it was checked",
    heads: /\b(?:status|progress|done|complet|accomplish|result|outcome|finish)/,
  },
  user_messages: {
    holds: "what else the user said that still counts: answers, corrections, approvals, refusals",
    heads: /\b(?:user (?:message|said)|feedback|preference|constraint)/,
  },
  pending_tasks: {
    holds: "what was asked for and is not done, and what waits for the user's word",
    heads: /\b(?:pending|open|todo|to do|remaining|unresolved|outstanding)/,
  },
  current_work: { holds: "what was being done at the very end", heads: /\b(?:current|in progress|ongoing|recent)/ },
  next_steps: {
    holds: "the next step, only if the user asked for it or the assistant announced it",
    heads: /\b(?:next|follow|plan)/,
  },
  overall_goal: {
    holds: "the user's goal in one or two lines",
    heads: /\b(?:goal|request|intent|objective)/,
  },
  key_knowledge: {
    holds: "facts, limits, preferences and decisions to remember",
    heads: /\b(?:knowledge|concept|decision|fact|constraint|preference|context|background)/,
  },
  file_system_state: {
    holds: "files that were read, changed, made or deleted, and what matters about each",
    heads: /\b(?:file|code|artifact|resource)/,
  },
  recent_actions: {
    holds: "the last things that were done, and how they turned out",
    heads: /\b(?:action|recent|status|progress|done|complet|error|fix|result|outcome|current work)/,
  },
  current_plan: {
    holds: "the steps of the plan, each with its state",
    heads: /\b(?:plan|next|pending|open|todo|to do|remaining|step)/,
  },
}

/** Says nothing more than its name, and takes no other heading: for a section that nobody wrote a guide for. */
const plainGuide = (name: string): Guide => ({ holds: name.replaceAll("_", " "), heads: /(?!)/ })

const guidesOf = (schema: SchemaName): readonly SectionGuide[] =>
  writtenSections(schema).map(({ name }) => ({ name, ...(guides[name] ?? plainGuide(name)) }))

/** The sections of each schema, in its order. */
export const sectionGuides: Readonly<Record<SchemaName, readonly SectionGuide[]>> = {
  handoff: guidesOf("handoff"),
  snapshot: guidesOf("snapshot"),
}

/** Where lines go that come without a heading that fits. */
export const openSection: Readonly<Record<SchemaName, string>> = { handoff: "status", snapshot: "key_knowledge" }
