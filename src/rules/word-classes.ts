import { lazy } from "../language/lazy.ts"
import { letters, textOfCodes } from "../language/letters.ts"
import { knownWords as knownList } from "./generated/known-words.ts"

/**
 * Words that say what a sentence does, whatever it is about, by class and in the languages that the finder reads: folded, without accents.
 * The model reads classes beside words, so that what it learnt of one language holds in the others.
 */
const table: Readonly<Record<string, string>> = {
  never:
    "never nunca jamas jamais niemals nie mai nooit никогда ningun ninguna ninguno keinesfalls keineswegs aldrig asla katiyen nigdy nikdy aldri ниразу | under no circumstances | in no case | at no time | on no account | bajo ningun | en ningun caso | auf keinen fall | unter keinen umstanden | en aucun cas | em hipotese alguma | de jeito nenhum | in nessun caso | hicbir zaman",
  always:
    "always siempre immer stets toujours sempre altijd всегда invariably systematically grundsatzlich systematiquement sistematicamente alltid daima hep surekli zawsze immerzu durchweg tevens постоянно обязательно vzdy pokazde altid selalu senantiasa | at all times | every single time | without exception | sin excepcion | ohne ausnahme | sans exception | sem excecao | by default | por defecto | standardmassig | par defaut | por padrao | her zaman | day or night | every time",
  lasting:
    "henceforth forever permanently permanent onward onwards hereafter desormais dorenavant fortan kunftig zukunftig generell doravante dorenavante throughout framover hadanefter artik odtad voortaan fortaan continuously continually ongoing впредь отныне odted napriste prubezne fremover fremadrettet seterusnya | from now on | from here on | from today on | from this point | going forward | moving forward | in future | in the future | until further notice | for good | for the rest of | for the whole | for the entire | for everything | as of today | starting today | starting now | for all our | for all future | in all future | from then on | de ahora en adelante | a partir de ahora | a partir de hoy | en adelante | hasta nuevo aviso | en el futuro | ab jetzt | ab sofort | ab heute | von nun an | von jetzt an | in zukunft | bis auf weiteres | fur die ganze | fur den rest | a l'avenir | a partir de maintenant | jusqu'a nouvel ordre | dans tout ce | de agora em diante | daqui em diante | daqui para frente | daqui pra frente | a partir de agora | no futuro | ate segunda ordem | d'ora in poi | d'ora in avanti | da oggi | da ora in poi | van nu af | from today | for all time | in futuro | vanaf nu | bundan sonra | bundan boyle | od teraz | od dzis | fran och med | fran nu | in het vervolg | now and later | today and any | for the long run | pour la suite | para lo que sigue | per il futuro | d'ici la fin | up to date | keep track | going on | from this point forward | in the long term | с этого момента | в дальнеишем | больше не | больше никогда | mulai sekarang | ke depannya | do budoucna | na przyszlosc | i fremtiden",
  general:
    "generally usually normally typically whenever wherever whoever whichever cuandoquiera generalmente normalmente normalerweise jedesmal habituellement genelde genellikle zazwyczaj zwykle обычно obvykle vanligvis biasanya | in general | in generale | em geral | over het algemeen | in het algemeen | en regle generale | as a rule | as a general rule | rule of thumb | every time | each time | any time | no matter | por regla general | en general | cada vez | siempre que | sempre que | toda vez | todas as vezes | im allgemeinen | in der regel | jedes mal | immer wenn | egal | en general | chaque fois | a chaque fois | ogni volta | elke keer | unless i say | unless told | unless otherwise | until i say | salvo que | a menos que | es sei denn | sauf si | a nao ser | her seferinde | za kazdym razem | varje gang | whatever happens | come what may | pase lo que pase | quoi qu'il arrive | aconteca o que acontecer | was auch immer | egal was | telkens als | a ogni | каждыи раз | setiap kali | za kazde | hver gang | hvert sekund",
  must: "must shall mandatory required compulsory obligatory obligatorio obligatoria obligatorios obrigatorio obrigatoria debe deben debes debera deberan muss mussen musst musste zwingend unbedingt doit doivent dois devez devem deve devi moet moeten sollen soll sollst duty obliged needs nadie niemand personne nobody maste ska skall gerek gerekir lazım zorunlu sart musi musisz musza trzeba nalezy gehort gehoren devono dient должен должна должно должны нужно надо необходимо следует обязан musis musime skal skulle harus wajib perlu povinne | have to | has to | need to | needs to | are to be | is to be | tiene que | tienen que | tienes que | hay que | il faut | tem que | tem de | no one | supposed to | obliged to",
  should:
    "should ought deberia deberias deberian sollte sollten solltest devrait devraient devriez devrais deveria deveriam dovrebbe make ensure asegurate cerciorate sicherstellen stelle assure assurez certifique garanta borde powinien powinno powinny powinna zajisti upewnij pastikan убедись sorg",
  not: "not no nicht kein keine keinen keiner keines keinem pas ne sin ohne sans non nao sem niet geen не нет without cannot neither nor nothing none nada nichts rien aucun aucune nessun nessuno nessuna nenhum nenhuma inte ej ingen inga inget degil yok nie bez zaden zadnych zadna niets tidak bukan ikke ingenting nejde ani ни нету hicbir hic ništa",
  dont: "don't dont avoid refrain stop quit cease evita evite eviten vermeide vermeiden eviter evitez evitar pare deja parad hor arrete arretez cesse undvik sluta unikaj przestan evitare evitate vermijd stoppen schluss fini basta chega acabou нельзя хватит перестань избегаи jangan nedelej nepouzivej nemen kullanma yapma degistirme silme dokunma ekleme calistirma yazma oynama nepis undga undlad nao-use nie-dodawaj | do not | stop doing | keep away | stay away | stay out | steer clear | hands off | off limits | off-limits | не надо | не нужно | lad vaere",
  forbid:
    "forbidden prohibited banned disallowed prohibido prohibida prohibidos prohibidas queda verboten untersagt tabu interdit interdite interdits proibido proibida vietato verboden taboo non-negotiable forbjudet forbjuden yasak zabronione zakaz tabou запрещено запрещается zakazano dilarang zakazane forbudt | not allowed | not permitted | no se permite | nicht erlaubt | nie wolno | no-go | is out | are out",
  may: "may allowed permitted can puede puedes pueden darf durfen darfst peut peuvent peux pode podem puo mag erlaubt permitido permis mozesz moze mozna kannst konnen kann можешь может можно muzes lahko boleh bisa",
  only: "only solely exclusively solo solamente unicamente exclusivamente nur ausschliesslich lediglich uniquement seulement exclusivement apenas somente soltanto alleen strictly bara endast enbart sadece yalnızca tylko wylacznie jedynie только лишь исключительно jen pouze hanya cuma kun samo",
  limit:
    "limit limits max maximum minimum cap capped ceiling budget exceed exceeds exceeding least most tope limite maximo presupuesto hochstens mindestens obergrenze maximal plafond budget moins teto orcamento massimo hogst minst maksymalnie najwyzej najmniej максимум минимум | more than | less than | no more | at most | at least | up to | no longer than | not exceed | mas de | menos de | a lo sumo | como maximo | mehr als | nicht mehr als | plus de | au plus | no maximo | mais de | en fazla | en az | не более | не больше | не менее",
  every:
    "every each all any everything anything everyone anyone anybody anywhere everywhere uberall durchgehend partout dappertutto overal both cada todo todos toda todas cualquier cualquiera jede jeder jedes jeden jedem alle allen alles chaque tout toute toutes tous tudo qualquer ogni tutti tutte elke ieder varje alla allt her butun tum kazdy kazda kazde kazdego wszystkie wszystko jeweils sammtliche samtliche каждыи каждую каждое каждого каждом каждои все всех всем любои любые kazdou kazdeho vsechny vsechno vse vsech hver hvert alt setiap semua seluruh tiap iedere",
  if: "if si wenn falls se als should sofern lorsqu'il eger jesli jezeli gdyby lorsqu если pokud jestli jestlize hvis jika kalau apabila om",
  when: "when while once cuando sobald wahrend quand lorsque lorsqu quando mentre wanneer upon kiedy gdy nar toen когда kdyz jakmile ketika saat",
  before:
    "before prior antes bevor vor avant prima voordat beforehand innan przed zanim onceden перед прежде inden nez sebelum vooraf forst eerst najpierw nejdriv | ahead of | avant de | antes de",
  after:
    "after afterwards following despues nachdem nach apres depois dopo efter potem sonra после затем potom pote efterfolgende setelah sesudah daarna",
  unless:
    "unless except exception exceptions salvo excepto ausser sauf exceto tranne otherwise sonst sinon forutom chyba oprocz behalve tenzij кроме krome kecuali undtagen",
  ask: "ask confirm check consult approval approve approved approves permission consent sign-off signoff go-ahead okay authorization clearance pregunta preguntame preguntar consulta consultame confirma confirmame avisame aprobacion permiso autorizacion visto frag frage fragen ruckfrage ruckfragen zustimmung genehmigung freigabe bestatigung abklaren bestatige demande demandez demander confirme confirmez accord autorisation validation pergunte pergunta confirme consulte aprovacao permissao autorizacao chiedi conferma vraag toestemming fraga sor sormadan onay izin pytaj spytaj zapytaj zgoda zgody potwierdz bescheid chiedimi vraagt aprobar aval спроси спрашиваи подтверждение подтверди согласуи уточни zeptej ptej potvrd sporg spor tanya tanyakan konfirmasi | run it by | run them by | check with | clear it with | let me know first | go ahead",
  prefer:
    "prefer prefers preferred preferably preference preferences rather ideally favor favour like prefiero preferiria preferimos preferencia preferiblemente bevorzuge bevorzugen lieber am liebsten vorzugsweise prefere preferons preferee preference idealement prefiro preferimos preferencialmente preferisco liever helst foredrar wole предпочитаю лучше желательно radeji hellere sebaiknya | i'd rather | i would rather | i'd prefer | i would like",
  want: "want wants wish hope quiero queremos mochte mochten will wollen veux voulons souhaite quero queremos voglio hate dislike vill chce chcemy хочу хотим хотел chci chceme chtel wil willen ingin mau istiyorum gerne vil",
  please:
    "please kindly bitte porfavor svp veuillez alstublieft snalla lutfen prosze stp aub graag пожалуиста prosim tolong mohon silahkan venligst | por favor | s'il te plait | s'il vous plait | se puder | bitte",
  you: "you your yours yourself tu usted ustedes vos vosotros du dir dich dein deine ihr sie vous votre vos toi voce voces lei agent agents assistant assistants claude chatgpt copilot codex gemini model ai bot dig ditt dina sen sana senin siz ci twoje je jij jou jouw ты тебе тебя твои вы вас вам kamu anda dit din ty tve tobe",
  i: "i me my mine i'm i've i'll i'd yo mi mis me ich mir mich mein meine meinen meiner je j'ai mon ma mes moi eu meu minha meus minhas io mio mia jag mig mitt mina ben bana benim mnie moje moj ik mij mijn я мне меня мои моя мое мною мнои ja mne muj jeg min mit saya aku",
  we: "we us our ours we're we've let's nosotros nuestro nuestra nuestros wir uns unser unsere unseren nous notre nos on nossa nosso nos noi nostro oss biz bize bizim nas nasz nasze wij ons onze мы нам нас наш наша наши my nam nase vores os kita kami nossos",
  this: "this that these those it its here there them este esta esto ese esa eso estos estas aqui dies diese dieser dieses diesen das hier ce cet cette ces cela ca ici isso isto aquele questo questa detta denna dessa bu dit deze ten tego это этот эта эти этом этого тут здесь tento tato toto tyto det denne dette ini itu tym tej bunu bunlari",
  the: "the el la los las der die den dem le les l' o os as il lo gli het",
  now: "now today tonight tomorrow currently yet already soon moment ahora hoy manana ya jetzt heute morgen gerade noch maintenant aujourd'hui demain agora hoje amanha ja adesso oggi nu idag imorgon nyss bugun yarın simdi dzisiaj jutro vandaag сеичас пока уже теперь сегодня ted nyni sekarang simdilik tymczasem | for now | this time | just this once | right now | at the moment | first draft | por ahora | de momento | esta vez | diesmal | furs erste | pour l'instant | cette fois | por enquanto | desta vez",
  task: "fix add create write build implement update change rename remove delete refactor move open run rerun look show give find search review explain translate summarize book cancel send draft prepare generate make arregla anade crea escribe cambia borra busca muestra traduce revisa reserva resume erstelle schreibe andere losche suche zeige ubersetze prufe buche fasse corrige ajoute cree ecris change supprime cherche montre traduis verifie reserve resume corrija adicione crie escreva mude apague procure mostre traduza verifique crea scrivi aggiungi исправь добавь создаи сделаи напиши удали убери проверь покажи наиди обнови запусти посмотри переведи pridej udelej uprav oprav vytvor napis smaz aktualizuj podivej buat tambahkan perbaiki ubah hapus cek lihat ekle duzelt yap olustur degistir sil guncelle goster bul dodaj napisz popraw zmien usun stworz utworz zrob wykonaj sprawdz zapisz pokaz voeg maak verander pas verwijder controleer kijk tilfoj lav fjern opdater lagg andra skapa fixa aggiorna controlla verifica leggi analizza lee analiza mejora implementa continua lis analyse",
  order:
    "abide abort abstain accept accumulate acknowledge adapt add adhere adjust adopt advance advertise aim alert align allocate allow amend analyze anchor annotate announce apologize append apply approve arrange ask assert assess assign assume attach authenticate authorize avoid await backup bail batch be become begin boil bootstrap bracket bring broaden buffer bundle calculate cancel capitalize carry catch categorize chain challenge choose chunk cite clarify classify clear close coalesce coerce collapse collect combine come communicate compare compensate comply compose compress compute conclude confine confirm conform connect consider consolidate constrain construct consult contain continue convert coordinate correct create cross-check customize decide declare declutter decouple dedupe deduplicate deescalate define degrade delegate delete deliver demonstrate deny depend deprecate derive describe detect determine diff dig disable disambiguate discard disclose discuss dispatch dispose disregard distinguish divide do double-check downgrade download drain drive duplicate eliminate embed emit emphasize emulate enable encapsulate encode encourage encrypt enforce engage enquire ensure enter enumerate erase err escalate establish estimate evaluate evolve examine exclude execute exempt expand expect experiment explain explore expose express extend facilitate fail fall fan favor favour feel find finish flatten follow forget formulate forward freeze front-load gather generate get give grant greet grep guarantee guess halt hand handwrite hard-code hardcode have hide highlight hold honor honour identify ignore implement improve include incorporate indent indicate infer inherit initialize inject inline insert inspect instrument integrate intend intercept interpret introduce invalidate investigate invite invoke isolate justify keep kill know launch lay lean learn let leverage listen locate lower maintain make manage maximize memoize mention migrate mimic minimize modify mount narrow navigate negotiate nest normalize notify obey obfuscate observe obtain omit operate opt optimize organize override parameterize parametrize paraphrase partition paste perceive perform persist pick ping polish pool populate port pre-compute predict prefer prefix preload prepare present preserve pretend prevent prioritize probe proceed prohibit promote propagate propose protect prove provide provision prune publish put qualify quit reason reassess reassure rebase rebuild recall receive recheck recommend recompute reconcile recover redact redirect reduce refer refine reflect reformat refrain refund refuse regard regenerate register reimburse reindex reinstall reject relax relay reload rely remap remember remind remove rename render reopen reorder repeat rephrase replace represent reproduce require rerun reseed resist resize resolve respawn respond restart restate restore restrict retain retarget retest rethink retrieve reuse reverse revise rotate round sanitize satisfy say scaffold scroll seed seek segment select send sequence serialize serve settle sharpen shield short-circuit shorten shut signal simplify skim smoke-test snapshot solve speak specify spell spot standardize stay steer stick stress-test strive subclass subscribe substitute subtract suggest summarize suppress suspect swallow swap tackle tailor take teach tee tell template terminate thank think throttle tighten tolerate translate traverse try undo unify unit-test unlock unset unwrap utilize validate verify vet void welcome whitelist widen withdraw withhold zero nenn nenne nimm gib schick schicke sende leg lege mach mache halte bleib lass antworte sprich duz duze sieze ruf benutze nutze verwende schreib notiere markiere runde lies hol melde warte trag trage setz setze stell stelle zeig sag sage erklar erklare rechne kurze kopiere speichere formatiere zitiere utilise utilisez mets mettez ecrivez donne donnez garde gardez laisse laissez reponds repondez appelle parle envoie envoyez prends fais faites evite arrondis commence termine tutoie tutoie-moi vouvoie signe range attends previens indique precise explique respecte passe dis utiliza pon ponga ponme da dame manda mandame envia guarda deja responde contesta habla llama llamame haz avisa avise redondea empieza termina firma pasa incluye marca trata tratame manten respeta dime explica coloca coloque escreve mande envie deixa deixe responda fala fale chama chame faz faca arredonda comeca assina inclui inclua mantenha mantem respeita explique metti scrivi dammi invia tieni lascia rispondi parla chiama chiamami fai avvisa arrotonda inizia segna includi tratta mantieni spiega gebruik zet schrijf geef stuur bewaar laat antwoord spreek noem doe hou houd rond vermeld meld wacht anvand skriv skicka spara svara prata tala kalla hall borja avrunda lagg uzywaj pisz daj wyslij zostaw odpowiadaj nazywaj trzymaj zaczynaj podawaj dodawaj sprawdzaj yaz kullan gonder cevapla говори отвечаи пиши используи объясняи рассказываи записываи сохраняи веди храни показываи проверяи запускаи pouzivej odpovidej udrzuj zapisuj pis jawab gunakan simpan tulis catat brug svar bruk",
  orderOrNoun:
    "access address answer approach archive audit author balance bind block book branch bridge browse budget build bump cache call cap capture change charge check claim clean click clone code comment commit compile contact contract control copy cost count cover credit cross cut date deal debug default defer delay demand deploy design detail display document draft drop edit email encounter end escape exercise exit export extract factor feature fetch file fill filter fix flag flow focus fold force fork form format function gate go group guard guide handle help hook host import increase index inform input install interface issue iterate join label land layer lead leave level lift limit line link lint list load lock log look loop mail map mark mask match measure merge message mind mirror mock model monitor move mute name need object offer open order output own pack package page pair parse pass patch pause pay phase pin place plan play post practice preview price print process produce profile program project prompt pull purchase push query quote raise range rank rate reach read record refactor reference refresh release reply report request research reserve reset resort respect rest result retry return revert review rewrite risk roll root route run sample save scale scan schedule scope score search secure sense separate set shape share ship show sign size skip slot sort source spawn speed spend split squash stack stage standard start state step stop store stream stress string strip structure stub study style subject submit suffix summary supply support surface switch sync tag talk target task team test thread throw tie time title toggle top touch trace track trade train transfer transform trap treat trigger trim trust turn tweak type update upgrade upload use value vendor version view visit voice wait walk warm warn watch weigh wire work wrap write yield",
  rule: "rule rules policy policies constraint constraints guideline guidelines requirement requirements restriction restrictions condition conditions limitation limitations boundary boundaries agreement agreements convention conventions principle principles instruction instructions regla reglas norma normas politica politicas restriccion restricciones directriz regel regeln vorgabe vorgaben richtlinie richtlinien bedingung grundsatz hausregel hausregeln spielregel spielregeln grundregel grundregeln vereinbarung regle regles consigne consignes contrainte contraintes politique regra regras restricao diretriz regola regole beperking condicion condiciones condizione condizioni condicao condicoes voorwaarde voorwaarden huisregel huisregels afspraak afspraken binding verbindlich kural kurallar zasada zasady kurallarimiz regelt etiquette protocol ground-rules правило правила правил условия требования pravidlo pravidla aturan regler kurali kurallari wytyczne vereisten | always holds | holds for | applies to everything | immer gilt | gilt immer | gilt fur alles | vale siempre | vale para todo | vale sempre | vale para tudo | vale per tutto | vaut toujours | vaut pour tout | valable pour | valable partout | geldt altijd | geldt voor alles",
  stress:
    "important importantly critical crucial essential vital mandatory priority seriously strict strictly absolute absolutely hard firm golden standing ground house importante critico crucial esencial fundamental wichtig wichtiges entscheidend wesentlich essentiel capital primordial essencial fundamental importante belangrijk non-negotiable negotiable insist важно главное dulezite vigtig viktig penting onemli wazne",
  remember:
    "remember remembered memorize note noted remind reminder mind forget pin save memory record recuerda recuerde acuerdate apunta tenlo memoriza merk merke denk denke beachte beachten merken vergiss souviens rappelle rappelez retiens retenez note notez lembre lembra anote anota ricorda onthoud listen attention heed unutma aklinda pamietaj kom heads-up запомни помни учти zapamatuj pamatuj husk ingat catat zapamietaj | keep in mind | bear in mind | for the record | ten en cuenta | ten presente | im hinterkopf | garde en tete | garde a l'esprit | tenha em mente | take note | one thing",
  scope:
    "session conversation chat thread project repo repository codebase team company engagement workspace sesion conversacion charla proyecto equipo empresa sitzung gesprach projekt firma unterhaltung conversation projet equipe entreprise conversa projeto equipe sessao sessione progetto",
  past: "was were had did been yesterday ago told said wrote went came got made found used thought knew happened worked failed broke forgot noticed realized ayer fue era estaba habia dijo paso gestern war waren hatte wurde sagte hier etait avait dit ontem foi era tinha disse ieri gisteren igar dun wczoraj bylo byla byl blev был была было были вчера havde sudah tadi kemarin oldu | last week | last time | last month | used to",
  maybe:
    "maybe perhaps probably possibly might could would think guess suppose believe wonder wondering seems seem looks quizas tal parece creo vielleicht wahrscheinlich glaube denke scheint peut-etre pense crois semble talvez acho parece forse if possible kanske belki moze misschien возможно наверное думаю кажется mozna asi maske mungkin galiba",
  wh: "why what how who which where que como por quien cual donde warum was wie wer welche wo pourquoi quoi comment qui quel quelle ou quando porque onde qual perche come chi varfor vad hur vem neden nasil kim dlaczego waarom hoe почему что как кто где какои зачем proc jak kdo kde hvorfor hvad hvordan kenapa mengapa bagaimana apa gdzie co",
  aux: "is are am does do isn't aren't doesn't es son esta estan hay ist sind bin gibt est sont suis sao estao ha sono",
  shall: "can't won't couldn't wouldn't didn't wasn't weren't haven't hasn't hadn't",
  product:
    "user users customer customers visitor visitors button buttons form forms field page pages screen menu modal dashboard app endpoint api server database table column function method class component test tests input output password login website feature button usuario usuarios cliente clientes boton formulario pagina pantalla nutzer benutzer kunden kunde knopf formular seite utilisateur utilisateurs client clients bouton formulaire botao formulario tela pagina",
  artifact:
    "poster sign notice flyer leaflet sheet banner handbook manual faq prompt chatbot robot game application website plugin widget cli script program parser validator service dialog device firmware machine elevator gate bridge pump sensor alarm importer exporter crawler scraper compiler module library daemon scheduler queue job worker form bot agent's story poem song novel character plakat aushang schild merkblatt spiel programm maschine ampel brucke fahrstuhl affiche panneau jeu programme machine pont cartel letrero juego programa maquina puente cartaz aviso jogo programa maquina cartello gioco programma bord spel brug poster",
  output:
    "answer answers reply replies response responses summary summaries explanation explanations report reports draft drafts email emails mail mails message messages commit commits diff diffs comment comments code snippet snippets chart charts plot plots plan plans list lists table tables recipe recipes slide slides translation translations text texts letter letters estimate estimates protocol protocols minutes note notes suggestion suggestions review reviews variable names headline headlines caption captions paragraph paragraphs sentence sentences quote quotes figures amounts prices dates times numbers antworten antwort zusammenfassungen berichte entwurfe mails betrage zahlen preise daten texte ubersetzungen kommentare reponses reponse resumes rapports montants chiffres textes respuestas respuesta resumenes informes importes cifras textos respostas resumos relatorios valores risposte risposta riassunti rapporti importi cifre antwoorden antwoord samenvattingen rapporten bedragen",
  third:
    "he she they him her his hers their theirs someone somebody people boss manager auditor auditors consultant lawyer teacher doctor landlord neighbour neighbor colleague colleagues contract law article author journal committee council ministry regulator reviewers reviewer funder insurer insurance bank agency supplier's grandmother grandfather grandma sister brother mother father wife husband bylaws label satzung oma opa kunde grand-mere abuela abuelo avo nonna er ihm chef prufer gesetz vertrag il elle ils elles lui leur leurs ellos ellas auditor jefe ele ela eles elas chefe capo revisore wet baas он она они его их ему oni jeho deres mereka dia",
  usual:
    "whatever however ever shop anyone's habit habits customarily | for me | with me | to me | for us | with us | around here | in here | that's how | that is how | the way i | the way we | how i want | how we | as agreed | as always | as usual | like always | we're a | in this house | on our side | bei uns | bei mir | fur mich | mit mir | wie immer | wie vereinbart | chez nous | chez moi | pour moi | pour nous | avec moi | comme toujours | comme convenu | para mi | para nosotros | conmigo | como siempre | entre nosotros | para mim | para nos | comigo | como sempre | como combinado | da noi | per me | per noi | con me | come sempre | bij ons | voor mij | voor ons | zoals altijd | when it comes to | as to | as for | in terms of",
  swap: "instead rather anstatt statt anstelle plutot invece plaats lugar vez | rather than | instead of | and not | not the other | en lugar de | en vez de | em vez de | au lieu de | invece di | in plaats van",
  thanks:
    "thanks thank great perfect awesome nice cool ok okay yes yeah yep sure sorry hello hi hey gracias perfecto hola vale danke super hallo gut genau merci parfait bonjour oui obrigado obrigada perfeito ola sim grazie спасибо привет dzieki czesc dekuji ahoj tak hej terima merhaba tesekkurler",
  say: "says say said claims according told writes wrote mentioned heard asked asks demands demand insists requires require stipulates recommends advises reads dice dijo segun exige pide sagt sagte laut schrieb schreibt verlangt fordert steht dit selon exige demande disait diz disse segundo pede dice diceva vieta secondo zegt zei volgens eist",
  stays:
    "goes go gets get stays stay remains remain comes come belongs belong bleibt bleiben kommt kommen geht gehen bekommt bekommen reste restent vont queda quedan va van lleva llevan vai vao fica ficam recebe gaat gaan blijft blijven krijgt krijgen komen resta restano vanno viene vengono kalir kalsin gar far stannar idzie zostaje",
  once: "once | this one | this letter | this mail | this file | this chapter | this trip | this order | this report | this time | only today | just today | in dieser | in diesem | fur diese | fur diesen | cette lettre | pour cette | esta carta | para esta | nesta carta | para esta | in questa | per questa | in deze | voor deze",
  tongue:
    "english german deutsch french francais spanish espanol castellano portuguese portugues italian italiano russian русском русскии по-русски английском thai chinese mandarin japanese korean turkish turkce polish polski polsku dutch nederlands danish dansk swedish svenska norwegian norsk czech cesky cestine cestina indonesian arabic hindi hebrew greek ukrainian vietnamese ingles englisch anglais inglese engels engelsk engelska angielsku ingilizce anglicky language languages idioma sprache langue lingua taal jezyk jezyku dil dilinde sprak bahasa язык языке",
  craft:
    "commit commits committed committing push pushed pushes pushing merge merged merging pr prs rebase branch branches deploy deployed deploying deployment release lint linter prettier formatter typecheck changelog ci tests testing коммит коммиты коммить пуш пуши тесты commite commitea commiten commitar comitar pushen zacommituj | pull request | pull requests | version control",
  log: "prompt prompts history transcript chatlog log logs logged logging journal record recording historial historico historique verlauf protokoll registro история промпт промпты промптов prompty promptov promptu logu logowania historii historik qlog | chat history | prompt history",
  rulefile:
    "qrules claude agents memory memories cursorrules | system rule | system rules | system prompt | your instructions | your memory | your notes",
  step: "step steps phase phases milestone milestones part parts piece pieces chunk chunks stage incrementally paso pasos schritt schritte schrittweise etape etapes passo passos passi fase fasen stap stappen krok kroki kroku krokach adim шаг шагу шаги | one by one | step by step | at a time | uno por uno | um por um | una alla volta | krok za krokem | adim adim",
  view: "button buttons page pages screen menu modal navbar sidebar header footer card cards icon icons color colour colors colours background font fonts margin padding animation animations layout landing hero section sections dropdown tooltip tab tabs popup toast scroll hover mobile desktop responsive theme css tailwind logo image images boton pantalla color colores fondo fuente imagen seite knopf farbe hintergrund schrift bouton couleur fond botao cor tela tasto colore sfondo knop scherm kleur knap farve przycisk przyciski strona kolor ekran buton butonlar sayfa renk кнопка кнопки страница цвет экран меню tlacitko stranka barva tombol halaman warna ui ux frontend",
  data: "database table tables column columns row rows schema field fields model models entity endpoint endpoints route routes api request requests payload json query queries backend server token tokens auth login password account accounts balance invoice invoices datos tabla campo campos datenbank tabelle feld felder champ champs banco tabela tabella baza tabeli kolumna таблица база данные поле db sql csv",
}

/** Endings in scripts without blanks between words, by class: looked for anywhere in a run of them. */
const wideTable: Readonly<Record<string, string>> = {
  never:
    "绝不 永远不 从不 决不 绝对不 千万不 千万别 切勿 严禁 任何情况下都不 絶対に 決して 一切 禁じ 절대 절대로 결코 絶対 絕不 永遠不 從不 決不 絕對不 千万別 嚴禁",
  always:
    "总是 始终 一律 永远 务必 一定要 必ず 常に いつも 항상 반드시 늘 매번 언제나 꼭 毎回 每次都 都要 一概 统一 總是 永遠 統一",
  lasting:
    "以后 今后 从现在起 从现在开始 从今 往后 接下来 全程 今後 これから 以降 앞으로 지금부터 이제부터 이후로 平时 持续 不断 保持更新 随时更新 維持 계속 続け ずっと 계쏙 จากนี้ไป 以後 從現在起 從現在開始 從今 往後 接下來 平時 随時更新",
  general:
    "每次 每当 凡是 无论 不管 只要 一般 通常 原则上 毎回 常時 基本的に 原則 たびに 場合は 都度 凡 每一次 每轮 每輪 每回合 每步 ごとに 毎に 마다 ทุกครั้ง 每當 無論 原則上",
  must: "必须 须 应当 应该 得先 要先 需要 ければなりません なければならない べき すること 해야 야 해 ようにし ように せよ しろ とする 要用 得用 하도록 해라 必須 須 應當 應該",
  dont: "不要 别 不得 不准 不许 不能 勿 请勿 避免 ないでください しないで 避けて てはいけ ないこと 하지 마 지 지마 말고 말아 않습니다 ないで やめて 别给 するな ไม่ต้อง อย่า 別 不許 請勿 別給",
  forbid: "禁止 严禁 不允许 禁じ 금지 嚴禁 不允許",
  only: "只能 只允许 仅限 只用 只在 只 だけ のみ しか 만 僅 เท่านั้น 只允許 僅限",
  limit: "最多 不超过 上限 至少 限额 以内 以下 以上 まで 超え 不超過 超过 超過 高于 低于 多于",
  every: "所有 任何 全部 每个 每 都 全て すべて どんな 모든 各 每一 毎 모두 전부 매 각 ทุก 每個",
  if: "如果 要是 若 的话 もし たら なら 場合 만약 면 라면",
  when: "时候 时 当 とき 時 際 때 땐 때는 ときは 時は 時候 當",
  before: "之前 前 先 前に まえに まず 전에",
  unless: "除非 除了 未经 没有我的 以外 限り ない限り 沒有我的",
  ask: "问我 先问 征得 同意 批准 确认 许可 授权 审批 確認 許可 承認 聞いて 相談 확인 물어 확인받 허락 승인 問我 先問 确認 授權 審批",
  prefer: "喜欢 更希望 偏好 最好 优先 尽量 希望 好み てほしい なるべく できれば 優先 宁愿 宁可 喜歡 盡量 寧愿 寧可",
  please:
    "请 麻烦 ください お願い 주세요 줘 해줘 주십시오 ほしい 欲しい お願いします 부탁 해주세요 กรุณา 下さい 請 麻煩",
  you: "你 您 助手 あなた 너는 너의 妳",
  i: "我 私 僕 나는 내가 저는 俺 ฉัน ผม",
  we: "我们 咱们 私たち 弊社 当社 우리 我々 我們 咱們 當社",
  this: "这个 这 那个 那 これ それ この その 이거 이것 그거 该 此 這個 這 那個 該",
  now: "现在 今天 明天 刚才 先把 今 今日 明日 さっき とりあえず 지금 今回 目前 当前 ตอนนี้ 現在 當前",
  rule: "规则 规定 政策 要求 约定 原则 规范 条件 规矩 约束 遵守 ルール 規則 方針 決まり 制約 規定 約束 守って 규칙 约好 说好 決めて 원칙 规约 กฎ 約定 原則 規範 規矩 約好 說好 規約",
  stress: "重要 关键 注意 务必 大事 必須 关鍵",
  remember: "记住 牢记 记得 覚え 忘れ 留意 念のため 기억 메모 จำ 記住 牢記 記得",
  past: "了 昨天 ました でした だった 昨日 했어 었어 았어 했는데 していた 过了 過了 过的 過的",
  ask2: "吗 呢 什么 为什么 怎么 ですか ますか でしょうか なぜ どう か？ 까요 왜 뭐 어떻게 나요 인가 の？ 嗎 什麼 為什麼 怎麼",
  maybe: "可能 也许 好像 觉得 かもしれ と思 たぶん 也許 覺得",
  product: "用户 按钮 页面 表单 ユーザー ボタン 画面 사용자 버튼 화면 페이지 使用者 用戶 按鈕 頁面 表單",
  task: "帮我 把 写 改 修 翻译 看看 して 直して 書いて 作って 추가 수정 만들어 고쳐 변경 삭제 生成 添加 修复 删除 优化 实现 新增 修正 追加 削除 作成 実装 แก้ ทำ เพิ่ม 幫我 寫 翻譯 優化 实現",
  not: "않 없 没 ない ません 沒",
  tongue: "中文 英文 英语 英語 日本語 日文 韩文 韓文 한국어 영어 한글 繁體 繁体 简体 簡體 ภาษา 粤语",
  craft: "提交 推送 部署 测试 コミット プッシュ マージ テスト ビルド 커밋 푸시 배포 테스트 빌드",
  log: "记录 日志 历史 歷史 履歴 記録 ログ 히스토리 기록 로그 対話 대화 对话 提示词 プロンプト 프롬프트 追記 追加到 存档 記录 對话",
  rulefile: "记忆 記憶 메모리 ルールに 規約に 記忆",
  step: "步骤 步驟 一步 逐步 分步 一個一個 一个一个 ステップ 段階 단계 하나씩",
  view: "画面 页面 按钮 界面 颜色 背景 字体 图标 图片 布局 样式 ボタン レイアウト 色 表示 화면 페이지 버튼 색 폰트 배경 頁面 按鈕",
  data: "数据 資料 数据库 字段 接口 表格 后端 前端 データ テーブル 데이터 테이블 서버 账户 订单 後端 账戶 订單",
}

/** The names of the classes in order: a class is known by its place. */
export const classNames: readonly string[] = [...new Set([...Object.keys(table), ...Object.keys(wideTable), "plural"])]

const placeOf = (name: string): number => classNames.indexOf(name)

/** A phrase that a word opens: the numbers of the words behind it, and its class. */
type Phrase = { readonly rest: readonly number[]; readonly place: number }

/** The table by words. `numbers` has the words that stand inside phrases, so that a phrase is compared without reading letters. */
type Tables = {
  readonly words: ReadonlyMap<string, readonly number[]>
  readonly phrases: ReadonlyMap<string, readonly Phrase[]>
  readonly numbers: ReadonlyMap<string, number>
}

const tables = lazy((): Tables => {
  const words = new Map<string, number[]>()
  const phrases = new Map<string, Phrase[]>()
  const numbers = new Map<string, number>()
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size + 1
    numbers.set(word, known)
    return known
  }
  for (const [place, entry] of Object.values(table).entries()) {
    const [single = "", ...longer] = entry.split("|")
    for (const word of single.trim().split(" ")) words.set(word, [...(words.get(word) ?? []), place])
    for (const phrase of longer) {
      const [first = "", ...rest] = phrase.trim().split(" ")
      phrases.set(first, [...(phrases.get(first) ?? []), { rest: rest.map(numberOf), place }])
    }
  }
  return { words, phrases, numbers }
})

/** A word or a joint, with what is known of it by itself. */
type Word = {
  readonly text: string
  /** Of the word, if the model knows it, and of its form if not: a word that nothing was learnt of says nothing by its letters. */
  readonly hash: number
  /** A sign at which a sentence parts. */
  readonly isJoint: boolean
  /** In a script that puts no blanks between words. */
  readonly isUnspaced: boolean
  /** People start sentences with it, and it says nothing of them. */
  readonly isOpener: boolean
  /** Its classes by their places in `classNames`. */
  readonly places: readonly number[]
  /** The phrases that it opens, each with the classes that the word then has. */
  readonly phrases: readonly { readonly rest: readonly number[]; readonly places: readonly number[] }[]
  /** Its number if it stands inside a phrase, or zero. */
  readonly number: number
  /** Its first letters and its last ones, as numbers: an unknown word is often a form of a known one. */
  readonly head: number
  readonly ending: number
}

/** A folded sentence as its words and joints; `places` has the classes of each, a phrase's at its first word. */
export type Reading = {
  readonly text: string
  readonly words: readonly Word[]
  readonly places: readonly (readonly number[])[]
  /** The classes of all words, each once, in the order of the text, and the same as a set. */
  readonly classes: readonly number[]
  readonly set: ClassSet
  /** The signs behind its last letter or digit. */
  readonly tail: string
}

/** Classes as bits by their places in `classNames`, of which there are no more than 64. */
export type ClassSet = { readonly low: number; readonly high: number }

/** The classes of the given names by their places. */
export const classPlaces = (names: string): readonly number[] => names.split(" ").map(placeOf)
/** The same as a table: whether each class is among them. */
export const among = (names: string): Uint8Array => {
  const places = classPlaces(names)
  return Uint8Array.from(classNames, (_, of) => Number(places.includes(of)))
}
/** The first of some classes that is among others. */
export function firstAmong(places: readonly number[] | undefined, table: Uint8Array): number | undefined {
  if (places !== undefined) for (const of of places) if (table[of] === 1) return of
  return undefined
}
export const hasAny = (places: readonly number[] | undefined, table: Uint8Array): boolean =>
  firstAmong(places, table) !== undefined

export const classSet = (names: string): ClassSet => setOf(classPlaces(names))

function setOf(places: readonly number[]): ClassSet {
  let [low, high] = [0, 0]
  for (const place of places)
    if (place < 32) low |= 1 << place
    else high |= 1 << (place - 32)
  return { low, high }
}

/** Have two sets a class in common? */
export const sharesClass = (one: ClassSet, two: ClassSet): boolean =>
  ((one.low & two.low) | (one.high & two.high)) !== 0

/** Words that people start sentences with and that say nothing of what the sentence is. */
const openers: ReadonlySet<string> = new Set(
  "please and but so also ok okay oh well then just yes no hey hi yeah btw y e und et bitte also aber mais pero mas kindly".split(
    " ",
  ),
)

/** The marks of Japanese sounds are taken off a folded text, so they are taken off the table as well. */
const withoutMarks = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC")

const none: readonly never[] = []

type WideSign = { readonly sign: string; readonly place: number; readonly at: number }

/** The entries of the table by their first sign, each list in the order of classes. */
const wide = lazy((): ReadonlyMap<string, readonly WideSign[]> => {
  const entries = Object.entries(wideTable).flatMap(([name, signs]) =>
    withoutMarks(signs)
      .split(" ")
      .map((sign) => ({ sign, place: placeOf(name) })),
  )
  const byClass = entries.toSorted((one, two) => one.place - two.place).map((entry, at) => ({ ...entry, at }))
  return Map.groupBy(byClass, ({ sign }) => sign.charAt(0))
})

/** The classes of a run of a script without blanks, in the order of the text; each entry of the table counts once. */
function wideClasses(run: string): readonly number[] {
  const found: number[] = []
  const seen = new Set<number>()
  for (let start = 0; start < run.length; start++)
    for (const { sign, place, at } of wide().get(run.charAt(start)) ?? none)
      if (run.startsWith(sign, start) && !seen.has(at)) {
        seen.add(at)
        found.push(place)
      }
  return found
}

const token = new RegExp(
  `[\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af]+|[${letters}]+(?:['’-][${letters}]+)*|[?!:;,(]|[。！？：；，、]|[-–—]{1,2}(?=\\s)|[0-9]+|[→%$€£]`,
  "g",
)
const unspaced = /^[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/

/** The signs behind the last letter or digit of a text, which is given as signs as well. */
function tailOf(text: string, signs: Uint16Array): string {
  let start = text.length
  while (start > 0 && !isLetter(signs[start - 1] ?? 0)) start--
  return start === text.length ? "" : text.slice(start)
}

function isLetter(code: number): boolean {
  if (code < 128) return kindOfSign[code] === ofWord || kindOfSign[code] === ofNumber
  return letterOrDigit.test(String.fromCharCode(code))
}
const letterOrDigit = /[\p{L}\p{N}]/u

/** Does a token stand in a script that puts no blanks between words? */
export const isUnspacedToken = (text: string): boolean => unspaced.test(text)

const joint = /^[:;,(：；，、—–-]/

export function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193)
  return hash
}

/** Words that are read by their letters: those of the table, and those that stood often enough in what the model learnt from. */
const learnt = lazy((): ReadonlySet<string> => new Set(knownList.split(" ")))

/** A word that is not known, as its form. */
function formOf(text: string): string {
  if (text.length > 5 && text.endsWith("ing")) return "<ing>"
  if (text.length > 4 && text.endsWith("ed")) return "<ed>"
  if (text.length > 4 && text.endsWith("ly")) return "<ly>"
  return isPlural(text) ? "<plural>" : "<word>"
}

function makeWord(text: string): Word {
  // Most words start with a letter of ASCII, which needs no pattern to tell.
  const startsWithLetter = isLetter(text.charCodeAt(0))
  const isUnspaced = text.charCodeAt(0) >= 0x0e00 && unspaced.test(text)
  const isSign = !startsWithLetter && !letterOrDigit.test(text)
  const { words, phrases, numbers } = tables()
  const isRead = isUnspaced || isSign || learnt().has(text) || words.has(text) || phrases.has(text)
  const places = isUnspaced ? wideClasses(text) : placesOfWord(text)
  return {
    text,
    hash: hashOf(isRead ? text : formOf(text)),
    isJoint: !startsWithLetter && joint.test(text),
    isUnspaced,
    isOpener: openers.has(text),
    places,
    phrases: isUnspaced
      ? none
      : (phrases.get(text) ?? none).map(({ rest, place }) => ({ rest, places: [place, ...places] })),
    number: numbers.get(text) ?? 0,
    ...partsOf(isUnspaced || isSign ? "" : text),
  }
}

/** Letters of a word from which on it has parts, and of its parts. */
const [leastParted, headLength, endingLength] = [5, 4, 3]
const noParts = { head: 0, ending: 0 }

/** A word that stands for what was put aside starts with "q", and has none. */
const partsOf = (text: string): Pick<Word, "head" | "ending"> =>
  text.length < leastParted || text.startsWith("q")
    ? noParts
    : { head: hashOf(text.slice(0, headLength)), ending: hashOf(text.slice(-endingLength)) }

/** Does a word do something in a sentence, whatever the sentence is about? */
export const hasClass = (word: string): boolean => tables().words.has(word)

/** Things of a kind, as most languages of the table mark them: "keep summaries short" speaks of all of them. */
const plural = /^[a-z]{3,}[^su\W\d]s$/
const isPlural = (text: string): boolean => text.endsWith("s") && plural.test(text)
const pluralPlace = placeOf("plural")

function placesOfWord(text: string): readonly number[] {
  const known = tables().words.get(text) ?? none
  return isPlural(text) ? [...known, pluralPlace] : known
}

/** Words of ASCII that are kept, each at one of two places by its hash. Length and letters stand together, apart from what is known of the word. */
const maxWords = 1 << 15
const keptBytes = 16
const keptWords: (Word | undefined)[] = new Array(maxWords)
const keptLetters = new Uint8Array(maxWords * keptBytes)

/** The word that stands at a place of a text of ASCII, known by the hash of its letters. */
function wordAt(signs: Uint16Array, start: number, end: number, hash: number): Word {
  const place = (hash ^ (hash >>> 15)) & (maxWords - 1)
  if (isKeptAt(place, signs, start, end)) return keptWords[place] ?? makeWord(textOfCodes(signs, start, end))
  const second = place ^ 1
  if (isKeptAt(second, signs, start, end)) return keptWords[second] ?? makeWord(textOfCodes(signs, start, end))
  const made = makeWord(textOfCodes(signs, start, end))
  if (end - start < keptBytes) keepAt(keptWords[place] === undefined ? place : second, signs, start, end, made)
  return made
}

function isKeptAt(place: number, signs: Uint16Array, start: number, end: number): boolean {
  const first = place * keptBytes
  if (keptLetters[first] !== end - start) return false
  for (let at = start, kept = first + 1; at < end; at++, kept++) if (keptLetters[kept] !== signs[at]) return false
  return true
}

function keepAt(place: number, signs: Uint16Array, start: number, end: number, word: Word): void {
  const first = place * keptBytes
  keptWords[place] = word
  keptLetters[first] = end - start
  for (let at = start; at < end; at++) keptLetters[first + 1 + at - start] = signs[at] ?? 0
}

/** Words of other letters that are kept: all are let go when there are so many. */
const maxOthers = 4096
const others = new Map<string, Word>()

function wordOf(text: string): Word {
  const known = others.get(text)
  if (known !== undefined) return known
  const made = makeWord(text)
  if (text.length > maxKept) return made
  if (others.size >= maxOthers) others.clear()
  others.set(text, made)
  return made
}
const maxKept = 20

/** The signs of what is being read: a part of a string is slow to go through sign by sign, and it is gone through several times. */
let scratch = new Uint16Array(4096)

/** The signs of a stretch of a text. The array is used again for the next one, and is longer than the stretch. */
export function signsOf(text: string, start: number, end: number): Uint16Array {
  if (scratch.length < end - start) scratch = new Uint16Array(2 * (end - start))
  const signs = scratch
  for (let at = start; at < end; at++) signs[at - start] = text.charCodeAt(at)
  return signs
}

/** What the signs of ASCII are to the scanner: parts of words, digits, and signs that are a word of their own. */
const [ofWord, ofNumber, alone, within, dash] = [1, 2, 3, 4, 5]
const kindOfSign: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code)
  if (/[a-z]/i.test(sign)) return ofWord
  if (/\d/.test(sign)) return ofNumber
  if (/[?!:;,(%$]/.test(sign)) return alone
  return sign === "'" ? within : sign === "-" ? dash : 0
})

/** Where the word, number or sign ends that starts at a place. The same as `token` finds, for a text of ASCII. */
function endOfToken(signs: Uint16Array, length: number, start: number): number {
  const kindAt = (at: number): number => (at < length ? (kindOfSign[signs[at] ?? 0] ?? 0) : 0)
  const kind = kindAt(start)
  let at = start + 1
  if (kind === ofNumber) while (kindAt(at) === ofNumber) at++
  if (kind === dash) {
    const end = kindAt(at) === dash && at + 1 < length && isBlank(signs[at + 1] ?? 0) ? at + 1 : at
    return end > at || (at < length && isBlank(signs[at] ?? 0)) ? end : start
  }
  if (kind === ofWord)
    for (;;) {
      while (kindAt(at) === ofWord) at++
      const sign = kindAt(at)
      if ((sign !== within && sign !== dash) || kindAt(at + 1) !== ofWord) break
      at++
    }
  return at
}

const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/** The words of a text of ASCII, without a pattern; of another text none. */
function scanWords(signs: Uint16Array, length: number): readonly Word[] | undefined {
  const found: Word[] = []
  for (let at = 0; at < length; ) {
    const code = signs[at] ?? 0
    if (code >= 128) return undefined
    const kind = kindOfSign[code] ?? 0
    const end = kind === 0 || kind === within ? at : endOfToken(signs, length, at)
    if (end > at) {
      let hash = 0x811c9dc5
      for (let n = at; n < end; n++) hash = Math.imul(hash ^ (signs[n] ?? 0), 0x01000193)
      found.push(wordAt(signs, at, end, hash))
      at = end
    } else at++
  }
  return found
}

/** Tokens of one sentence; what is longer is read at its two ends. */
const maxTokens = 120

const bothEnds = <Token>(found: readonly Token[]): readonly Token[] =>
  found.length > maxTokens ? [...found.slice(0, maxTokens / 2), ...found.slice(-maxTokens / 2)] : found

/** The words and joints of a folded sentence. */
export const tokensOf = (text: string): readonly string[] => bothEnds(text.match(token) ?? none)

/** A folded sentence, read once for all that is asked of it. */
export const readWords = (text: string): Reading => readSigns(text, signsOf(text, 0, text.length))

/** The same, given as signs as well. */
export function readSigns(text: string, signs: Uint16Array): Reading {
  const tail = tailOf(text, signs)
  const scanned = scanWords(signs, text.length)
  const words = scanned === undefined ? tokensOf(text).map(wordOf) : bothEnds(scanned)
  const places: (readonly number[])[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]
    if (word === undefined) break
    places.push(word.phrases.length === 0 ? word.places : placesAt(word, words, at))
  }
  return { text, words, places, ...classesOf(places), tail }
}

/** A stretch of a sentence that was read. */
export const readingOf = (words: Reading["words"], places: Reading["places"]): Reading => ({
  text: words.map((word) => word.text).join(" "),
  words,
  places,
  ...classesOf(places),
  tail: "",
})

function classesOf(places: Reading["places"]): Pick<Reading, "classes" | "set"> {
  const classes: number[] = []
  let [low, high] = [0, 0]
  for (let at = 0; at < places.length; at++) {
    const own = places[at] ?? none
    for (let n = 0; n < own.length; n++) {
      const place = own[n] ?? 0
      const bit = 1 << (place & 31)
      if (((place < 32 ? low : high) & bit) !== 0) continue
      if (place < 32) low |= bit
      else high |= bit
      classes.push(place)
    }
  }
  return { classes, set: { low, high } }
}

/** Where nothing stands. */
export const noReading: Reading = readWords("")

function placesAt(word: Word, all: readonly Word[], at: number): readonly number[] {
  for (let n = 0; n < word.phrases.length; n++) {
    const phrase = word.phrases[n]
    if (phrase !== undefined && standsBehind(phrase.rest, all, at)) return phrase.places
  }
  return word.places
}

function standsBehind(rest: readonly number[], all: readonly Word[], at: number): boolean {
  if (at + rest.length >= all.length) return false
  for (let n = 0; n < rest.length; n++) if (all[at + 1 + n]?.number !== rest[n]) return false
  return true
}

/** The names of the classes that the words of a folded text have. */
export const classesIn = (text: string): ReadonlySet<string> =>
  new Set(readWords(text).classes.map((place) => classNames[place] ?? ""))
