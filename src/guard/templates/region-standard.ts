import { cedarSet } from "../policy-text.ts"
import { regionName } from "../regions.ts"
import { type Draft, requireTexts, type UseOptions } from "../template.ts"

/** What is changed or deployed stays in these regions. */
export type RegionStandard = UseOptions & {
  readonly template: "region-standard"
  readonly regions: readonly string[]
  /** What of a deployment that names no region? Let through unless told otherwise. */
  readonly unnamed?: "deny" | "allow"
}

export function regionStandard({ regions, unnamed = "allow" }: RegionStandard): Draft {
  const names = requireTexts("regions", regions).map(regionName)
  return {
    rule: `Resources may only be created, changed or deployed in ${names.join(", ")}.`,
    instead: `Use ${names.join(" or ")}, or ask the user for an exception.`,
    when: [
      `context.changes && !(${cedarSet(names)}.containsAll(context.regions))`,
      ...(unnamed === "deny" ? [`context.actions.contains("deploy") && context.regions.isEmpty()`] : []),
    ],
  }
}
