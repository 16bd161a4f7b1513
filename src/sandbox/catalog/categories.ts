export const PATH_SEPARATOR = ' > ';

export interface Category {
  id: number;
  name: string;
  slug: string;
  path: string;
  parentId: number | null;
}

/** A category without subcategories, and the names, brands and prices from which its products are generated. */
export interface Leaf {
  categoryId: number;
  nouns: string[];
  brands: string[];
  /** The median price in euros. `sigma` is the standard deviation of the price's logarithm. */
  median: number;
  sigma: number;
  /** The category's share of all products, relative to the other categories' weights. */
  weight: number;
  isBook: boolean;
  /** A bit mask of the datasets that contain the category. */
  mask: number;
}

type LeafSpec = [name: string, nouns: string, median: number, sigma: number, weight: number];
interface Branch {
  name: string;
  brands: string;
  mask: number;
  groups: Record<string, LeafSpec[]>;
}

const BRANCHES: Branch[] = [
  {
    name: 'Electronics',
    brands: 'Nordén|Voltaris|Kovář Audio|Müller & Söhne|Lumax|Tekton|Öhlander|Sonaré|Pixelwerk|Orbis',
    mask: 1,
    groups: {
      'TV & Audio': [
        ['Headphones', 'Bluetooth-Kopfhörer|Casque sans fil|Słuchawki|Earbuds', 69, 0.8, 9],
        ['Televisions', 'OLED TV 55"|Téléviseur 4K|Telewizor 43"', 520, 0.5, 4],
        ['Speakers', 'Soundbar|Enceinte portable|Reproduktor', 120, 0.7, 5],
      ],
      Computers: [
        ['Laptops', 'Notebook 14"|Ordinateur portable|Laptop', 780, 0.4, 6],
        ['Storage', 'SSD 1 TB|Disque dur 4 To|USB-Stick 64 GB', 79, 0.6, 7],
        ['Keyboards & Mice', 'Mechanische Tastatur|Souris sans fil|Klávesnice', 45, 0.6, 5],
      ],
      'Mobile Phones': [['Smartphones', 'Smartphone 128 GB|Telefon 256 GB', 390, 0.5, 6]],
    },
  },
  {
    name: 'Home & Garden',
    brands: 'Żubr|Werkmann|Casa Bella|Hölzer|Jardín|Šumava|Björkås|Fjällhem|Ferrum',
    mask: 2,
    groups: {
      Tools: [
        ['Drills', 'Akku-Bohrschrauber 18 V|Perceuse à percussion|Wiertarka', 110, 0.5, 6],
        ['Hand Tools', 'Schraubendreher-Set|Clé à molette|Sada klíčů', 19, 0.6, 6],
      ],
      Kitchen: [
        ['Coffee Machines', 'Espressomaschine|Cafetière|Ekspres do kawy', 240, 0.6, 5],
        ['Cookware', 'Pfanne 28 cm|Cocotte en fonte|Garnek', 42, 0.5, 6],
      ],
      Garden: [['Lawn Mowers', 'Rasenmäher|Tondeuse|Sekačka', 290, 0.5, 3]],
    },
  },
  {
    name: 'Food & Drugstore',
    brands: 'Bio Tál|Crémerie Dubois|Pěkná Farma|Sól Morska|Gusto|Lindgren|Świt',
    mask: 4,
    groups: {
      Groceries: [
        ['Coffee & Tea', 'Espresso ganze Bohne 1 kg|Thé vert 250 g|Kawa mielona', 9.9, 0.5, 7],
        ['Chocolate', 'Zartbitterschokolade 85 %|Čokoláda|Choklad 200 g', 2.6, 0.4, 7],
        ['Oil & Vinegar', 'Olivenöl extra vergine 500 ml|Huile de noix|Ocet', 7.9, 0.4, 4],
      ],
      Drugstore: [
        ['Hair Care', 'Shampoo 300 ml|Après-shampoing|Szampon', 5.9, 0.5, 6],
        ['Baby Care', 'Windeln Größe 4|Couches|Pleny', 17, 0.4, 3],
      ],
    },
  },
  {
    name: 'Books & Media',
    brands: 'Edice Řeka|Éditions du Nord|Verlag am Ufer|Wydawnictwo Łąka',
    mask: 8,
    groups: {
      Books: [
        ['Fiction', 'Roman: Der lange Weg|Roman: L’été|Powieść: Cisza', 14, 0.4, 8],
        ['Textbooks', 'Lehrbuch Statistik|Manuel de chimie|Učebnice', 39, 0.4, 4],
      ],
      Games: [['Video Games', 'Adventure (PC)|Jeu de course|Gra RPG', 42, 0.4, 4]],
    },
  },
  {
    name: 'Toys & Sports',
    brands: 'Spielwelt|Ludo|Aktivní|Rörelse|Corsa|Dětský Svět',
    mask: 16,
    groups: {
      Toys: [['Building Sets', 'Bausteine 500 Teile|Jeu de construction|Klocki', 34, 0.6, 5]],
      Sports: [
        ['Cycling', 'Fahrradhelm|Casque de vélo|Kask rowerowy', 55, 0.7, 4],
        ['Running', 'Laufschuhe|Chaussures de course|Běžecké boty', 89, 0.4, 5],
      ],
    },
  },
];

/** The mask of the dataset for items that have no category and whose shop is in no dataset. */
export const FALLBACK_MASK = 1;

/** Builds a category tree of three levels, and returns its leaves separately. */
export function buildCategories(): { categories: Category[]; leaves: Leaf[] } {
  const categories: Category[] = [];
  const leaves: Leaf[] = [];
  const add = (name: string, parent: Category | null): Category => {
    const category = {
      id: 100 + categories.length,
      name,
      slug: parent === null ? slugify(name) : `${parent.slug}-${slugify(name)}`,
      path: parent === null ? name : `${parent.path}${PATH_SEPARATOR}${name}`,
      parentId: parent?.id ?? null,
    };
    categories.push(category);
    return category;
  };
  for (const branch of BRANCHES) {
    const top = add(branch.name, null);
    for (const [groupName, specs] of Object.entries(branch.groups)) {
      const group = add(groupName, top);
      for (const [name, nouns, median, sigma, weight] of specs) {
        leaves.push({
          categoryId: add(name, group).id,
          nouns: nouns.split('|'),
          brands: branch.brands.split('|'),
          median,
          sigma,
          weight,
          isBook: groupName === 'Books',
          mask: branch.mask,
        });
      }
    }
  }
  return { categories, leaves };
}

/** Builds a slug. For example, `TV & Audio` becomes `tv-audio`. */
export function slugify(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '') || 'category';
}
