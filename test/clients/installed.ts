import { join } from "node:path"
import { root } from "../support/source.ts"

/** Where the agent programs are installed; `npm run test:clients` sets it, and installs them. */
export const clientsDirectory = process.env.HOLDFAST_CLIENTS_DIR ?? join(root, "node_modules/.cache/holdfast-clients")
