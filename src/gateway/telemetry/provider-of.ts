import type { Family } from "../family.ts"

/** By the conventions a provider is named by the endpoint, as far as that tells; here the end of its host. */
const byHost: readonly (readonly [end: string, provider: string])[] = [
  [".openai.azure.com", "azure.ai.openai"],
  [".services.ai.azure.com", "azure.ai.inference"],
  ["aiplatform.googleapis.com", "gcp.vertex_ai"],
  [".api.aws", "aws.bedrock"],
  [".amazonaws.com", "aws.bedrock"],
  ["api.deepseek.com", "deepseek"],
  ["api.groq.com", "groq"],
  ["api.mistral.ai", "mistral_ai"],
  ["api.moonshot.ai", "moonshot_ai"],
  ["api.perplexity.ai", "perplexity"],
  ["api.x.ai", "x_ai"],
]

const byFamily: Readonly<Record<Family, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  gemini: "gcp.gemini",
}

/** Who runs the model, in the words of the GenAI conventions: whose endpoint it is, or else whose API it speaks. */
export function providerOf(family: Family, host: string | undefined): string {
  return byHost.find(([end]) => host?.endsWith(end) === true)?.[1] ?? byFamily[family]
}
