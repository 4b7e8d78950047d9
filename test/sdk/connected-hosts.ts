import { subscribe } from "node:diagnostics_channel"

const hosts = new Set<string>()

const at = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined

subscribe("undici:client:beforeConnect", (message) => {
  hosts.add(String(at(at(message, "connectParams"), "hostname")))
})
subscribe("http.client.request.start", (message) => {
  hosts.add(String(at(at(message, "request"), "host")))
})

/** The hosts that this process tried to reach by HTTP since this file was loaded. */
export const connectedHosts = (): ReadonlySet<string> => hosts
