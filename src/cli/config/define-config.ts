import type { Config } from "./config-schema.ts"

/** The configuration as it came: it is there for the editor, which then knows every name in a `holdfast.config.ts`. */
export const defineConfig = (config: Config): Config => config
