import type { Operator } from "./survival-operators.ts"

/**
 * Words of German, French and Portuguese, so that what is said around a rule of theirs is understood; ideas are compared by their words
 * alone there. Forms that mean something else in English or Spanish are left out.
 */
export const operatorsAbroad: Readonly<Partial<Record<Operator, string>>> = {
  not: "nicht kein keine keinen keinem keiner nichts niemand nirgends niemals nie auf_keinen_fall keinesfalls unter_keinen_umstanden nao",
  concord: "ne pas jamais aucun aucune rien nenhum nenhuma ninguem nem",
  forbid: "verboten untersagt unzulassig verbietet interdit interdite interdits interdites proibido proibida vedado",
  require:
    "muss mussen musst immer stets erforderlich pflicht zwingend notig notwendig verpflichtet doit doivent dois devez toujours obligatoire faut necessaire deve devem sempre obrigatorio precisa precisam",
  should: "soll sollen sollte sollten sollst devrait devraient deveria deveriam",
  soft: "moglichst versuche versuchen versuch lieber bevorzugt vorzugsweise idealerweise vermeide vermeiden normalerweise meistens ublicherweise wenn_moglich nach_moglichkeit empfohlen ratsam eventuell vielleicht grundsatzlich essayez essaie essayer evitez evite eviter preferable si_possible normalement generalement idealement tente tentar preferencialmente geralmente se_possivel",
  permit:
    "darf durfen darfst kann konnen kannst erlaubt gestattet zulassig peut peuvent peux pouvez permis permise autorise autorisee pode podem permitida",
  waive:
    "nicht_notig nicht_mehr_notig nicht_erforderlich nicht_mehr_erforderlich nicht_notwendig nicht_mehr_notwendig muss_nicht mussen_nicht musst_nicht brauchst_nicht brauchen_nicht freiwillig facultatif facultative inutile pas_besoin plus_necessaire plus_obligatoire pas_necessaire pas_obligatoire nao_precisa nao_precisam nao_e_necessario desnecessario",
  only: "nur ausschliesslich ausschlielich lediglich seulement uniquement exclusivement somente apenas",
  beyond: "ausserhalb außerhalb extern externe externen externer externes fora",
  except:
    "ausser außer es_sei_denn ausgenommen ausnahme ausnahmen bis mit_ausnahme sauf excepte hormis jusqu jusque exceto a_nao_ser excecao excecoes",
  without: "ohne sans sem",
  before: "bevor vor avant",
  above: "uber mehr_als mindestens ubersteigt uberschreitet plus_de au_moins mais_de acima",
  below: "unter weniger_als hochstens maximal bis_zu moins_de au_plus abaixo",
  every: "alle allen jeder jede jedes jeden samtliche toutes chaque",
  some: "vorerst heute vorlaufig einige manche teilweise momentan diese_woche quelques",
  lapse:
    "nicht_mehr aufgehoben zuruckgezogen widerrufen ungultig veraltet hinfallig ignoriere ignorieren vergiss ausser_kraft außer_kraft abgeschafft uberholt uberholte uberholten veraltete veralteten aufgehobene widerrufene ungultige gestrichene gestrichen obsolet entfallt entfallen ne_s_applique_plus n_est_plus ne_sont_plus ne_vaut_plus ne_plus annulee levee leve abrogee abroge perime perimee ignorez oubliez revoquee supprimee caduque revogada revogado suspensa nao_vale_mais nao_se_aplica nao_mais",
  former:
    "fruher fruhere fruheren fruheres ehemals ehemalige bisher bisherige damals vormals ursprunglich ancien ancienne anciens anciennes auparavant autrefois precedente antiga antigo",
  false:
    "falsch unwahr scherz witz irrtum irrtumlich angeblich gelogen faux fausse erreur plaisanterie mentira brincadeira",
  hedge:
    "beispiel beispiele zum_beispiel angenommen vorschlag entwurf erwahnte ob hypothetisch jemand exemple exemples supposons brouillon quelqu exemplo",
  rule: "regel regeln vorgabe vorgaben richtlinie richtlinien vorschrift vorschriften anweisung anweisungen beschrankung verbot anforderung regle regles consigne consignes politique exigence regra regras restricao instrucao",
  pronoun: "dies diese dieser dieses diesen das obige obigen cette cela ceci celle celui essa esse isso isto",
  condition: "wenn falls sobald wahrend bei nach seit quand lorsque pendant quando durante",
  past: "wurde wurden hatte hatten",
  reason: "weil damit sonst parce car porque",
  light:
    "der die den dem ein eine einen einem einer und oder ist sind sei zu zum zur an auf mit von im werden wird du sie ihr wir uns unser unsere bitte auch noch weiterhin folgende folgendes folgenden gilt gelten benutzer wichtig les des du et est sont aux au dans sur par pour qui vous disait l d n s c qu de la nous il votre suivante suivant utilisateur os um uma dos em ao usuario",
}
