/** What a tool does by its name: looks something up, changes something, moves about on a screen, thinks, ends the work, keeps a list. */
type ToolVerb = "lookup" | "change" | "service" | "gesture" | "think" | "finish" | "ask" | "list"

const verbs: Readonly<Record<ToolVerb, string>> = {
  lookup:
    "get list search find read next fetch query lookup view show check describe calculate compute count browse retrieve inspect status grep glob ls cat open visit navigate goto extract download load recall output ask_model verify validate estimate analyze info details logs history events metrics weather translate websearch webfetch diagnose diagnostic diagnostics test tests probe ping trace measure audit preview simulate chercher rechercher lire lister consulter obtenir afficher comparer calculer verifier suchen lesen holen zeigen auflisten anzeigen pruefen abfragen berechnen buscar leer listar consultar obtener mostrar comparar calcular verificar comprobar pesquisar ler obter cercare leggere elencare cerca leggi mostra elenca controlla trova verifica busca lee muestra consulta pesquisa ver cherche lit affiche consulte verifie suche lese zeige pruefe hole zoek lees toon meteo disponibilita disponibilidad disponibilidade disponibilite verfuegbarkeit",
  change:
    "create update delete cancel book send add remove set modify transfer pay refund post put exchange return approve assign close move rename upload publish schedule register insert change edit write execute deploy start stop restart enable disable merge commit push reserve order purchase issue grant revoke reset apply toggle save invite reply notify run make patch replace install submit_order input select fill type check_box uncheck choose",
  // Further words of services, in which something is made, moved or given.
  service:
    "manage correct adjust amend rebill rebook reschedule withdraw request record report escalate file raise claim lock unlock freeze unfreeze block unblock activate deactivate suspend resume renew extend upgrade downgrade swap switch redeem waive credit charge debit deposit convert link unlink attach detach subscribe unsubscribe accept reject decline deny authorize sign archive restore mark tag label resolve reopen dismiss provision launch rotate scale drain cordon uncordon rollback promote demote import migrate purge clear enroll enrol admit discharge prescribe refer administer forward fund settle buy sell hire fire call email message text mail pin unpin mute unmute ban unban kick acknowledge ack undo revert terminate kill trigger dispatch ship release void silence snooze append prepend upsert comment annotate clone fork duplicate copy draft compose refill recharge ecrire creer modifier supprimer envoyer dupliquer remplacer rappeler annuler ajouter deplacer schreiben erstellen anlegen aendern loeschen senden verschieben hinzufuegen buchen stornieren crear enviar modificar eliminar borrar agregar anadir reservar cancelar escribir actualizar mover criar apagar inviare creare scrivere crea modifica annulla cancella prenota prenotare invia manda aggiungi aggiorna sposta conferma elimina rimuovi paga addebita rimborsa rimborso ordina richiedi richiesta blocca sblocca registra assegna chiudi scrivi envia agrega anade cancela escribe actualiza mueve reembolsa cobra programa confirma cria altera alterar exclui excluir adiciona adicionar escreve escrever atualiza atualizar agendar remarca remarcar marca cree envoie modifie supprime ajoute annule deplace rembourse commande planifie confirme erstelle sende aendere loesche buche storniere verschiebe bestelle bestellen bezahle reembolso remboursement erstattung comprar compra acheter kaufen preencher emettre emets emet reserver escalader escalade programmer saisir saisis saisie resilier resilie cloturer cloture fermer ferme demander demande editer edite changer affecter affecte enregistrer enregistre debloquer debloque bloquer bloque activer desactiver suspendre reprendre prolonger renouveler crediter debiter virer transferer noter inscrire desinscrire abonner desabonner attribuer retirer reporter decaler facturer payer encaisser livrer expedier signer publier importer exporter generer exporte exportieren exportiere export relancer notifier prevenir emitir escalar programar registrar registar ingresar cerrar cierra solicitar solicita cambiar cambia asignar asigna activar activa desactivar bloquear desbloquear suspender renovar pagar cobrar reembolsar transferir anular guardar guarda subir publicar firmar generar notificar avisar agendar fechar fecha mudar atribuir ativar desativar salvar gravar assinar gerar emettere emetti programmare registrare chiudere richiedere cambiare assegnare attivare disattivare bloccare sbloccare sospendere rinnovare pagare trasferire salvare caricare pubblicare firmare generare spostare ausstellen reservieren reserviere eskalieren eskaliere einplanen planen erfassen erfasse eintragen schliessen schliesse beantragen beantrage wechseln zuweisen aktivieren deaktivieren sperren entsperren aussetzen verlaengern erneuern bezahlen zahlen ueberweisen erstatten speichern speichere hochladen veroeffentlichen erzeugen benachrichtigen kuendigen kuendige umbuchen freigeben genehmigen ablehnen reserveren plannen registreren sluiten aanvragen wisselen toewijzen activeren deactiveren blokkeren verlengen vernieuwen betalen overmaken terugbetalen opslaan publiceren ondertekenen opzeggen zarezerwuj anuluj wyslij utworz usun zmien zaplac erstatte maak stuur wijzig verwijder boek annuleer verplaats betaal reserva",
  gesture: "click press scroll wait hover screenshot snapshot drag key mouse tap swipe focus back forward page",
  think: "think thought reason reflect ponder",
  finish: "finish submit complete completion done final answer exit terminate",
  ask: "ask question clarify followup confirm",
  list: "todo todos checklist todowrite",
}

const verbOf = new Map<string, ToolVerb>()
const order: readonly ToolVerb[] = ["lookup", "change", "service", "gesture", "think", "finish", "ask", "list"]
for (const verb of order) for (const word of verbs[verb].split(" ")) if (!verbOf.has(word)) verbOf.set(word, verb)

/** Names longer than this are nobody's tool. */
const maxNameLength = 120

/** Tools that keep the agent's own plan; `change_plan` of a provider sells one. */
const planTool = /(?:^|__)(?:(?:update|write|set|create|make|exit|enter)_?)?plan(?:_?mode|ner)?$/i
/** Who opens one of these makes it; who opens anything else looks at it. */
const opened = /^(?:ticket|case|dispute|account|issue|incident|claim|request|order|pr|pull)$/

/** Who somebody is, is asked once: it has been done afterwards. */
const identifies = /^(?:verify|check|confirm|authenticate) (?:identity|customer|caller|user|otp|pin|code)\b/

/** By the first word of the name that is known; a list wins over everything because `update_plan` changes nothing but the plan. */
export function toolVerb(tool: string): ToolVerb | undefined {
  if (planTool.test(tool)) return "list"
  const words = tool
    .slice(0, maxNameLength)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .split(/[^a-z\d]+/)
  const known = words.flatMap((word) => verbOf.get(word) ?? [])
  const telling = words.filter((word) => !weak.has(word)).flatMap((word) => verbOf.get(word) ?? [])
  if (words[0] === "open" && words.some((word) => opened.test(word))) return "change"
  if (identifies.test(words.join(" "))) return "change"
  if (known.includes("list")) return "list"
  // `pods_log` shows one; `log_call` writes one.
  if (words.length > 1 && words.at(-1) === "log" && !words.some((word) => logs.has(word))) return "lookup"
  // Some names begin with what they are about: `mail_search`, `order_status`, `queue_submit`.
  const first = words.findIndex((word) => verbOf.has(word) && !weak.has(word))
  const isNoun = nouns.has(words[first] ?? "") && words.slice(first + 1).some((word) => verbOf.has(word))
  const does = (isNoun ? telling[1] : telling[0]) ?? known[0]
  return does === "finish" && words.length > 1 && !endsWork.test(words.join(" ")) ? "change" : does
}

/** Words that are the name of a thing as often as what is done. */
const nouns: ReadonlySet<string> = new Set(
  "export visit mail email message text call order file record report request claim label tag pin issue post book schedule charge credit page key status history events logs link refund transfer return exchange reserva reserve richiesta marca commande".split(
    " ",
  ),
)
/** Who submits or completes anything but the work itself does something with it. */
const endsWork =
  /^(?:mcp .{0,40} )?(?:(?:submit|finish|complete|final|attempt|give|return) ?(?:final|the)? ?(?:answer|task|result|response|solution|report|completion|work)?|task (?:complete|done|finish|completion)|attempt completion|exit \w+|done)$/

/** What is done to a log that is written. */
const logs: ReadonlySet<string> = new Set([
  "add",
  "append",
  "write",
  "create",
  "update",
  "delete",
  "clear",
  "rotate",
  "save",
])

/** Words that say that something is done and not what. */
const weak: ReadonlySet<string> = new Set(["run", "execute", "make", "start"])
