import { relative } from "node:path"
import type { Upstream } from "../gateway/settings/upstream.ts"
import { countPolicies } from "../guard/policy/templates.ts"
import { describe, type Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { placeWords } from "./ask-store.ts"
import type { ServeResources } from "./serve-open.ts"
import type { AdminAccess } from "./serve-settings.ts"
import { count, jsonLine, sentenceOf } from "./terminal/output.ts"

/** A gateway that has begun to listen. */
export type Started = {
  readonly url: string
  readonly version: string
  readonly ground: Pick<ServeResources, "place" | "operator" | "directory" | "admin">
  readonly upstreams: readonly Pick<Upstream, "name" | "baseUrl" | "apiKey">[]
  /** The configuration's name. */
  readonly config?: string
  readonly wantsToken: boolean
  readonly isDemo: boolean
  /** How to move a store out of the working folder. */
  readonly moving?: string
}

/** Of an address only where it leads: what else stands in it may not be for everyone. */
const hostOf = ({ baseUrl }: Pick<Upstream, "baseUrl">): string => new URL(baseUrl).host

const shorter = (path: string): string => {
  const near = relative(process.cwd(), path)
  return near !== "" && near.length < path.length ? near : path
}

/** What a person wants to know at the start, in lines. */
export function welcomeText({ url, version, ground, upstreams, config, wantsToken, isDemo, moving }: Started): string {
  const { operator, directory, admin, place } = ground
  const clients = clientLines(url).slice(0, 3)
  const refusal = operator.refusal()
  const facts: readonly (readonly [string, string | undefined])[] = [
    ...clients.map(({ program, line }) => [program, line] as const),
    ["SDKs", sdkLine(url)],
    ["token", wantsToken ? "every request has to carry it as x-holdfast-token" : undefined],
    ["config", config],
    ["store", placeWords(place).replace(/^the (?:store )?/, "")],
    ["note", moving],
    [
      "upstreams",
      upstreams.map((upstream) => `${upstream.name} (${hostOf(upstream)}, ${keyWords(upstream)})`).join(", "),
    ],
    ["operator", refusal === undefined ? operatorWords(operator, directory) : wordsOf(refusal)],
    ["inspector", admin.token === undefined ? undefined : `${url}/  (holdfast open signs in)`],
    ["admin", adminWords(admin)],
    ["demo", isDemo ? "a scripted agent is shown; holdfast demo plays it alone" : undefined],
  ]
  const lines = facts.flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${name.padEnd(9)}  ${sentenceOf(text)}`],
  )
  return `holdfast ${version} listens at ${url}. Ctrl-C ends it.\n\n${lines.join("\n")}\n\n`
}

const wordsOf = (problem: Problem): string => {
  const { sentence, next } = describe(problem)
  return `${sentence} ${next}`
}

/** A folder that is not there yet is watched all the same. */
function operatorWords(operator: ServeResources["operator"], directory: string): string {
  const { rules, policies } = operator.standing()
  if (rules.length + policies.length === 0) return `no rules yet; ${shorter(directory)} is watched for some`
  const policyCount = countPolicies(policies)
  const many = policyCount === 0 ? "" : ` and ${count(policyCount, "policy", "policies")}`
  return `${count(rules.length, "rule")}${many} in ${shorter(directory)}`
}

const keyWords = ({ apiKey }: Pick<Upstream, "apiKey">): string =>
  apiKey === undefined ? "the client's key" : "its own key"

const adminWords = ({ token, file }: AdminAccess): string => {
  if (token === undefined) return "off: a store in PostgreSQL has no place for a token; name one in admin.token"
  return file === undefined ? "on, with the token of the configuration" : `on, its token is in ${shorter(file)}`
}

/** The same for programs, in one line; no secret is in it. */
export const welcomeLine = (started: Started, atMs: number): string => {
  const { url, version, ground, upstreams, config, wantsToken, isDemo } = started
  return jsonLine({
    time: new Date(atMs).toISOString(),
    level: "info",
    event: "listening",
    ...{ url, version, store: placeWords(ground.place), token: wantsToken, demo: isDemo },
    upstreams: upstreams.map((upstream) => ({
      name: upstream.name,
      host: hostOf(upstream),
      ownKey: upstream.apiKey !== undefined,
    })),
    admin: {
      on: ground.admin.token !== undefined,
      ...(ground.admin.file === undefined ? {} : { tokenFile: ground.admin.file }),
    },
    ...(config === undefined ? {} : { config }),
    operatorRules: ground.operator.standing().rules.length,
    ...present({ refuses: ground.operator.refusal()?.code }),
  })
}

/** A client, the name of its program, and how it is pointed at a gateway. */
type ClientLine = { readonly program: string; readonly line: string }

/** How to point each client at the gateway, in one line each. */
export function clientLines(url: string): readonly ClientLine[] {
  const codex = `model_providers.holdfast={name="holdfast",base_url="${url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}`
  const opencode = { provider: { anthropic: { options: { baseURL: `${url}/v1` } } } }
  const pi = { providers: { anthropic: { baseUrl: url } } }
  return [
    { program: "claude", line: `ANTHROPIC_BASE_URL=${url} claude` },
    { program: "codex", line: `codex -c model_provider=holdfast -c '${codex}'` },
    { program: "gemini", line: `GOOGLE_GEMINI_BASE_URL=${url} gemini` },
    { program: "opencode", line: `OPENCODE_CONFIG_CONTENT='${JSON.stringify(opencode)}' opencode` },
    { program: "pi", line: `in ~/.pi/agent/models.json: ${JSON.stringify(pi)}` },
  ]
}

/** How a program with a vendor's SDK is pointed at it. */
const sdkLine = (url: string): string => `baseURL ${url} (Anthropic, Gemini) or ${url}/v1 (OpenAI)`
