import type { GatewayOptions } from "../gateway/settings/gateway-options.ts"
import type { OpenTelemetryOptions, Telemetry } from "../gateway/telemetry/open-telemetry.ts"
import { HoldfastError } from "../message/errors.ts"
import { type Failure, unusable } from "./failure.ts"
import { plainHeaders } from "./serve-options.ts"
import type { Settings } from "./serve-settings.ts"

/** Send measurements where the configuration says, if it does. */
export async function startTelemetry(
  { config: { telemetry } }: Settings,
  open: (options: OpenTelemetryOptions) => Promise<Telemetry | undefined>,
  { version, ...others }: Pick<OpenTelemetryOptions, "upstreams" | "onFault" | "now"> & { readonly version: string },
): Promise<Telemetry | undefined> {
  if (telemetry === undefined) return undefined
  const { endpoint, headers, service } = telemetry
  return await open({
    ...others,
    endpoint,
    headers: plainHeaders(headers),
    serviceName: service,
    serviceVersion: version,
  })
}

/** A port that cannot be had is the one thing that often goes wrong here, and has a sentence of its own. */
export async function startOn<Options extends Pick<GatewayOptions, "host" | "port">, Started>(
  begin: (options: Options) => Promise<Started>,
  gateway: Options,
): Promise<Started | Failure> {
  try {
    return await begin(gateway)
  } catch (error) {
    const problem = error instanceof HoldfastError ? error.problem : undefined
    if (problem?.code !== "option-invalid" || problem.option !== "port") throw error
    const sentence = `The gateway cannot listen at ${gateway.host}: its port is ${problem.found}.`
    return {
      ...unusable(
        "port-unusable",
        sentence,
        "Choose another with --port N (0 for any free one; npm start -- --port N), or with HOLDFAST_PORT=N.",
      ),
      problem: { port: gateway.port, host: gateway.host },
    }
  }
}
