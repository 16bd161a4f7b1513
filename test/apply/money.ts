/** The value of a JSON number with four decimals, or null if it has more decimals, or more than fourteen digits before them. */
export function toMoney(text: string): string | null {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const shift = Number(exponent) - fraction.length + 4;
  const digits = BigInt(whole + fraction);
  const scale = 10n ** BigInt(Math.abs(shift));
  if (shift < 0 && digits % scale !== 0n) return null;
  const units = shift < 0 ? digits / scale : digits * scale;
  if (units >= 10n ** 18n) return null;
  const padded = units.toString().padStart(5, '0');
  return `${units === 0n ? '' : sign}${padded.slice(0, -4)}.${padded.slice(-4)}`;
}
