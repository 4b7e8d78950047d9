export type { Config } from "./config-schema.ts"
export { configJsonSchema, defineConfig } from "./config-schema.ts"
