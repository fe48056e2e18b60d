// The state of a part of the installation: the pill, and the filter of its list.
import { partStates, type PartState } from '@pharos/contract/operator/status'
import type { Filter } from '../ui/list-filter.ts'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { words } from './console-words.ts'

const { partState: t } = words

const colors: Record<PartState, StateColor> = { ok: 'ok', failing: 'bad', unknown: 'warn', paused: 'idle' }

type Texts = Partial<Record<PartState, string>>

/** `texts` name a state more closely, such as `Behind`. */
export const PartPill = ({ state, texts = {} }: { state: PartState; texts?: Texts }) => (
  <StatePill color={colors[state]}>{texts[state] ?? t[state]}</StatePill>
)

/** Must be part of a constant declaration. */
export const stateFilter = (label: string): Filter => ({
  kind: 'choice',
  name: 'state',
  label,
  isOpen: true,
  options: partStates
    .filter((state) => state !== 'paused')
    .map((value) => ({ value, label: t[value], color: colors[value] })),
})
