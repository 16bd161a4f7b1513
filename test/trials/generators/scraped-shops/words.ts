import type { Draw } from '../../draw.js';
import { LANGUAGES, type Language } from '../../lexicon.js';

/**
 * Wordings of real shop pages, in the order of `LANGUAGES`, separated by `|`; a `;` separates variants. `{n}` stands for
 * a number, `{m}` for money with its currency, and `{t}` for the product's title.
 */
const PHRASES = {
  used: 'rabljeno;korišteno, očuvano|gebraucht;Zustand: gut|použité;bazar|używany;stan dobry|usato;usato garantito|occasion;d’occasion|used;pre-owned, good|gebruikt;tweedehands',
  refurbished:
    'obnovljeno;refurbished|generalüberholt;refurbished|repasováno;repasovaný|odnowiony;poleasingowy|ricondizionato;rigenerato|reconditionné;remis à neuf|refurbished;renewed grade A|refurbished;gereviseerd',
  opened:
    'otvoreno pakiranje;povrat kupca|B-Ware;Retoure, geöffnet|rozbaleno;vráceno ve 14 dnech|zwrot konsumencki;otwarte opakowanie|scatola aperta;reso cliente|emballage ouvert;retour client|open box;customer return|doos geopend;retourproduct',
  display:
    'izložbeni primjerak;demo uređaj|Ausstellungsstück;Vorführgerät|vystavený kus;předváděcí model|powystawowy;ekspozycja|ex esposizione;articolo da vetrina|modèle d’exposition;produit de démo|ex-display;display model|showroommodel;demomodel',
  damaged:
    'oštećena ambalaža|Verpackung beschädigt;Delle|poškozený obal|uszkodzone opakowanie|confezione danneggiata|emballage abîmé|damaged packaging;dented|verpakking beschadigd',
  shortDated:
    'kratak rok trajanja;rok 12/2026|MHD 12/26;kurzes MHD|krátká expirace;DMT 12/2026|krótka data;termin 12.2026|scadenza breve;scad. 12/2026|date courte;DDM 12/2026|short dated;BBE 12/26|korte THT;THT 12-2026',
  multipack:
    '{n} kom;pakiranje {n}x;karton {n}|{n}er Pack;{n} Stück;{n} x|{n} ks;balení {n} ks;karton {n} ks|{n} szt.;zgrzewka {n} szt;{n}-pak|{n} pezzi;confezione da {n};{n}x|lot de {n};pack de {n};x{n}|{n}-pack;pack of {n};case of {n}|{n} stuks;{n}-pack;tray {n}x',
  bundle:
    '+ poklon torbica;set s priborom|+ Tasche;im Set mit Zubehör|+ dárek;set s příslušenstvím|+ etui;zestaw z akcesoriami|+ custodia;kit con accessori|+ housse;kit avec accessoires|+ carry bag;bundle with accessories|+ tas;set met accessoires',
  accessory:
    'Torbica za {t};Zaštitno staklo za {t}|Hülle für {t};Ersatzakku für {t}|Pouzdro na {t};Náhradní filtr pro {t}|Etui do {t};Filtr do {t}|Custodia per {t};Filtro per {t}|Housse pour {t};Filtre pour {t}|Case for {t};Filter for {t}|Hoes voor {t};Filter voor {t}',
  sparePart:
    'Rezervni dio {t};{t} - samo baterija|Ersatzteil {t};{t} - nur Ladegerät|Náhradní díl {t};{t} - pouze nabíječka|Część zamienna {t};{t} - sama ładowarka|Ricambio {t};{t} - solo batteria|Pièce détachée {t};{t} - chargeur seul|Spare part {t};{t} - empty box only|Onderdeel {t};{t} - alleen lader',
  tester:
    'tester;uzorak 2 ml|Tester;Probe;Nachfüllpackung|tester;vzorek|tester;próbka|tester;campioncino|testeur;échantillon;recharge|tester;sample;refill|tester;proefmonster',
  member:
    'cijena uz karticu vjernosti;članska cijena|mit Kundenkarte;App-Preis|cena s kartou;klubová cena|cena z kartą;cena z aplikacją|prezzo con carta fedeltà;prezzo soci|prix carte fidélité;prix adhérent|Clubcard price;members only|met klantenkaart;ledenprijs',
  net: 'bez PDV-a;cijena bez PDV|zzgl. MwSt.;netto|bez DPH;cena bez DPH|netto;cena netto + VAT|IVA esclusa;+ IVA|HT;prix HT|excl. VAT;ex VAT|excl. btw;ex. btw',
  monthly:
    'već od {m} mjesečno;{n} rata po {m}|ab {m} mtl.;{n} Raten à {m}|od {m} měsíčně;{n} splátek po {m}|od {m}/mies.;{n} rat po {m}|da {m} al mese;{n} rate da {m}|dès {m}/mois;en {n} fois {m}|from {m}/month;{n} payments of {m}|vanaf {m} p/m;in {n} termijnen van {m}',
  outOfStock:
    'nije dostupno;rasprodano|nicht verfügbar;ausverkauft|vyprodáno;není skladem|niedostępny;brak w magazynie|non disponibile;esaurito|rupture de stock;indisponible|out of stock;sold out|niet leverbaar;uitverkocht',
  inStock:
    'na zalihi;dostupno odmah|auf Lager;sofort lieferbar|skladem;skladem > 5 ks|dostępny;wysyłka 24h|disponibile;pronta consegna|en stock;expédié sous 24h|in stock;only 2 left|op voorraad;morgen in huis',
  clearance:
    'rasprodaja;outlet -60%|Abverkauf;Restposten|výprodej;doprodej|wyprzedaż;ostatnie sztuki|svendita;fuori tutto|déstockage;liquidation|clearance;final sale|uitverkoop;opruiming',
  contract:
    'uz ugovor 24 mj.;uz tarifu|mit Vertrag;nur mit Tarif|s tarifem;k tarifu na 24 měs.|w abonamencie;z umową 24 mies.|con abbonamento;con piano 24 mesi|avec forfait;engagement 24 mois|with contract;on 24-month plan|met abonnement;bij 2-jarig contract',
  rental:
    'najam / dan|Miete pro Tag;zum Mieten|půjčovna / den|wynajem / doba|noleggio al giorno|location / jour|hire per day|huur per dag',
  auction:
    'početna cijena;trenutna ponuda|Startpreis;aktuelles Gebot|vyvolávací cena|cena wywoławcza;licytacja|base d’asta;offerta attuale|mise à prix;enchère|starting bid;current bid|startbod;huidig bod',
  from: 'već od;više veličina|ab;versch. Größen|od;více variant|od;różne rozmiary|a partire da;vari formati|à partir de;plusieurs tailles|from;various sizes|vanaf;diverse maten',
  quantityBreak:
    'od {n} kom {m}|ab {n} Stück {m};Staffelpreis ab {n}|od {n} ks {m}|od {n} szt. {m}|da {n} pz {m}|dès {n} pièces {m}|{n}+ {m} each|vanaf {n} stuks {m}',
  subscription:
    'pretplata i uštedi|Sparabo;im Abo|předplatné|w subskrypcji|iscriviti e risparmia|prévoyez et économisez;abonnement|subscribe & save|herhaalservice',
  voucher:
    's kodom POPUST10;nakon kupona|mit Gutscheincode;nach Cashback|s kódem SLEVA10|z kodem RABAT10|con codice SCONTO10|avec le code PROMO10;ODR déduite|with voucher code;after cashback|met kortingscode',
  deposit:
    'povratna naknada {m}|zzgl. Pfand {m}|vratná záloha {m}|kaucja {m}|deposito {m}|consigne {m}|deposit {m}|statiegeld {m}',
  shipping: 'dostava {m}|Versand {m}|doprava {m}|dostawa {m}|spedizione {m}|livraison {m}|delivery {m}|verzending {m}',
  warranty:
    'produljeno jamstvo {m}|Garantieverlängerung {m}|prodloužená záruka {m}|przedłużona gwarancja {m}|estensione garanzia {m}|extension de garantie {m}|extended warranty {m}|extra garantie {m}',
  regular:
    'redovna cijena {m};stara cijena {m}|UVP {m};statt {m}|běžná cena {m}|cena regularna {m};najniższa cena z 30 dni {m}|prezzo consigliato {m};invece di {m}|prix conseillé {m};au lieu de {m}|RRP {m};was {m}|adviesprijs {m};van {m}',
  perUnit:
    '{m}/kg;{m}/l|{m}/kg;Grundpreis {m}/l|{m}/kg;{m} za l|{m}/kg;{m}/l|{m} al kg;{m}/l|{m} le kilo;{m}/L|{m}/kg;{m} per litre|{m} per kilo;{m}/l',
  discontinued:
    'prestalo se prodavati|Artikel wird nicht mehr geführt|prodej ukončen|produkt wycofany|fuori produzione|produit arrêté|discontinued|niet meer leverbaar',
  usedFrom:
    'rabljeno od {m}|gebraucht ab {m}|použité od {m}|używane od {m}|usato da {m}|occasion dès {m}|used from {m}|tweedehands vanaf {m}',
  praise:
    'NOVO;AKCIJA;original|NEU;Angebot;original verpackt|NOVINKA;AKCE;nové|NOWY;PROMOCJA;oryginał|NUOVO;OFFERTA;originale|NOUVEAU;PROMO;neuf|NEW;OFFER;genuine|NIEUW;AANBIEDING;origineel',
} as const;

export type Phrase = keyof typeof PHRASES;

/** Names that shops give to their own values: the API passes them on as they are. */
const KEYS = {
  condition: 'stanje|Zustand|stav|stan|condizione|état|condition|staat',
  availability:
    'dostupnost|Verfügbarkeit|dostupnost|dostępność|disponibilità|disponibilité|availability|beschikbaarheid',
  note: 'napomena|Hinweis|poznámka|uwagi|nota|remarque|note|opmerking',
  offer: 'ponuda|Angebot|nabídka|oferta|offerta|offre|offer|aanbieding',
} as const;

export type Key = keyof typeof KEYS;

const translate = (row: string, language: Language) => row.split('|')[LANGUAGES.indexOf(language)] as string;

export function pickPhrase(
  phrase: Phrase,
  language: Language,
  draw: Draw,
  values: Record<string, string> = {},
): string {
  const wording = draw.pick(translate(PHRASES[phrase], language).split(';'));
  return wording.replace(/\{(\w)\}/g, (_, name: string) => values[name] ?? '');
}

export const nameKey = (key: Key, language: Language): string => translate(KEYS[key], language);
