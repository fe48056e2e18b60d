// The drivers of the port LetterScanner, by the scheme of the URL in `clamd_url`.
import type { LetterScanner } from '../byoip/letter/inspect-letter.ts'
import { clamd } from './clamd/scanner.ts'
import { driverFor } from './driver/url-driver.ts'

const drivers = [clamd]

/** Throws a TypeError if the URL is not valid. */
export function checkScanner(url: string): void {
  driverFor(drivers, url).check(url)
}

/** Returns the scanner, not connected yet; throws as checkScanner does. */
export function createScanner(url: string): LetterScanner {
  return driverFor(drivers, url).create(url, undefined)
}
