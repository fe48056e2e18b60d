// Domain names that may be written in Unicode, as people write them in requests and paths. Pure.
import { domainToASCII } from 'node:url'
import { NameError, parseZoneName, type ZoneName } from './name.ts'

/** A-labels instead of Unicode (UTS 46); a text that is ASCII already may have escapes and stays as it is. Throws NameError. */
export function asciiOf(text: string): string {
  // eslint-disable-next-line no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text
  const ascii = domainToASCII(text)
  if (ascii === '') throw new NameError('character', 'not an international domain name (IDNA)')
  return ascii
}

/** Returns undefined instead of throwing: for paths, where a name that cannot exist is not found. */
export function findZoneName(text: string): ZoneName | undefined {
  try {
    return parseZoneName(asciiOf(text))
  } catch (error) {
    if (error instanceof NameError) return undefined
    throw error
  }
}
