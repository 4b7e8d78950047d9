import { directs } from "../../language/imperative.ts"
import type { Attribution } from "./attribute.ts"
import { affirms, type Claim, claimIn, grants, refuses } from "./claim.ts"

/** So much of an approval or a rule change must stand in one place of a source that may instruct. */
const minCovered = 0.5

/** Did somebody with a say really say what a line claims of them? Their own words must cover it, and say it. */
export function backs(claim: Claim, text: string, { restsOn, support }: Attribution): boolean {
  if (claim === "request") return restsOn === "authority" || restsOn === "assistant"
  const { share, said, source } = support.authority
  if (restsOn !== "authority" || share < minCovered || source === undefined) return false
  if (claim === "rule-change") return claimIn(said) === "rule-change"
  const agreed = grants(said) || affirms(source.text) || directs(source.text)
  return agreed && refuses(said) === refuses(text)
}
