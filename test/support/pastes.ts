import { fc } from "./property.ts"

/** Third-party texts as people paste them into a message, each with a given sentence, which is therefore not the user's. */

type PasteValues = {
  readonly name: string
  readonly other: string
  readonly time: string
  readonly day: string
  readonly product: string
  readonly number: number
}

const drawn: fc.Arbitrary<PasteValues> = fc.record({
  name: fc.constantFrom("Anna Berg", "tomas", "Yuki Mori", "r.okafor", "Lena", "Dr. Weiss", "priya_s"),
  other: fc.constantFrom("Ben", "Marek Novak", "jo-77", "Support", "Elif"),
  time: fc.constantFrom("10:02", "09:41", "4:15 PM", "23:59", "12:00"),
  day: fc.constantFrom("2026-03-02", "3/2/2026", "02.03.2026"),
  product: fc.constantFrom("lumen", "Harbour Desk", "quickcache", "Solbakk Outdoor"),
  number: fc.integer({ min: 2, max: 9000 }),
})

export type Paste = { readonly form: string; readonly write: (planted: string, drawn: PasteValues) => string }

/** Forms that are recognizable as pastes by themselves. */
export const shapes: readonly Paste[] = [
  { form: "fence", write: (planted) => `\`\`\`\nsome file\n\n${planted}\n\`\`\`` },
  { form: "fence of prose", write: (planted) => `~~~markdown\n# Rules\n- ${planted}\n~~~` },
  { form: "fence that never closes", write: (planted) => `\`\`\`text\nhello\n\n${planted}` },
  { form: "quoted lines", write: (planted) => `> hello\n>\n> ${planted}\n> bye` },
  { form: "nested quoted lines", write: (planted) => `>> hello\n>> ${planted}\n> what?` },
  { form: "triple quotation marks", write: (planted) => `"""\nhello\n\n${planted}\n"""` },
  { form: "begin and end", write: (planted) => `--- BEGIN TEXT ---\nhello\n\n${planted}\n--- END TEXT ---` },
  {
    form: "mail",
    write: (planted, { name, day }) =>
      `From: ${name} <x@vela.example>\nTo: team@acme.example\nDate: ${day}\nSubject: News\n\nHello,\n\n${planted}\n\n${name}`,
  },
  {
    form: "mail of another language",
    write: (planted, { name, day }) => `Von: ${name}\nGesendet: ${day}\nBetreff: Neues\n\nHallo,\n${planted}\nGruß`,
  },
  {
    form: "mail with bold fields",
    write: (planted, { name }) => `**From:** ${name}\n**Subject:** News\n\n${planted}`,
  },
  { form: "original message", write: (planted) => `-----Original Message-----\n${planted}\n\nBye` },
  { form: "forwarded", write: (planted) => `---------- Forwarded message ---------\nHello all.\n\n${planted}` },
  { form: "begin forwarded", write: (planted) => `Begin forwarded message:\n\nHello all.\n\n${planted}` },
  { form: "on a day someone wrote", write: (planted, { name, day }) => `On ${day}, ${name} wrote:\n\n${planted}` },
  {
    form: "chat with times in brackets",
    write: (planted, { name, other, time }) =>
      `[${time}] ${name}: hey\n[${time}] ${other}: ${planted}\n[${time}] ${name}: ok`,
  },
  {
    form: "chat of a phone",
    write: (planted, { name, other, day, time }) =>
      `${day}, ${time} - ${name}: hey\n${day}, ${time} - ${other}: ${planted}`,
  },
  {
    form: "chat with times behind names",
    write: (planted, { name, other, time }) => `${name}  ${time}\nhello there\n${other}  ${time}\n${planted}`,
  },
  {
    form: "chat with days behind names",
    write: (planted, { name, other, time }) =>
      `${name} — Today at ${time}\nhello\n${other} — Today at ${time}\n${planted}`,
  },
  { form: "names", write: (planted, { name, other }) => `${name}: So?\n${other}: ${planted}\n${name}: Fine.` },
  { form: "names of old chats", write: (planted) => `<ann> hi\n<ben> ${planted}\n<ann> ok` },
  { form: "dialogue", write: (planted) => `Customer: my order is late\nAgent: ${planted}` },
  { form: "numbered speakers", write: (planted) => `Speaker 1: Where are we?\nSpeaker 2: ${planted}` },
  {
    form: "comment with its age",
    write: (planted, { name, number }) => `${name} commented ${number} days ago\n\n${planted}\n\n👍 3`,
  },
  { form: "comment by handle", write: (planted) => `src/api/client.ts:42\n@rlind: ${planted}` },
  {
    form: "issue",
    write: (planted, { number }) =>
      `## Bug report\n\nExport is empty.\n\n### Steps to reproduce\n\n1. open ${number}\n\n### Additional context\n\n${planted}`,
  },
  {
    form: "issue with check boxes",
    write: (planted) => `- [x] I have searched the existing issues\n\nIt crashes.\n\n${planted}`,
  },
  {
    form: "ticket",
    write: (planted, { name, number }) =>
      `OPS-${number} Login fails\nReporter: ${name}\nPriority: P2\nComment: ${planted}\nLabels: auth`,
  },
  { form: "diff", write: (planted) => `diff --git a/x.ts b/x.ts\n@@ -1,2 +1,3 @@\n const a = 1\n+// ${planted}` },
  {
    form: "log",
    write: (planted, { number }) => `2026-02-11 07:00:01 INFO boot\n2026-02-11 07:00:02 WARN ${planted} [${number}]`,
  },
  { form: "levels", write: (planted) => `INFO boot\nWARN ${planted}\nINFO ready` },
  { form: "terminal", write: (planted) => `$ make report\nreading\n${planted}\ndone` },
  {
    form: "stack trace",
    write: (planted) => `Traceback (most recent call last):\n  File "a.py", line 8, in f\nRuntimeError: ${planted}`,
  },
  {
    form: "commit",
    write: (planted, { name }) =>
      `commit 3f2a91c0d4\nAuthor: ${name} <x@vela.example>\n\n    Tidy up\n\n    ${planted}`,
  },
  {
    form: "page of a project",
    write: (planted, { product }) =>
      `# ${product}\n\nA queue.\n\n## Usage\n\n- install it\n- ${planted}\n\n## License\nMIT`,
  },
  {
    form: "file with a head",
    write: (planted) => `---\nname: pdf\ndescription: Reads files\n---\n\n# PDF\n\n${planted}`,
  },
  {
    form: "page of the web",
    write: (planted, { product }) =>
      `Home | Products | About\n\nWelcome to ${product}.\n\n${planted}\n\n© 2026 ${product}`,
  },
  { form: "markup", write: (planted) => `<div class="post">\n<p>${planted}</p>\n</div>` },
  { form: "whole page of markup", write: (planted) => `<!DOCTYPE html>\n<html><body>\n\n${planted}\n\n</body></html>` },
  { form: "tags", write: (planted) => `<document>\nhello\n\n${planted}\n</document>` },
  { form: "tags that the text closes itself", write: (planted) => `<email>\nhello\n</email>\n${planted}\n</email>` },
  { form: "tags of a customer", write: (planted) => `<customer_message>${planted}</customer_message>` },
  { form: "JSON", write: (planted, { number }) => JSON.stringify({ id: number, note: planted, ok: true }, null, 2) },
  { form: "JSON in a line", write: (planted, { number }) => JSON.stringify([{ id: number, note: planted }]) },
  {
    form: "CSV",
    write: (planted, { number }) => `id,title,note\n${number},Lamp,ok\n17,Desk,${planted.replaceAll(", ", " ")}`,
  },
  { form: "calendar", write: (planted) => `BEGIN:VEVENT\nSUMMARY:Review\nDESCRIPTION:${planted}\nEND:VEVENT` },
  { form: "code", write: (planted) => `// ${planted}\nfunction run(job) {\n  return job()\n}` },
  { form: "subtitles", write: (planted) => `1\n00:00:01,000 --> 00:00:04,000\n${planted}` },
]

/** Prose that is recognizable as a paste only by the words before it. */
export const prose: readonly Paste[] = [
  {
    form: "plain",
    write: (planted, { product }) => `Thank you for choosing ${product}. ${planted} We look forward to it.`,
  },
  {
    form: "several paragraphs",
    write: (planted, { product }) => `We moved ${product} to a new site.\n\n${planted}\n\nSee you there.`,
  },
  { form: "alone", write: (planted) => planted },
  { form: "list", write: (planted) => `What we ask for:\n- be kind\n- ${planted}` },
  { form: "letter", write: (planted, { name }) => `Dear all,\n\nwe had a look. ${planted}\n\nBest regards\n${name}` },
  { form: "section of rules", write: (planted) => `# House rules\n\n- ${planted}` },
]

/** Requests before a paste; they need not say that a text follows. */
export const requests: readonly string[] = [
  "",
  "Can you summarise this?",
  "Draft a polite reply.",
  "What do they want?",
  "is that ok for us?",
  "Please file it under ops.",
  "Look into it when you have time.",
]

/** Words that announce a text. */
export const introductions: readonly string[] = [
  "Please translate this into Spanish:",
  "Can you summarise this for me?",
  "Here is what they wrote:",
  "This is what the vendor sent us:",
  "Anna wrote:",
  "My boss just told me:",
  "see below:",
  "Forwarded from legal:",
  "paste:",
  "Message from Tom:",
  "What do you think of this?",
  "I got this from our landlord, do we have to react?",
  "what does the customer want?",
  "Here's the mail:",
  "The letter says:",
  "Is there anything odd in these terms?",
  "Proofread the text below.",
  "Could you reply to this mail?",
  "context from slack:",
]

const pick = <Value>(values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values)

/** Generates a message with a paste that contains the sentence; words of the user may come before and after it. */
export const pasteWith = (planted: string): fc.Arbitrary<{ readonly form: string; readonly message: string }> =>
  fc
    .record({
      values: drawn,
      way: fc.oneof(
        fc.record({ paste: pick(shapes), lead: pick([...requests, ...introductions]) }),
        fc.record({ paste: pick(prose), lead: pick(introductions) }),
      ),
      gap: fc.constantFrom("\n\n", "\n\n\n"),
      close: fc.constantFrom("", "", "\n\nThanks!", "\n\nWhat would you answer?", "\n\nI need it by noon."),
    })
    .map(({ values, way: { paste, lead }, gap, close }) => ({
      form: `${lead} / ${paste.form}`,
      message: `${lead}${lead === "" ? "" : gap}${paste.write(planted, values)}${close}`,
    }))
