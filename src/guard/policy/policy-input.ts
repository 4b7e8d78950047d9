import type { TemplateUse } from "./templates.ts"

/** A text of Cedar policies, with a name for messages or without, or a template by name with its parameters. */
export type PolicyInput = string | { readonly name: string; readonly text: string } | TemplateUse
