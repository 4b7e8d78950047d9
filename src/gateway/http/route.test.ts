import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { type Route, routeOf } from "./route.ts"

const call = (format: string, more: object = {}): object => ({ type: "model-call", format, ...more })
const pass = (family: string): object => ({ type: "pass", family })

test.each<[method: string, target: string, route: object]>([
  ["POST", "/v1/messages", call("anthropic-messages")],
  ["POST", "/v1/messages?beta=true", call("anthropic-messages")],
  ["POST", "/messages", call("anthropic-messages")],
  ["POST", "/anthropic/v1/messages", call("anthropic-messages")],
  ["POST", "/v1/messages/", call("anthropic-messages")],
  ["POST", "/v1/chat/completions", call("openai-chat")],
  ["POST", "/chat/completions", call("openai-chat")],
  ["POST", "/api/v1/chat/completions", call("openai-chat")],
  ["POST", "/openai/v1/chat/completions", call("openai-chat")],
  ["POST", "/openai/deployments/my%20gpt/chat/completions?api-version=1", call("openai-chat", { model: "my gpt" })],
  ["POST", "/openai/deployments/100%25/chat/completions", call("openai-chat", { model: "100%" })],
  ["POST", "/v1beta/models/100%25:generateContent", call("gemini", { model: "100%" })],
  ["POST", "/v1/responses", call("openai-responses")],
  ["POST", "/backend-api/codex/responses", call("openai-responses")],
  ["POST", "/v1/responses/compact", { type: "compact", format: "openai-responses" }],
  ["POST", "/v1beta/models/gemini-9:generateContent?key=k", call("gemini", { model: "gemini-9" })],
  ["POST", "/v1/models/gemini-9:streamGenerateContent?alt=sse", call("gemini", { model: "gemini-9" })],
  ["POST", "/v1beta/models/models%2Fgemini-9%3AgenerateContent", call("gemini", { model: "gemini-9" })],
  ["POST", "/v1beta/models/a%2Fb:generateContent", call("gemini", { model: "a/b" })],
  ["POST", "/v1beta/tunedModels/mine:generateContent", call("gemini", { model: "tunedModels/mine" })],
  [
    "POST",
    "/v1/projects/p/locations/l/publishers/google/models/gemini-9:streamGenerateContent",
    call("gemini", { model: "gemini-9" }),
  ],
  [
    "POST",
    "/v1/projects/p/locations/l/publishers/anthropic/models/claude-9:streamRawPredict",
    call("anthropic-messages", { model: "claude-9" }),
  ],
  ["POST", "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict", pass("anthropic")],
  ["GET", "/v1/messages", pass("anthropic")],
  ["GET", "/v1/responses", pass("openai")],
  ["POST", "/v1/messages/count_tokens?beta=true", pass("anthropic")],
  ["POST", "/v1/messages/batches", pass("anthropic")],
  ["POST", "/v1beta/models/gemini-9:countTokens", pass("gemini")],
  ["POST", "/v1/models/gemini-9:embedContent", pass("gemini")],
  ["POST", "/upload/v1beta/files", pass("gemini")],
  ["POST", "/v1/responses/input_tokens", pass("openai")],
  ["POST", "/v1/threads/thread_1/messages", pass("openai")],
  ["POST", "/v1/completions", pass("openai")],
  ["GET", "/v1/models", pass("openai")],
  ["GET", "/v1/models?key=k", pass("gemini")],
  ["GET", "/v1/models/llama:8b", pass("openai")],
  ["GET", "/v1/models/some%2Fmodel", pass("openai")],
  ["GET", "/v1/files?after=a%2Fb&name=../x//y", pass("openai")],
  ["HEAD", "/api/hello", pass("anthropic")],
  ["POST", "/v1/complete", pass("anthropic")],
  ["GET", "/v1/organizations/x", pass("anthropic")],
  ["GET", "/v1/organization/costs", pass("openai")],
])("%s %s", (method, target, route) => {
  expect(routeOf(method, target, {})).toEqual({ ...route, path: target })
})

test.each<[headers: Readonly<Record<string, string>>, family: string]>([
  [{ "anthropic-version": "2023-06-01", authorization: "Bearer x" }, "anthropic"],
  [{ "x-api-key": "k" }, "anthropic"],
  [{ "x-goog-api-key": "k" }, "gemini"],
  [{ authorization: "Bearer x" }, "openai"],
])("a path without an API is routed by its headers: %j", (headers, family) => {
  expect(routeOf("GET", "/v1/models", headers)).toEqual({ type: "pass", family, path: "/v1/models" })
})

test.each<[method: string, target: string, route: Route]>([
  ["GET", "/healthz", { type: "health" }],
  ["HEAD", "/readyz?verbose=1", { type: "ready" }],
  ["GET", "/metrics", { type: "metrics" }],
  ["GET", "/admin", { type: "admin", path: "/admin" }],
  ["POST", "/admin/sessions?x=1", { type: "admin", path: "/admin/sessions?x=1" }],
  ["GET", "/admin?x", { type: "admin", path: "/admin?x" }],
])("the gateway's own: %s %s", (method, target, route) => {
  expect(routeOf(method, target, {})).toEqual(route)
})

test.each<[method: string, target: string, status: number]>([
  ["GET", "/admin/../v1/messages", 400],
  ["GET", "/v1/../admin/sessions", 400],
  ["GET", "/v1/..;x/admin", 400],
  ["GET", "/v1/%2e%2E/admin", 400],
  ["GET", "/./admin", 400],
  ["GET", "/v1/%EF%BC%8E%EF%BC%8E/admin", 400],
  ["GET", "/%61dmin", 404],
  ["GET", "/Admin", 404],
  ["GET", "/admin;x", 404],
  ["GET", "/administrator", 404],
  ["GET", "/adm%C4%B1n/x", 404],
  ["GET", "/%EF%BD%81dmin/x", 404],
  ["GET", "/%2561dmin", 400],
  ["GET", "/%c0%afadmin", 400],
  ["GET", "/%zz", 400],
  ["GET", "//admin", 400],
  ["GET", "/;x/admin", 400],
  ["GET", "/v1//messages", 400],
  ["GET", "/%2Fadmin", 400],
  ["GET", "/v1%2f..%2fadmin", 400],
  ["GET", "/v1%5c..%5cadmin", 400],
  ["GET", "/\\admin", 400],
  ["GET", "/v1/x%00", 400],
  ["GET", "/v1/x\n", 400],
  ["GET", "/v1/\u00fc", 400],
  ["GET", "/v1/messages#/admin", 400],
  ["GET", "/v1/files?x=#y", 400],
  ["GET", "/v1/files?x=\\y", 400],
  ["GET", "/v1/messages%3Fx", 400],
  ["GET", "http://evil.example/v1/messages", 400],
  ["CONNECT", "evil.example:443", 400],
  ["OPTIONS", "*", 400],
  ["GET", "", 400],
  ["GET", "/METRICS", 404],
  ["GET", "/metrics/", 404],
  ["GET", "/%68ealthz", 404],
  ["GET", "/readyz;x", 404],
  ["POST", "/metrics", 405],
  ["TRACE", "/v1/models", 405],
  ["POST", "/V1/Messages", 400],
  ["POST", "/v1/chat/%63ompletions", 400],
  ["POST", "/v1/responses;x", 400],
  ["POST", "/v1beta/models/g:GenerateContent", 400],
  ["POST", "/v1beta/models/x%2F..%2F..%2Fadmin:generateContent", 400],
  ["POST", "/v1/models/x%2Fchat%2Fcompletions", 400],
])("refused: %s %s", (method, target, status) => {
  expect(routeOf(method, target, {})).toMatchObject({ type: "refused", status })
})

test("a target longer than 8192 characters is refused", () => {
  const target = `/v1/messages?x=${"y".repeat(8192)}`
  expect(routeOf("POST", target, {})).toMatchObject({ type: "refused", status: 414 })
  expect(routeOf("POST", target.slice(0, 8192), {}).type).toBe("model-call")
})

/** Pieces of paths that some servers read as another path. */
const piece = fc.constantFrom(
  ..."/ / / /admin admin Admin %61dmin adm %69n . .. %2e %2E%2e %2f %5c \\ ; ;x ? # %25 61 v1 messages models : %00 %c4%b1 % deployments chat/completions :generateContent".split(
    " ",
  ),
)
const target = fc
  .oneof(fc.array(piece, { maxLength: 12 }), fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 }))
  .map((pieces) => `/${pieces.join("")}`)

/** The most lenient server: decodes repeatedly, ignores case, and removes dots, parameters and empty segments. */
function mostLenient(path: string): string {
  let decoded = path
  for (let n = 0; n < 5; n++)
    decoded = decoded.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  const kept: string[] = []
  for (const segment of decoded
    .replace(/[?#].*$/s, "")
    .replaceAll("\\", "/")
    .split("/")) {
    const bare = segment.replace(/;.*$/s, "").trim()
    if (bare === "..") kept.pop()
    else if (bare !== "" && bare !== ".") kept.push(bare)
  }
  return `/${kept.join("/")}`.toLowerCase()
}

test("for any target, nothing is forwarded that the most lenient server reads as one of the gateway's own paths", () => {
  fc.assert(
    fc.property(fc.constantFrom("GET", "POST"), target, (method, path) => {
      const route = routeOf(method, path, {})
      if (route.type === "refused") return
      if (route.type === "admin") expect(path).toMatch(/^\/admin(?:[/?]|$)/)
      else if (route.type === "inspector") expect(path).toMatch(/^\/(?:inspector(?:[/?]|$)|\?|$)/)
      else if ("path" in route) {
        expect(route.path).toBe(path)
        expect(mostLenient(path)).not.toMatch(/^\/(?:$|admin|inspector|(?:metrics|healthz|readyz)(?:\/|$))/)
      }
    }),
  )
})

test("for any target, a POST that the most lenient server reads as a model call is a model call or refused", () => {
  const name = fc.constantFrom(
    "chat",
    "Chat",
    "%63hat",
    "completions",
    "responses",
    "RESPONSES",
    "v1",
    "messages",
    "x",
    "..",
  )
  const joint = fc.constantFrom("/", "/", "/", "//", "%2F", ";a/", "/./")
  fc.assert(
    fc.property(fc.array(fc.tuple(joint, name), { minLength: 1, maxLength: 5 }), (pieces) => {
      const path = pieces.flat().join("")
      const means = /\/(?:chat\/completions|responses)$|^(?:\/v1)?\/messages$/.test(mostLenient(path))
      if (means) expect(routeOf("POST", path, {}).type).toMatch(/^(?:model-call|refused)$/)
    }),
  )
})
