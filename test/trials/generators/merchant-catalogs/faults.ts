import { computeCheckDigit } from '../../base-products.js';
import type { Draw } from '../../draw.js';
import { roundPrice } from './merchants.js';
import { daysAgo, type Offer } from './offers.js';

type Can = (offer: Offer) => boolean;
type Change = (offer: Offer, draw: Draw) => Partial<Offer>;

const any: Can = () => true;
const at =
  (...kinds: string[]): Can =>
  ({ merchant }) =>
    kinds.includes(merchant.kind.name);
const both =
  (one: Can, other: Can): Can =>
  (offer) =>
    one(offer) && other(offer);
const food: Can = ({ product }) => product.isConsumable;
const device: Can = ({ product }) => !product.isConsumable;
const from =
  (price: number): Can =>
  ({ product }) =>
    Number(product.price) >= price;
const retail = both(food, at('chain', 'discounter'));
const drink: Can = ({ product }) => product.contents?.unit === 'l' && Number(product.price) < 30;
const pack: Can = ({ product: { contents } }) => contents?.unit === 'kom' && contents.amount > 1;
const isMeasured =
  (basis: number): Can =>
  ({ product: { contents } }) =>
    contents !== null && contents.unit !== 'kom' && Math.abs(contents.amount / basis - 1) > 0.02;
const coded: Can = ({ gtin }) => gtin !== null && gtin.length >= 13;
const hasSibling: Can = ({ gtin, product: { sibling, title } }) =>
  gtin !== null && typeof sibling?.gtin === 'string' && sibling.title !== title;
const foreign: Can = ({ currency }) => currency !== 'EUR';

/** A price that rounds back to the honest one is not rounded. */
const scale =
  (low: number, high: number): Change =>
  ({ amount, merchant }, draw) => {
    const exact = amount * draw.between(low, high);
    const rounded = roundPrice(exact, merchant);
    return { amount: rounded === amount ? exact : rounded };
  };
const multiply =
  (factor: (offer: Offer) => number): Change =>
  (offer) => ({ amount: offer.amount * factor(offer) });
const ask =
  (...amounts: number[]): Change =>
  (_, draw) => ({ amount: draw.pick(amounts) });
const measure = (basis: number) => multiply(({ product }) => basis / (product.contents?.amount ?? basis));
const addDeposit = (euros: number) =>
  multiply(({ amount, merchant }) => Math.max(0.5, 1 + (euros * merchant.country.rate) / amount));
const inEuros =
  (factor: (offer: Offer) => number): Change =>
  (offer) => ({ amount: offer.amount * factor(offer), currency: 'EUR' });
const addCheckDigit = (digits: string) => `${digits}${computeCheckDigit(digits)}`;
const markCarton: Change = ({ gtin }, draw) => ({
  gtin: addCheckDigit(draw.pick(['1', '2', '5']) + gtin?.slice(-13, -1)),
});
const useInStoreNumber: Change = (_, draw) => ({ gtin: addCheckDigit(`20000000${1000 + draw.integer(60)}`) });
const sellCarton: Change = ({ title, amount, merchant }, draw) => {
  const pieces = draw.pick([4, 6, 10, 12, 24]);
  const name = draw.pick([title, `${pieces} x ${title}`, `${title} ${pieces}x`, `${title} (VPE ${pieces})`]);
  return { title: name, amount: roundPrice(amount * pieces * draw.between(0.85, 1), merchant) };
};
const sellOtherSize: Change = ({ title, amount, merchant, product: { contents } }, draw) => {
  const times = draw.pick([0.5, 2, 3, 4]);
  const name = title.replace(/,? *\(?\d[\d.,]* ?(kg|g|l|ml|m|kom)\b\)?/gi, '');
  const size = contents === null ? 'XL' : `${+(contents.amount * times).toFixed(3)} ${contents.unit}`;
  return { title: `${name} ${size}`, amount: roundPrice(amount * (contents === null ? 1.3 : times ** 0.85), merchant) };
};
const freeze = (offer: Offer, draw: Draw, days = 0): Partial<Offer> => {
  const firstSeenAt = daysAgo(days + draw.between(300, 900));
  const times = { firstSeenAt, lastChangedAt: firstSeenAt, priceChangedAt: null };
  return { ...scale(0.65, 1.25)(offer, draw), ...times, previous: null };
};
const close: Change = (offer, draw) => {
  const { closedDays } = offer.merchant;
  return { ...freeze(offer, draw, closedDays), lastSeenAt: daysAgo(closedDays) };
};

/** Where a fault comes from: one record, a pool from which many shops take it, a merchant's custom, or the whole shop. */
type Origin = 'record' | 'pool' | 'custom' | 'shop';
/** `share` is in % of the offers to which the fault can happen. `words` may name it in titles, in the order of `LANGUAGES`. */
type Row = [name: string, share: number, origin: Origin, can: Can, change: Change, why: string, words?: string];

/**
 * The shares are assumptions, made for these reasons. What nobody corrects because the shop sells anyway (codes of
 * cartons and families, loyalty prices) is common. What loses money on the first order (decimals, currencies) is
 * corrected soon, so it is rare. What only some kinds of merchants do is frequent among them.
 */
// biome-ignore format: a line per fault reads as a table
const ROWS: Row[] = [
  ['closed-shop', 0.8, 'shop', any, close, 'the shop closed, and its pages stay in the index'],
  // Errors of master data
  ['sibling-gtin', 0.8, 'pool', hasSibling, ({ product }) => ({ gtin: product.sibling?.gtin ?? null }), 'the GTIN was copied from a sibling'],
  ['family-gtin', 0.8, 'custom', coded, sellOtherSize, 'one GTIN stands for all sizes of a family'],
  ['carton-gtin', 0.5, 'custom', coded, markCarton, 'the GTIN of the carton is on the single piece'],
  ['carton-price', 1, 'custom', both(coded, food), sellCarton, 'the GTIN of the piece is on the carton'],
  ['reused-ean', 0.5, 'pool', coded, scale(0.5, 0.85), 'the successor took over the EAN of this earlier model', 'stari model|Vorgängermodell|starší model|poprzedni model|modello precedente|ancien modèle|old model|vorig model'],
  ['in-store-gtin', 0.5, 'custom', coded, useInStoreNumber, 'an in-store number means another product in each shop'],
  ['placeholder-gtin', 0.3, 'custom', coded, (_, draw) => ({ gtin: draw.pick(['0000000000000', '1234567890128', '9999999999994']) }), 'a mandatory field was filled with a placeholder'],
  ['shared-mpn', 0.5, 'custom', any, ({ brand }, draw) => ({ gtin: null, brand: draw.pick([brand, 'OEM']), mpn: `${1 + draw.integer(20)}00` }), 'several products share the short part number'],
  ['shop-as-brand', 0.3, 'custom', any, ({ site }, draw) => ({ gtin: null, brand: site.name, mpn: `${1 + draw.integer(30)}0` }), "the brand is the shop's name and the part number that of an article group"],
  // Prices that not everyone gets, or not for a single unit
  ['tier-price', 2.5, 'custom', at('wholesaler', 'specialist'), scale(0.72, 0.92), 'the price of one unit when ten are bought', 'od 10 kom|ab 10 Stück|od 10 ks|od 10 szt.|da 10 pz|dès 10 pièces|from 10 pcs|vanaf 10 stuks'],
  ['net-price', 15, 'custom', at('wholesaler'), multiply(({ merchant }) => 1 / (1 + merchant.country.vat)), 'the net price for business customers', 'bez PDV-a|zzgl. MwSt.|bez DPH|netto|IVA escl.|HT|excl. VAT|excl. btw'],
  ['multi-buy-price', 1, 'custom', retail, scale(0.5, 0.75), 'the price of one unit when three are bought', '3 za 2|3 für 2|3 za 2|3 za 2|3x2|3 pour 2|3 for 2|3 voor 2'],
  ['subscription-price', 1, 'custom', both(food, from(5)), scale(0.8, 0.95), 'the price with a subscription', 'pretplata|Spar-Abo|předplatné|subskrypcja|abbonamento|abonnement|subscribe & save|abonnement'],
  ['contract-price', 1.5, 'custom', both(device, from(150)), scale(0.002, 0.4), 'the price of the device with a contract', 'uz ugovor|mit Vertrag|s tarifem|z abonamentem|con contratto|avec forfait|with contract|met abonnement'],
  ['trade-in-price', 1, 'custom', both(device, from(150)), scale(0.55, 0.85), 'the price if an old device is traded in', 'staro za novo|bei Inzahlungnahme|s výkupem|z odkupem|con permuta|avec reprise|with trade-in|met inruil'],
  ['coupon-price', 0.6, 'custom', any, scale(0.7, 0.95), 'the price with a coupon, or in the app only', 'uz kupon|mit Gutschein|s kupónem|z kuponem|con coupon|avec code promo|app only|met code'],
  ['loyalty-price', 2, 'custom', retail, scale(0.6, 0.88), 'the price with a loyalty card', 'uz karticu|mit Kundenkarte|s kartou|z kartą|con carta fedeltà|avec carte|with card|met klantenkaart'],
  ['preorder-price', 0.7, 'record', device, ask(999.99, 9999, 0.01, 99999), 'a placeholder until the price is known', 'prednarudžba|Vorbestellung|předobjednávka|przedsprzedaż|preordine|précommande|pre-order|pre-order'],
  ['price-on-request', 0.8, 'custom', at('wholesaler', 'importer', 'specialist'), ask(1), 'the price is on request', 'na upit|auf Anfrage|na dotaz|na zapytanie|su richiesta|sur demande|POA|op aanvraag'],
  ['rental-price', 0.7, 'custom', both(device, from(150)), scale(0.03, 0.08), 'the rent for a month', 'najam|Miete/Monat|pronájem|wynajem|noleggio|location/mois|monthly rental|huur per maand'],
  // Something other than a new unit of the product
  ['display-piece', 1.2, 'custom', device, scale(0.55, 0.85), 'the last piece of an ended line, from the display', 'izložbeni|Ausstellungsstück|vystavený kus|z ekspozycji|da esposizione|modèle expo|ex-display|showmodel'],
  ['outlet', 1, 'custom', device, scale(0.4, 0.75), 'a returned or second-rate piece from the outlet', 'outlet|B-Ware|outlet|outlet|outlet|reconditionné|grade B|outlet'],
  ['damaged-packaging', 0.4, 'record', any, scale(0.6, 0.85), 'the packaging is damaged', 'oštećeno|Verpackung beschädigt|poškozený obal|uszkodzone opakowanie|confezione rovinata|emballage abîmé|damaged box|doos beschadigd'],
  ['short-dated', 0.8, 'custom', food, scale(0.3, 0.6), 'the best-before date is near', 'kratki rok|MHD kurz|krátká expirace|krótka data|scadenza breve|DLUO courte|short dated|korte datum'],
  ['grey-import', 5, 'custom', at('importer'), scale(0.65, 0.9), 'a grey import with another plug, label or manual', 'uvoz|US-Version|dovoz|wersja US|import|import|US plug|importversie'],
  ['spare-part', 1.2, 'custom', device, scale(0.02, 0.25), 'a spare part with the codes of the device', 'rezervni dio|Ersatzteil|náhradní díl|część zamienna|ricambio|pièce détachée|spare part|onderdeel'],
  ['warranty-bundle', 0.8, 'custom', both(device, from(150)), scale(1.08, 1.3), 'the price includes an extended warranty', '+ jamstvo|+ Garantie|+ záruka|+ gwarancja|+ garanzia|+ garantie|+ 5 yr warranty|+ garantie'],
  ['gift-set', 0.6, 'record', both(food, from(4)), scale(1.5, 3), 'a gift set with the code of its main product', 'poklon set|Geschenkset|dárková sada|zestaw prezentowy|cofanetto|coffret cadeau|gift set|geschenkset'],
  ['refill', 0.7, 'record', both(food, from(3)), scale(0.4, 0.8), 'the refill with the code of the filled product', 'punjenje|Nachfüllpack|náplň|uzupełnienie|ricarica|recharge|refill|navulling'],
  ['sample', 0.7, 'record', both(food, from(8)), scale(0.05, 0.7), 'a sample or tester', 'tester|Probe|vzorek|próbka|campione|échantillon|tester|monster'],
  ['digital-version', 0.3, 'record', device, scale(0.2, 0.7), 'a download code in place of the product in its box', 'kod|Download-Code|digitální|kod cyfrowy|digitale|code numérique|digital code|download'],
  ['deposit-included', 1.2, 'custom', drink, addDeposit(0.25), 'the price includes the deposit that other shops leave out', 's kaucijom|inkl. Pfand|vč. zálohy|z kaucją|cauzione incl.|consigne incl.|incl. deposit|incl. statiegeld'],
  ['deposit-left-out', 0.7, 'custom', drink, addDeposit(-0.15), 'the deposit was deducted from a price that had none'],
  // Feeds, plugins and units of measure
  ['old-rate', 1.5, 'shop', foreign, inEuros(({ merchant }) => merchant.rateError / merchant.country.rate), "the shop's plugin converts at an old or wrong rate"],
  ['unconverted', 0.3, 'custom', foreign, inEuros(() => 1), 'the amount in local money is labeled EUR'],
  ['lost-decimals', 0.3, 'custom', any, multiply(() => 100), 'the CSV feed lost the decimal comma'],
  ['lost-thousands', 1, 'custom', ({ amount }) => amount >= 1000, multiply(() => 0.001), 'the thousands separator became a decimal point'],
  ['price-per-unit', 0.7, 'custom', isMeasured(1), measure(1), 'the price per kilogram, litre or metre'],
  ['price-per-100', 0.4, 'custom', isMeasured(0.1), measure(0.1), 'the price per 100 g, 100 ml or 10 cm'],
  ['price-per-piece', 2, 'custom', pack, measure(1), 'the price of one piece of the pack'],
  ['pallet-price', 2, 'custom', both(food, at('wholesaler')), scale(40, 480), 'the price of a pallet', 'paleta|Palette|paleta|paleta|bancale|palette|pallet|pallet'],
  ['sold-out', 0.6, 'record', any, (offer, draw) => ({ ...freeze(offer, draw), attributes: { inStock: false } }), 'long sold out at a price that nobody keeps'],
  ['forgotten-listing', 0.5, 'custom', any, (offer, draw) => freeze(offer, draw), 'a second listing, forgotten at an old price'],
];

export type MerchantFault = (typeof MERCHANT_FAULTS)[number];
export const MERCHANT_FAULTS = ROWS.map(([name, share, origin, canHappen, change, why, words]) => {
  return { name, share, origin, canHappen, change, why, words: words?.split('|') };
});
