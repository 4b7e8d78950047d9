/** Verbs in the form that commands, which a sentence of plain report does not start with. */
const englishVerbs =
  "accept act add adhere allow always answer append apply approve archive ask assign attach authorize avoid begin book browse build buy call cancel change check click close commit confirm connect consider contact continue convert copy create cut delete deliver deploy disable discard disregard do donate don't download drop email enable encode end ensure erase execute export fetch fill follow forget forward generate get give go grant hide ignore import include increase inform insert install invite invoke keep leave let list log look mail make mention modify move navigate never notify obey omit open order output override pay place post prepare print proceed provide publish purchase push put read recommend redirect remember remove rename replace reply report reset respond restart return reveal revoke rewrite run save say schedule search select send set share show sign skip start state stop submit suggest switch take tell transfer translate treat trust try turn update upgrade upload use visit wire withdraw write"

const otherVerbs =
  "envia envie reenvia manda haz haga borra elimina ejecuta usa utiliza llama abre escribe responde incluye ignora olvida omite nunca siempre sende schicke lösche führe nutze verwende öffne schreibe antworte ignoriere vergiss rufe überweise niemals immer envoie envoyez supprime supprimez exécute utilise utilisez ouvre écris réponds ignore ignorez oublie oubliez veuillez jamais toujours отправь отправьте удали удалите выполни выполните используй используйте открой напиши ответь игнорируй забудь никогда всегда переведи"

const verbs: ReadonlySet<string> = new Set([...englishVerbs.split(" "), ...otherVerbs.split(" ")])

/** What may stand before the verb of a command. */
const leads: ReadonlySet<string> = new Set(
  "please now then and first also just kindly immediately instead finally next simply bitte jetzt ahora por favor luego maintenant ensuite теперь пожалуйста затем important note urgent warning todo action required step".split(
    " ",
  ),
)

const obligations =
  /^(?:you|the (?:assistant|agent|model|ai)|assistants?|agents?|we|users?|everyone)\s+(?:must|should|shall|need to|have to|are (?:to|required)|will now|may not|cannot|can now)\b|^(?:it is|is) (?:mandatory|required|essential|imperative)|^(?:debes?|tienes que|du (?:musst|sollst)|sie (?:müssen|sollen)|tu dois|vous devez|il faut|ты (?:должен|должна)|вы должны|необходимо|нужно)(?![\p{L}])/u

const chineseCommand = /^(?:请|務必|务必|必须|不要|切勿|请勿|立即|马上|忽略|发送|删除|执行|打开|运行|始终|永远)/

/** How far into a text the verb of a command is sought. */
const maxLeads = 4

/** What a line of a summary may carry before its first word: bullets, labels such as [Next], emphasis, quotation marks. */
const dress = /^(?:\s|[-*•>#+"'`(]|\d{1,3}[.)]|\[[^\]\n]{0,40}\])+/

/** A condition or purpose before the command itself. */
const clauseBefore = /^(?:after|before|once|when|whenever|if|as soon as|to|in order to|for)\b[^,.]{1,120}, /

/** Does the text tell its reader to do something? English, Spanish, German, French, Russian and Chinese. */
export function directs(text: string): boolean {
  const bare = text.slice(0, 400).replace(dress, "").toLowerCase().replace(clauseBefore, "")
  if (obligations.test(bare) || chineseCommand.test(bare)) return true
  const words = bare.match(/[\p{L}'’]+/gu) ?? []
  for (const word of words.slice(0, maxLeads + 1)) {
    if (verbs.has(word)) return true
    if (!leads.has(word)) return false
  }
  return false
}
