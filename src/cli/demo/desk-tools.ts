/** The tools of the demo's agent. Their names begin as no other's do, so that a policy on them binds nobody else. */
export const deskTools = {
  listOrders: "tern_list_orders",
  readFile: "tern_read_file",
  checkStock: "tern_check_stock",
  addNote: "tern_add_note",
  sendEmail: "tern_send_email",
} as const

const text = (description: string) => ({ type: "string", description })

const tool = (name: string, description: string, properties: Readonly<Record<string, object>>) => ({
  name,
  description,
  input_schema: { type: "object", properties, required: Object.keys(properties) },
})

/** As the agent declares them to its model. */
export const deskToolList: readonly object[] = [
  tool(deskTools.listOrders, "List the wholesale orders of one day.", { day: text("The day, as 2026-11-09.") }),
  tool(deskTools.readFile, "Read a file of the order desk: an order, a log, a ticket or a price list.", {
    path: text("The file's path, as logs/import-01.log."),
  }),
  tool(deskTools.checkStock, "List what one warehouse has in stock.", { warehouse: text("north, harbour or south.") }),
  tool(deskTools.addNote, "Write a note for the people at the order desk.", {
    about: text("What it is about: an order or a ticket."),
    text: text("The note."),
  }),
  tool(deskTools.sendEmail, "Send an e-mail.", {
    to: text("The address."),
    subject: text("The subject."),
    body: text("The text."),
  }),
]
