/** Tags in which clients put words of their own into the user's message. */
const injected =
  /<(system-reminder|environment_context|environment_details|user_instructions|session_context|command-(?:name|message|args|contents)|local-command-[a-z]{1,12}|bash-(?:input|stdout|stderr)|ide_\w{1,20}|editor_context|turn_aborted|context|additional_data|attached_files|open_and_recently_viewed_files)>/g

/** A digest of ours that came back in a message: its lines go their own way. */
const ownDigest = '<summary by="holdfast"'

/** Blocks that are taken out of one text; more is a text about them. */
const maxBlocks = 64

/** What the user wrote in a text: without the blocks that a client put there, and nothing of a digest of ours. */
export function spokenBy(text: string): string {
  if (text.startsWith(ownDigest)) return ""
  if (!text.includes("</")) return text
  const kept: string[] = []
  let from = 0
  for (const { 0: open, 1: tag = "", index } of [...text.matchAll(injected)].slice(0, maxBlocks)) {
    if (index < from) continue
    const close = text.indexOf(`</${tag}>`, index + open.length)
    if (close < 0) continue
    kept.push(text.slice(from, index))
    from = close + tag.length + 3
  }
  return from === 0 ? text : [...kept, text.slice(from)].join("").trim()
}
