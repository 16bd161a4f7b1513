-- part of: offer_attributes and attribute_proposals
-- Parses amounts in attribute values. Reads amount_texts (meaning, currency, amount and other columns); returns these
-- columns and known_amount, which is null if the amount is unknown. The currency may come before or after the amount:
-- "4,99 €", EUR 4.99. A single separator before exactly three digits may separate thousands or decimals, so the amount
-- is unknown, except after a zero.
WITH parsed AS (
  SELECT
    *,
    regexp_replace(amount, '[\x{a0}\x{202f}]', ' ', 'g') AS spaced,
    lower(spaced) AS plain,
    regexp_extract(spaced, '^([^0-9.,+-]*)', 1) AS before,
    regexp_extract(spaced, '([0-9][0-9., ]*)', 1) AS number,
    regexp_extract(spaced, '([^0-9., ][^0-9.,]*)$', 1) AS behind,
    before || number || behind = spaced AS is_amount,
    upper(trim(before || behind)) AS unit,
    trim(number) AS digits
  FROM (SELECT DISTINCT meaning, currency, amount FROM amount_texts)
),
known AS (
  SELECT
    meaning,
    currency,
    amount,
    CASE
      WHEN meaning = 'shipping cost' AND contains(
        '|free|free shipping|free delivery|besplatno|besplatna dostava|gratis|kostenlos|kostenloser versand|versandkostenfrei|gratuit|gratuite|gratuito|'
          || 'gratuita|envío gratis|spedizione gratuita|livraison gratuite|gratis verzending|darmowa|darmowa dostawa|za darmo|zdarma|doprava zdarma|'
          || 'zadarmo|ingyenes|fri frakt|fragtfri|ilmainen|δωρεάν|безплатно|бесплатно|', '|' || plain || '|') THEN 0::DECIMAL(18, 4)
      WHEN NOT is_amount OR unit <> '' AND unit <> currency
        AND NOT contains(' €/EUR EURO/EUR £/GBP ZŁ/PLN KČ/CZK FT/HUF KN/HRK LEI/RON KR/SEK KR/NOK KR/DKK DIN/RSD ЛВ/BGN ЛВ./BGN KR./DKK $/USD ',
          ' ' || unit || '/' || currency || ' ') THEN NULL
      WHEN regexp_matches(digits, '^[0-9]{1,12}[.][0-9]{4}$|^0[.,][0-9]{3}$') THEN TRY_CAST(replace(digits, ',', '.') AS DECIMAL(18, 4))
      -- Digits grouped in thousands, and at most two decimals after a different separator.
      WHEN regexp_matches(digits, '^[0-9]{1,12}([.,][0-9]{1,2})?$|^[1-9][0-9]{0,2}(([.][0-9]{3}){1,3},[0-9]{1,2}|(,[0-9]{3}){1,3}[.][0-9]{1,2}|([.][0-9]{3}){2,3}|(,[0-9]{3}){2,3}|( [0-9]{3}){1,3}([.,][0-9]{1,2})?)$')
        THEN TRY_CAST(TRY_CAST(regexp_replace(digits, '[^0-9]', '', 'g') AS BIGINT)
          * CASE length(regexp_extract(digits, '[.,]([0-9]{1,2})$', 1)) WHEN 2 THEN 0.01 WHEN 1 THEN 0.1 ELSE 1 END AS DECIMAL(18, 4))
    END AS known_amount
  FROM parsed
)
SELECT amount_texts.*, known_amount
FROM amount_texts
JOIN known
  ON known.meaning = amount_texts.meaning AND known.amount = amount_texts.amount AND known.currency IS NOT DISTINCT FROM amount_texts.currency
