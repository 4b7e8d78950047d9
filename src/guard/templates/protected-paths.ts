import { type Draft, requireTexts, type UseOptions } from "../template.ts"

/** These files and directories are left alone. */
export type ProtectedPaths = UseOptions & {
  readonly template: "protected-paths"
  readonly paths: readonly string[]
  /** `change` lets them be read; `any` does not. The first unless given. */
  readonly access?: "change" | "any"
}

export function protectedPaths({ paths, access = "change" }: ProtectedPaths, name: string): Draft {
  const patterns = requireTexts("paths", paths)
  return {
    rule: `${patterns.join(", ")} may not be ${access === "any" ? "read or changed" : "changed"}.`,
    instead: "Work on another file, or ask the user to make the change.",
    when: [`context.matches.contains("within:${name}")`, `context.marks.contains("obscured")`],
    matchers: { [name]: { of: access === "any" ? "paths" : "changedPaths", patterns } },
  }
}
