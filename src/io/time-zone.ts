/** True for a name of the IANA database, such as Europe/Zagreb; an offset such as +02:00 is no place. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/u.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
