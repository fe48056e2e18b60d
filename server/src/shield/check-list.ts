// The parts that a scrubber cannot apply of a list before it is stored, beside the team's lists for prefixes around it
// and inside it. Pure.
import { shieldReasonText } from '@pharos/contract/reason/shield-reason'
import type { Prefix } from '../net/prefix.ts'
import { compileLists, type CompileRefusal, type CompileRefusalCode, type OrderedList } from './compile.ts'
import { reasonOfRefusal } from './refusal-reason.ts'
import type { ListSize } from './rule-capacity.ts'
import type { RuleId, ScrubberCapabilities } from './scrubber.ts'
import type { NestedList } from './shield-list.store.ts'
import { findStored, type ParsedRule } from './shield-rule.ts'
import type { ListRefusal } from './update-shield.ts'

/** Ids of stored rules are positive, so that a rule of the new list has the complement of its place. */
const isNew = (id: RuleId): boolean => id < 0

/** Returns the parts that the scrubber would refuse in the list, and in other lists because of it. */
export function refusalsOfList(
  { prefix, rules }: { readonly prefix: Prefix; readonly rules: readonly ParsedRule[] },
  nested: readonly NestedList[],
  can: ScrubberCapabilities,
  held: readonly ListSize[],
  scrubber: string,
): ListRefusal[] {
  const others = nested.map(orderedOf)
  const list = { prefix, rules: rules.map(({ parsed }, place) => ({ id: ~place, ...parsed })) }
  const before = new Set(compileLists(others, can, held).refused.map((refusal) => refusal.prefix))
  return compileLists([...others, list], can, held)
    .refused.filter((refusal) => !before.has(refusal.prefix))
    .flatMap((refusal) => {
      const { reason, attrs, rules: refused } = reasonOfRefusal(refusal, can)
      const common = { scrubber, reason, detail: shieldReasonText(reason, attrs) }
      // Whichever of the lists it is: the new one takes the room.
      if (refusal.code === 'rules_max') return [common]
      const otherPrefix = otherListOf(refusal, prefix, others)
      if (otherPrefix) return [{ ...common, ...placeIn(refusal.rules.find(isNew)), otherPrefix }]
      if (refused.length === 0) return [common]
      const other = typeof attrs['other'] === 'number' ? { other: ~attrs['other'] } : {}
      const max = reason === 'rate_too_high' ? { max: Number(attrs['max']) } : {}
      const rest = { ...other, ...rateFields[refusal.code], ...max }
      return refused.map((id) => ({ ...common, ...placeIn(id), ...rest }))
    })
}

/** The field that is at fault. */
const rateFields: Partial<Record<CompileRefusalCode, { readonly field: string }>> = {
  packet_rate_unsupported: { field: 'rate_pps' },
  packet_rate_max: { field: 'rate_pps' },
  bit_rate_max: { field: 'rate_bps' },
}

/** A rule that can no longer be parsed is reported for its own list. */
const orderedOf = ({ prefix, rules }: NestedList): OrderedList => ({
  prefix,
  rules: rules.flatMap((rule) => {
    const parsed = findStored(rule, prefix)
    return parsed ? [{ id: rule.id, ...parsed }] : []
  }),
})

const placeIn = (id: RuleId | undefined) => (id === undefined ? {} : { index: ~id })

/** Returns the other list that the refusal also concerns. */
function otherListOf(
  refusal: CompileRefusal,
  prefix: Prefix,
  others: readonly OrderedList[],
): Prefix | undefined {
  if (refusal.prefix !== prefix) return refusal.prefix
  const stored = refusal.rules.find((id) => !isNew(id))
  return others.find(({ rules }) => rules.some(({ id }) => id === stored))?.prefix
}
