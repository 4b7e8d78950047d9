export type { Config } from "./config-schema.ts"
export { configJsonSchema } from "./config-schema.ts"
export { defineConfig } from "./define-config.ts"
