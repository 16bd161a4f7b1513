/** The languages that the shops of a trial speak. */
export const LANGUAGES = ['hr', 'de', 'cs', 'pl', 'it', 'fr', 'en', 'nl'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Words that titles are made of, one row per meaning, in the order of `LANGUAGES`. */
const ROWS = [
  'kava|Kaffee|káva|kawa|caffè|café|coffee|koffie',
  'čaj|Tee|čaj|herbata|tè|thé|tea|thee',
  'sok|Saft|džus|sok|succo|jus|juice|sap',
  'pivo|Bier|pivo|piwo|birra|bière|beer|bier',
  'vino|Wein|víno|wino|vino|vin|wine|wijn',
  'voda|Wasser|voda|woda|acqua|eau|water|water',
  'ulje|Öl|olej|olej|olio|huile|oil|olie',
  'čokolada|Schokolade|čokoláda|czekolada|cioccolato|chocolat|chocolate|chocolade',
  'keks|Kekse|sušenky|ciastka|biscotti|biscuits|biscuits|koekjes',
  'tjestenina|Nudeln|těstoviny|makaron|pasta|pâtes|pasta|pasta',
  'riža|Reis|rýže|ryż|riso|riz|rice|rijst',
  'med|Honig|med|miód|miele|miel|honey|honing',
  'sir|Käse|sýr|ser|formaggio|fromage|cheese|kaas',
  'jogurt|Joghurt|jogurt|jogurt|yogurt|yaourt|yoghurt|yoghurt',
  'šampon|Shampoo|šampon|szampon|shampoo|shampooing|shampoo|shampoo',
  'krema|Creme|krém|krem|crema|crème|cream|crème',
  'sapun|Seife|mýdlo|mydło|sapone|savon|soap|zeep',
  'deterdžent|Waschmittel|prací gel|płyn do prania|detersivo|lessive|detergent|wasmiddel',
  'kapsule|Kapseln|kapsle|kapsułki|capsule|capsules|capsules|capsules',
  'pelene|Windeln|plenky|pieluchy|pannolini|couches|nappies|luiers',
  'parfem|Parfüm|parfém|perfumy|profumo|parfum|perfume|parfum',
  'naranča|Orange|pomeranč|pomarańcza|arancia|orange|orange|sinaasappel',
  'jabuka|Apfel|jablko|jabłko|mela|pomme|apple|appel',
  'jagoda|Erdbeere|jahoda|truskawka|fragola|fraise|strawberry|aardbei',
  'limun|Zitrone|citron|cytryna|limone|citron|lemon|citroen',
  'vanilija|Vanille|vanilka|wanilia|vaniglia|vanille|vanilla|vanille',
  'lješnjak|Haselnuss|lískový oříšek|orzech laskowy|nocciola|noisette|hazelnut|hazelnoot',
  'crni|schwarz|černý|czarny|nero|noir|black|zwart',
  'bijeli|weiß|bílý|biały|bianco|blanc|white|wit',
  'plavi|blau|modrý|niebieski|blu|bleu|blue|blauw',
  'bušilica|Bohrmaschine|vrtačka|wiertarka|trapano|perceuse|drill|boormachine',
  'brusilica|Schleifmaschine|bruska|szlifierka|smerigliatrice|ponceuse|sander|schuurmachine',
  'usisavač|Staubsauger|vysavač|odkurzacz|aspirapolvere|aspirateur|vacuum cleaner|stofzuiger',
  'perilica|Waschmaschine|pračka|pralka|lavatrice|lave-linge|washing machine|wasmachine',
  'hladnjak|Kühlschrank|lednice|lodówka|frigorifero|réfrigérateur|fridge|koelkast',
  'televizor|Fernseher|televizor|telewizor|televisore|téléviseur|TV|televisie',
  'prijenosnik|Notebook|notebook|laptop|portatile|ordinateur portable|laptop|laptop',
  'mobitel|Handy|mobilní telefon|smartfon|smartphone|smartphone|smartphone|smartphone',
  'slušalice|Kopfhörer|sluchátka|słuchawki|cuffie|casque|headphones|koptelefoon',
  'tipkovnica|Tastatur|klávesnice|klawiatura|tastiera|clavier|keyboard|toetsenbord',
  'monitor|Monitor|monitor|monitor|monitor|écran|monitor|monitor',
  'pisač|Drucker|tiskárna|drukarka|stampante|imprimante|printer|printer',
  'bicikl|Fahrrad|kolo|rower|bicicletta|vélo|bicycle|fiets',
  'tenisice|Laufschuhe|běžecké boty|buty do biegania|scarpe da corsa|chaussures de course|running shoes|hardloopschoenen',
  'ruksak|Rucksack|batoh|plecak|zaino|sac à dos|backpack|rugzak',
  'tava|Pfanne|pánev|patelnia|padella|poêle|frying pan|koekenpan',
  'nož|Messer|nůž|nóż|coltello|couteau|knife|mes',
  'svjetiljka|Lampe|lampa|lampa|lampada|lampe|lamp|lamp',
  'aparat za kavu|Kaffeemaschine|kávovar|ekspres do kawy|macchina da caffè|cafetière|coffee machine|koffiemachine',
  'kosilica|Rasenmäher|sekačka|kosiarka|tosaerba|tondeuse|lawn mower|grasmaaier',
  'sat|Uhr|hodinky|zegarek|orologio|montre|watch|horloge',
  'igračka|Spielzeug|hračka|zabawka|giocattolo|jouet|toy|speelgoed',
].map((row) => row.split('|'));

const english = LANGUAGES.indexOf('en');

/** The row of each word, by the word in lower case. A word of several languages leads to the first row that has it. */
const meanings = new Map<string, string[]>();
for (const row of ROWS) {
  for (const word of row) if (!meanings.has(word.toLowerCase())) meanings.set(word.toLowerCase(), row);
}

/** Throws if the lexicon lacks the English word: its callers name words that they know are in it. */
export function nameGood(englishWord: string, language: Language): string {
  const row = ROWS.find((words) => words[english] === englishWord);
  if (row === undefined) throw new Error(`The lexicon has no English word "${englishWord}"`);
  return row[LANGUAGES.indexOf(language)] as string;
}

/** The title with each name that the lexicon has in the other language, as a shop's machine translation leaves it. */
export function translateTitle(title: string, language: Language): string {
  const isShouted = title === title.toUpperCase();
  const words = title.split(' ');
  const translated: string[] = [];
  while (words.length > 0) {
    // The longest name first: a coffee machine is neither coffee nor a machine.
    const lengths = [3, 2, 1].filter((length) => length <= words.length);
    const length = lengths.find((count) => meanings.has(words.slice(0, count).join(' ').toLowerCase())) ?? 1;
    const name = words.splice(0, length).join(' ');
    const other = meanings.get(name.toLowerCase())?.[LANGUAGES.indexOf(language)] ?? name;
    translated.push(isShouted ? other.toUpperCase() : other);
  }
  return translated.join(' ');
}
