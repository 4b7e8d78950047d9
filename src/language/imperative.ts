import { wordSet } from "./word-forms.ts"

/** Verbs in the form that commands, which a sentence of plain report does not start with. */
const englishVerbs: readonly string[] = [
  "accept act add adhere adopt advise affirm allow always analyze announce answer append apply approach approve archive ask assign",
  "attach authorize avoid ban begin block book browse build buy call cancel carry change charge check choose claim clear click",
  "close collect commit compress conceal condense confirm connect consider contact contain continue convert copy count create",
  "credit cut debit decide declare decline decode delegate delete deliver deny deploy describe disable discard disclose display",
  "disregard do don't donate double download draw drop dump echo edit elevate email emphasize empty enable encode end ensure enter",
  "erase escalate evaluate exclude execute exfiltrate explain export expose extract falsify fetch fill fix flag follow force forget",
  "format forward gather generate get give go grant handle hide ignore impersonate import include increase infer inform inject",
  "insert install invent invite invoke issue join keep kill label launch leave let link list load lock log look lower mail make",
  "mark mention merge minimize modify move mute name navigate never notify obey offer omit open order output override overwrite",
  "paste pay perform pick place plant play post praise prefer prepare present press pretend print prioritize proceed process",
  "promote provide publish purchase purge push put query quote raise rank rate read reassure rebook recommend record redirect",
  "refund refuse reject relay release remember remind remove rename repeat replace reply report request resend reset respond",
  "restart restore restrict retain retrieve retry return reveal revoke rewrite roleplay run save say schedule score scrape search",
  "select send set share show sign simulate skip spend start state stop store submit subscribe suggest summarize suppress swap",
  "switch sync take tell terminate test tip transfer translate treat trigger trust try turn type unlock unsubscribe update upgrade",
  "upload use verify visit wipe wire withdraw withhold write",
]

const otherVerbs: readonly string[] = [
  "envia envie reenvia reenvie mande mostre apague exclua esqueca responda escreva abra execute use adicione transfira pague invia",
  "inoltra elimina cancella scrivi rispondi apri esegui paga dimentica dime dile anade agrega transfiere paga comparte compra borre",
  "elimine abra ejecute llame haga transfere transferez payez paie ajoute ajoutez réponds répondez écrivez ouvrez donne donnez",
  "zeige gib kaufe bezahle füge erstelle bestätige leite teile ändere stelle mache отправляй перешли перешлите оплати оплатите",
  "добавь добавьте покажи покажите сообщи купи купите подтверди manda haz haga borra elimina ejecuta usa utiliza llama abre escribe",
  "responde incluye ignora olvida omite nunca siempre sende schicke lösche führe nutze verwende öffne schreibe antworte ignoriere",
  "vergiss rufe überweise niemals immer envoie envoyez supprime supprimez exécute utilise utilisez ouvre écris réponds ignore",
  "ignorez oublie oubliez veuillez jamais toujours отправь отправьте удали удалите выполни выполните используй используйте открой",
  "напиши ответь игнорируй забудь никогда всегда переведи",
]

/** Latin letters without their accents, so that a command is one with and without them. */
const unaccented = (text: string): string =>
  /^[\0-\x7f]*$/.test(text)
    ? text
    : text
        .normalize("NFD")
        .replace(/(?<=[a-z])\p{Mn}+/gu, "")
        .normalize("NFC")

const verbs = wordSet(...englishVerbs, ...otherVerbs.map(unaccented))

/** What may stand before the verb of a command. */
const leads = wordSet(
  "please now then and first also just kindly immediately instead finally next simply bitte jetzt ahora por favor luego maintenant ensuite теперь пожалуйста затем important note urgent warning todo action required step",
)

const obligations =
  /^(?:you|the (?:assistant|agent|model|ai)|assistants?|agents?|we|users?|everyone)\s+(?:must|should|shall|need to|have to|are (?:to|required)|will now|may not|cannot|can now)\b|^(?:it is|is) (?:mandatory|required|essential|imperative)|^(?:debes?|tienes que|du (?:musst|sollst)|sie (?:mussen|sollen)|tu dois|vous devez|il faut|ты (?:должен|должна)|вы должны|необходимо|нужно)(?![\p{L}])/u

/** Forms that only command: French and Portuguese politeness, Russian imperatives, Japanese and Korean requests. */
const commandForms =
  /^(?:\p{L}{3,14}ez(?!\p{L})|(?:не )?\p{L}{2,12}[аяуи]йте(?!\p{L})|(?:не )?\p{L}{3,12}[аяу]й(?!\p{L}))|(?:ください|なさい|下さい|하세요|십시오|해 주세요|하라)\s?[。.!]?\s*$/u

const chineseCommand = /^(?:请|務必|务必|必须|不要|切勿|请勿|立即|马上|忽略|发送|删除|执行|打开|运行|始终|永远)/

/** Characters of a text that are read: a command stands at its start. */
const maxRead = 400

/** How far into a text the verb of a command is sought. */
const maxLeads = 4

/** What a line of a summary may carry before its first word: bullets, labels such as [Next], emphasis, quotation marks. */
const dress = /^(?:\s|[-*•>#+"'`(]|<[a-z/][^<>\n]{0,40}>|\d{1,3}[.)]|\[[^\]\n]{0,40}\])+/i

/** A condition or purpose before the command itself. */
const clauseBefore = /^(?:after|before|once|when|whenever|if|as soon as|to|in order to|for)\b[^,.]{1,120}, /

/** Does the text tell its reader to do something? English, Spanish, German, French, Russian and Chinese. */
export function directs(text: string): boolean {
  const bare = unaccented(text.slice(0, maxRead).replace(dress, "").toLowerCase()).replace(clauseBefore, "")
  if (obligations.test(bare) || chineseCommand.test(bare) || commandForms.test(bare)) return true
  const words = bare.match(/[\p{L}'’]+/gu) ?? []
  for (const word of words.slice(0, maxLeads + 1)) {
    if (verbs.has(word)) return true
    if (!leads.has(word)) return false
  }
  return false
}
