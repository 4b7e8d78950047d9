/** What every tool of the server promises: it changes nothing, asking twice is asking once, and it reaches nothing outside. */
export const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}
