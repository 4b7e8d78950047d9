/** The two parts of undici that the gateway uses. Its front door loads `fetch`, WebSocket, caches and mocks as well: three times the start. */
declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici"
  export = Pool
}
declare module "undici/lib/core/errors.js" {
  import { errors } from "undici"
  export = errors
}
