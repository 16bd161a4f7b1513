/** True for a name from the IANA time zone database, such as Europe/Zagreb. False for an offset such as +02:00. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/u.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
