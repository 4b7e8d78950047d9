/** The two modules of undici that the gateway uses. The main entry also loads `fetch`, WebSocket and mocks, which triples the load time. */
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici"
  export = Pool
}
declare module "undici/lib/core/errors.js" {
  import { errors } from "undici"
  export = errors
}
