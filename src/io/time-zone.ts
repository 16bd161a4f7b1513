/** True for a name in the IANA time zone database, such as Europe/Zagreb. An offset such as +02:00 is not accepted. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/u.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
