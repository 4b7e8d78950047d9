import { loadOptional } from "../message/errors.ts"

/** The parts of the official SDK and its schema library that the server uses. */
export type Sdk = {
  readonly McpServer: typeof import("@modelcontextprotocol/sdk/server/mcp.js").McpServer
  readonly ResourceTemplate: typeof import("@modelcontextprotocol/sdk/server/mcp.js").ResourceTemplate
  readonly HttpTransport: typeof import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js").WebStandardStreamableHTTPServerTransport
  readonly McpError: typeof import("@modelcontextprotocol/sdk/types.js").McpError
  readonly AjvJsonSchemaValidator: typeof import("@modelcontextprotocol/sdk/validation/ajv").AjvJsonSchemaValidator
  readonly MessageSchema: typeof import("@modelcontextprotocol/sdk/types.js").JSONRPCMessageSchema
  readonly z: typeof import("zod").z
}

async function importAll(): Promise<Sdk> {
  const [mcp, stream, types, { AjvJsonSchemaValidator }, { z }] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/mcp.js"),
    import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
    import("@modelcontextprotocol/sdk/validation/ajv"),
    import("zod"),
  ])
  return {
    McpServer: mcp.McpServer,
    ResourceTemplate: mcp.ResourceTemplate,
    HttpTransport: stream.WebStandardStreamableHTTPServerTransport,
    McpError: types.McpError,
    AjvJsonSchemaValidator,
    MessageSchema: types.JSONRPCMessageSchema,
    z,
  }
}

/** Loads them at first use: they are optional for users who do not serve MCP. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional(importAll, "the MCP server", (message) => (/'zod\b/.test(message) ? "zod" : "@modelcontextprotocol/sdk"))
