/** A country that shops sell from: its currency, its price level, and how its shops dress up a title. */
export interface Country {
  code: string;
  currency: string;
  /** Units of the currency for one euro. */
  perEuro: number;
  /** Share of the shops. */
  weight: number;
  words: string[];
  shopWords: string[];
}

export const COUNTRIES: Country[] = [
  country(
    'de',
    'EUR',
    1,
    18,
    ['Neu', 'Original', 'Sofort lieferbar'],
    ['Elektro', 'Technik', 'Haus', 'Markt', 'Werkstatt'],
  ),
  country('fr', 'EUR', 1, 12, ['Nouveauté', 'Édition limitée', 'Prêt à expédier'], ['Maison', 'Boutique', 'Comptoir']),
  country('it', 'EUR', 1, 8, ['Novità', 'Qualità garantita'], ['Bottega', 'Mercato', 'Casa']),
  country('es', 'EUR', 1, 8, ['Envío rápido', 'Año nuevo'], ['Tienda', 'Almacén', 'Casa']),
  country('nl', 'EUR', 1, 6, ['Nieuw', 'Uit voorraad'], ['Winkel', 'Handel', 'Huis']),
  country('at', 'EUR', 1, 4, ['Aktion', 'Für Gewerbe'], ['Fachmarkt', 'Laden']),
  country('gr', 'EUR', 1, 3, ['Προσφορά', 'Νέο'], ['Agora', 'Spiti']),
  country('pl', 'PLN', 4.28, 12, ['Nowość', 'Wysyłka 24 h', 'Łódź'], ['Sklep', 'Hurtownia', 'Dom']),
  country('cz', 'CZK', 24.6, 8, ['Novinka', 'Skladem', 'Žhavá cena'], ['Obchod', 'Dílna', 'Dům']),
  country('se', 'SEK', 11.2, 6, ['Nyhet', 'Snabb leverans', 'Återvunnen'], ['Butik', 'Hem', 'Lager']),
  country('hu', 'HUF', 392, 5, ['Új', 'Raktáron', 'Akció őszre'], ['Bolt', 'Áruház']),
  country('ro', 'RON', 4.98, 4, ['Nou', 'În stoc', 'Preț special'], ['Magazin', 'Casa']),
  country('dk', 'DKK', 7.46, 3, ['Nyhed', 'På lager'], ['Butik', 'Hus']),
  country('gb', 'GBP', 0.86, 3, ['New', 'In stock'], ['Store', 'Depot', 'House']),
];

function country(
  code: string,
  currency: string,
  perEuro: number,
  weight: number,
  words: string[],
  shopWords: string[],
): Country {
  return { code, currency, perEuro, weight, words, shopWords };
}
