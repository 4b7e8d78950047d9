import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { homedir, tmpdir } from "node:os"
import { basename, join } from "node:path"
import { isObject, tryParse } from "../wire/json.ts"
import type { World } from "./world.ts"

/** How one process is connected to a gateway: its variables and arguments, and a function that cleans up after it. */
export type Launch = {
  readonly env: Readonly<Record<string, string>>
  /** Arguments before the user's own. */
  readonly args: readonly string[]
  readonly clear?: () => void
}

type ClientSetup = {
  /** The variables that set its API address; one that is already set names the upstream. */
  readonly addressNames: readonly string[]
  readonly launch: (url: string, env: World["env"]) => Launch
  /** Instructions for doing the same by hand; by default a shell line with what `launch` sets. */
  readonly byHand?: (url: string) => string
  /** The API that it uses with its own login, if that is not one of the default upstreams. */
  readonly ownUpstream?: (env: World["env"]) => string | undefined
}

const quoted = (value: string): string => JSON.stringify(value)
const homeOf = (env: World["env"]): string => env.HOME ?? env.USERPROFILE ?? homedir()

/** True if Codex is signed in with ChatGPT and has no key: its requests go to ChatGPT's own address. */
function usesChatGpt(env: World["env"]): boolean {
  if ((env.OPENAI_API_KEY ?? "") !== "") return false
  const home = env.CODEX_HOME === undefined || env.CODEX_HOME === "" ? join(homeOf(env), ".codex") : env.CODEX_HOME
  const auth = tryParse(textOf(join(home, "auth.json")) ?? "")
  return isObject(auth) && isObject(auth.tokens)
}

const chatGptPath = "/backend-api/codex"

const codex: ClientSetup = {
  addressNames: ["OPENAI_BASE_URL"],
  launch: (url, env) => {
    const access = usesChatGpt(env)
      ? `base_url=${quoted(url + chatGptPath)},requires_openai_auth=true`
      : `base_url=${quoted(`${url}/v1`)},env_key="OPENAI_API_KEY"`
    const provider = `model_providers.holdfast={name="holdfast",${access},wire_api="responses"}`
    return { env: {}, args: ["-c", "model_provider=holdfast", "-c", provider] }
  },
  ownUpstream: (env) => (usesChatGpt(env) ? "https://chatgpt.com" : undefined),
}

const opencode: ClientSetup = {
  addressNames: [],
  launch: (url, { OPENCODE_CONFIG_CONTENT: given = "" }) => {
    const own = fieldsOf(tryParse(given))
    const provider = withProviders(
      own.provider,
      { anthropic: "/v1", openai: "/v1", google: "/v1beta" },
      (before, path) => ({
        options: { ...fieldsOf(before.options), baseURL: url + path },
      }),
    )
    return { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...own, provider }) }, args: [] }
  },
}

/** pi reads addresses from a file in its folder. This process gets a folder of its own, which links to the user's other files. */
const pi: ClientSetup = {
  addressNames: [],
  launch: (url, env) => {
    const own = env.PI_CODING_AGENT_DIR
    const folder = own === undefined || own === "" ? join(homeOf(env), ".pi", "agent") : own
    const made = mkdtempSync(join(tmpdir(), "holdfast-pi-"))
    for (const name of existsSync(folder) ? readdirSync(folder) : [])
      if (name !== piModels) symlinkSync(join(folder, name), join(made, name))
    const models = piModelsFor(url, tryParse(textOf(join(folder, piModels)) ?? "{}"))
    writeFileSync(join(made, piModels), models, { mode: 0o600 })
    return { env: { PI_CODING_AGENT_DIR: made }, args: [], clear: () => returnFiles(made, folder) }
  },
  byHand: (url) => `in ~/.pi/agent/${piModels}: ${piModelsFor(url, {})}`,
}

const piModels = "models.json"

function piModelsFor(url: string, given: unknown): string {
  const own = fieldsOf(given)
  const paths = { anthropic: "", openai: "/v1", google: "/v1beta" }
  const providers = withProviders(own.providers, paths, (_, path) => ({ baseUrl: url + path }))
  return JSON.stringify({ ...own, providers })
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

/** The user's own providers, with the addresses of these vendors changed. */
function withProviders(
  given: unknown,
  paths: Readonly<Record<string, string>>,
  changeOf: (before: Fields, path: string) => Fields,
): Fields {
  const own = fieldsOf(given)
  const changed = Object.entries(paths).map(([name, path]) => {
    const before = fieldsOf(own[name])
    return [name, { ...before, ...changeOf(before, path) }]
  })
  return { ...own, ...Object.fromEntries(changed) }
}

/** Copies files that the process created beside the links, such as a login, to the user's folder, and removes the temporary one. */
function returnFiles(made: string, folder: string): void {
  for (const name of existsSync(folder) ? readdirSync(made) : [])
    if (name !== piModels && lstatSync(join(made, name)).isFile()) copyFileSync(join(made, name), join(folder, name))
  rmSync(made, { recursive: true, force: true })
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined
    throw error
  }
}

const byVariables = (variables: Readonly<Record<string, string>>): ClientSetup => ({
  addressNames: Object.keys(variables),
  launch: (url) => ({
    env: Object.fromEntries(Object.entries(variables).map(([name, path]) => [name, url + path])),
    args: [],
  }),
})

/** The variables that SDKs and programs of all vendors read. */
const everyVariable = {
  ANTHROPIC_BASE_URL: "",
  OPENAI_BASE_URL: "/v1",
  OPENAI_API_BASE: "/v1",
  GOOGLE_GEMINI_BASE_URL: "",
} as const

const setups: ReadonlyMap<string, ClientSetup> = new Map([
  ["claude", byVariables({ ANTHROPIC_BASE_URL: "" })],
  ["codex", codex],
  ["gemini", byVariables({ GOOGLE_GEMINI_BASE_URL: "" })],
  ["opencode", opencode],
  ["pi", pi],
  ["qwen", byVariables({ OPENAI_BASE_URL: "/v1", ANTHROPIC_BASE_URL: "" })],
])

export const clientNames: readonly string[] = [...setups.keys()]

/** The setup of a program: of a known client by its name, otherwise the variables that SDKs read. */
export const setupOf = (program: string): ClientSetup =>
  setups.get(basename(program).replace(/\.(?:exe|cmd)$/i, "")) ?? byVariables(everyVariable)

/** The shell line that connects a known client to a gateway by hand, with a vendor's key. */
export function clientLine(program: string, url: string): string {
  const { launch, byHand } = setupOf(program)
  if (byHand !== undefined) return byHand(url)
  const { env, args } = launch(url, { OPENAI_API_KEY: "any" })
  const inShell = (word: string): string => (/^[\w.:/=-]+$/.test(word) ? word : `'${word}'`)
  return [
    ...Object.entries(env).map(([name, value]) => `${name}=${inShell(value)}`),
    program,
    ...args.map(inShell),
  ].join(" ")
}

/** The same for the most common clients, and for programs with a vendor's SDK. */
export const clientLines = (url: string): readonly { readonly program: string; readonly line: string }[] => [
  ...["claude", "codex", "gemini"].map((program) => ({ program, line: clientLine(program, url) })),
  { program: "SDKs", line: `baseURL ${url} (Anthropic, Gemini) or ${url}/v1 (OpenAI)` },
]

/** The API that a client would have used without us, if that is not a default upstream; a list if its variables name several. */
export function upstreamOf(
  { addressNames, ownUpstream }: ClientSetup,
  env: World["env"],
): string | readonly string[] | undefined {
  const named = [
    ...new Set(addressNames.flatMap((name) => (env[name] === undefined || env[name] === "" ? [] : [env[name]]))),
  ]
  const distinct = [...new Set(named.map((address) => address.replace(/\/+$/, "").replace(/\/v1$/, "")))]
  return distinct.length > 1 ? named : (distinct[0] ?? ownUpstream?.(env))
}
