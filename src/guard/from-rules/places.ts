import { lazy } from "../../language/lazy.ts"

type Place = readonly [name: RegExp, regions: string]

const placesOf = (table: readonly (readonly [names: string, regions: string])[]): readonly Place[] =>
  table.map(([names, regions]) => [new RegExp(`(?<![\\p{L}-])(?:${names})(?![\\p{L}-])`, "gu"), regions])

/** Regions of the large clouds by where they stand. Those of the European Union leave out London, Zurich and Norway. */
export const places: readonly Place[] = placesOf([
  [
    "(?:the )?(?:eu|european union|europäischen? union|union européenne|ue|unión europea)(?: regions?)?",
    "eu-west-1 eu-west-3 eu-central-1 eu-north-1 eu-south-1 eu-south-2 europe-west1 europe-west3 europe-west4 europe-west8 europe-west9 europe-west10 europe-west12 europe-central2 europe-north1 europe-north2 europe-southwest1 westeurope northeurope germanywestcentral germanynorth francecentral francesouth swedencentral swedensouth italynorth polandcentral spaincentral austriaeast belgiumcentral",
  ],
  ["germany|deutschland|allemagne|alemania", "eu-central-1 europe-west3 europe-west10 germanywestcentral germanynorth"],
  [
    "the (?:us|u\\.s\\.|usa|united states)|us regions?|usa|united states",
    "us-east-1 us-east-2 us-west-1 us-west-2 us-gov-east-1 us-gov-west-1 us-east1 us-east4 us-east5 us-central1 us-west1 us-west2 us-west3 us-west4 us-south1 eastus eastus2 westus westus2 westus3 centralus northcentralus southcentralus westcentralus",
  ],
  ["(?:switzerland|swiss|schweiz)(?: regions?)?", "eu-central-2 europe-west6 switzerlandnorth switzerlandwest"],
  ["the (?:uk|united kingdom)|uk regions?|united kingdom", "eu-west-2 europe-west2 uksouth ukwest"],
  ["france|frankreich", "eu-west-3 europe-west9 francecentral francesouth"],
  ["ireland", "eu-west-1 northeurope"],
  ["frankfurt", "eu-central-1 europe-west3 germanywestcentral"],
])

/**
 * Places whose names are words of everyday talk: they are regions only beside words for what runs in one. A field of a tool may have the
 * name in the place of the code, so it is one of the values.
 */
const everydayPlaces: readonly (readonly [names: string, regions: string])[] = [
  ["allemagne|alemanha|germania|duitsland", "eu-central-1 europe-west3 europe-west10 germanywestcentral germanynorth"],
  [
    "(?:us|american|américaines?|amerikanischen?) (?:regions?|régions?|regionen)|(?:regions?|régions?) américaines?|états-unis|estados unidos|stati uniti|vereinigten staaten|verenigde staten",
    "us-east-1 us-east-2 us-west-1 us-west-2 us-gov-east-1 us-gov-west-1 us-east1 us-east4 us-east5 us-central1 us-west1 us-west2 us-west3 us-west4 us-south1 eastus eastus2 westus westus2 westus3 centralus northcentralus southcentralus westcentralus",
  ],
  ["(?:suisse|suiza|suíça|svizzera|zwitserland)", "eu-central-2 europe-west6 switzerlandnorth switzerlandwest"],
  ["frança|frankrijk", "eu-west-3 europe-west9 francecentral francesouth"],
  ["irland|irlande|irlanda|ierland|dublin", "eu-west-1 northeurope"],
  ["berlin", "europe-west10"],
  ["london", "eu-west-2 europe-west2 uksouth"],
  ["paris", "eu-west-3 europe-west9 francecentral"],
  ["zurich|zürich", "eu-central-2 europe-west6 switzerlandnorth"],
  ["sweden|schweden|suède|suecia|suécia|svezia|zweden|stockholm", "eu-north-1 europe-north2 swedencentral swedensouth"],
  ["norway|norwegen|norvège|noruega|norvegia|noorwegen|oslo", "norwayeast norwaywest norway"],
  ["finland|finnland|finlande|finlandia", "europe-north1"],
  ["poland|polen|pologne|polonia|warsaw|warschau", "europe-central2 polandcentral"],
  ["italy|italien|italie|italia|itália|milan|mailand|milano", "eu-south-1 europe-west8 europe-west12 italynorth"],
  ["spain|spanien|espagne|españa|espanha|spagna|spanje|madrid", "eu-south-2 europe-southwest1 spaincentral"],
  [
    "(?:the )?netherlands|niederlanden?|pays-bas|países bajos|nederland|paesi bassi|amsterdam",
    "europe-west4 westeurope",
  ],
  ["belgium|belgien|belgique|bélgica|belgio|belgië|brussels", "europe-west1 belgiumcentral"],
  ["austria|österreich|autriche|áustria|oostenrijk|vienna", "austriaeast"],
  [
    "canada|kanada|canadá|montreal|toronto",
    "ca-central-1 ca-west-1 northamerica-northeast1 northamerica-northeast2 canadacentral canadaeast",
  ],
  ["virginia", "us-east-1 us-east4 eastus eastus2"],
  ["ohio", "us-east-2 us-east5"],
  ["oregon", "us-west-2 us-west1"],
  ["brazil|brasilien|brésil|brasil|brasile|são paulo|sao paulo", "sa-east-1 southamerica-east1 brazilsouth"],
  ["singapore|singapur|singapour|singapura", "ap-southeast-1 asia-southeast1 southeastasia"],
  ["tokyo|tokio|東京", "ap-northeast-1 asia-northeast1 japaneast"],
  ["osaka|大阪", "ap-northeast-3 asia-northeast2 japanwest"],
  [
    "japan|japon|japón|japão|giappone",
    "ap-northeast-1 ap-northeast-3 asia-northeast1 asia-northeast2 japaneast japanwest",
  ],
  ["seoul", "ap-northeast-2 asia-northeast3 koreacentral"],
  ["(?:south )?korea|südkorea|corée(?: du sud)?", "ap-northeast-2 asia-northeast3 koreacentral koreasouth"],
  ["sydney", "ap-southeast-2 australia-southeast1 australiaeast"],
  [
    "australia|australien|australie|austrália",
    "ap-southeast-2 ap-southeast-4 australia-southeast1 australia-southeast2 australiaeast australiasoutheast australiacentral",
  ],
  ["mumbai", "ap-south-1 asia-south1 westindia"],
  ["india|indien|inde|índia", "ap-south-1 ap-south-2 asia-south1 asia-south2 centralindia southindia westindia"],
  [
    "china|chine|kina|beijing|shanghai",
    "cn-north-1 cn-northwest-1 chinaeast chinaeast2 chinaeast3 chinanorth chinanorth2 chinanorth3 cn-hangzhou cn-shanghai cn-beijing cn-shenzhen",
  ],
  ["hong ?kong", "ap-east-1 asia-east2 eastasia"],
  ["taiwan", "asia-east1"],
  ["indonesia|indonesien|jakarta", "ap-southeast-3 asia-southeast2 indonesiacentral"],
  ["israel|tel aviv", "il-central-1 me-west1 israelcentral"],
  ["(?:the )?(?:uae|emirates)|dubai", "me-central-1 uaenorth uaecentral"],
  ["saudi arabia", "me-central2 saudicentral"],
  ["south africa|südafrika|johannesburg", "af-south-1 africa-south1 southafricanorth southafricawest"],
  ["mexico|méxico|mexiko|mexique", "mx-central-1 northamerica-south1 mexicocentral"],
  ["chile", "southamerica-west1 chilecentral"],
  ["russia|russland|russie|rusia|rússia|moscow", "ru-central1 ru-moscow"],
  ["turkey|türkei|turquie|turquía|istanbul", "tr-west-1"],
  [
    "belarus|iran|north korea|syria|cuba|ukraine|portugal|greece|denmark|czechia|hungary|romania|luxembourg|liechtenstein|iceland",
    "",
  ],
]

export const morePlaces = lazy(() => placesOf(everydayPlaces))
