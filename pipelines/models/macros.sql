-- Defines exact casts. A value that doesn't fit becomes NULL, and its row is rejected; nothing is rounded.

-- An int64 in plain decimal form, without a fraction, an exponent or leading zeros.
CREATE OR REPLACE MACRO exact_bigint(x) AS
  CASE WHEN CAST(TRY_CAST(x AS BIGINT) AS VARCHAR) = x THEN TRY_CAST(x AS BIGINT) END;

-- Money as a JSON number with at most four decimals, besides trailing zeros. An exponent is allowed if the value is
-- exact and fits. The casts alone would round beyond 18 decimals, and overflow unnoticed with an exponent.
CREATE OR REPLACE MACRO exact_money(x) AS
  CASE WHEN regexp_full_match(x, '-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?') THEN
    CASE
      WHEN contains(x, 'e') OR contains(x, 'E') THEN
        CASE WHEN length(x) <= 16 AND TRY_CAST(x AS DECIMAL(38, 18)) = TRY_CAST(x AS DECIMAL(18, 4))
                  AND TRY_CAST(x AS DECIMAL(18, 4)) BETWEEN -99999999999999.9999 AND 99999999999999.9999
                  AND (TRY_CAST(x AS DECIMAL(18, 4)) <> 0 OR regexp_full_match(x, '-?0(\.0+)?[eE].*'))
             THEN TRY_CAST(x AS DECIMAL(18, 4)) END
      WHEN NOT contains(x, '.') OR length(x) - strpos(x, '.') <= 4 THEN TRY_CAST(x AS DECIMAL(18, 4))
      WHEN length(rtrim(x, '0')) - strpos(x, '.') <= 4 THEN TRY_CAST(x AS DECIMAL(18, 4))
    END
  END;

-- An instant: an ISO 8601 date-time with Z or an offset (UTC without one), in the years 1 to 9999 UTC, which all
-- readers of Parquet can hold. Digits beyond the microsecond are dropped, and schema_drift reports them. 24:00 is 00:00
-- of the next day. The type can't hold a leap second. LIKE is quicker than the regular expression for the usual form.
CREATE OR REPLACE MACRO exact_instant(x) AS
  CASE WHEN (x LIKE '2___-__-__T__:__:__Z' OR x LIKE '2___-__-__T__:__:__.%Z') AND NOT contains(x, ' ') AND NOT contains(x, '.Z')
       THEN TRY_CAST(x AS TIMESTAMP WITH TIME ZONE)
       WHEN regexp_full_match(x, '[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)?')
            AND TRY_CAST(x AS TIMESTAMP WITH TIME ZONE)
                BETWEEN TIMESTAMPTZ '0001-01-01 00:00:00+00' AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'
       THEN TRY_CAST(x AS TIMESTAMP WITH TIME ZONE) END;

-- True for the first instant of the years 1 and 1970, which programs write for no time.
CREATE OR REPLACE MACRO is_zero_time(x) AS
  coalesce(regexp_full_match(x, '(0001|1970)-01-01[T ]00:00:00(\.0+)?(Z|[+]00(:?00)?)?'), false);

-- The sum of a GTIN's digits with GS1's weights, which alternate between 1 and 3 from the right. It is a multiple of 10
-- if the check digit is right.
CREATE OR REPLACE MACRO gtin_weighted_sum(n) AS
  n % 10 + n // 100 % 10 + n // 10000 % 10 + n // 1000000 % 10
    + n // 100000000 % 10 + n // 10000000000 % 10 + n // 1000000000000 % 10
    + 3 * (n // 10 % 10 + n // 1000 % 10 + n // 100000 % 10 + n // 10000000 % 10
           + n // 1000000000 % 10 + n // 100000000000 % 10 + n // 10000000000000 % 10);

-- A GTIN padded with zeros to 14 digits, or NULL if its length or check digit is wrong. Zeros alone are a placeholder,
-- although their check digit is right.
CREATE OR REPLACE MACRO valid_gtin14(gtin) AS
  CASE WHEN length(gtin) IN (8, 12, 13, 14) AND regexp_full_match(gtin, '[0-9]+')
            AND gtin_weighted_sum(CAST(gtin AS BIGINT)) % 10 = 0 AND CAST(gtin AS BIGINT) > 0
       THEN lpad(gtin, 14, '0') END;

-- The digits of a GTIN without leading zeros, so that all forms of a GTIN are equal; NULL if no digits are left.
CREATE OR REPLACE MACRO gtin_digits(gtin) AS
  nullif(ltrim(CASE WHEN regexp_full_match(gtin, '[0-9]+') THEN gtin
                    ELSE regexp_replace(gtin, '[^0-9]', '', 'g') END, '0'), '');

-- Removes case, spaces and punctuation, and keeps letters and digits of any script.
CREATE OR REPLACE MACRO folded(x) AS
  nullif(regexp_replace(lower(x), '[^\p{L}\p{N}]', '', 'g'), '');

-- An item's product id from its GTIN, or from brand and part number (API section 1), else NULL.
CREATE OR REPLACE MACRO product_key(gtin, brand, mpn) AS
  coalesce(gtin_digits(gtin), folded(brand) || '-' || folded(mpn));

-- Formats two amounts as a JSON array without rounding.
CREATE OR REPLACE MACRO money_pair(a, b) AS
  '[' || coalesce(CAST(a AS VARCHAR), 'null') || ',' || coalesce(CAST(b AS VARCHAR), 'null') || ']';

-- Normalizes a JSON object, so that order and spacing of its members don't matter. Returns other JSON as text.
CREATE OR REPLACE MACRO flat_json_members(x) AS
  coalesce(CAST(list_sort(map_entries(TRY_CAST(json(x) AS MAP(VARCHAR, JSON)))) AS VARCHAR), CAST(json(x) AS VARCHAR));

-- Normalizes a JSON object and the objects that are its members. The order within deeper objects still matters, because
-- macros can't recurse.
CREATE OR REPLACE MACRO json_members(x) AS
  coalesce(CAST(list_sort(list_transform(map_entries(TRY_CAST(json(x) AS MAP(VARCHAR, JSON))),
    lambda member: (member.key, flat_json_members(member.value)))) AS VARCHAR), CAST(json(x) AS VARCHAR));

-- The old and the new value of a changed field, an array of two. Types have the names that json_type returns.
CREATE OR REPLACE MACRO has_pair(changes, path, types) AS
  json_array_length(changes, path) = 2
    AND list_contains(types, json_type(changes, path || '[0]')) AND list_contains(types, json_type(changes, path || '[1]'));

-- Compares an amount in a pair with an exact amount as doubles, because DuckDB's JSON reader converts numbers to
-- doubles.
CREATE OR REPLACE MACRO is_amount(changes, path, amount) AS
  TRY_CAST(json_extract_string(changes, path) AS DOUBLE) IS NOT DISTINCT FROM CAST(CAST(amount AS VARCHAR) AS DOUBLE);

-- True if the pair named `price` contains the item's prices, because an attribute may have the same name. The pair's
-- amounts must be numbers or null, equal the change's previousPrice and price, and differ. Never null, because at least
-- one of two different amounts is set.
CREATE OR REPLACE MACRO names_price(previous_price, price, changes) AS
  previous_price IS DISTINCT FROM price
    AND has_pair(changes, '$.price', ['UBIGINT', 'BIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE', 'NULL'])
    AND is_amount(changes, '$.price[0]', previous_price) AND is_amount(changes, '$.price[1]', price);

-- True for a price change: previousPrice is set (section 2, Change), or the pair contains the item's first price.
CREATE OR REPLACE MACRO is_price_change(previous_price, price, changes) AS
  previous_price IS NOT NULL OR names_price(previous_price, price, changes);

-- True for a change of the title rather than of an attribute named `title`: both values are text or null, and the new
-- value equals the change's title.
CREATE OR REPLACE MACRO is_title_change(title, changes) AS
  coalesce(has_pair(changes, '$.title', ['VARCHAR', 'NULL'])
    AND coalesce(json_extract_string(changes, '$.title[1]'), '') = coalesce(title, ''), false);

-- The names of the changed values, except the price.
CREATE OR REPLACE MACRO other_changes(previous_price, price, changes) AS
  list_filter(json_keys(changes), lambda name: CASE name
    WHEN 'price' THEN NOT names_price(previous_price, price, changes)
    WHEN 'previousPrice' THEN NOT is_amount(changes, '$.previousPrice[1]', previous_price)
    WHEN 'priceChangedAt' THEN exact_instant(json_extract_string(changes, '$.priceChangedAt[1]')) IS NULL
    ELSE true
  END);

-- How much later the service dates a change than lastChangedAt or removedAt: zero if rows show equal times, and two
-- minutes if the difference isn't known.
CREATE OR REPLACE MACRO known_skew(skew) AS coalesce(CAST(skew AS INTERVAL), INTERVAL 2 MINUTE);

-- True if the full row `a` of an item is older than row `b`. The service sets each time in a row before it builds the
-- row. Listing states are compared separately, because the service may change them without updating lastChangedAt. If
-- the rows agree in price and title, or the feed dated `b`, their times may differ by the feed's skew.
CREATE OR REPLACE MACRO is_older_row(a_changed, a_seen, a_removed, b_changed, b_seen, b_removed, agree, skew) AS
  coalesce(a_changed < b_changed AND NOT (agree AND a_changed >= b_changed - known_skew(skew)), false)
  OR coalesce(a_changed <= b_changed AND CASE
    WHEN a_removed IS NULL THEN b_removed > a_seen
    ELSE b_removed IS NULL AND b_seen > a_removed
  END, false);

-- True if a row shows a removal: it is marked as removed, or the item was seen again after the removal.
CREATE OR REPLACE MACRO shows_removal(changed, seen, removed, observed_at, listed_before_at, skew) AS
  coalesce(changed > observed_at, false)
  OR CASE
    WHEN removed IS NULL THEN coalesce(seen > observed_at, false)
    ELSE coalesce(removed >= listed_before_at - known_skew(skew), true)
  END;

-- True if a row shows a relisting: the item was seen after the previous removal, or was removed again.
CREATE OR REPLACE MACRO shows_relisting(changed, seen, removed, observed_at, removed_before_at, skew) AS
  coalesce(changed >= observed_at, false)
  OR CASE
    WHEN removed IS NULL THEN coalesce(seen >= removed_before_at - known_skew(skew), true)
    ELSE removed > observed_at
  END;

-- The reason in stale_items for an item whose row can't be typed. It stays until a row can be typed.
CREATE OR REPLACE MACRO untyped() AS 'its row cannot be typed';
CREATE OR REPLACE MACRO is_untyped(reason) AS reason = untyped();

-- Splits a text of dataset names at `;`, `|` or `,` (landed.ts passes a list as its text after U+E0F2). Names that
-- /datasets returns are never split, and longer names are matched first. The pattern (dataset-names.ts) finds names
-- between doubled separators, so that each name has its own borders. Between unknown names, only `;` and `|` are
-- separators.
CREATE OR REPLACE MACRO split_names(text, pattern) AS
  list_transform(
    list_filter(
      list_transform(
        flatten(list_transform(
          string_split(
            regexp_replace(regexp_replace(text, '[;|,]', '\0\0', 'g'),
              coalesce(pattern::VARCHAR, '[^\s\S]()'), chr(30) || '\1' || chr(30), 'g'),
            chr(30)),
          lambda piece, nth: CASE WHEN nth % 2 = 0 THEN [piece] ELSE string_split_regex(piece, '[;|]+') END)),
        lambda name: regexp_replace(name, '^[\s,]+|[\s,]+$', '', 'g')),
      lambda name: name <> ''),
    lambda name: regexp_replace(name, '([;|,])[;|,]', '\1', 'g'));

CREATE OR REPLACE MACRO dataset_names(names, pattern) AS
  CASE WHEN starts_with(names[1], chr(57586)) THEN split_names(substr(names[1], 2), pattern) ELSE names END;
