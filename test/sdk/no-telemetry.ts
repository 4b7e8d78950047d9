/** Whatever the developer's own settings are, the frameworks report to nobody from here. */
Object.assign(process.env, {
  LANGSMITH_TRACING: "false",
  LANGSMITH_TRACING_V2: "false",
  LANGCHAIN_TRACING: "false",
  LANGCHAIN_TRACING_V2: "false",
  OPENAI_AGENTS_DISABLE_TRACING: "1",
})
