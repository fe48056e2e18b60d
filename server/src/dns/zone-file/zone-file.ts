// Parses zone files (RFC 1035 section 5, RFC 2308 section 4) into records with their lines. Reports every error of the
// file; a caller must not apply a file with errors. `check-zone.ts` checks the records together.
import { setImmediate } from 'node:timers/promises'
import { ZoneFileParser } from './parser.ts'
import type { ZoneFile, ZoneFileOptions } from './parser.ts'

export { zoneFileLimits } from './parser.ts'
export type { ZoneFile, ZoneFileOptions } from './parser.ts'

/**
 * Parses the octets of a zone file without yielding: about 100,000 records a second. Content errors are returned, not
 * thrown.
 */
export function parseZoneFile(octets: Uint8Array, options: ZoneFileOptions): ZoneFile {
  const parser = new ZoneFileParser(octets, options)
  while (parser.parseEntries(10_000));
  return parser.result()
}

/** The same, letting others run every few milliseconds. */
export async function parseZoneFileInSteps(octets: Uint8Array, options: ZoneFileOptions): Promise<ZoneFile> {
  const parser = new ZoneFileParser(octets, options)
  while (parser.parseEntries(500)) await setImmediate()
  return parser.result()
}
