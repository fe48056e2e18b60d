// The filename of a downloaded letter: for display, never a path on the server. Pure.
import type { LetterMediaType } from '@pharos/contract/letter'

const lengthMax = 120

const endings: Readonly<Record<LetterMediaType, readonly [string, ...string[]]>> = {
  'application/pdf': ['pdf'],
  'image/png': ['png'],
  'image/jpeg': ['jpg', 'jpeg', 'jpe'],
}

/** Returns the sender's filename without folders, control and bidirectional characters, and with the extension of the media type. */
export function letterFilename(given: string, mediaType: LetterMediaType): string {
  const last = given.toWellFormed().normalize('NFC').split(/[/\\]/).at(-1)!
  const clean = last.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}<>:"|?*]/gu, '').replace(/\s+/g, ' ')
  const name =
    [...clean]
      .slice(0, lengthMax)
      .join('')
      .replace(/^[. ]+|[. ]+$/g, '') || 'letter'
  const ending = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  return ending !== undefined && endings[mediaType].includes(ending)
    ? name
    : `${name}.${endings[mediaType][0]}`
}
