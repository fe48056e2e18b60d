// The state of a list as a pill.
import type { ShieldList } from '@pharos/contract/shield/shield'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './words.ts'

const colors: Record<ShieldList['status'], StateColor> = { pending: 'info', active: 'ok', error: 'bad' }

/** Null: the prefix has no list yet. A list without rules has no effect. */
export function ListStatePill({ list, count }: { readonly list: ShieldList | null; readonly count: number }) {
  if (list === null || (count === 0 && list.status === 'active'))
    return <StatePill color="idle">{words.states.none}</StatePill>
  return (
    <StatePill color={colors[list.status]} moving={list.status === 'pending'}>
      {words.states.list[list.status]}
    </StatePill>
  )
}
