import { HoldfastError } from "../../message/errors.ts"
import type { Draft } from "../template.ts"
import { type AllowedHosts, allowedHosts } from "./allowed-hosts.ts"
import { type ChannelRouting, channelRouting } from "./channel-routing.ts"
import { type EmailDomains, emailDomains } from "./email-domains.ts"
import { type KeepControls, keepControls } from "./keep-controls.ts"
import { type LanguagePolicy, languagePolicy } from "./language-policy.ts"
import { type NoDestruction, noDestruction } from "./no-destruction.ts"
import { type NoNetwork, noNetwork } from "./no-network.ts"
import { type NoPersonalData, noPersonalData } from "./no-personal-data.ts"
import { type NoProductionWrites, noProductionWrites } from "./no-production-writes.ts"
import { type NoSecrets, noSecrets } from "./no-secrets.ts"
import { type ProtectedPaths, protectedPaths } from "./protected-paths.ts"
import { type ReadOnly, readOnly } from "./read-only.ts"
import { type RegionStandard, regionStandard } from "./region-standard.ts"
import { type SpendLimit, spendLimit } from "./spend-limit.ts"

/** A rule by the name of its template, with its parameters. */
export type TemplateUse =
  | AllowedHosts
  | ChannelRouting
  | EmailDomains
  | KeepControls
  | LanguagePolicy
  | NoDestruction
  | NoNetwork
  | NoPersonalData
  | NoProductionWrites
  | NoSecrets
  | ProtectedPaths
  | ReadOnly
  | RegionStandard
  | SpendLimit

export type TemplateName = TemplateUse["template"]

export const templateNames: readonly TemplateName[] = [
  "allowed-hosts",
  "channel-routing",
  "email-domains",
  "keep-security-controls",
  "language-policy",
  "no-network",
  "no-personal-data",
  "no-production-destruction",
  "no-production-writes",
  "no-secrets",
  "protected-paths",
  "read-only",
  "region-standard",
  "spend-limit",
]

/** What a use of a template says; `name` tells its matchers from those of others. */
export function draftOf(use: TemplateUse, name: string): Draft {
  switch (use.template) {
    case "allowed-hosts":
      return allowedHosts(use, name)
    case "channel-routing":
      return channelRouting(use)
    case "email-domains":
      return emailDomains(use, name)
    case "keep-security-controls":
      return keepControls()
    case "language-policy":
      return languagePolicy(use)
    case "no-network":
      return noNetwork()
    case "no-personal-data":
      return noPersonalData(use)
    case "no-production-destruction":
      return noDestruction(use)
    case "no-production-writes":
      return noProductionWrites()
    case "no-secrets":
      return noSecrets()
    case "protected-paths":
      return protectedPaths(use, name)
    case "read-only":
      return readOnly()
    case "region-standard":
      return regionStandard(use)
    case "spend-limit":
      return spendLimit(use)
    default:
      return unknownTemplate(use)
  }
}

function unknownTemplate(use: never): never {
  const { template }: { readonly template?: unknown } = use
  const expected = `one of ${templateNames.join(", ")}`
  throw new HoldfastError({
    code: "option-invalid",
    option: "template",
    expected,
    found: String(template).slice(0, 60),
  })
}
