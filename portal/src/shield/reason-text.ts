// Why a rule or a list has its status, as a sentence. The API names other rules by their sequence; here they have the position in the list
// on the page. Pure.
import type { ShieldList, ShieldRule } from '@pharos/contract/shield/shield'
import { words } from './words.ts'

const { reasons: texts } = words

/** `placeOf` returns the place of a rule by its id, from 1; undefined if it is not in the list. */
export function ruleReasonText(
  { code, detail, other }: NonNullable<ShieldRule['status_reason']>,
  placeOf: (id: number) => number | undefined,
): string {
  const place = other === null ? undefined : placeOf(other)
  if (place === undefined) return detail
  if (code === 'cannot_order') return texts.cannotOrder(place)
  return code === 'shadowed' ? texts.shadowed(place) : detail
}

export const listReasonText = ({ code, detail }: NonNullable<ShieldList['status_reason']>): string =>
  code === 'cannot_order' ? texts.listOrder : detail
