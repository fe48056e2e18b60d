// The text about one prefix in a letter to sign, with the objects that the checks found in the registries. Pure.
import type { DraftRow, FoundCheck } from './letter.store.ts'
import type { LetterPrefix } from './letter-draft-page.ts'

export function letterPrefixOf({ prefix, origin_asn, rpki, irr }: DraftRow): LetterPrefix {
  const roas = (rpki?.evidence.vrps ?? [])
    .filter(({ asn }) => asn === origin_asn)
    .map(({ prefix: of, max_length, asn }) => `ROA ${of}, maxLength ${max_length}, AS${asn}`)
  const objects = (irr?.evidence.objects ?? [])
    .filter(({ origin }) => origin === origin_asn)
    .map(
      ({ prefix: of, origin, source }) =>
        `${of.includes(':') ? 'route6' : 'route'} ${of}, AS${origin}, ${source}`,
    )
  return {
    prefix,
    originAsn: origin_asn,
    roa: referenceOf(rpki, roas, 'no ROA for this origin was found'),
    routeObject: referenceOf(irr, objects, 'no route object with this origin was found'),
  }
}

/** Maximum number of references; more add no information. */
const referencesMax = 4

function referenceOf(check: FoundCheck | null, found: readonly string[], none: string): string {
  if (found.length > 0) return [...new Set(found)].slice(0, referencesMax).join('; ')
  return check === null || check.state === 'unavailable' || check.state === 'pending'
    ? 'not checked yet'
    : none
}
