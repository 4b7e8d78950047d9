/** What only the gateway itself knows of its state. */
export type GatewayStatus = {
  /** Requests that are being worked on. */
  readonly requestsInFlight: number
  /** It takes no more requests. */
  readonly closing: boolean
  /** When it was started; when the admin API was made, unless told. */
  readonly startedMs?: number
  /** Sessions that it has at hand, where it counts them. */
  readonly openSessions?: number
}
